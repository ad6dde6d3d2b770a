"""Writes the golden values that other tools compute: rensa.json beside this file, and vectors/text_dedup.json.

    pip install numpy scipy mmh3 datasketch xxhash rensa==0.5.0
    pip install --no-deps text-dedup==0.4.0
    python tests/golden/peers.py

text-dedup's command line needs `datasets` and more, none of which its signatures touch; they are replaced by
stand-ins.
"""

import sys
from importlib.metadata import version
from unittest.mock import MagicMock

import numpy
import rensa
from generate import write


def rensa_signatures():
    """R-MinHash of tokens: token i is the (i mod 26)th letter and i in decimal, repeated 1 + i mod 9 times."""

    def token(i):
        return f"{chr(ord('a') + i % 26)}{i}" * (1 + i % 9)

    cases = []
    seeds = [0, 1, 42, 191873, 2**32 - 1]
    for num_perm in (1, 2, 3, 16, 33, 100, 128, 256):
        for n, tokens in enumerate((0, 1, 3, 30, 300)):
            if tokens == 0 and num_perm > 3:
                continue
            seed = seeds[(n + num_perm) % len(seeds)]
            sketch = rensa.RMinHash(num_perm, seed)
            sketch.update([token(i) for i in range(tokens)])
            cases.append({"num_perm": num_perm, "seed": seed, "tokens": tokens, "signature": list(sketch.digest())})
    # Hashes found by inverting the mixer: the slot is drawn again, in the last three twice.
    drawn_again = []
    for num_perm, seed, x in DRAWN_AGAIN:
        (row,) = rensa.RMinHash.digest_matrix_from_token_hash_sets([[x]], num_perm, seed).to_rows()
        (slot,) = [slot for slot, value in enumerate(row) if value < 2**30]
        drawn_again.append({"num_perm": num_perm, "seed": seed, "hash": str(x), "slot": slot, "value": row[slot]})
    return {"source": f"rensa {version('rensa')}, RMinHash", "cases": cases, "drawn_again": drawn_again}


DRAWN_AGAIN = [
    # (num_perm, seed, hash)
    (3, 1, 3319366362167053896),
    (100, 42, 9090332099102698294),
    (1000, 7, 8513414980120939804),
    (16228, 42, 2116380303941502792),
    (16228, 42, 6279236138400323483),
    (16228, 42, 17042159645858925312),
]


TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "the quick  brown\tfox,\n\njumps -- over the lazy dog",
    "",
    "one two three four",
    "one two three four five",
    "?!?!",
    "?!?",
    "snake_case x² ½ ⅷ ١٢٣ 三 naïve nai\u0308ve Straße ǅ",
    "ΟΔΟΣ ΟΔΟΣ. ΣΑΣ İstanbul I ẞ ﬁ Ω Å",
    "हिन्दी भाषा में लिखा हुआ पाठ",
    "日本語、テキスト。空白なし・全角　文字",
    "emoji 👩\u200d🔬 and 🇩🇪 flags, zero\u200bwidth, soft\u00adhyphen, nbsp\u00a0end",
    "e-mail: a.b@c.example; 1,234.5 don't can’t l'été",
    "مرحبا بالعالم هذا نص عربي قصير",
    "ไทย ภาษา คำ ที่ ยาว กว่า",
    "one two three four five six seven eight nine ten " * 4,
]


STAND_INS = [
    *("click", "click_option_group", "datasets", "datasets.utils", "datasets.utils.version", "ftfy", "psutil"),
    *("pyspark", "regex", "rich", "rich.logging", "spacy", "tqdm", "urllib3"),
]


def text_dedup_signatures():
    """Signatures of texts by `embed_func`, called as the command line calls it by default."""
    for name in STAND_INS:
        sys.modules.setdefault(name, MagicMock())
    from text_dedup import minhash
    from text_dedup.utils import ngrams, sha1_hash

    dtype, max_hash, prime = numpy.uint64, numpy.uint32(2**32 - 1), numpy.uint64(2**61 - 1)
    cases = []
    for num_perm, size in ((250, 5), (16, 5), (16, 1), (16, 7)):
        generator = numpy.random.RandomState(minhash.SEED)
        permutations = (
            generator.randint(1, prime, size=(num_perm,), dtype=dtype),
            generator.randint(0, prime, size=(num_perm,), dtype=dtype),
        )
        signatures = []
        for text in TEXTS[:2] if num_perm == 250 else TEXTS:
            record = minhash.embed_func(
                text,
                0,
                num_perm=num_perm,
                ngram_size=size,
                min_length=5,
                hashranges=[(0, num_perm)],
                permutations=permutations,
                hash_func=lambda data: sha1_hash(data, d=32),
                dtype=dtype,
                max_hash=max_hash,
                modulo_prime=prime,
            )
            (row,) = record[minhash.SIGNATURE_COLUMN]
            signatures.append([int(slot) for slot in numpy.frombuffer(row, dtype=">u8")])
        cases.append({"num_perm": num_perm, "size": size, "signatures": signatures})
    shingles = [[" ".join(gram) for gram in ngrams(minhash.NON_ALPHA.split(text.lower()), 5, 5)] for text in TEXTS]
    return {
        "source": f"text-dedup {version('text-dedup')}, minhash.embed_func, by Python {sys.version.split()[0]}",
        "licence": "Apache-2.0",
        "texts": TEXTS,
        "shingles": shingles,
        "cases": cases,
    }


def main():
    write({
        "tests/golden/rensa.json": rensa_signatures,
        "vectors/text_dedup.json": text_dedup_signatures,
    })


if __name__ == "__main__":
    main()
