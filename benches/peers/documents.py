"""The documents that all tools get: sets of seeded random hashes, and texts of a corpus.

A file of hashed documents is little-endian: the 8 bytes `SGHASHES`; the number of documents n and the number of hashes
as u64; n + 1 offsets as i64; the hashes as u64. The hashes of document i are `hashes[offsets[i]:offsets[i + 1]]`. Tools
with 32-bit hashes take the low halves.
"""

import dataclasses
import functools
import json

import numpy as np

from shingling import WORDS

# Bytes per window, for tools that do not split texts into words.
WINDOW_BYTES = 9


@dataclasses.dataclass(frozen=True)
class Documents:
    """Hashed documents in one flat array."""

    hashes: np.ndarray  # u64
    offsets: np.ndarray  # i64, one more than documents

    def __len__(self):
        return len(self.offsets) - 1

    def prefix(self, count):
        """The first `count` documents, without a copy."""
        return Documents(self.hashes[: self.offsets[count]], self.offsets[: count + 1])

    @functools.cached_property
    def low(self):
        """Low halves of the hashes."""
        return self.hashes.astype(np.uint32)

    def write(self, path):
        """Writes the file format described above."""
        with open(path, "wb") as file:
            file.write(b"SGHASHES")
            file.write(np.array([len(self), len(self.hashes)], "<u8").tobytes())
            file.write(self.offsets.astype("<i8").tobytes())
            file.write(self.hashes.astype("<u8").tobytes())


def of_size(shingles, count):
    """`count` documents of `shingles` distinct hashes each. Fewer documents are a prefix of more."""
    random = np.random.default_rng([1, shingles])
    hashes = random.integers(0, 2**64, shingles * count, dtype=np.uint64)
    return Documents(hashes, np.arange(count + 1, dtype=np.int64) * shingles)


def pairs(shingles, count):
    """Pairs of documents (rows 2i and 2i + 1) that share two thirds of their hashes, for a similarity of about one half;
    and the exact similarity."""
    shared = round(shingles * 2 / 3)
    random = np.random.default_rng([3, shingles])
    rows = random.integers(0, 2**64, (2 * count, shingles), dtype=np.uint64)
    rows[1::2, :shared] = rows[::2, :shared]
    offsets = np.arange(2 * count + 1, dtype=np.int64) * shingles
    return Documents(rows.ravel(), offsets), shared / (2 * shingles - shared)


def text_pairs(shingles, count):
    """Pairs of texts of random words (rows 2i and 2i + 1) with `shingles` shingles of words each, which share two thirds
    of them; and the exact similarity."""
    shared = round(shingles * 2 / 3)
    random = np.random.default_rng([4, shingles])
    rows = random.integers(0, 1 << 40, (2 * count, shingles + WORDS - 1))
    rows[1::2, : shared + WORDS - 1] = rows[::2, : shared + WORDS - 1]
    return [" ".join(f"{word:x}" for word in row) for row in rows.tolist()], shared / (2 * shingles - shared)


def letter_pairs(shingles, count):
    """Pairs of texts of random letters with `shingles` windows of bytes each, which share two thirds of them; and the
    exact similarity of each pair."""
    size = shingles + WINDOW_BYTES - 1
    shared = round(shingles * 2 / 3) + WINDOW_BYTES - 1
    random = np.random.default_rng([4, shingles])
    rows = random.integers(ord("a"), ord("z") + 1, (2 * count, size), dtype=np.uint8)
    rows[1::2, :shared] = rows[::2, :shared]
    texts = [row.tobytes().decode() for row in rows]

    def windows(text):
        return {text[i : i + WINDOW_BYTES] for i in range(shingles)}

    def similarity(a, b):
        return len(a & b) / len(a | b)

    exact = [similarity(windows(a), windows(b)) for a, b in zip(texts[::2], texts[1::2])]
    return texts, np.array(exact)


@dataclasses.dataclass(frozen=True)
class Corpus:
    """JSON Lines records with texts."""

    name: str
    lines: list  # bytes, each with its newline

    @classmethod
    def read(cls, path):
        """Reads a JSON Lines file, plain or zstd."""
        data = path.read_bytes()
        if path.suffix == ".zst":
            import zstandard

            data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
        return cls(path.name.split(".")[0], [line + b"\n" for line in data.splitlines() if line.strip()])

    def __len__(self):
        return len(self.lines)

    def every(self, step):
        """Every `step`-th document."""
        return Corpus(self.name, self.lines[::step])

    @functools.cached_property
    def texts(self):
        return [json.loads(line)["text"] for line in self.lines]

    @property
    def input_bytes(self):
        """Bytes of the records."""
        return sum(map(len, self.lines))

    @property
    def text_bytes(self):
        return sum(len(text.encode()) for text in self.texts)

    def write(self, path):
        path.write_bytes(b"".join(self.lines))

    def write_files(self, folder, count):
        """Distributes the records over `count` files, in order."""
        folder.mkdir()
        bounds = [len(self) * i // count for i in range(count + 1)]
        for i, (start, end) in enumerate(zip(bounds, bounds[1:])):
            (folder / f"{i:05d}.jsonl").write_bytes(b"".join(self.lines[start:end]))
