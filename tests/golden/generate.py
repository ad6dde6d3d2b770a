"""Writes golden values: a second implementation, straight from the definitions.

    pip install numpy scipy mmh3 datasketch
    python tests/golden/generate.py

What `simgpu selftest` ships goes into vectors/, the rest beside this file. Nothing here is shared with the
Rust code, and none of its shortcuts are used: arithmetic is on Python's unbounded integers with a true `%`.
Running it again writes the same bytes.

Coefficients come from `numpy.random.RandomState(seed).randint(low, high, num_perm, dtype)`, all of a, then all
of b from the same generator:

    affine32         a = randint(0, 2^31, uint32) * 2 + 1   b = randint(0, 2^32, uint32)
    affine64         a = randint(0, 2^63, uint64) * 2 + 1   b = randint(0, 2^64, uint64)
    mersenne31       a = randint(1, 2^31 - 1, uint32)       b = randint(0, 2^31 - 1, uint32)
    mersenne61       a = randint(1, 2^61 - 1, uint64)       b = randint(0, 2^61 - 1, uint64)
    mersenne61-wide  as mersenne61
    affine32-even    a = randint(1, 2^32, uint32)           b = randint(0, 2^32, uint32)
    fast             as affine32, FAST_ROUNDS + num_perm of each: a pair for each round, then one for each slot

Presets have their family's, but for `nemo`, whose are below 2^31 - 1, and `rensa`, which has its own generator;
those of `datasketch-legacy`, `nemo` and `nemo64` are drawn in turn: a_0, b_0, a_1, b_1, ..

A field that holds a u64 in any record is a decimal string in all of them; every other number is a number.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

import mmh3
import numpy
from datasketch import lsh
from scipy.integrate import quad

REPOSITORY = Path(__file__).parents[2]
M32, M64 = 2**32 - 1, 2**64 - 1
P31, P61 = 2**31 - 1, 2**61 - 1
FAST_ROUNDS = 14


# Permutation families


def fmix32(h):
    h = (h ^ h >> 16) * 0x85EBCA6B & M32
    h = (h ^ h >> 13) * 0xC2B2AE35 & M32
    return h ^ h >> 16


def fmix64(h):
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & M64
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & M64
    return h ^ h >> 33


# name: (bits of x, slot of the empty set, value)
FAMILIES = {
    "affine32": (32, M32, lambda a, b, x: (a * fmix32(x) + b) % 2**32),
    "affine64": (64, M64, lambda a, b, x: (a * fmix64(x) + b) % 2**64),
    "mersenne31": (32, P31, lambda a, b, x: (a * x + b) % P31),
    "mersenne61": (32, M32, lambda a, b, x: (a * x + b) % 2**64 % P61 % 2**32),
    "mersenne61-wide": (64, M64, lambda a, b, x: (a * x + b) % 2**64 % P61),
}
MORE_FAMILIES = {
    "affine32-even": (32, M32, lambda a, b, x: (a * x + b) % 2**32),
    "fast": (32, M32, None),
    "rensa": (64, M32, None),
}

# name: (family, drawn in turn)
PRESETS = {
    "datasketch": ("affine32", False),
    "datasketch64": ("affine64", False),
    "datasketch-legacy": ("mersenne61", True),
    "datatrove": ("mersenne61-wide", False),
    "datatrove32": ("mersenne61", False),
    "text-dedup": ("mersenne61", False),
    "nemo": ("affine32-even", True),
    "nemo64": ("mersenne61-wide", True),
    "rensa": ("rensa", True),
}


def coefficients(scheme, seed, num_perm):
    """The (a, b) of every slot; in `fast` those of its rounds come first."""
    family, in_turn = PRESETS.get(scheme, (scheme, False))
    if family == "rensa":
        return xoshiro_pairs(seed, num_perm)
    bits, dtype = (64, numpy.uint64) if family in ("affine64", "mersenne61", "mersenne61-wide") else (32, numpy.uint32)
    is_odd = family in ("affine32", "affine64", "fast")
    if scheme == "nemo" or family == "mersenne31":
        a_range, b_range = (1, P31), (0, P31)
    elif family in ("mersenne61", "mersenne61-wide"):
        a_range, b_range = (1, P61), (0, P61)
    else:
        a_range, b_range = (0, 2 ** (bits - 1)) if is_odd else (1, 2**bits), (0, 2**bits)
    generator = numpy.random.RandomState(seed)
    pairs = FAST_ROUNDS + num_perm if family == "fast" else num_perm
    if in_turn:
        drawn = [[generator.randint(*range_, dtype=dtype) for range_ in (a_range, b_range)] for _ in range(pairs)]
    else:
        a = generator.randint(*a_range, pairs, dtype=dtype)
        drawn = zip(a, generator.randint(*b_range, pairs, dtype=dtype))
    return [(2 * int(a) + 1 if is_odd else int(a), int(b)) for a, b in drawn]


def signature(family, pairs, xs):
    if family == "fast":
        return fast_signature(pairs, xs)
    if family == "rensa":
        return rensa_signature(pairs, xs)
    _, empty, value = {**FAMILIES, **MORE_FAMILIES}[family]
    return [min((value(a, b, x) for x in xs), default=empty) for a, b in pairs]


def fast_signature(pairs, xs):
    """Fast Similarity Sketching: in each slot the least of the values of all rounds, and of its own permutation."""
    num_perm = len(pairs) - FAST_ROUNDS
    slots = [M32] * num_perm
    for x in xs:
        for r, (a, b) in enumerate(pairs[:FAST_ROUNDS]):
            slot, u = divmod(fmix32((a * x + b) % 2**32) * num_perm, 2**32)
            slots[slot] = min(slots[slot], r * 2**28 + u // 16)
        for slot, (a, b) in enumerate(pairs[FAST_ROUNDS:]):
            slots[slot] = min(slots[slot], FAST_ROUNDS * 2**28 + (a * fmix32(x) + b) % 2**32 // 16)
    assert not xs or M32 not in slots
    return slots


def splitmix64(x):
    z = (x + 0x9E3779B97F4A7C15) & M64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
    return z ^ z >> 31


def xoshiro_pairs(seed, num_perm):
    """The (a, b) of every slot from Xoshiro256++, a made odd."""

    def rotated(x, bits):
        return (x << bits | x >> 64 - bits) & M64

    s = [splitmix64(seed + i * 0x9E3779B97F4A7C15) for i in range(4)]

    def following():
        nonlocal s
        result = (rotated((s[0] + s[3]) & M64, 23) + s[0]) & M64
        two, three = s[2] ^ s[0], s[3] ^ s[1]
        s = [s[0] ^ three, s[1] ^ two, two ^ (s[1] << 17 & M64), rotated(three, 45)]
        return result

    return [(following() | 1, following()) for _ in range(num_perm)]


def rensa_signature(pairs, xs):
    """R-MinHash: three rounds, and for every slot a value from a classic permutation above them all."""
    num_perm = len(pairs)
    slots = [M32] * num_perm
    for x in xs:
        for r in range(3):
            m = splitmix64(x ^ pairs[0][1] ^ 0x6A09E667F3BCC909 ^ r * 0x3C6EF372FE94F82B & M64)
            drawn = m
            slot, rest = divmod((drawn & M32) * num_perm, 2**32)
            while num_perm & (num_perm - 1) and rest < 2**32 % num_perm:
                drawn = splitmix64(drawn)
                slot, rest = divmod((drawn & M32) * num_perm, 2**32)
            slots[slot] = min(slots[slot], r << 30 | m >> 34)
        f = splitmix64(x ^ pairs[0][0] ^ 0xBB67AE8584CAA73B)
        for slot, (a, b) in enumerate(pairs):
            slots[slot] = min(slots[slot], 3 << 30 | (a * f + b) % 2**64 >> 34)
    return slots


def reduction_edges(family, pairs):
    """The x whose value before the reduction lies at the reduction's end, in one slot: random x never get there."""
    if family == "mersenne31":
        a, b = pairs[0]
        zero = -b * pow(a, -1, P31) % P31  # a*zero + b is a multiple of P31
        return [zero, zero + P31]
    if family == "mersenne61-wide":
        for a, b in pairs:
            if a % 2 == 1:
                return [(s - b) * pow(a, -1, 2**64) % 2**64 for s in (P61, M64)]  # a*x + b is s
    return []


def families():
    def record(family, seed, num_perm, sets):
        pairs = coefficients(family, seed, num_perm)
        return {
            "family": family,
            "seed": seed,
            "num_perm": num_perm,
            "inputs": [strings(xs) for xs in sets],
            "signatures": [strings(signature(family, pairs, xs)) for xs in sets],
        }

    dense = list(range(41))
    records = []
    for family, (bits, _, _) in FAMILIES.items():
        generator = random.Random(family)
        scattered = [generator.getrandbits(bits) for _ in range(60)]
        for seed in (1, 42, M32):
            for num_perm in (1, 7, 128):
                edges = [[x] for x in reduction_edges(family, coefficients(family, seed, num_perm))]
                # One set each for the long signatures, and the single values once: the file stays small.
                sets = {
                    1: [[], *edges, dense],
                    7: [[], [0], [2**bits - 1], [P31], [P31 + 1], *edges, dense],
                    128: [scattered if seed == 42 else dense],
                }[num_perm]
                records.append(record(family, seed, num_perm, sets))
    # Found by searching 90 million seeds: in slot 3, a*x + b mod 2^64 is 5 * 2^61 + P61 - 5, one of the 36 values
    # that need the last conditional subtraction.
    records.append(record("mersenne61", 41628356, 7, [[1406817706]]))
    for family, (bits, _, _) in MORE_FAMILIES.items():
        generator = random.Random(family)
        scattered = [generator.getrandbits(bits) for _ in range(60)]
        for seed in (1, M32):
            for num_perm in (1, 2, 3, 7, 33):
                sets = [[], [0], [2**bits - 1], [1, 2], dense, scattered]
                records.append(record(family, seed, num_perm, sets if num_perm < 10 else sets[3:]))
        records.append(record(family, 42, 128, [[5], scattered]))
    records.append(record("fast", 1, 5, [[k * 2654435761 % 2**32 for k in range(400)]]))
    return records


def draws():
    records = []
    for family in [*FAMILIES, "affine32-even", "fast", *PRESETS]:
        for seed in (1, 42):
            for num_perm in (1, 112, 128):
                pairs = [strings(pair) for pair in coefficients(family, seed, num_perm)]
                records.append({
                    "family": family,
                    "seed": seed,
                    "num_perm": num_perm,
                    "first": pairs[:3],
                    "last": pairs[-1],
                })
    return records


# Base hashes


def murmur3_32(data, seed):
    return mmh3.hash(data, seed, signed=False)


def murmur3():
    seeds = [0, 1, 42, 0x9E3779B9, M32]

    def values(data):
        first, _ = mmh3.hash64(data, 0, x64arch=True, signed=False)
        return {"murmur3_32": [murmur3_32(data, seed) for seed in seeds], "murmur3_128": str(first)}

    texts = ["hello", "the quick brown fox", "Straße", "naïve", "nai\u0308ve", "日本語テキスト", "Ω≈ç√∫", "👩\u200d🔬 ok"]
    return {
        "seeds": seeds,
        "bytes": [{"length": n, **values(bytes((i * 7 + 3) % 251 for i in range(n)))} for n in range(41)],
        "texts": [{"text": text, **values(text.encode())} for text in texts],
    }


def fold(x, m):
    high, low = divmod(x * m, 2**64)
    return high ^ low


def word_hash(word):
    h = len(word) ^ 0x9E3779B97F4A7C15
    for start in range(0, len(word), 8):
        h = fold(h ^ int.from_bytes(word[start : start + 8], "little"), 0xA0761D6478BD642F)
    return h


def words_v1(words):
    """The native hash of a shingle of words, at 64 bits; its upper half is the hash at 32 bits."""
    h = 0
    for word in words:
        h = (h * 0xD6E8FEB86659FD93 + word_hash(word.encode())) % 2**64
    return fmix64(h)


def word_shingles():
    sentence = "Straße und Größenordnung 日本語 internationalization Привет, x".split()
    shingles = [["abcdefghijklmnopqrst"[:n]] for n in range(21)]
    shingles += [[word] for word in ("\0", "a\0", "\0a", "éééé", "éééééééé", "日本語テキス", "👩\u200d🔬", "éclair", "e\u0301clair")]
    shingles += [sentence[:n] for n in range(1, 8)]
    shingles += [list(words) for words in ("ab", "ba", "aa", "aaa", "aab", "aba")]
    shingles += [["", ""], ["", "a"], ["a", ""], ["ab", "c"], ["a", "bc"]]
    shingles += [["the", "quick", "brown", "fox", "jumps"], ["0"] * 7]
    records = []
    for words in shingles:
        value = words_v1(words)
        records.append({"words": words, "value32": value >> 32, "value64": str(value)})
    return records


# Banding


def band_key(slots, slot_bits, band):
    data = b"".join(slot.to_bytes(slot_bits // 8, "little") for slot in slots)
    return murmur3_32(data, band ^ 0x9E3779B9) << 32 | murmur3_32(data, band)


def band_keys():
    records = []
    for slot_bits in (32, 64):
        generator = random.Random(slot_bits)
        for bands, rows in ((1, 1), (1, 8), (5, 1), (4, 3), (9, 13), (16, 8)):
            num_perm = bands * rows
            documents = [[generator.getrandbits(slot_bits) for _ in range(num_perm)] for _ in range(2)]
            if num_perm <= 12:
                documents += [[0] * num_perm, [2**slot_bits - 1] * num_perm]
            keys = [
                [band_key(slots[rows * band : rows * (band + 1)], slot_bits, band) for slots in documents]
                for band in range(bands)
            ]
            records.append({
                "slot_bits": slot_bits,
                "bands": bands,
                "rows": rows,
                "signatures": [strings(slots) for slots in documents],
                "keys": [strings(column) for column in keys],
            })
    return records


def error_areas(threshold, bands, rows):
    """The areas of false positives (below the threshold) and false negatives (above it)."""

    def missed(s):
        return (1 - s**rows) ** bands

    def area(f, low, high):
        return round(quad(f, low, high, epsabs=1e-12, epsrel=1e-12, limit=500)[0], 10)

    return area(lambda s: 1 - missed(s), 0, threshold), area(missed, threshold, 1)


def bands_for_threshold():
    cases = []
    for false_positive_weight, false_negative_weight in ((0.5, 0.5), (0.05, 0.95), (0.1, 0.9)):
        for num_perm in (16, 64, 100, 128, 200, 256):
            for threshold in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
                bands, rows = lsh._optimal_param(threshold, num_perm, false_positive_weight, false_negative_weight)
                false_positive_area, false_negative_area = error_areas(threshold, bands, rows)
                cases.append({
                    "num_perm": num_perm,
                    "threshold": threshold,
                    "false_positive_weight": false_positive_weight,
                    "false_negative_weight": false_negative_weight,
                    "bands": bands,
                    "rows": rows,
                    "false_positive_area": false_positive_area,
                    "false_negative_area": false_negative_area,
                })
    return {"source": f"datasketch {version('datasketch')}, datasketch.lsh._optimal_param", "cases": cases}


# Files


def strings(values):
    return [str(value) for value in values]


def layout(value, indent=""):
    """JSON in which only lists and objects that hold others are broken into lines."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(child, (dict, list)) for child in children):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(key)}: {layout(child, inner)}" for key, child in value.items()]
    else:
        lines = [inner + layout(child, inner) for child in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(lines) + "\n" + indent + closing


def write(files):
    """Writes each file, named from the repository's root, with what its function returns."""
    for name, golden in files.items():
        (REPOSITORY / name).write_text(layout(golden()) + "\n", encoding="utf-8", newline="\n")


def main():
    write({
        "vectors/families.json": families,
        "vectors/draws.json": draws,
        "vectors/murmur3.json": murmur3,
        "vectors/words_v1.json": word_shingles,
        "vectors/band_keys.json": band_keys,
        "tests/golden/bands_for_threshold.json": bands_for_threshold,
    })


if __name__ == "__main__":
    main()
