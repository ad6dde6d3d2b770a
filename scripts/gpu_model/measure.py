"""Measures runs on lavapipe: seconds of processor time of each kind of thread, and elapsed seconds.

A run is `simgpu dedup --unit bytes --backend gpu --verify none --dry-run`: the way of texts through
a device to band keys, and nothing behind it but the clustering of the candidates. /proc tells the
threads apart: every run starts them in the same order.
"""

import csv
import datetime
import json
import os
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

CORPORA = ["terms-of-service", "driver-docs", "arxiv-abstracts", "licenses"]


@dataclass
class Run:
    """One run: its work, and its time. Bytes are those of JSON Lines, not compressed."""

    date: str
    corpus: str
    num_perm: int
    bands: int
    cores: int
    bytes: int
    documents: int
    # Documents whose text no earlier document has: these alone travel.
    distinct: int
    text_bytes: int
    loads: int
    # Processor time of the whole process, and of its three kinds of threads.
    cpu_s: float
    host_s: float
    copy_s: float
    kernel_s: float
    elapsed_s: float
    # Processor time that other programs took meanwhile, on the cores of the run.
    others_s: float

    @classmethod
    def of_row(cls, row):
        return cls(**{field.name: field.type(row[field.name]) for field in fields(cls)})


def read_runs(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [Run.of_row(row) for row in csv.DictReader(file)]


def command(simgpu, corpus, settings):
    num_perm, limit, cores = settings
    options = ["--unit", "bytes", "--backend", "gpu", "--verify", "none", "--quiet"]
    limited = ["--limit", str(limit)] if limit else []
    sizes = ["--num-perm", str(num_perm), "--threads", str(cores)]
    return [simgpu, "dedup", corpus, *options, *sizes, *limited]


def environment(cores):
    return {**os.environ, "LP_NUM_THREADS": str(cores), "NODEVICE_SELECT": "1"}


def work(simgpu, corpus, settings):
    """What a run reads and sends, from `report.json` and `run.json` of one that writes them."""
    with tempfile.TemporaryDirectory() as folder:
        output = ["--output", folder, "--overwrite"]
        run = [*command(simgpu, corpus, settings), *output]
        subprocess.run(run, env=environment(settings[2]), check=True)
        report = json.loads(Path(folder, "report.json").read_text(encoding="utf-8"))
        device = json.loads(Path(folder, "run.json").read_text(encoding="utf-8"))["device"]
    if device["failure"] or not device["text_bytes"]:
        raise SystemExit(f"{corpus}: the device got no text: {device}")
    counts = report["counts"]
    # The report counts the bytes of whole files, also where a limit ends the run before.
    return {
        "bands": report["parameters"]["bands"],
        "bytes": bytes_of(corpus, settings[1]),
        "documents": counts["documents"],
        "distinct": counts["documents"] - counts["identical"],
        "text_bytes": device["text_bytes"],
        "loads": device["loads"],
    }


def bytes_of(corpus, limit):
    with open(corpus, "rb") as file:
        return sum(len(line) for at, line in enumerate(file) if not limit or at < limit)


def kinds(threads):
    """Seconds of host, copies and kernel, from names and seconds of threads in order of start.

    lavapipe starts a thread that executes submissions, copies among them; then `llvmpipe-N`, which
    would draw, and sleep; then those that execute kernels, without a name of their own. Before it
    are threads of simgpu that read and normalise.
    """
    names = [name for name, _ in threads]
    drawing = [at for at, name in enumerate(names) if name.startswith("llvmpipe-")]
    end = names.index("simgpu:disk$0")
    kernel = range(drawing[-1] + 1, end)
    copies = [drawing[0] - 1, names.index("simgpu-device")]
    seconds = [seconds for _, seconds in threads]
    kernel_s, copy_s = (sum(seconds[at] for at in group) for group in (kernel, copies))
    return sum(seconds) - kernel_s - copy_s, copy_s, kernel_s


def thread_seconds(process, seen):
    for task in Path(f"/proc/{process}/task").glob("*"):
        try:
            name = (task / "comm").read_text().strip()
            seen[int(task.name)] = name, int((task / "schedstat").read_text().split()[0]) / 1e9
        except (OSError, IndexError):
            continue  # It ended in between.


def busy_s(cores):
    """Seconds that the first so many cores were not idle, or taken by other virtual machines."""
    lines = Path("/proc/stat").read_text().splitlines()[1 : cores + 1]
    idle = (3, 4)
    cells = (pair for line in lines for pair in enumerate(line.split()[1:9]))
    ticks = sum(int(ticks) for at, ticks in cells if at not in idle)
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(cores, patience_s):
    """Waits until other programs take less than a tenth of the cores, but not for ever."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        before = busy_s(cores)
        time.sleep(0.2)
        if busy_s(cores) - before < 0.1 * 0.2 * cores:
            return


def timed(simgpu, corpus, settings):
    cores = settings[2]
    run = [*command(simgpu, corpus, settings), "--dry-run", "--output", "unwritten"]
    # One core: everything in turn, so that nothing depends on what runs beside what.
    pin = (lambda: os.sched_setaffinity(0, {0})) if cores == 1 else None
    begun, busy_before = time.monotonic(), busy_s(cores)
    process = subprocess.Popen(
        run, env=environment(cores), stdout=subprocess.DEVNULL, preexec_fn=pin
    )
    seen = {}
    while True:
        thread_seconds(process.pid, seen)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.005)
    elapsed_s, busy = time.monotonic() - begun, busy_s(cores) - busy_before
    if status:
        raise SystemExit(f"{run} failed")
    host_s, copy_s, kernel_s = kinds([seen[thread] for thread in sorted(seen)])
    cpu_s = usage.ru_utime + usage.ru_stime
    times = {"cpu_s": cpu_s, "copy_s": copy_s, "kernel_s": kernel_s, "elapsed_s": elapsed_s}
    times["others_s"] = max(0.0, busy - cpu_s)
    # What threads did after they were last looked at is the host's.
    times["host_s"] = max(host_s, cpu_s - copy_s - kernel_s)
    return {name: round(value, 4) for name, value in times.items()}


def configurations(folder):
    """Corpora and settings: permutations, a limit of documents, cores."""
    for corpus in CORPORA:
        path = folder / f"{corpus}.jsonl"
        if not path.exists():
            raise SystemExit(f"{path} is missing; unpack {corpus}.jsonl.zst to it by zstd -d")
        half = sum(1 for _ in open(path, "rb")) // 2
        yield from ((path, settings) for settings in [(64, 0, 1), (128, 0, 1), (256, 0, 1)])
        yield from ((path, settings) for settings in [(128, half, 1), (128, 0, 2)])


def measure(simgpu, folder, times, patience_s, path):
    """Runs every configuration once, then again, and adds a row for each run."""
    chosen = [(str(corpus), settings) for corpus, settings in configurations(Path(folder))]
    works = [work(simgpu, corpus, settings) for corpus, settings in chosen]
    with open(path, "a", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [field.name for field in fields(Run)], lineterminator="\n")
        if file.tell() == 0:
            table.writeheader()
        for _ in range(times):
            for (corpus, settings), its_work in zip(chosen, works):
                wait_for_quiet(settings[2], patience_s)
                times_of = timed(simgpu, corpus, settings)
                run = Run(
                    date=datetime.date.today().isoformat(),
                    corpus=Path(corpus).stem,
                    num_perm=settings[0],
                    cores=settings[2],
                    **its_work,
                    **times_of,
                )
                table.writerow(asdict(run))
                file.flush()
