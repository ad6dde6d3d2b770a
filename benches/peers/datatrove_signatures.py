"""datatrove's first MinHash stage compared with that of simgpu.datatrove, on the same documents, in turn.

    python3 benches/peers/datatrove_signatures.py
    python3 benches/peers/datatrove_signatures.py corpus.jsonl.zst --documents 5000

Needs simgpu, zstandard and the packages of requirements.txt that datatrove uses. Prints the CPU time per stage, the
documents per second, and the ratio. A run is one task from documents in memory to the files of its buckets. Imports
and loading spaCy are not timed; everything else that a task does is. Stops if a file differs.
"""

import argparse
import io
import itertools
import json
import pathlib
import sys
import tempfile
import time

import zstandard
from datatrove.data import Document
from datatrove.pipeline.dedup import minhash
from datatrove.utils.logging import logger

import environment
from simgpu import datatrove

CORPUS = environment.ROOT / "examples" / "driver-docs.jsonl.zst"
STAGES = {"datatrove": minhash.MinhashDedupSignature, "simgpu": datatrove.MinhashDedupSignature}
# Documents that both stages sign before they are timed.
WARM_UP = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", type=pathlib.Path, default=CORPUS, help="JSON Lines, zstd, field text")
    parser.add_argument("--documents", type=int, default=1000, help="documents from the start of the corpus")
    parser.add_argument("--rounds", type=int, default=3, help="runs per stage; the fastest counts")
    arguments = parser.parse_args()
    logger.remove()
    documents = read(arguments.corpus, arguments.documents)
    for stage in STAGES.values():
        run(stage, documents[:WARM_UP])
    rounds = [{name: run(stage, documents) for name, stage in STAGES.items()} for _ in range(arguments.rounds)]
    if any(files != rounds[0]["datatrove"][1] for results in rounds for _, files in results.values()):
        sys.exit("the files of simgpu differ from those of datatrove")
    report(documents, {name: min(results[name][0] for results in rounds) for name in STAGES})


def read(corpus, count):
    with corpus.open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8")
        texts = [json.loads(line)["text"] for line in itertools.islice(lines, count)]
    return [Document(text=text, id=str(row)) for row, text in enumerate(texts)]


def run(stage, documents):
    """CPU seconds of one task, and the files that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        step = stage(folder)
        start = time.process_time()
        step.run(iter(documents))
        seconds = time.process_time() - start
        paths = sorted(pathlib.Path(folder).rglob("*.sig"))
        return seconds, [path.read_bytes() for path in paths]


def report(documents, seconds):
    size = sum(len(document.text.encode()) for document in documents)
    print(f"{len(documents)} documents, {size / 1e6:.2f} MB of text; all files are equal")
    for name, spent in seconds.items():
        print(f"{name:10} {spent:8.3f} CPU s {len(documents) / spent:10.0f} documents/s {size / spent / 1e6:8.2f} MB/s")
    print(f"ratio {seconds['datatrove'] / seconds['simgpu']:.1f}")


if __name__ == "__main__":
    main()
