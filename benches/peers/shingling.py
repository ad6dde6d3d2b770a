"""Shingles of words as they are made in Python. It imports nothing, so that a process that needs no more starts at
once."""

# Words in a shingle.
WORDS = 5


def shingles(text):
    """For rensa, FastSketchLSH and datasketch, which take shingles; a text that is shorter is one."""
    words = text.split()
    return [" ".join(words[i : i + WORDS]) for i in range(max(1, len(words) - WORDS + 1))]
