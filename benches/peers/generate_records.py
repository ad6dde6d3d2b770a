"""Generates two files of records of people, of which half are in both, and the truth.

    python generate_records.py --records 1000000 --seed 1 OUT

Writes to the folder OUT:

    a.csv            records of the first file, without errors
    b.csv            as many records, with errors; half describe a person of a.csv
    truth.csv        id_a,id_b: one line per person in both files
    equivalents.csv  given names and their nicknames, one set of equal names per line

Each record has an id and the eight fields of FIELDS. People live in households, whose members
share house number, street, town, postcode, phone and mostly the surname, so that the nearest wrong
record often is a relative at the same address. Names, streets and towns follow a Zipf-like law.
No file has a person twice.

All records of b.csv, with a partner or without, have errors, drawn in this order:

    nicknames  a tenth of the records have a nickname in place of the given name
    swaps      5 % of fields have exchanged their values with another field (SWAPPED)
    typos      20 % of fields have one: a character inserted, deleted or replaced, or two exchanged
    missing    10 % of fields are empty

The same arguments and version of numpy give the same bytes. Names are made of syllables, so that
no other file is needed. A million records take about 20 s and 1.7 GB of memory.
"""

import argparse
import datetime
import pathlib

import numpy as np

FIELDS = [
    "given_name",
    "surname",
    "house_number",
    "street",
    "town",
    "postcode",
    "date_of_birth",
    "phone",
]
# Fields that exchange their values. Each is in one pair, so its chance is that of its pair.
SWAPPED = [
    ("given_name", "surname"),
    ("house_number", "street"),
    ("town", "postcode"),
    ("date_of_birth", "phone"),
]
# Fields whose typos are digits.
DIGITS = {"house_number", "postcode", "date_of_birth", "phone"}

NICKNAME_SHARE = 0.10
SWAP_SHARE = 0.05
TYPO_SHARE = 0.20
MISSING_SHARE = 0.10
# Members of a household who bear its surname.
SAME_SURNAME_SHARE = 0.85

# Longest field in bytes; a typo can add one.
WIDTH = 31

# A given name and its nicknames. No name is in two sets.
NICKNAMES = """
abigail abby gail
alexander alex sandy
andrew andy drew
anthony tony
barbara babs barb
benjamin ben benny
catherine cathy kate katie
charles charlie chuck
christopher chris kit
cynthia cindy
daniel dan danny
david dave davy
deborah deb debbie
dorothy dot dotty
edward ed eddie ned ted
eleanor nell nellie
elizabeth beth betty liz lizzie
frances fran fanny
frederick fred freddy
gregory greg
henry harry hank
jacob jake
james jim jimmy
jennifer jen jenny
jessica jess jessie
john jack johnny
joseph joe joey
joshua josh
judith judy
kenneth ken kenny
lawrence larry
leonard len lenny
margaret maggie meg peggy
martha patty marty
matthew matt
michael mick mike
nancy nan
nathaniel nat nate
nicholas nick nicky
pamela pam
patrick paddy pat
peter pete
philip phil
rebecca becca becky
richard dick rick ricky
robert bob bobby rob robbie
ronald ron ronnie
samuel sam sammy
sarah sadie sally
stephen steve
susan sue susie
theodore theo
thomas tom tommy
timothy tim
victoria vicky tori
vincent vince vinny
virginia ginny
walter walt wally
william bill billy will
zachary zach
"""

STREET_KINDS = [
    "street",
    "road",
    "avenue",
    "lane",
    "close",
    "drive",
    "place",
    "court",
    "way",
    "square",
]


def syllable_names(rng, count, syllables):
    """`count` distinct names of `syllables` (least, most) syllables, the frequent sounds first."""
    onsets = (
        "m l b r d s t h k n c g j p f w v st br th gr ch sh tr cl bl fr pr kr dr y qu z".split()
    )
    vowels = "a e i o u ee ia ai y oo ou ei au".split()
    inner = ["", "", "", "n", "r", "l", "", "s", "m", "ll", "t", "nd"]
    final = [
        "",
        "n",
        "s",
        "r",
        "",
        "l",
        "t",
        "nd",
        "y",
        "ns",
        "rd",
        "tt",
        "ck",
        "m",
        "ng",
        "th",
        "rt",
        "x",
    ]
    names, known = [], set()
    while len(names) < count:
        length = int(rng.integers(syllables[0], syllables[1] + 1))
        parts = [onsets, vowels, inner] * (length - 1) + [onsets, vowels, final]
        # The square of a uniform number prefers the first entries of each list.
        name = "".join(options[int(len(options) * rng.random() ** 2)] for options in parts)
        if 3 <= len(name) <= 12 and name not in known:
            known.add(name)
            names.append(name)
    return names


def zipf_ranks(rng, count, size, offset):
    """`count` ranks below `size`, rank r with a probability proportional to 1 / (r + offset)."""
    cumulative = np.cumsum(1.0 / (np.arange(size) + offset))
    ranks = np.searchsorted(cumulative, rng.random(count) * cumulative[-1], side="right")
    return np.minimum(ranks, size - 1)


def given_names(rng):
    """Given names by rank. Those with nicknames stand among the more frequent ones."""
    sets = [line.split() for line in NICKNAMES.strip().splitlines()]
    nicknames = {names[0]: names[1:] for names in sets}
    taken = {name for names in sets for name in names}
    made = [name for name in syllable_names(rng, 3_000, (2, 3)) if name not in taken]
    formal = list(nicknames)
    rng.shuffle(formal)
    # Every second of the first ranks.
    mixed = [name for pair in zip(formal, made, strict=False) for name in pair]
    return mixed + made[len(formal) :], nicknames


def texts(values):
    """Values as an array of bytes."""
    return np.asarray(values).astype(f"S{WIDTH}")


def people(rng, count):
    """Fields of `count` people, in households, as arrays of bytes; and nicknames by given name."""
    sizes = rng.choice([1, 2, 3, 4, 5], size=count, p=[0.36, 0.32, 0.14, 0.12, 0.06])
    household = np.repeat(np.arange(count), sizes)[:count]
    homes = int(household[-1]) + 1

    given, nicknames = given_names(rng)
    surnames = texts(syllable_names(rng, 20_000, (1, 3)))
    towns = texts(syllable_names(rng, 2_000, (2, 3)))
    kinds = zipf_ranks(rng, 6_000, len(STREET_KINDS), 1.0)
    roads = zip(syllable_names(rng, len(kinds), (1, 3)), kinds, strict=True)
    streets = texts([f"{name} {STREET_KINDS[kind]}" for name, kind in roads])

    # Of households.
    town = zipf_ranks(rng, homes, len(towns), 10.0)
    family = zipf_ranks(rng, homes, len(surnames), 10.0)
    street = zipf_ranks(rng, homes, len(streets), 20.0)
    house = 1 + np.floor(150 * rng.random(homes) ** 1.5).astype(np.int64)
    # Postcodes of a town are neighbours: more for the larger ones.
    quarters = np.maximum(1, 60 // (1 + np.arange(len(towns)) // 10))
    first_postcode = 10_000 + 40 * rng.permutation(len(towns))
    quarter = np.floor(rng.random(homes) * np.minimum(quarters[town], 40)).astype(np.int64)
    postcode = first_postcode[town] + quarter
    # An area code per town, and seven digits.
    phone = (200 + town % 700) * 10**7 + rng.integers(10**6, 10**7, homes)

    # Of people.
    name = texts(given)[zipf_ranks(rng, count, len(given), 10.0)]
    own = zipf_ranks(rng, count, len(surnames), 10.0)
    surname = np.where(rng.random(count) < SAME_SURNAME_SHARE, family[household], own)
    first_day = datetime.date(1925, 1, 1)
    births = np.datetime64(first_day) + rng.integers(0, 85 * 365, count).astype("timedelta64[D]")

    fields = {
        "given_name": name,
        "surname": surnames[surname],
        "house_number": texts(house)[household],
        "street": streets[street][household],
        "town": towns[town][household],
        "postcode": texts(postcode)[household],
        "date_of_birth": texts(births),
        "phone": texts(phone)[household],
    }
    return fields, nicknames


def with_nicknames(rng, names, nicknames):
    """Replaces the given name of a tenth of the records by a nickname. Returns their number."""
    eligible = np.flatnonzero(np.isin(names, np.array(list(nicknames), dtype=names.dtype)))
    chosen = rng.choice(
        eligible, size=min(len(eligible), round(NICKNAME_SHARE * len(names))), replace=False
    )
    draws = rng.random(len(chosen))
    known = {
        formal.encode(): [nick.encode() for nick in nicks] for formal, nicks in nicknames.items()
    }
    replaced = []
    for formal, draw in zip(names[chosen].tolist(), draws.tolist(), strict=True):
        replaced.append(known[formal][int(draw * len(known[formal]))])
    names[chosen] = np.array(replaced, dtype=names.dtype) if replaced else names[chosen]
    return len(chosen)


def with_swaps(rng, fields):
    """Exchanges values of the pairs of fields SWAPPED. Returns the number of fields that moved."""
    moved = 0
    for left, right in SWAPPED:
        chosen = np.flatnonzero(rng.random(len(fields[left])) < SWAP_SHARE)
        kept = fields[left][chosen].copy()
        fields[left][chosen] = fields[right][chosen]
        fields[right][chosen] = kept
        moved += 2 * len(chosen)
    return moved


def with_typos(rng, values, alphabet):
    """Gives 20 % of the values a typo: inserts, deletes or replaces a character, or exchanges two.

    Returns the number of values that differ afterwards."""
    chosen = np.flatnonzero((rng.random(len(values)) < TYPO_SHARE) & (values != b""))
    texts = np.ascontiguousarray(values[chosen]).view(np.uint8).reshape(len(chosen), WIDTH)
    lengths = (texts != 0).sum(axis=1)
    rows = np.arange(len(chosen))
    kind = rng.integers(0, 4, len(chosen))  # 0 insert, 1 delete, 2 replace, 3 exchange
    place = np.floor(rng.random(len(chosen)) * lengths).astype(np.int64)
    letters = np.frombuffer(alphabet.encode(), np.uint8)
    drawn = rng.integers(0, len(letters), len(chosen))
    # A letter other than that at the place.
    drawn = np.where(letters[drawn] == texts[rows, place], (drawn + 1) % len(letters), drawn)
    letter = letters[drawn]

    neighbour = np.where(place + 1 < lengths, place + 1, np.maximum(place - 1, 0))
    kind = np.where((kind == 3) & (texts[rows, place] == texts[rows, neighbour]), 2, kind)
    # A value of one character is not deleted, and one of full width not made longer.
    kind = np.where((kind == 1) & (lengths == 1), 2, kind)
    kind = np.where((kind == 0) & (lengths == WIDTH), 2, kind)

    column = np.arange(WIDTH)[None, :]
    source = np.broadcast_to(column, texts.shape).copy()
    later = column > place[:, None]
    source -= (later & (kind == 0)[:, None]).astype(np.int64)
    source += ((column >= place[:, None]) & (kind == 1)[:, None]).astype(np.int64)
    is_end = source >= WIDTH
    changed = np.take_along_axis(texts, np.minimum(source, WIDTH - 1), axis=1)
    changed[is_end] = 0
    # The inserted letter stands at the place, and what stood there after it.
    written = (kind == 0) | (kind == 2)
    changed[rows[written], place[written]] = letter[written]
    swapped = np.flatnonzero(kind == 3)
    changed[swapped, place[swapped]] = texts[swapped, neighbour[swapped]]
    changed[swapped, neighbour[swapped]] = texts[swapped, place[swapped]]

    after = np.ascontiguousarray(changed).view(f"S{WIDTH}").ravel()
    different = int((after != values[chosen]).sum())
    values[chosen] = after
    return different


def with_missing(rng, values):
    """Empties 10 % of the values. Returns their number."""
    chosen = rng.random(len(values)) < MISSING_SHARE
    values[chosen] = b""
    return int(chosen.sum())


def write_csv(path, header, columns):
    """Writes rows of values without commas or quotes."""
    texts = [values.astype("U").tolist() for values in columns]
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(header) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*texts, strict=True))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=pathlib.Path, metavar="OUT", help="folder to write to")
    parser.add_argument(
        "--records", type=int, default=1_000_000, help="records per file (default: 1000000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of everything drawn (default: 1)")
    options = parser.parse_args()
    count = options.records
    if count < 2:
        parser.error("--records must be 2 or more")
    rng = np.random.default_rng(options.seed)

    shared = count // 2
    everyone, nicknames = people(rng, 2 * count - shared)
    order = rng.permutation(2 * count - shared)
    # The first `count` of the order are in a, the last `count` in b: those in the middle in both.
    in_a, in_b = order[:count], order[count - shared :]
    in_b = in_b[rng.permutation(count)]
    a = {field: everyone[field][in_a] for field in FIELDS}
    b = {field: everyone[field][in_b] for field in FIELDS}

    nicked = with_nicknames(rng, b["given_name"], nicknames)
    moved = with_swaps(rng, b)
    typos = missing = 0
    for field in FIELDS:
        alphabet = "0123456789" if field in DIGITS else "abcdefghijklmnopqrstuvwxyz"
        typos += with_typos(rng, b[field], alphabet)
        missing += with_missing(rng, b[field])

    place_b = np.full(2 * count - shared, -1)
    place_b[in_b] = np.arange(count)
    partner = place_b[in_a]
    ids_a, ids_b = (np.char.add(letter, np.arange(count).astype("S8")) for letter in (b"a", b"b"))

    options.output.mkdir(parents=True, exist_ok=True)
    header = ["id", *FIELDS]
    write_csv(options.output / "a.csv", header, [ids_a, *(a[field] for field in FIELDS)])
    write_csv(options.output / "b.csv", header, [ids_b, *(b[field] for field in FIELDS)])
    true = np.flatnonzero(partner >= 0)
    write_csv(options.output / "truth.csv", ["id_a", "id_b"], [ids_a[true], ids_b[partner[true]]])
    sets = [line.split() for line in NICKNAMES.strip().splitlines()]
    lines = "".join(",".join(names) + "\n" for names in sets)
    (options.output / "equivalents.csv").write_text(lines, encoding="utf-8", newline="\n")

    cells = count * len(FIELDS)
    print(f"{count:,} records per file, {len(true):,} people in both")
    print(f"errors in b: nicknames in {nicked / count:.3f} of the records; of the fields,")
    print(
        f"{moved / cells:.3f} swapped, {typos / cells:.3f} with a typo, {missing / cells:.3f} empty"
    )


if __name__ == "__main__":
    main()
