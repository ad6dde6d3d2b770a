"""What commands cost and what they keep: processor time, memory and disk of all processes of a command, and its kept
documents beside all similar pairs."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

# Seconds between two looks at memory and disk.
INTERVAL_S = 0.1


# Runs a command from a small process, since the system counts memory from before a command replaced its parent's copy.
# Writes the exit status, elapsed and processor seconds, and KiB of the largest process.
LAUNCHER = """
import os, resource, sys, time
start = time.monotonic()
status = os.waitpid(os.spawnvp(os.P_NOWAIT, sys.argv[2], sys.argv[2:]), 0)[1]
elapsed_s, used = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    print(os.waitstatus_to_exitcode(status), elapsed_s, used.ru_utime + used.ru_stime, used.ru_maxrss, file=file)
"""


@dataclasses.dataclass
class Cost:
    """What a command took, from its start to its end."""

    elapsed_s: float = 0.0
    # User and system, of all of its processes.
    cpu_s: float = 0.0
    # Most resident memory of all its processes together, sampled, or of its largest process, exact. Pages that
    # processes share count once.
    peak_bytes: int = 0
    # Most bytes of temporary files at one time, sampled.
    temporary_bytes: int = 0
    # Why it failed; empty if it did not.
    ended: str = ""


def measured(command: list, cap_s: float, log: Path, folder: Path | None = None, output: Path | None = None, **environment: str) -> Cost:
    """Runs a command, at most `cap_s` seconds. Temporary files are those in `folder`, except in `output`, and unnamed
    ones. What it prints goes to `log`."""
    report = log.with_suffix(".cost")
    report.unlink(missing_ok=True)
    start = time.monotonic()
    with open(log, "wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LAUNCHER, report, *map(str, command)],
            stdout=file,
            stderr=file,
            start_new_session=True,
            env={**os.environ, **environment},
        )
    cost = Cost()
    ticks: dict[tuple[int, str], int] = {}
    while process.poll() is None and time.monotonic() - start < cap_s:
        sampled(process.pid, ticks, cost, folder, output)
        try:
            process.wait(INTERVAL_S)
        except subprocess.TimeoutExpired:
            continue
    # Of children that nobody has waited for, the samples know.
    cost.elapsed_s, cost.cpu_s = time.monotonic() - start, sum(ticks.values()) / os.sysconf("SC_CLK_TCK")
    if process.poll() is None:
        cost.ended = f"stopped after {cap_s:.0f} s"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return cost
    status, elapsed_s, cpu_s, largest = report.read_text().split()
    cost.elapsed_s, cost.cpu_s = float(elapsed_s), max(cost.cpu_s, float(cpu_s))
    cost.peak_bytes = max(cost.peak_bytes, int(largest) * 1024)
    cost.ended = "" if status == "0" else f"exit status {status}"
    return cost


def sampled(session: int, ticks: dict, cost: Cost, folder: Path | None, output: Path | None) -> None:
    """Adds a look at the processes of a session, except its first, and at a folder."""
    resident, unnamed = {}, 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) != session or int(process.name) == session:
                continue
            ticks[int(process.name), fields[19]] = int(fields[11]) + int(fields[12])
            resident[process] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
            unnamed += sum(map(unnamed_bytes, (process / "fd").iterdir()))
        except OSError:
            continue
    together = sum(resident.values()) if len(resident) < 2 else sum(map(proportional_bytes, resident))
    cost.peak_bytes = max(cost.peak_bytes, together)
    if folder is not None:
        cost.temporary_bytes = max(cost.temporary_bytes, unnamed + bytes_in(folder, output))


def proportional_bytes(process: Path) -> int:
    """Resident memory of a process, of which each shared page counts as its part."""
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def unnamed_bytes(descriptor: Path) -> int:
    """Bytes of an open file that has been removed; 0 for another."""
    try:
        target = os.readlink(descriptor)
        is_unnamed = target.endswith(" (deleted)") and not target.startswith(("/memfd:", "/dev/"))
        return descriptor.stat().st_size if is_unnamed else 0
    except OSError:
        return 0


def bytes_in(folder: Path, excluded: Path | None = None) -> int:
    """Bytes of the files in a folder, except those of one folder in it."""
    found = 0
    for place, folders, files in os.walk(folder):
        if excluded is not None and Path(place) == excluded.parent:
            folders[:] = [name for name in folders if name != excluded.name]
        for name in files:
            try:
                found += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return found


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What a tool kept, beside all similar pairs."""

    kept: int
    # Similar pairs of which both documents were kept.
    pairs_left: int
    # Documents that were removed and are similar to no other.
    removed_alone: int
    # Documents that were removed and are similar to no kept one.
    removed_unlinked: int


def judged(kept: np.ndarray, pairs: np.ndarray, documents: int) -> Verdict:
    """Compares the numbers of the kept documents with all similar pairs, one per row."""
    is_kept, has_kept, has_any = (np.zeros(documents, bool) for _ in range(3))
    is_kept[kept] = True
    a, b = pairs.T
    has_any[pairs.ravel()] = True
    has_kept[a[is_kept[b]]] = True
    has_kept[b[is_kept[a]]] = True
    return Verdict(
        int(is_kept.sum()),
        int((is_kept[a] & is_kept[b]).sum()),
        int((~is_kept & ~has_any).sum()),
        int((~is_kept & ~has_kept).sum()),
    )


def kept_in_order(pairs: np.ndarray, documents: int) -> int:
    """Number of documents kept by greedy removal in order: each that is similar to no earlier kept one."""
    later, earlier = pairs.max(axis=1), pairs.min(axis=1)
    order = np.argsort(later, kind="stable")
    is_kept = np.ones(documents, bool)
    for a, b in zip(earlier[order].tolist(), later[order].tolist()):
        if is_kept[a]:
            is_kept[b] = False
    return int(is_kept.sum())
