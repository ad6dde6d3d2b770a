"""Generates a corpus of any size with repeated passages, from the words and the shapes of a real one.

    python generate_passages.py --corpus arxiv-abstracts.jsonl.zst --units sentences --bytes 1e9 OUT.jsonl
    python generate_passages.py --corpus driver-docs.jsonl.zst --units lines --bytes 1e9 OUT.jsonl

CORPUS has a record with a `text` per line. OUT gets records with `id` and `text`, of about so many bytes of text.

Each document has the shape of a real one: as many units (sentences or lines), as many words in each, and the same white
space between them. Its words are drawn from the words of the corpus, as often as they occur there. So no text repeats
another by more than a few words, but for what repeats on purpose:

    copies       each document is drawn from fewer originals, and has their words (--copies: documents per original)
    edits        but for some units, whose words are drawn again (--edited: their share)
    boilerplate  units that at least ten documents of CORPUS have stay as they are (--frequent)

The defaults of --copies and --edited are 2 and 0.1 for sentences, 1.5 and 0.2 for lines. With these, passages of
100 bytes cover 48 and 49 % of what is made of abstracts and of API pages, and those of 200 bytes 46 and 42 %. In
the real corpora they are 45 and 48 %, 45 and 32 %.

Every draw is a hash of the seed and its place. So the covered share does not depend on the size, nothing is kept
from one document to the next, and the same arguments give the same bytes. Needs NumPy, and `zstd` for a compressed
corpus. Memory: 0.3 GB for abstracts of 47 MB, 0.5 GB for API pages of 80 MB, whatever the size of OUT.
"""

import argparse
import array
import collections
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

# A sentence with the white space behind it, or a line with its end.
UNITS = {
    "sentences": re.compile(r".*?(?:[.?!]\s+|\n|$)", re.DOTALL),
    "lines": re.compile(r"[^\n]*\n|[^\n]+$"),
}
# Documents per original, and the share of the units that are edited.
REPEATS = {"sentences": (2, 0.1), "lines": (1.5, 0.2)}
TOKENS = re.compile(r"\S+|\s+")
# Documents that are made at once.
BATCH = 2000


def texts(path):
    """The text of each record."""
    if path.suffix != ".zst":
        return (json.loads(line)["text"] for line in open(path, "rb"))
    with subprocess.Popen(["zstd", "-dcq", path], stdout=subprocess.PIPE) as unpacked:
        lines = unpacked.stdout.read().splitlines()
    return (json.loads(line)["text"] for line in lines)


class Vocabulary:
    """Strings by number, escaped for JSON."""

    def __init__(self, entries):
        escaped = [json.dumps(entry, ensure_ascii=False)[1:-1].encode() for entry in entries]
        self.bytes = np.frombuffer(b"".join(escaped), np.uint8)
        self.sizes = np.array([len(entry) for entry in escaped], np.int64)
        self.ends = np.cumsum(self.sizes)

    def joined(self, entries):
        """These entries, one after another, and where each of them ends."""
        sizes = self.sizes[entries]
        ends = np.cumsum(sizes)
        source = np.arange(ends[-1]) + np.repeat(self.ends[entries] - ends, sizes)
        return self.bytes[source].tobytes(), ends


class Shapes:
    """The documents of a corpus as tokens: words, and what stands between them.

    `tokens` are numbers in the vocabulary, `units` the unit of each token, `starts` the first token of
    each document and `fixed` whether a token stays as it is. `words` are the tokens that are words.
    """

    def __init__(self, path, pattern, frequent):
        documents_with = collections.Counter()
        for text in texts(path):
            documents_with.update({unit for unit in pattern.findall(text) if unit})
        entries = {}
        tokens, units, starts = array.array("I"), array.array("I"), array.array("Q", [0])
        is_fixed = bytearray()
        self.text_bytes = 0
        unit_number = 0
        for text in texts(path):
            self.text_bytes += len(text.encode())
            for unit in pattern.findall(text):
                stays = documents_with[unit] >= frequent
                for token in TOKENS.findall(unit):
                    tokens.append(entries.setdefault(token, len(entries)))
                    units.append(unit_number)
                    is_fixed.append(stays or token.isspace())
                unit_number += 1
            starts.append(len(tokens))
        self.tokens = np.frombuffer(tokens, np.uint32)
        self.units = np.frombuffer(units, np.uint32)
        self.starts = np.frombuffer(starts, np.uint64).astype(np.int64)
        self.fixed = np.frombuffer(is_fixed, bool)
        is_word = np.array([not entry.isspace() for entry in entries])
        self.words = self.tokens[is_word[self.tokens]]
        self.vocabulary = Vocabulary(entries)


def mixed(values):
    """A hash of 64 bits of each value (the finaliser of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def drawn(seed, stream, *places):
    """A hash of the seed, the number of what is drawn, and its place."""
    value = mixed(np.uint64([seed * 8 + stream]))
    for place in places:
        value = mixed(value + np.asarray(place).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
    return value


def batch(shapes, numbers, originals, options):
    """The texts of the documents with these numbers, one after another, and the size of each."""
    seed = options.seed
    original = drawn(seed, 0, numbers) % np.uint64(originals)
    shape = (drawn(seed, 1, original) % np.uint64(len(shapes.starts) - 1)).astype(np.int64)
    counts = shapes.starts[shape + 1] - shapes.starts[shape]
    row = np.repeat(np.arange(len(numbers)), counts)
    firsts = np.cumsum(counts) - counts
    token = np.arange(counts.sum()) - np.repeat(firsts - shapes.starts[shape], counts)
    chance = drawn(seed, 2, numbers[row], shapes.units[token])
    is_edited = chance < np.uint64(options.edited * (2**64 - 2**11))
    # An edited unit draws its words from the number of the document, another from that of the original.
    origin = np.where(is_edited, numbers[row] + np.uint64(1 << 40), original[row])
    words = shapes.words[drawn(seed, 3, origin, token) % np.uint64(len(shapes.words))]
    entries = np.where(shapes.fixed[token], shapes.tokens[token], words)
    joined, ends = shapes.vocabulary.joined(entries)
    return joined, np.diff(np.append(0, ends)[np.append(firsts, len(token))])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--units", choices=UNITS, required=True)
    parser.add_argument("--bytes", type=float, required=True, help="of all texts, about")
    parser.add_argument("--copies", type=float, help="documents per original")
    parser.add_argument("--edited", type=float, help="share of the units")
    parser.add_argument("--frequent", type=int, default=10, help="documents")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    copies, edited = REPEATS[options.units]
    options.copies = copies if options.copies is None else options.copies
    options.edited = edited if options.edited is None else options.edited
    shapes = Shapes(options.corpus, UNITS[options.units], options.frequent)
    mean = shapes.text_bytes / (len(shapes.starts) - 1)
    documents = max(1, round(options.bytes / mean))
    originals = max(1, round(documents / options.copies))
    written = 0
    with open(options.output, "wb") as output:
        for first in range(0, documents, BATCH):
            numbers = np.arange(first, min(first + BATCH, documents), dtype=np.uint64)
            text, sizes = batch(shapes, numbers, originals, options)
            start = 0
            for number, size in zip(numbers.tolist(), sizes.tolist()):
                record = b'{"id": "%d", "text": "%b"}\n' % (number, text[start : start + size])
                output.write(record)
                start += size
            written += start
    print(f"{documents} documents of {originals} originals, {written} bytes as JSON", file=sys.stderr)


if __name__ == "__main__":
    main()
