"""Generates a corpus in a shape of the field, of any size: pages of the web, short documents, source files or baskets.

    python generate_shapes.py web --documents 1500000 --texts arxiv-abstracts.jsonl.zst OUT
    python generate_shapes.py short --documents 10000000 --texts arxiv-abstracts.jsonl.zst OUT
    python generate_shapes.py code --documents 500000 --crates ~/.cargo/registry/src OUT
    python generate_shapes.py baskets --documents 1000000 OUT

OUT is a folder. It gets records with `id`, a number, and `text`; baskets have `tokens` instead, or `text` with --as-text.
A copy has `copy_of`, the id of its origin.

    web      lines of at least 80 bytes, three in a row from each place that is drawn, and one word in ten drawn anew from
             all words; log-normal lengths with a mean of 3 kB (median 2 kB, sigma 0.9)
    short    5 to 15 words, drawn as often as they occur in the texts
    code     blocks between blank lines of real source files, twelve in a row, and one identifier in twenty drawn anew;
             log-normal lengths with a mean of 6 kB (median 3.6 kB, sigma 1)
    baskets  2 to 25 of 50,000 items of unequal frequency

TEXTS are JSON Lines with a `text`. CRATES is a folder of crates, of which those of Cargo.lock are read, so that the same
commit has the same sources. Repeated lines and blocks of the sources count once. Words drawn anew make documents unique
that consist of the same lines: they have about a third of their shingles in common.

Every tenth document is a copy of an earlier one, of early ones more often, with an edit that is drawn evenly:

    texts    none; up to 4 % of the words replaced; up to a fifth appended; up to a fifth cut off; with code, an
             identifier renamed in all places
    short    none; a word appended; the last word cut off; a word replaced
    baskets  none; an item added; an item left out

Every draw is a hash of the seed and its place. So the same arguments give the same bytes, fewer documents are the first
of more, and nothing is kept from one document to the next. Needs NumPy, and `zstd` for compressed texts.
"""

import argparse
import itertools
import json
import multiprocessing
import pathlib
import re
import tomllib

import numpy as np

from generate_passages import Vocabulary, drawn, texts

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Documents that are made at once.
BATCH = 2000
COPY_EVERY = 10
ITEMS = 50_000
# Names of items are of these letters: datatrove makes all numbers equal, and no name is a word.
LETTERS = "bcdfghjklmnpqrstvwxz"
# Bytes of source files that are read, and of the longest of them.
CODE_BYTES, FILE_BYTES = 60_000_000, 200_000


class Shape:
    """How documents of text are made of parts of real ones."""

    def __init__(self, token, in_a_row, median_bytes, sigma, replaced, edits):
        self.token, self.in_a_row, self.median_bytes, self.sigma = re.compile(token), in_a_row, median_bytes, sigma
        # Share of words that are drawn anew.
        self.replaced = replaced
        # Kinds of edits of copies.
        self.edits = edits


NONE, REPLACED, APPENDED, CUT, RENAMED = range(5)
# The most that an edit changes: the share of words replaced, appended, or cut off.
MOST = {REPLACED: 0.04, APPENDED: 0.2, CUT: 0.2}
SHAPES = {
    "web": Shape(r"\S+\s*", 3, 2000, 0.9, 0.1, 4),
    "code": Shape(r"(?:\w+|[^\w\s]+)\s*", 12, 3600, 1.0, 0.05, 5),
}
# What is drawn.
ORIGIN, KIND, AMOUNT, LENGTH, PART, WORD, EDIT, ITEM = range(8)


def uniform(hashes):
    """Numbers of at least 0 and below 1."""
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Source:
    """Real texts as tokens, each with the white space behind it. `starts` has the first token of each unit, and the end."""

    def __init__(self, units, token):
        entries, tokens, starts = {}, [], [0]
        for unit in units:
            tokens += [entries.setdefault(found, len(entries)) for found in token.findall(unit)]
            starts.append(len(tokens))
        self.tokens, self.starts = np.array(tokens, np.uint32), np.array(starts, np.int64)
        self.vocabulary = Vocabulary(entries)
        # Escaped white space at the end of each entry, which a document does not end with.
        self.spaces = Vocabulary([entry[len(entry.rstrip()) :] for entry in entries]).sizes
        is_word = [entry[0].isalnum() and "\n" not in entry for entry in entries]
        self.is_word = np.array(is_word, bool)
        # Words as often as they occur, to draw from.
        self.words = self.tokens[self.is_word[self.tokens]]
        if not len(self.words):
            raise SystemExit("the sources have no words; name others with --texts or --crates")
        self.token_bytes = self.vocabulary.sizes[self.tokens].mean()


def lines(paths):
    """Distinct lines of at least 80 bytes, in order."""
    return dict.fromkeys(line + "\n" for path in paths for text in texts(path) for line in text.split("\n") if len(line) >= 80)


def blocks(folder):
    """Distinct blocks between blank lines of the source files of the crates of Cargo.lock, in order."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    found, left = {}, CODE_BYTES
    for name in sorted(f"{package['name']}-{package['version']}" for package in locked):
        for path in sorted(folder.glob(f"{name}/**/*.rs")) + sorted(folder.glob(f"*/{name}/**/*.rs")):
            if left > 0 and path.is_file() and path.stat().st_size <= FILE_BYTES:
                text = path.read_text(errors="replace")
                left -= len(text)
                found.update(dict.fromkeys(block + "\n\n" for block in re.split(r"\n\s*\n", text) if block.strip()))
    return found


def origins(numbers, seed):
    """The document that each of these is made from: itself, or an earlier one that is no copy."""
    share = uniform(drawn(seed, 0, [ORIGIN], numbers))
    earlier = (numbers * share**2).astype(np.uint64)
    earlier -= (earlier % np.uint64(COPY_EVERY) == COPY_EVERY - 1).astype(np.uint64)
    return np.where(numbers % np.uint64(COPY_EVERY) == COPY_EVERY - 1, earlier, numbers)


def edits(numbers, origin, seed, kinds):
    """The kind of edit of each document, and how much of its most is edited."""
    kind = np.where(origin == numbers, NONE, drawn(seed, 0, [KIND], numbers) % np.uint64(kinds)).astype(np.int64)
    return kind, uniform(drawn(seed, 0, [AMOUNT], numbers))


def runs(source, in_a_row, seed, keys, sizes):
    """Row, first token and number of tokens of runs that make documents of these numbers of tokens."""
    units = len(source.starts) - 1
    found, left, active = [], sizes.copy(), np.flatnonzero(sizes > 0)
    while len(active):
        unit = (drawn(seed, 0, [PART], keys[active], left[active]) % np.uint64(units)).astype(np.int64)
        first = source.starts[unit]
        count = np.minimum(source.starts[np.minimum(unit + in_a_row, units)] - first, left[active])
        found.append((active, first, count))
        left[active] -= count
        active = active[left[active] > 0]
    return [np.concatenate(column) for column in zip(*found)] if found else [np.zeros(0, np.int64)] * 3


def of_text(source, shape, numbers, seed):
    """Tokens of documents, and where each document begins in them."""
    origin = origins(numbers, seed)
    kind, amount = edits(numbers, origin, seed, shape.edits)
    first, second = (uniform(drawn(seed, 0, [LENGTH], origin, [half])) for half in (0, 1))
    normal = np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second)
    sizes = np.maximum(20, shape.median_bytes / source.token_bytes * np.exp(shape.sigma * normal)).astype(np.int64)
    appended = np.where(kind == APPENDED, 1 + MOST[APPENDED] * amount * sizes, 0).astype(np.int64)
    rows, starts, counts = runs(source, shape.in_a_row, seed, origin, sizes)
    more = runs(source, shape.in_a_row, seed, numbers + np.uint64(1 << 40), appended)
    rows, starts, counts = (np.concatenate(two) for two in zip((rows, starts, counts), more))
    order = np.argsort(rows, kind="stable")
    rows, starts, counts = rows[order], starts[order], counts[order]
    row = np.repeat(rows, counts)
    tokens = source.tokens[np.arange(len(row)) + np.repeat(starts - np.cumsum(counts) + counts, counts)]
    begins = np.searchsorted(row, np.arange(len(numbers)))
    place = np.arange(len(row)) - begins[row]
    tokens = redrawn(source, tokens, drawn(seed, 0, [WORD], origin[row], place), shape.replaced)
    # Documents whose words are replaced are few.
    edited = np.flatnonzero((kind == REPLACED)[row])
    hashes = drawn(seed, 0, [EDIT], numbers[row[edited]], place[edited])
    tokens[edited] = redrawn(source, tokens[edited], hashes, MOST[REPLACED] * amount[row[edited]])
    tokens = renamed(source, tokens, row, begins, np.where(kind == RENAMED, amount, np.nan))
    stays = place < np.where(kind == CUT, sizes * (1 - MOST[CUT] * amount), sizes + appended)[row]
    return tokens[stays], np.searchsorted(row[stays], np.arange(len(numbers)))


def redrawn(source, tokens, hashes, share):
    """Tokens, of which this share of the words is drawn from all words."""
    changed = np.flatnonzero((uniform(hashes) < share) & source.is_word[tokens])
    tokens = tokens.copy()
    # The low bits, since the high ones have chosen these.
    places = (hashes[changed] & np.uint64(0xFFFFFFFF)) * np.uint64(len(source.words)) >> np.uint64(32)
    tokens[changed] = source.words[places]
    return tokens


def renamed(source, tokens, row, begins, where):
    """Tokens, with one word of the documents of which `where` is a number replaced in all places by another."""
    sizes = np.diff(np.append(begins, len(row)))
    chosen = np.flatnonzero(~np.isnan(where) & (sizes > 0))
    old, new = np.full(len(begins), -1), np.zeros(len(begins), np.uint32)
    old[chosen] = tokens[begins[chosen] + (where[chosen] * sizes[chosen]).astype(np.int64)]
    old[chosen] = np.where(source.is_word[old[chosen]], old[chosen], -1)
    new[chosen] = source.words[(where[chosen] * 7919 % 1 * len(source.words)).astype(np.int64)]
    return np.where(tokens == old[row], new[row], tokens)


def of_words(source, numbers, seed):
    """Tokens of short documents, and where each document begins in them."""
    origin = origins(numbers, seed)
    kind, amount = edits(numbers, origin, seed, 4)
    # A word is replaced, appended or cut off.
    length = 5 + (drawn(seed, 0, [LENGTH], origin) % np.uint64(11)).astype(np.int64)
    sizes = length + (kind == APPENDED) - (kind == CUT)
    row = np.repeat(np.arange(len(numbers)), sizes)
    begins = np.cumsum(sizes) - sizes
    place = np.arange(len(row)) - begins[row]
    is_own = np.where(kind == REPLACED, (amount * length).astype(np.int64), length)[row] == place
    is_own &= (kind != NONE)[row]
    key = np.where(is_own, numbers[row] + np.uint64(1 << 40), origin[row])
    return source.words[drawn(seed, 0, [WORD], key, place) % np.uint64(len(source.words))], begins


def baskets(numbers, seed):
    """The items of each basket."""
    origin = origins(numbers, seed)
    kind, _ = edits(numbers, origin, seed, 3)
    length = 2 + (drawn(seed, 0, [LENGTH], origin) % np.uint64(24)).astype(np.int64)
    # The last item is added, or left out.
    sizes = length + (kind == 1) - (kind == 2)
    row = np.repeat(np.arange(len(numbers)), sizes)
    place = np.arange(len(row)) - (np.cumsum(sizes) - sizes)[row]
    key = np.where(place >= length[row], numbers[row] + np.uint64(1 << 40), origin[row])
    items = (ITEMS * uniform(drawn(seed, 0, [ITEM], key, place)) ** 3).astype(np.int64)
    found = np.unique(row * ITEMS + items)
    return np.split(found % ITEMS, np.searchsorted(found, np.arange(1, len(numbers)) * ITEMS)), origin


def names():
    """The name of each item."""
    return ["".join(letters) for letters in itertools.islice(itertools.product(LETTERS, repeat=4), ITEMS)]


def records(options, source, numbers):
    """The lines of these documents."""
    if options.shape == "baskets":
        found, origin = baskets(numbers, options.seed)
        named = ([source[item] for item in items] for items in map(np.ndarray.tolist, found))
        field, values = "tokens", (json.dumps(items).encode() for items in named)
        if options.as_text:
            field, values = "text", (b'"%b"' % " ".join(items).encode() for items in named)
    else:
        make = of_words if options.shape == "short" else lambda *rest: of_text(rest[0], SHAPES[options.shape], *rest[1:])
        tokens, begins = make(source, numbers, options.seed)
        joined, ends = source.vocabulary.joined(tokens)
        lasts = np.append(begins[1:], len(tokens)) - 1
        bounds = zip(np.append(0, ends)[begins].tolist(), (ends[lasts] - source.spaces[tokens[lasts]]).tolist())
        field, values = "text", (b'"%b"' % joined[start:end] for start, end in bounds)
        origin = origins(numbers, options.seed)
    for number, of, value in zip(numbers.tolist(), origin.tolist(), values):
        copy = b"" if of == number else b', "copy_of": "%d"' % of
        yield b'{"id": "%d", "%b": %b%b}\n' % (number, field.encode(), value, copy)


def write(options, source, path, first, last):
    with open(path, "wb") as output:
        for start in range(first, last, BATCH):
            output.writelines(records(options, source, np.arange(start, min(start + BATCH, last), dtype=np.uint64)))


def generate(options):
    """Writes the files of a corpus, each by a process."""
    source = names()
    if options.shape in ("web", "short"):
        source = Source(lines(options.texts), SHAPES["web"].token)
    elif options.shape == "code":
        source = Source(blocks(options.crates.expanduser()), SHAPES["code"].token)
    options.output.mkdir(parents=True)
    bounds = [options.documents * i // options.files for i in range(options.files + 1)]
    fork = multiprocessing.get_context("fork")
    writers = [
        fork.Process(target=write, args=(options, source, options.output / f"{i:05d}.jsonl", first, last))
        for i, (first, last) in enumerate(zip(bounds, bounds[1:]))
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    if any(writer.exitcode for writer in writers):
        raise SystemExit("a file could not be written; see above")


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=["web", "short", "code", "baskets"])
    parser.add_argument("output", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--texts", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--crates", type=pathlib.Path, default=pathlib.Path("~/.cargo/registry/src"))
    parser.add_argument("--as-text", action="store_true", help="write baskets as texts of words")
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    generate(parse())
