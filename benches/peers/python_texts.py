"""Compares the ways from a Python list of texts to signatures: simgpu, and rensa with shingles from Python.

    python3 benches/peers/python_texts.py

Measures CPU seconds of one thread, the least of several rounds, on every eighth page of
examples/driver-docs.jsonl.zst: five words per shingle, 128 slots.
"""

import pathlib
import time

import pyarrow
import pyarrow.json
import rensa
import simgpu
from shingling import shingles

CORPUS = pathlib.Path(__file__).parents[2] / "examples" / "driver-docs.jsonl.zst"

ROUNDS = 15


def texts():
    """The pages."""
    with pyarrow.input_stream(str(CORPUS), compression="zstd") as stream:
        return pyarrow.json.read_json(stream)["text"].to_pylist()[::8]


def by_rensa(pages):
    """With shingles from Python, as in the examples of the tools."""
    sets = [shingles(page) for page in pages]
    return rensa.RMinHash.digest_matrix_from_token_sets(sets, num_perm=128, seed=42)


def main():
    pages = texts()
    megabytes = sum(len(page.encode()) for page in pages) / 1e6
    signers = {
        "simgpu": simgpu.Signer(threads=1, backend="simd").sign,
        "simgpu, fast": simgpu.Signer("fast", threads=1, backend="simd").sign,
        "Python shingles, rensa": by_rensa,
    }
    least = dict.fromkeys(signers, float("inf"))
    for _ in range(ROUNDS):
        for name, sign in signers.items():
            start = time.process_time()
            sign(pages)
            least[name] = min(least[name], time.process_time() - start)
    print(f"{len(pages)} pages, {megabytes:.1f} MB")
    print("| way | MB/s | ratio |\n| - | - | - |")
    slowest = max(least.values())
    for name, seconds in least.items():
        print(f"| {name} | {megabytes / seconds:,.1f} | {slowest / seconds:.1f} |")


if __name__ == "__main__":
    main()
