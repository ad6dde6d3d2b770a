#!/usr/bin/env python3
"""Compares the indexes of simgpu.datasketch with those of datasketch: the same sketches, in turn, in one process.

    python3 benches/peers/datasketch_indexes.py [--documents N] [--quick] [--only PART]...

Needs simgpu and datasketch 2.0.0 in the running Python. Prints a table in Markdown: CPU time per call, the least of
several rounds, and memory as the growth of the resident set of a fresh process. Sketches are those of random sets of 100
members under affine32; every fourth set repeats three quarters of an earlier one. Keys are strings that exist before.
"""

import argparse
import ctypes
import gc
import importlib
import multiprocessing
import os
import pickle
import time

import numpy as np

NUM_PERM = 128
BANDS, ROWS = 16, 8
SET_SIZE = 100
MODULES = {"datasketch": "datasketch", "simgpu": "simgpu.datasketch"}
ROUNDS = 15
PARTS = ["choice", "lsh", "memory", "forest", "ensemble"]


class Sketch:
    """What both indexes take."""

    __slots__ = ("hashvalues", "scheme", "seed")

    def __init__(self, hashvalues):
        self.hashvalues, self.scheme, self.seed = hashvalues, "affine32", 1

    def __len__(self):
        return NUM_PERM


def slots_of(count):
    """Slots of random sets: minima of SET_SIZE uniform numbers; every fourth set shares most with an earlier one."""
    random = np.random.default_rng(1)
    uniform = random.random((count, NUM_PERM))
    slots = (-np.log1p(-uniform) / SET_SIZE * 2**32).clip(0, 2**32 - 1).astype(np.uint32)
    copies = np.arange(4, count, 4)
    originals = slots[copies - random.integers(1, 4, len(copies))]
    slots[copies] = np.where(random.random(originals.shape) < 0.75, originals, slots[copies])
    return slots


def sketches_of(count):
    return [Sketch(row.copy()) for row in slots_of(count)]


def cpu_s(work):
    """CPU seconds of a call, without those of the garbage collector, and its result."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    result = work()
    elapsed_s = time.process_time() - start
    gc.enable()
    return elapsed_s, result


class Times:
    """The least time of each operation of each tool."""

    def __init__(self):
        self.least = {}

    def add(self, operation, tool, elapsed_s, calls=1):
        per_call = elapsed_s / calls
        known = self.least.get((operation, tool), per_call)
        self.least[operation, tool] = min(known, per_call)

    def show(self):
        print("| operation | datasketch, us | simgpu, us | ratio |\n| - | - | - | - |")
        for operation in dict.fromkeys(operation for operation, _ in self.least):
            theirs, ours = (self.least[operation, tool] * 1e6 for tool in MODULES)
            print(f"| {operation} | {theirs:,.2f} | {ours:,.2f} | {theirs / ours:,.1f} |")


def measure_choice(times, tool, module, count):
    for threshold in np.random.default_rng().uniform(0.5, 0.95, 3):
        make = lambda: module.MinHashLSH(threshold=float(threshold), num_perm=NUM_PERM)
        times.add("MinHashLSH(threshold)", tool, cpu_s(make)[0])


def measure_lsh(times, tool, module, count):
    sketches, keys = sketches_of(count), [f"key-{i}" for i in range(count)]
    index = module.MinHashLSH(num_perm=NUM_PERM, params=(BANDS, ROWS))

    def insert():
        for key, sketch in zip(keys, sketches):
            index.insert(key, sketch)

    def query():
        for sketch in sketches:
            index.query(sketch)

    def remove():
        for key in keys:
            index.remove(key)

    times.add("insert, 16 x 8", tool, cpu_s(insert)[0], count)
    times.add("query, 16 x 8", tool, cpu_s(query)[0], count)
    elapsed_s, dumped = cpu_s(lambda: pickle.dumps(index))
    times.add(f"pickle.dumps of {count:,}", tool, elapsed_s)
    times.add(f"pickle.loads of {count:,}", tool, cpu_s(lambda: pickle.loads(dumped))[0])
    times.add("remove, 16 x 8", tool, cpu_s(remove)[0], count)


def measure_forest(times, tool, module, count):
    count //= 5
    sketches = sketches_of(count)
    forest = module.MinHashLSHForest(num_perm=NUM_PERM)

    def add():
        for key, sketch in enumerate(sketches):
            forest.add(key, sketch)

    def query():
        for sketch in sketches[:500]:
            forest.query(sketch, 10)

    times.add(f"forest: add, {count:,}", tool, cpu_s(add)[0], count)
    times.add(f"forest: index of {count:,}", tool, cpu_s(forest.index)[0])
    times.add("forest: query, k = 10", tool, cpu_s(query)[0], 500)


def measure_ensemble(times, tool, module, count):
    count //= 20
    sketches = sketches_of(count)
    sizes = np.random.default_rng(2).integers(10, 200, count).tolist()
    elapsed_s, ensemble = cpu_s(lambda: module.MinHashLSHEnsemble(threshold=0.8, num_perm=NUM_PERM))
    times.add("MinHashLSHEnsemble()", tool, elapsed_s)
    entries = list(zip(range(count), sketches, sizes))
    times.add(f"ensemble: index, {count:,}", tool, cpu_s(lambda: ensemble.index(entries))[0], count)

    def query():
        for sketch, size in zip(sketches[:200], sizes):
            list(ensemble.query(sketch, size))

    times.add("ensemble: query", tool, cpu_s(query)[0], 200)


def resident_bytes():
    gc.collect()
    # Pages that the allocator keeps for reuse would hide what follows.
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure_size(name, count, results):
    """Bytes by which the resident set grows when `count` documents are inserted, and those of the pickled index."""
    module = importlib.import_module(name)
    slots, keys = slots_of(count), [f"key-{i}" for i in range(count)]
    index = module.MinHashLSH(num_perm=NUM_PERM, params=(BANDS, ROWS))
    index.query(Sketch(slots[0]))
    before = resident_bytes()
    for key, row in zip(keys, slots):
        index.insert(key, Sketch(row))
    grown = resident_bytes() - before
    results.put((grown, len(pickle.dumps(index))))


def measure_memory(count):
    context = multiprocessing.get_context("spawn")
    for tool, name in MODULES.items():
        results = context.Queue()
        process = context.Process(target=measure_size, args=(name, count, results))
        process.start()
        grown, pickled = (size / count for size in results.get())
        print(f"{tool}: index of {grown:,.0f} bytes per document, of {count:,}; pickle of {pickled:,.0f}")
        process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000, help="documents in an index")
    parser.add_argument("--quick", action="store_true", help="one round of 5,000 documents, as a test")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part; may be repeated")
    arguments = parser.parse_args()
    count = 5_000 if arguments.quick else arguments.documents
    parts = arguments.only or PARTS
    times = Times()
    modules = {tool: importlib.import_module(name) for tool, name in MODULES.items()}
    for _ in range(1 if arguments.quick else ROUNDS):
        for part in (part for part in parts if part != "memory"):
            for tool, module in modules.items():
                globals()[f"measure_{part}"](times, tool, module, count)
    if "memory" in parts:
        measure_memory(count)
    times.show()


if __name__ == "__main__":
    main()
