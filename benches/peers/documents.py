"""Documents as all tools get them: sets of seeded random hashes, and random texts for those that
take nothing else.

A file of hashed documents is little-endian: the 8 bytes `SGHASHES`, the number of documents and that
of hashes as u64, an offset more than there are documents as i64, the hashes as u64. The hashes of
document i are `hashes[offsets[i]:offsets[i + 1]]`; a tool of 32 bits takes their low halves.
"""

import dataclasses
import functools

import numpy as np

# Bytes in one window of a text: a text of n windows has n + WINDOW_BYTES - 1 bytes.
WINDOW_BYTES = 8


@dataclasses.dataclass(frozen=True)
class Documents:
    """Hashed documents in one flat array."""

    hashes: np.ndarray  # u64
    offsets: np.ndarray  # i64, one more than there are documents

    def __len__(self):
        return len(self.offsets) - 1

    def prefix(self, count):
        """The first documents, without a copy."""
        return Documents(self.hashes[: self.offsets[count]], self.offsets[: count + 1])

    @functools.cached_property
    def low(self):
        """The low halves of the hashes."""
        return self.hashes.astype(np.uint32)

    @functools.cached_property
    def texts(self):
        """For each document a random text with as many windows of bytes as it has hashes."""
        sizes = (np.diff(self.offsets) + WINDOW_BYTES - 1).tolist()
        random = np.random.default_rng(2)
        letters = random.integers(ord("a"), ord("z") + 1, sum(sizes), dtype=np.uint8)
        return cut(letters.tobytes(), sizes)

    def write(self, path):
        """Writes the file that is described above."""
        with open(path, "wb") as file:
            file.write(b"SGHASHES")
            file.write(np.array([len(self), len(self.hashes)], "<u8").tobytes())
            file.write(self.offsets.astype("<i8").tobytes())
            file.write(self.hashes.astype("<u8").tobytes())


def cut(text, sizes):
    texts, start = [], 0
    for size in sizes:
        texts.append(text[start : start + size].decode())
        start += size
    return texts


def of_size(shingles, count):
    """`count` documents of as many distinct hashes each; fewer are a prefix of more."""
    random = np.random.default_rng([1, shingles])
    hashes = random.integers(0, 2**64, shingles * count, dtype=np.uint64)
    return Documents(hashes, np.arange(count + 1, dtype=np.int64) * shingles)


def pairs(shingles, count):
    """Pairs of documents (rows 2i and 2i + 1) that share two thirds of their hashes, so that their
    similarity is one half, and the exact similarity."""
    shared = round(shingles * 2 / 3)
    random = np.random.default_rng([3, shingles])
    rows = random.integers(0, 2**64, (2 * count, shingles), dtype=np.uint64)
    rows[1::2, :shared] = rows[::2, :shared]
    offsets = np.arange(2 * count + 1, dtype=np.int64) * shingles
    return Documents(rows.ravel(), offsets), shared / (2 * shingles - shared)


def text_pairs(shingles, count):
    """Pairs of texts of that many windows that share two thirds of them, and the exact similarity of
    each pair."""
    size = shingles + WINDOW_BYTES - 1
    shared = round(shingles * 2 / 3) + WINDOW_BYTES - 1
    random = np.random.default_rng([4, shingles])
    rows = random.integers(ord("a"), ord("z") + 1, (2 * count, size), dtype=np.uint8)
    rows[1::2, :shared] = rows[::2, :shared]
    texts = cut(rows.tobytes(), [size] * (2 * count))

    def windows(text):
        return {text[i : i + WINDOW_BYTES] for i in range(shingles)}

    def similarity(a, b):
        return len(a & b) / len(a | b)

    exact = [similarity(windows(a), windows(b)) for a, b in zip(texts[::2], texts[1::2])]
    return texts, np.array(exact)
