"""Texts for tests, and the command that computes expected values."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "simgpu"

EDGES = [
    "",
    " ",
    "a",
    "one two three four",
    "naïve Straße 日本語 テキスト 👩‍🔬 x²",
    "a\0b",
    "?!?!",
    "\n\ttab\n",
]


def corpus(documents, seed=1):
    """Texts of 0 to 60 words, of which every fifth is nearly a copy of an earlier one."""
    rng = random.Random(seed)
    words = [f"w{number}é" if number % 7 == 0 else f"word{number}" for number in range(500)]
    texts = list(EDGES)
    while len(texts) < documents:
        if len(texts) % 5 == 0:
            copy = rng.choice(texts).split(" ")
            copy[rng.randrange(len(copy))] = rng.choice(words)
            texts.append(" ".join(copy))
        else:
            texts.append(" ".join(rng.choices(words, k=rng.randrange(60))))
    return texts[:documents]


def run_command(*arguments):
    """Runs the command line program; skips the test if it is not built."""
    if not COMMAND.exists():
        pytest.skip(f"{COMMAND} is not built")
    return subprocess.run([COMMAND, *map(str, arguments)], check=True, capture_output=True)


def write_records(path, field, documents):
    """Writes JSON Lines with one field."""
    lines = (json.dumps({field: document}) + "\n" for document in documents)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def vectors(name):
    """Published values."""
    return json.loads((ROOT / "vectors" / f"{name}.json").read_text(encoding="utf-8"))
