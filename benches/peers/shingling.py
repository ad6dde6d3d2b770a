"""Shingles of words in Python. Imports nothing, so that processes start quickly."""

# Words per shingle.
WORDS = 5


def shingles(text, size=WORDS):
    """Shingles for rensa, FastSketchLSH and datasketch. A shorter text is one shingle."""
    words = text.split()
    return [" ".join(words[i : i + size]) for i in range(max(1, len(words) - size + 1))]
