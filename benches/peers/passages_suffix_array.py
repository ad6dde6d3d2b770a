"""Finds repeated passages of bytes with a suffix array, libsais, and compares them with those of simgpu,
byte by byte.

    python passages_suffix_array.py --libsais FOLDER CORPUS.jsonl... [--lengths 50,100,200]
        [--dedup-datasets FOLDER]

The first FOLDER is a checkout of https://github.com/IlyaGrebnov/libsais, of which src/libsais.c is compiled
with cc. Needs NumPy, and `zstd` for compressed corpora; simgpu is the command (cargo build
--profile dist). Nothing of the project needs this script.

The texts of a corpus lie one after another. Neighbours in the suffix array that share L bytes begin
equal windows; those that leave their document do not count. All windows of a kind but the first
are repeated, and what lies in one of them is covered. Seconds of libsais are those of the suffix
array and of the common prefixes, on one thread, and then those of NumPy; seconds of simgpu are of
the whole command on one thread, with reading and writing. MiB are the peaks of the processes.

With --dedup-datasets, a second table compares all occurrences with those of
https://github.com/google-research/deduplicate-text-datasets, the tool of Lee et al. (2021). Its FOLDER is a
checkout with the program built by `cargo build --release`. Its steps run one after another as its documentation
has them: make_suffix_array.py (with its four jobs), `self-similar` and `collect` (two threads). MiB are then the
sum over all processes of a program, with the files that they map, and disk the temporary files, both at their
peak of ten samples a second.

It reads one file, in which two bytes of 255 and a number of four bytes stand before each text. Its windows may hold parts of
these, up to 98 bytes beside a text's end. So it covers ends of texts that are shorter than L. libsais on
the same file must cover what it does, and without windows that touch a separator, what simgpu does.
"""

import argparse
import contextlib
import ctypes
import json
import multiprocessing
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

COMMAND = pathlib.Path(__file__).parents[2] / "target/dist/simgpu"


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


def windows(size, ends, length):
    """Whether a window of a text begins at each byte."""
    is_window = np.zeros(size, bool)
    start = 0
    for end in ends:
        is_window[start : max(start, end - length + 1)] = True
        start = end
    return is_window


def covered(order, shared, is_window, length, with_first=False):
    """Whether each byte lies in a window that occurs earlier, or with the first ones, anywhere else."""
    size = len(order)
    is_window = is_window[order]
    kinds = np.flatnonzero(np.concatenate(([True], shared[1:] < length)))
    counts = np.diff(np.append(kinds, size))
    if with_first:
        windows_of_kind = np.add.reduceat(is_window.astype(np.int32), kinds)
        is_repeated = is_window & np.repeat(windows_of_kind > 1, counts)
    else:
        firsts = np.minimum.reduceat(np.where(is_window, order, size), kinds)
        is_repeated = is_window & (order != np.repeat(firsts, counts))
    is_start = np.zeros(size, bool)
    is_start[order[is_repeated]] = True
    places = np.arange(size, dtype=np.int32)
    last = np.maximum.accumulate(np.where(is_start, places, np.int32(-length)))
    return places - last < length


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
        is_covered = covered(order, shared, windows(len(text), ends, length), length)
        seconds = time.perf_counter() - start
        np.save(folder / f"{length}.npy", is_covered)
        found[length] = (of_array, seconds, int(is_covered.sum()))
    return len(text), len(ends), found


def with_simgpu(command, path, length, ends, folder, occurrences="later"):
    """Seconds, MiB, and what is covered."""
    output = folder / "out"
    options = ["--unit", "bytes", "--min-length", str(length), "--threads", "1"]
    options += ["--occurrences", occurrences, "--memory", "64GB"]
    others = ["-o", output, "--overwrite", "--quiet", "--no-samples"]
    start = time.perf_counter()
    subprocess.run([command, "passages", path, *options, *others], check=True)
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


class Sampler(threading.Thread):
    """Samples the resident memory of a session's processes, and what a folder holds, for the peaks in bytes."""

    def __init__(self, session, folder):
        super().__init__()
        self.session, self.folder = session, folder
        self.memory = self.disk = 0
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.1):
            self.memory = max(self.memory, sum(map(self.resident, os.listdir("/proc"))))
            self.disk = max(self.disk, sum(map(stored, self.folder.rglob("*"))))

    def resident(self, process):
        with contextlib.suppress(OSError, ValueError):
            with open(f"/proc/{int(process)}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            if int(fields[3]) == self.session:
                return int(fields[21]) * resource.getpagesize()
        return 0


def stored(path):
    """The bytes of a file on disk, which may be gone."""
    with contextlib.suppress(OSError):
        return path.lstat().st_blocks * 512
    return 0


def sampled(command, folder, output=None):
    """Runs a command in a folder: processor and wall-clock seconds, and the peaks of memory and disk in bytes."""
    seconds = lambda of: of.ru_utime + of.ru_stime
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    output = output or subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=folder, stdout=output, start_new_session=True)
    sampler = Sampler(process.pid, folder)
    sampler.start()
    code = process.wait()
    wall = time.perf_counter() - start
    sampler.ended.set()
    sampler.join()
    if code != 0:
        sys.exit(f"{command} ended with {code}")
    used = seconds(resource.getrusage(resource.RUSAGE_CHILDREN)) - seconds(before)
    return np.array([used, wall, sampler.memory, sampler.disk])


def with_separators(path):
    """The file of the tool: its bytes, and whether each is of a text."""
    parts, is_text = [], []
    for number, line in enumerate(lines(path), 1):
        text = json.loads(line)["text"].encode()
        parts += [b"\xff\xff" + struct.pack("<I", number), text]
        is_text += [np.zeros(6, bool), np.ones(len(text), bool)]
    return b"".join(parts), np.concatenate(is_text)


def with_dedup_datasets(checkout, text, length, folder):
    """What the tool takes, and whether it covers each byte."""
    program = folder / "target/debug/dedup_dataset"
    for made in (program.parent, folder / "tmp"):
        made.mkdir(parents=True)
    program.symlink_to(checkout / "target/release/dedup_dataset")
    data, ranges = folder / "data", folder / "ranges"
    data.write_bytes(text)
    options = ["--data-file", data, "--length-threshold", str(length), "--cache-dir", folder / "cache"]
    taken = [sampled([sys.executable, checkout / "scripts/make_suffix_array.py", data], folder)]
    taken += [sampled([program, "self-similar", *options, "--num-threads", "2"], folder)]
    with open(ranges, "wb") as output:
        taken += [sampled([program, "collect", *options], folder, output)]
    taken = np.array(taken)
    is_covered = np.zeros(len(text), bool)
    listed = ranges.read_text().split("\nout\n")[1].split()
    for start, end in zip(map(int, listed[::2]), map(int, listed[1::2])):
        is_covered[start:end] = True
    # Its own input is no temporary file.
    return [*taken[:, :2].sum(0), taken[:, 2].max(), taken[:, 3].max() - len(text)], is_covered


def all_with_libsais(library, text, is_text, lengths, folder):
    """What libsais covers in the file of the tool: with all windows, and with those of texts alone."""
    text = np.frombuffer(text, np.uint8)
    start, used = time.perf_counter(), time.process_time()
    order, shared = suffix_array(library, text)
    seconds = [time.process_time() - used, time.perf_counter() - start]
    others = np.append(0, np.cumsum(~is_text))
    found = {}
    for length in lengths:
        is_window = np.zeros(len(text), bool)
        is_window[: 1 - length] = True
        np.save(folder / "all.npy", covered(order, shared, is_window, length, True))
        is_window[: 1 - length] = others[length:] == others[:-length]
        start, used = time.perf_counter(), time.process_time()
        is_covered = covered(order, shared, is_window, length, True)
        scan = [time.process_time() - used, time.perf_counter() - start]
        np.save(folder / f"texts.{length}.npy", is_covered)
        os.rename(folder / "all.npy", folder / f"all.{length}.npy")
        found[length] = [one + other for one, other in zip(seconds, scan)]
    return found


def compare_all(arguments, library, path, lengths, folder):
    """Rows of the second table."""
    text, is_text = with_separators(path)
    _, ends = read(path)
    found, peak = in_process(all_with_libsais, library, text, is_text, lengths, folder)
    for length in lengths:
        with tempfile.TemporaryDirectory(dir=arguments.temporary) as place:
            place = pathlib.Path(place)
            theirs, by_theirs = with_dedup_datasets(arguments.dedup_datasets, text, length, place)
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall, ours, by_ours = with_simgpu(arguments.simgpu, path, length, ends, folder, "all")
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
        by_all, by_texts = (np.load(folder / f"{of}.{length}.npy") for of in ("all", "texts"))
        rows = [
            ("deduplicate-text-datasets", *theirs, by_theirs[is_text]),
            ("libsais and NumPy", *found[length], peak << 20, 0, by_texts[is_text]),
            ("simgpu", used, wall, ours << 20, 0, by_ours),
        ]
        for name, used, wall, memory, disk, is_covered in rows:
            print(
                f"| {path.name.split('.')[0]} | {length} | {name} | {used:.1f} | {wall:.1f} "
                f"| {int(memory) >> 20:,} | {disk / 1e6:,.0f} | {is_covered.sum():,} |",
                flush=True,
            )
        apart = [int((by_theirs & ~by_all).sum()), int((by_all & ~by_theirs).sum())]
        borders = int((by_all & ~by_texts)[is_text].sum())
        print(
            f"covered by the tool alone and by libsais alone in the file with separators: {apart}; "
            f"bytes of texts only in windows with a part of a separator: {borders:,}; "
            f"texts without such windows equal: {np.array_equal(by_texts[is_text], by_ours)}",
            file=sys.stderr,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="+", type=pathlib.Path, metavar="CORPUS")
    parser.add_argument("--libsais", required=True)
    parser.add_argument("--dedup-datasets", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--lengths", default="50,100,200")
    parser.add_argument("--simgpu", default=COMMAND, help="the command")
    parser.add_argument("--temporary", help="folder for what the tool writes")
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
                seconds, ours, is_covered = with_simgpu(
                    arguments.simgpu, path, length, ends, folder
                )
                equal = np.array_equal(is_covered, np.load(folder / f"{length}.npy"))
                print(
                    f"| {path.name.split('.')[0]} | {size / 1e6:.1f} | {length} | {bytes_ / size:.1%} "
                    f"| {'yes' if equal else 'NO'} | {of_array:.1f} | {scan:.1f} | {peak:,} "
                    f"| {seconds:.2f} | {ours:,} |",
                    flush=True,
                )
                if not equal:
                    sys.exit("the passages differ")
        if arguments.dedup_datasets:
            print("\n| corpus | length | program | processor s | wall s | MiB | disk, MB | covered bytes |")
            print("|---|---:|---|---:|---:|---:|---:|---:|")
            for path in arguments.corpora:
                compare_all(arguments, library, path, lengths, folder)


if __name__ == "__main__":
    main()
