"""Finds the items of benchmarks in the same documents with simgpu and with datatrove's n-gram decontamination.

    python3 benches/peers/contain_peers.py --simgpu target/dist/simgpu --items mmlu.jsonl.zst --documents 20000 CORPUS...

Prints a table: MB/s of text, peak memory, and the documents that each calls contaminated. It needs datatrove, spaCy and
zstandard. datatrove runs in this process, without lighteval: its index is made by the methods of its indexer, of the right
answers of each question. `--rule datatrove` of simgpu compares the same n-grams of other words: spaCy's tokens include
punctuation. Each tool reads a file of JSON Lines, one after another; reading the items is not part of the time of datatrove,
and is part of that of simgpu.
"""

import argparse
import io
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path


def records(path: Path):
    """The records of a file of JSON Lines, compressed or not."""
    with open(path, "rb") as file:
        if path.suffix == ".zst":
            import zstandard

            file = zstandard.ZstdDecompressor().stream_reader(file)
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            if line.strip():
                yield json.loads(line)


def questions(paths: list[Path]):
    """Each question with its right answers; records of evaluation harnesses have one answer each."""
    found: dict[str, list[str]] = {}
    for path in paths:
        for record in records(path):
            answers = found.setdefault(record["question"], [])
            if record.get("answer") and str(record.get("is_correct", True)).lower() != "false":
                answers.append(str(record["answer"]))
    return found


def datatrove_filter(items: dict[str, list[str]], folder: Path):
    """The filter over an index of the items, and the number of its n-grams."""
    import numpy as np
    from datatrove.pipeline.decont.n_grams import NGramsDecontFilter, NGramsDecontIndexer

    class Indexer(NGramsDecontIndexer):
        def __new__(cls, *_arguments):
            # Without lighteval, which would load tasks from the network; here the items are given.
            return object.__new__(cls)

    indexer = Indexer(str(folder))
    hashes = {value for query, labels in items.items() for label in labels for value in indexer.compute_hashes(label, query)}
    array = np.array(sorted(hashes), dtype=indexer.config.hash_config.np_descr)
    array.tofile(folder / "items.index.hashes")
    return NGramsDecontFilter(str(folder)), len(hashes)


def run_datatrove(items, path: Path, folder: Path):
    from datatrove.data import Document

    chosen, ngrams = datatrove_filter(items, folder)
    chosen.load_index_hashes()
    chosen.filter(Document(text="one two", id="0"))
    started, found = time.perf_counter(), set()
    for row, record in enumerate(records(path)):
        if chosen.filter(Document(text=record["text"], id=str(row))) is not True:
            found.add(row)
    elapsed = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"datatrove, {ngrams:,} n-grams", elapsed, peak, found


def run_simgpu(program: Path, rule: str, items: list[Path], path: Path, folder: Path):
    output = folder / rule
    command = [program, "contain", path, "--rule", rule, "--threads", "1", "-q", "-o", output]
    for item in items:
        command += ["--against", item]
    before = time.perf_counter()
    pid = os.spawnv(os.P_NOWAIT, str(program), [str(part) for part in command])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"simgpu failed: {status}")
    hits = map(json.loads, open(output / "hits.jsonl", encoding="utf-8"))
    found = {hit["row"] for hit in hits if hit["class"] == "contaminated"}
    return f"simgpu --rule {rule}", time.perf_counter() - before, usage.ru_maxrss / 1024, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simgpu", type=Path, required=True)
    parser.add_argument("--items", type=Path, action="append", required=True)
    parser.add_argument("--documents", type=int, default=20_000, help="of each corpus")
    parser.add_argument("corpus", type=Path, nargs="+")
    options = parser.parse_args()
    items = questions(options.items)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, size = folder / "documents.jsonl", 0
        with open(path, "w", encoding="utf-8") as file:
            for corpus in options.corpus:
                for record, _ in zip(records(corpus), range(options.documents)):
                    size += len(record["text"].encode())
                    file.write(json.dumps({"text": record["text"]}) + "\n")
        runs = [run_simgpu(options.simgpu, rule, options.items, path, folder) for rule in ["simgpu", "datatrove"]]
        runs.append(run_datatrove(items, path, folder))
    print(f"{len(items):,} questions, {size / 1e6:.1f} MB of text\n")
    print("| tool | s | MB/s | MiB | contaminated | also by --rule datatrove |\n|---|---:|---:|---:|---:|---:|")
    for tool, elapsed, peak, found in runs:
        both = len(found & runs[1][3])
        print(f"| {tool} | {elapsed:.2f} | {size / 1e6 / elapsed:.2f} | {peak:.0f} | {len(found):,} | {both:,} |")


if __name__ == "__main__":
    main()
