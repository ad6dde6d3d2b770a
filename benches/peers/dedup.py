"""Files to files without near-duplicates: the compared commands, each timed as a process from start to exit, and the
documents that they keep."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Callable

from pipelines import BANDS, NUM_PERM, ROWS, SEED, THRESHOLD
from shingling import WORDS

HERE = pathlib.Path(__file__).resolve().parent
# Misses 5 in 100 million pairs at the threshold.
EXACT = ["--verify", "exact", "--bands", "32", "--rows", "4", "--max-bucket", "1000000"]
# Options of the exact search of simgpu, by how a tool splits texts into words.
UNITS = {
    "words": [],
    "split": ["--unit", "tokens", "--size", "5"],
    "pieces": ["--unit", "pieces", "--lowercase", "--keep-whitespace"],
}


class Failed(Exception):
    """A tool failed; the message is its last line on stderr."""


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """Removes near-duplicates from a folder of JSON Lines with one tool."""

    # The tool with its version, or `simgpu`.
    name: str
    tool: str
    scheme: str
    # Its call, for readers of the results.
    api: str
    # (input folder, output folder, threads) -> a command.
    command: Callable
    # How it splits texts into words: a key of UNITS; None if simgpu has no such unit.
    words: str | None
    verification: str = "none"
    seed: int = SEED

    def run(self, folder, output, threads):
        """Seconds from start to exit."""
        environment = {**os.environ, **variables(output, threads)}
        start = time.perf_counter()
        ran = subprocess.run(
            self.command(folder, output, threads), cwd=output.parent, env=environment, capture_output=True, text=True
        )
        elapsed_s = time.perf_counter() - start
        if ran.returncode != 0:
            lines = ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"]
            raise Failed(lines[-1])
        return elapsed_s


def variables(output, threads):
    """Variables of the environment of a run: threads, and a new cache."""
    cache = output.with_name("cache") / output.name
    names = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    own = {"HF_HOME": str(cache), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    return {name: str(threads) for name in names} | own


def simgpu(program, isa):
    def command(folder, output, threads):
        options = ["--threads", str(threads), "--bands", str(BANDS), "--rows", str(ROWS), "--seed", str(SEED)]
        options += ["--backend", "simd", *(["--isa", isa] if isa else [])]
        return [program, "dedup", str(folder), "--output", str(output), "--quiet", *options]

    return Pipeline(
        "simgpu", "simgpu", "affine32", "simgpu dedup", command, words="words", verification="exact"
    )


def text_dedup(folder, output, threads, words=WORDS, **more):
    options = {
        "path": "json",
        "data_files": folder / "*.jsonl",
        "split": "train",
        "column": "text",
        "output": output,
        "cache_dir": output.with_name("cache") / output.name,
        "ngram": words,
        "num_perm": NUM_PERM,
        "threshold": THRESHOLD,
        "b": BANDS,
        "r": ROWS,
        "num_proc": threads,
        **more,
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "text_dedup.minhash", *arguments]


def pipeline(tool, words=WORDS):
    def command(folder, output, threads):
        arguments = [tool, str(folder), str(output), str(threads), str(words)]
        return [sys.executable, "-B", str(HERE / "pipelines.py"), *arguments]

    return command


def of_peers(names):
    """Pipelines of peers; `names` maps tools to names with versions."""
    known = [
        ("rensa", "rensa", "RMinHashDeduplicator.add_pairs", pipeline("rensa"), "split", "signature"),
        ("FastSketchLSH", "fast", "batch and LSH.insert_and_query_duplicates", pipeline("FastSketchLSH"), "split"),
        ("datasketch", "affine32", "MinHashLSH.query and insert", pipeline("datasketch"), "split"),
        ("text-dedup", "text-dedup", "python -m text_dedup.minhash", text_dedup, "pieces", "none", 42),
        ("datatrove", "datatrove", "its four steps by LocalPipelineExecutor", pipeline("datatrove"), None),
    ]
    return [Pipeline(names[tool], tool, *rest) for tool, *rest in known if tool in names]


def kept(output):
    """Number of documents in the output of a tool: JSON Lines, or a data set of text-dedup."""
    if (output / "state.json").exists():
        import datasets

        return len(datasets.load_from_disk(str(output)))
    return sum(1 for _ in kept_lines(output))


def kept_lines(output):
    """Records in the output of a tool that writes JSON Lines."""
    folder = output / "kept" if (output / "kept").is_dir() else output
    for path in sorted(folder.rglob("*.jsonl")):
        # fastdedup writes removed documents beside the kept ones.
        if path.name.endswith(".removed.jsonl"):
            continue
        with open(path, "rb") as file:
            yield from file


def kept_by_truth(program, corpus, words, folder):
    """Number of documents kept by exact search and greedy removal in order, for one way to split texts into words."""
    lines = corpus.lines
    if words == "split":
        records = (json.dumps({"tokens": text.split()}) for text in corpus.texts)
        lines = [f"{record}\n".encode() for record in records]
    file, output = folder / f"{words}.jsonl", folder / f"exact-{words}"
    file.write_bytes(b"".join(lines))
    command = [program, "dedup", str(file), "--output", str(output), "--quiet", *EXACT, *UNITS[words]]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        raise Failed((ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"])[-1])
    return json.loads((output / "report.json").read_text())["counts"]["kept"]
