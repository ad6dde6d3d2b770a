"""Finds repeated passages of bytes with a suffix array, libsais, and compares them with those of simgpu,
byte by byte.

    python passages_suffix_array.py --libsais FOLDER CORPUS.jsonl... [--lengths 50,100,200]

FOLDER is a checkout of https://github.com/IlyaGrebnov/libsais, of which src/libsais.c is compiled
with cc. Needs NumPy, and `zstd` for compressed corpora; simgpu is the command (cargo build
--release). Nothing of the project needs this script.

The texts of a corpus lie one after another. Neighbours in the suffix array that share L bytes begin
equal windows; those that leave their document do not count. All windows of a kind but the first
are repeated, and what lies in one of them is covered. Seconds of libsais are those of the suffix
array and of the common prefixes, on one thread, and then those of NumPy; seconds of simgpu are of
the whole command on one thread, with reading and writing. MiB are the peaks of the processes.
"""

import argparse
import ctypes
import json
import multiprocessing
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

COMMAND = pathlib.Path(__file__).parents[2] / "target/release/simgpu"


def compiled(folder, target):
    """The library, compiled from its source."""
    library = target / "libsais.so"
    source = pathlib.Path(folder)
    flags = ["-O3", "-march=native", "-shared", "-fPIC", "-I", source / "include"]
    subprocess.run(
        ["cc", *flags, source / "src/libsais.c", "-o", library], check=True
    )
    library = ctypes.CDLL(str(library))
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    library.libsais.argtypes = [pointer, pointer, number, number, pointer]
    library.libsais_plcp.argtypes = [pointer, pointer, pointer, number]
    library.libsais_lcp.argtypes = [pointer, pointer, pointer, number]
    return library


def lines(path):
    """The lines of a file, perhaps compressed."""
    if path.suffix != ".zst":
        return path.read_bytes().splitlines()
    unpacked = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True)
    return unpacked.stdout.splitlines()


def read(path):
    """All texts, one after another, and their ends."""
    texts = [json.loads(line)["text"].encode() for line in lines(path)]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), ends


def suffix_array(library, text):
    """The suffix array, and what each suffix shares with the one before it."""
    order, of_place, shared = (np.empty(len(text), np.int32) for _ in range(3))
    address = lambda of: of.ctypes.data
    size = len(text)
    codes = [
        library.libsais(address(text), address(order), size, 0, None),
        library.libsais_plcp(address(text), address(order), address(of_place), size),
        library.libsais_lcp(address(of_place), address(order), address(shared), size),
    ]
    if any(codes):
        sys.exit(f"libsais failed: {codes}")
    return order, shared


def covered(order, shared, ends, length):
    """Whether each byte lies in a window that occurs earlier."""
    size = len(order)
    is_window = np.zeros(size, bool)
    start = 0
    for end in ends:
        is_window[start : max(start, end - length + 1)] = True
        start = end
    kinds = np.flatnonzero(np.concatenate(([True], shared[1:] < length)))
    firsts = np.minimum.reduceat(np.where(is_window[order], order, size), kinds)
    counts = np.diff(np.append(kinds, size))
    is_later = is_window[order] & (order != np.repeat(firsts, counts))
    starts = np.sort(order[is_later])
    is_covered = np.zeros(size, bool)
    # Windows that touch are one stretch.
    breaks = np.flatnonzero(np.diff(starts) > length) + 1
    for of_stretch in np.split(starts, breaks) if len(starts) else []:
        is_covered[of_stretch[0] : of_stretch[-1] + length] = True
    return is_covered


def in_process(task, *arguments):
    """What a task returns in a process of its own, and its peak of memory in MiB."""
    ours, theirs = multiprocessing.Pipe()

    def run():
        found = task(*arguments)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        theirs.send((found, peak))

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    found = ours.recv()
    process.join()
    return found


def with_libsais(library, path, lengths, folder):
    """Seconds and covered bytes by length. Writes what is covered."""
    text, ends = read(path)
    start = time.perf_counter()
    order, shared = suffix_array(library, text)
    of_array = time.perf_counter() - start
    found = {}
    for length in lengths:
        start = time.perf_counter()
        is_covered = covered(order, shared, ends, length)
        seconds = time.perf_counter() - start
        np.save(folder / f"{length}.npy", is_covered)
        found[length] = (of_array, seconds, int(is_covered.sum()))
    return len(text), len(ends), found


def with_simgpu(path, length, ends, folder):
    """Seconds, MiB, and what is covered."""
    output = folder / "out"
    options = ["--unit", "bytes", "--min-length", str(length), "--threads", "1"]
    others = ["-o", output, "--overwrite", "--quiet", "--no-samples", "--memory", "64GB"]
    start = time.perf_counter()
    subprocess.run([COMMAND, "passages", path, *options, *others], check=True)
    seconds = time.perf_counter() - start
    peak = json.loads((output / "run.json").read_bytes())["peak_memory_bytes"]
    edges = np.zeros(ends[-1] + 1, np.int32)
    with open(output / "passages.jsonl", "rb") as pieces:
        for line in pieces:
            piece = json.loads(line)
            row = piece["row"]
            base = ends[row - 1] if row > 0 else 0
            edges[base + piece["start"]] += 1
            edges[base + piece["end"]] -= 1
    return seconds, peak >> 20, np.cumsum(edges[:-1]) > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="+", type=pathlib.Path, metavar="CORPUS")
    parser.add_argument("--libsais", required=True)
    parser.add_argument("--lengths", default="50,100,200")
    arguments = parser.parse_args()
    lengths = [int(length) for length in arguments.lengths.split(",")]
    print(
        "| corpus | MB | length | covered | equal | libsais, s | scan, s | MiB | simgpu, s | MiB |"
    )
    print("|---|---:|---:|---:|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = compiled(arguments.libsais, folder)
        for path in arguments.corpora:
            _, ends = read(path)
            (size, _, found), peak = in_process(
                with_libsais, library, path, lengths, folder
            )
            for length, (of_array, scan, bytes_) in found.items():
                seconds, ours, is_covered = with_simgpu(path, length, ends, folder)
                equal = np.array_equal(is_covered, np.load(folder / f"{length}.npy"))
                print(
                    f"| {path.name.split('.')[0]} | {size / 1e6:.1f} | {length} | {bytes_ / size:.1%} "
                    f"| {'yes' if equal else 'NO'} | {of_array:.1f} | {scan:.1f} | {peak:,} "
                    f"| {seconds:.2f} | {ours:,} |",
                    flush=True,
                )
                if not equal:
                    sys.exit("the passages differ")


if __name__ == "__main__":
    main()
