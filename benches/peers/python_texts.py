"""Compares the ways from a list of texts to signatures: simgpu from Python, its library, and rensa with Python's shingles.

    python3 benches/peers/python_texts.py [--corpus FILE] [--every N] [--threads N] [--rounds N]

Measures seconds, the least of several rounds, on every eighth page of examples/driver-docs.jsonl.zst: five words per
shingle, 128 slots. Each round runs each way once. `cargo bench --bench peers` measures the library, on the same texts.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy
import pyarrow
import pyarrow.json
import rensa
import simgpu
from shingling import shingles

REPOSITORY = pathlib.Path(__file__).parents[2]


def by_rensa(pages):
    """With shingles from Python, as in the examples of the tools."""
    sets = [shingles(page) for page in pages]
    return rensa.RMinHash.digest_matrix_from_token_sets(sets, num_perm=128, seed=42)


def timed(sign, pages):
    """Elapsed seconds."""
    start = time.perf_counter()
    sign(pages)
    return time.perf_counter() - start


def library(path, threads):
    """Elapsed seconds of a process that signs the texts of a file four times, the first time untimed."""
    command = ["cargo", "bench", "--quiet", "--bench", "peers", "--", path, "--texts"]
    command += ["--unit", "words", "--repeats", "3", "--threads", str(threads)]
    output = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    return min(json.loads(output.splitlines()[-1])["elapsed_s"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", default=REPOSITORY / "examples" / "driver-docs.jsonl.zst")
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with pyarrow.input_stream(str(options.corpus), compression="zstd") as stream:
        pages = pyarrow.json.read_json(stream)["text"].to_pylist()[:: options.every]
    megabytes = sum(len(page.encode()) for page in pages) / 1e6
    file = tempfile.NamedTemporaryFile("w", suffix=".jsonl")
    file.writelines(json.dumps({"text": page}) + "\n" for page in pages)
    file.flush()
    signer = simgpu.Signer(threads=options.threads, backend="simd")
    fast = simgpu.Signer("fast", threads=options.threads, backend="simd")
    column = pyarrow.array(pages)
    out = numpy.zeros((len(pages), 128), numpy.uint32)
    # Each simgpu way runs three times, because the one before it leaves caches in its own state.
    ways = {
        "the library in Rust": lambda: library(file.name, options.threads),
        "`simgpu.Signer().sign(texts)`": lambda: min(timed(signer.sign, pages) for _ in range(4)),
        "the same, `out=`": lambda: min(timed(lambda pages: signer.sign(pages, out=out), pages) for _ in range(4)),
        "the same, an Arrow column": lambda: min(timed(signer.sign, column) for _ in range(4)),
        "the same, scheme `fast`": lambda: min(timed(fast.sign, pages) for _ in range(4)),
        "shingles from Python, `rensa`": lambda: timed(by_rensa, pages),
    }
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(options.rounds):
        for name, measure in ways.items():
            least[name] = min(least[name], measure())
    print(f"{len(pages)} pages, {megabytes:.1f} MB, {options.threads} threads")
    print("| way | MB/s | ratio |\n| - | - | - |")
    slowest = max(least.values())
    for name, seconds in least.items():
        print(f"| {name} | {megabytes / seconds:,.1f} | {slowest / seconds:.1f} |")


if __name__ == "__main__":
    main()
