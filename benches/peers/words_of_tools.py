"""How each tool splits a text into words, and all similar pairs of documents by these words, by an exact join of simgpu."""

import json
import re
import subprocess

import numpy as np

from dedup import UNITS, Failed, kept_lines
from pipelines import THRESHOLD

# Punctuation that fastdedup replaces by spaces, and duplodocus removes.
NOT_WORD = re.compile(r"[^\w\s]")
ASCII_PUNCTUATION = str.maketrans("", "", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def lowered(text):
    """Words of fastdedup: what is neither a letter nor a number of the lowercase text is a space."""
    return NOT_WORD.sub(" ", text.lower()).split()


def segments(text):
    """Words of duplodocus, and the spaces between them: ASCII punctuation is removed from the lowercase text."""
    import regex

    cleaned = " ".join(text.lower().translate(ASCII_PUNCTUATION).split())
    return [segment for segment in regex.split(r"(?V1)(?w)\b", cleaned) if segment]


def simplified(text):
    """Words of datatrove, but for a few that spaCy splits further."""
    from datatrove.utils.text import simplify_text

    return simplify_text(text).split()


# Kinds of words: options of simgpu for those that it has, or a function from texts to words.
OPTIONS = {"words": UNITS["words"], "pieces": UNITS["pieces"]}
FUNCTIONS = {"split": str.split, "lowered": lowered, "segments": segments, "simplified": simplified}


def size_of(kind, words):
    """Units per shingle of so many words."""
    # The spaces between them count.
    return 2 * words - 1 if kind == "segments" else words


def similar_pairs(program, folder, kind, words, scratch):
    """All pairs of documents that are similar by this kind of words, as an array of two ids per row; those of baskets
    (kind "items") by their tokens."""
    scratch.mkdir(parents=True, exist_ok=True)
    options = [*OPTIONS.get(kind, ["--unit", "tokens"]), "--size", str(size_of(kind, words))]
    source, pairs = folder, scratch / f"{kind}.csv"
    if kind in FUNCTIONS:
        source = scratch / f"{kind}.jsonl"
        with open(source, "w") as file:
            for line in kept_lines(folder):
                record = json.loads(line)
                json.dump({"id": record["id"], "tokens": FUNCTIONS[kind](record["text"])}, file)
                file.write("\n")
    command = [program, "pairs", str(source), "-o", str(pairs), "--candidates", "join", "--threshold", str(THRESHOLD)]
    ran = subprocess.run([*command, *options, "--quiet", "--overwrite"], capture_output=True, text=True)
    if ran.returncode != 0:
        raise Failed((ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"])[-1])
    if source != folder:
        source.unlink()
    return np.loadtxt(pairs, np.int64, delimiter=",", skiprows=1, usecols=(0, 1), ndmin=2).reshape(-1, 2)


def checked(pairs, lines, words, most):
    """Compares the pairs of words between white space with sets of shingles in Python, for up to `most` copies and their
    origins. Returns their number; raises Failed if a pair is missing or too much."""
    found = {tuple(sorted(pair)) for pair in pairs.tolist()}
    copies = {}
    for line in lines:
        record = json.loads(line)
        if "copy_of" in record and len(copies) < most:
            copies[int(record["id"])] = int(record["copy_of"]), record["text"]
    origins = {origin for origin, _ in copies.values()}
    texts = {int(record["id"]): record["text"] for record in map(json.loads, lines) if int(record["id"]) in origins}
    for number, (origin, text) in copies.items():
        a, b = sets_of(text, words), sets_of(texts[origin], words)
        if (len(a & b) >= THRESHOLD * len(a | b)) != (tuple(sorted((number, origin))) in found):
            raise Failed(f"the exact join and sets in Python differ in documents {origin} and {number}")
    return len(copies)


def sets_of(text, words):
    from shingling import shingles

    return set(shingles(text, words))
