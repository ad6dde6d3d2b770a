"""Compares signing of weighted sets: simgpu, dartminhash (Rust), and datasketch's WeightedMinHash (pip install datasketch).

    python3 benches/peers/weighted_sets.py [--rounds N] [--sets N] [--project DIR]

Needs cargo. The library must not depend on dartminhash, so a project outside of the repository depends on both; it is kept,
so that only the first run compiles. Its program is `weighted_sets.rs`; link-time optimisation is on for both crates.

All sign the same generated sets in pairs, on one thread, K = 128: simgpu from tokens of eight bytes with weights (shingling
included) and from hashes with weights, dartminhash from numbers with weights, datasketch from vectors that have twice as many
dimensions as a set has elements; creating these inputs is not timed. datasketch signs fewer sets than the others. Prints the
least CPU microseconds per set of several rounds, and how much longer the others take than affine32 from tokens / from hashes.
The mean estimates of all must be close to the mean similarity.
"""

import argparse
import math
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

import datasketch
import numpy
import scipy.sparse

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUM_PERM = 128
# Sets that datasketch signs.
FEW = 16

PROJECT = f"""\
[package]
name = "weighted_sets"
version = "0.0.0"
edition = "2024"

[[bin]]
name = "weighted_sets"
path = "{ROOT}/benches/peers/weighted_sets.rs"

[dependencies]
cpu-time = "=1.0.0"
dartminhash = "=0.1.9"
simgpu = {{ path = "{ROOT}" }}

[profile.release]
codegen-units = 1
lto = true
"""

# Laws of weights, from a uniform number above 0 and up to 1.
LAWS = {
    "counts": lambda uniform: math.floor(1 - math.log2(uniform)),
    "stars 1-5": lambda uniform: math.ceil(5 * uniform),
    "exp(1)": lambda uniform: -math.log(uniform),
    "Pareto to 10^4": lambda uniform: min(1 / uniform, 1e4),
}

# Law, elements per set, copies per unit of weight.
CELLS = [
    ("counts", 100, 1),
    ("counts", 1_000, 1),
    ("stars 1-5", 100, 1),
    ("exp(1)", 30, 8),
    ("exp(1)", 30, 32),
    ("exp(1)", 1_000, 0.25),
    ("exp(1)", 1_000, 1),
    ("Pareto to 10^4", 100, 0.25),
    ("Pareto to 10^4", 100, 1),
]

# Columns of the table by signer.
SIGNERS = {
    "affine32": "affine32, us",
    "affine64": "affine64",
    "fast": "fast",
    "hashes": "affine32, of hashes",
    "DartMinHash": "DartMinHash",
    "TreeMinHash": "TreeMinHash",
    "minhash": "datasketch `minhash`",
    "minhash_many": "`minhash_many`",
}
# Columns of ratios: signers of whose times the least is divided by that of affine32.
RATIOS = {
    "over dartminhash": ("DartMinHash", "TreeMinHash"),
    "over `minhash`": ("minhash",),
    "over `minhash_many`": ("minhash_many",),
}


def generated(law, elements, count):
    """Pairs of sets, as dicts from dimension to weight. Of the elements of a pair, three in four are in both sets; of these,
    half have the same weight in both."""
    numbers = random.Random(f"{law} {elements}")
    weigh = lambda: LAWS[law](1 - numbers.random())
    sets = []
    for _ in range(count // 2):
        order = numbers.sample(range(2 * elements), elements + elements // 4)
        first = {dimension: weigh() for dimension in order[:elements]}
        kept = order[elements // 4 : elements]
        second = {dimension: first[dimension] if numbers.random() < 0.5 else weigh() for dimension in kept}
        second |= {dimension: weigh() for dimension in order[elements:]}
        sets += [first, second]
    return sets


def similarity(a, b):
    """The sum of the lesser weights divided by the sum of the greater ones."""
    weights = [(a.get(dimension, 0), b.get(dimension, 0)) for dimension in a.keys() | b.keys()]
    return sum(map(min, weights)) / sum(map(max, weights))


def lines_of(sets, elements):
    """What the program reads: dimensions become random 64-bit numbers, others for each pair."""
    numbers = random.Random(elements)
    lines = []
    for row, items in enumerate(sets):
        if row % 2 == 0:
            names = [numbers.getrandbits(64) for _ in range(2 * elements)]
        lines.append(" ".join(f"{names[dimension]} {weight!r}" for dimension, weight in items.items()))
    return "\n".join(lines)


def program(project):
    """Compiles the program of the comparison."""
    project.mkdir(parents=True, exist_ok=True)
    (project / "Cargo.toml").write_text(PROJECT)
    if not (project / "Cargo.lock").exists():
        # The same versions as in the repository.
        shutil.copy(ROOT / "Cargo.lock", project)
    subprocess.run(["cargo", "build", "--release", "--quiet", "--target-dir", project / "target"], cwd=project, check=True)
    return project / "target" / "release" / "weighted_sets"


def run_of_crates(program, lines, scale):
    """Microseconds per set and mean estimate of simgpu and dartminhash, by name."""
    one_thread = os.environ | {"RAYON_NUM_THREADS": "1"}
    output = subprocess.run([program, str(scale)], input=lines, env=one_thread, check=True, capture_output=True, text=True)
    fields = [line.split() for line in output.stdout.splitlines()]
    return {name: (float(elapsed_us), float(mean)) for name, elapsed_us, mean in fields}


class Datasketch:
    """Signs vectors with datasketch."""

    def __init__(self, sets, dimensions):
        self.generator = datasketch.WeightedMinHashGenerator(dimensions, NUM_PERM)
        self.dense = numpy.zeros((len(sets), dimensions), numpy.float32)
        for row, items in zip(self.dense, sets):
            row[list(items)] = list(items.values())
        self.sparse = scipy.sparse.csr_matrix(self.dense)

    def run(self):
        """Microseconds per set and mean estimate of both methods, by name."""
        methods = {
            "minhash": lambda: [self.generator.minhash(row) for row in self.dense],
            "minhash_many": lambda: self.generator.minhash_many(self.sparse),
        }
        runs = {}
        for name, sign in methods.items():
            start = time.process_time()
            signed = sign()
            elapsed = time.process_time() - start
            estimates = [a.jaccard(b) for a, b in zip(signed[::2], signed[1::2])]
            runs[name] = (elapsed * 1e6 / len(signed), sum(estimates) / len(estimates))
        return runs


def shown(number):
    return f"{number:.1f}" if number < 100 else f"{number:,.0f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sets", type=int, default=256)
    parser.add_argument("--project", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir(), "simgpu-weighted-sets"))
    options = parser.parse_args()
    compiled = program(options.project)
    cells = []
    for law, elements, scale in CELLS:
        sets = generated(law, elements, options.sets)
        cells.append((scale, sets, lines_of(sets, elements), Datasketch(sets[:FEW], 2 * elements)))

    least = [{} for _ in cells]
    for _ in range(options.rounds):
        for (scale, sets, lines, vectors), best in zip(cells, least):
            of_crates, of_datasketch = run_of_crates(compiled, lines, scale), vectors.run()
            for runs, signed in (of_crates, sets), (of_datasketch, sets[:FEW]):
                truth = sum(similarity(a, b) for a, b in zip(signed[::2], signed[1::2])) / (len(signed) // 2)
                for name, (elapsed_us, mean) in runs.items():
                    assert abs(mean - truth) < 0.05, (name, mean, truth)
                    best[name] = min(best.get(name, math.inf), elapsed_us)

    columns = ["weights, elements", "copies", *SIGNERS.values(), *RATIOS]
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for (law, elements, _), (scale, sets, _, _), best in zip(CELLS, cells, least):
        copies = scale * sum(sum(items.values()) for items in sets) / len(sets)
        times = [shown(best[name]) for name in SIGNERS]
        ratios = [
            " / ".join(shown(min(best[name] for name in peers) / best[ours]) for ours in ("affine32", "hashes"))
            for peers in RATIOS.values()
        ]
        print(f"| {law}, {elements:,} | {copies:,.0f} | {' | '.join(times + ratios)} |")


if __name__ == "__main__":
    main()
