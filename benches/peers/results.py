"""A folder of results: the environment, every measurement, and tables to be read."""

import collections
import csv
import datetime
import io
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

RUNS = ["tool", "shingles", "num_perm", "documents", "passes", "repeat", "elapsed_s", "documents_per_s"]
CELLS = [
    "tool",
    "shingles",
    "num_perm",
    "repeats",
    "median_documents_per_s",
    "mad_documents_per_s",
    "most_documents_per_s",
    "ns_per_shingle",
    "state_updates_per_s",
]
ERRORS = [
    "tool",
    "shingles",
    "num_perm",
    "pairs",
    "mean_similarity",
    "mean_error",
    "mean_squared_error",
    "squared_error_over_ideal",
    "standard_error_of_ratio",
]
FILES = ["runs.csv", "cells.csv", "errors.csv", "summary.md"]

# A deviation of this share of the median is worth a warning.
UNSTEADY = 0.1

Run = collections.namedtuple("Run", RUNS)
Error = collections.namedtuple("Error", ERRORS)


class Results:
    """What was measured so far. It is written again after every cell, so that a run that is broken
    off leaves what it had."""

    def __init__(self, folder, environment, peers, schemes):
        folder = folder or ROOT / "results" / f"{environment['date']}-{machine(environment)}-peers"
        self.folder = pathlib.Path(folder)
        present = [name for name in FILES if (self.folder / name).exists()]
        if present:
            raise SystemExit(f"{self.folder} already holds {present[0]}; name another folder with --results")
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "environment.json").write_text(json.dumps(environment, indent=2) + "\n")
        self.peers, self.schemes = peers, schemes
        self.runs, self.errors = [], []
        # (tool, equal scheme) -> cells in which the signatures were compared, and those that differ.
        self.equal = collections.defaultdict(lambda: [0, 0])
        # What was not measured -> why.
        self.absent = {}

    def write(self):
        self.write_csv("runs.csv", RUNS, self.runs)
        self.write_csv("cells.csv", CELLS, self.cells())
        self.write_csv("errors.csv", ERRORS, self.errors)
        (self.folder / "summary.md").write_text(self.summary())

    def write_csv(self, name, header, rows):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([header, *rows])
        (self.folder / name).write_text(text.getvalue())

    def speeds(self):
        """(tool, shingles, num_perm) -> documents/s of every repeat."""
        speeds = collections.defaultdict(list)
        for run in self.runs:
            speeds[run.tool, run.shingles, run.num_perm].append(run.documents_per_s)
        return speeds

    def cells(self):
        skipping = {tool.name for tool in [*self.peers, *self.schemes] if tool.skips_work}
        for (tool, shingles, num_perm), speeds in self.speeds().items():
            median = statistics.median(speeds)
            deviation = mad(speeds)
            nanoseconds = 1e9 / (median * shingles)
            updates = "" if tool in skipping else f"{median * shingles * num_perm:.4g}"
            speed = [f"{median:.6g}", f"{deviation:.3g}", f"{max(speeds):.6g}", f"{nanoseconds:.4g}", updates]
            yield [tool, shingles, num_perm, len(speeds), *speed]

    def summary(self):
        speeds = self.speeds()
        medians = {cell: statistics.median(measured) for cell, measured in speeds.items()}
        sizes = sorted({shingles for _, shingles, _ in medians})
        widths = sorted({num_perm for _, _, num_perm in medians})
        parts = [ABOVE, self.peers_table()]
        ratios, behind, compared = self.ratios(speeds, sizes, widths)
        if compared:
            parts += [f"## simgpu beside its peers\n\n{RATIOS}\n\nCells compared: {compared}; behind: {behind}.\n"]
            parts += ratios
        parts += [f"## Documents per second\n\nMedians, and the median absolute deviation in per cent.{self.unrest()}\n"]
        parts += [self.speed_table(medians, shingles, widths) for shingles in sizes]
        if self.errors:
            parts += [f"## Squared error\n\n{ABOVE_ERRORS.format(num_perm=self.errors[0].num_perm)}\n", self.error_table()]
        if self.equal:
            parts += [self.equal_table()]
        if self.absent:
            rows = [["what", "why"], *([what, why] for what, why in self.absent.items())]
            parts += ["## Not measured\n", markdown(rows)]
        return "\n".join(parts)

    def peers_table(self):
        rows = [["peer", "version", "how it is called"]]
        rows += [[peer.name, peer.version(), peer.api] for peer in self.peers]
        return markdown(rows)

    def ratios(self, speeds, sizes, widths):
        """Tables of ratios, and how many cells are behind, of how many."""
        tables, behind, compared = [], 0, 0
        for peer in self.peers:
            for scheme in peer.schemes:
                ours = f"simgpu {scheme}"
                rows = [["shingles", *(f"K = {num_perm}" for num_perm in widths)]]
                found = 0
                for shingles in sizes:
                    row = [str(shingles)]
                    for num_perm in widths:
                        pair = [speeds.get((tool, shingles, num_perm)) for tool in (ours, peer.name)]
                        if None in pair:
                            row.append("-")
                            continue
                        ratio = statistics.median(a / b for a, b in zip(*pair))
                        found += 1
                        behind += ratio < 1
                        row.append(f"{ratio:.2f}" + (" **behind**" if ratio < 1 else ""))
                    rows.append(row)
                compared += found
                if found:
                    note = " (which starts from text)" if peer.from_text else ""
                    tables.append(f"### {ours} / {peer.name}{note}\n\n{markdown(rows)}")
        return tables, behind, compared

    def unrest(self):
        """A warning, if the machine had other work."""
        speeds = self.speeds().values()
        unsteady = sum(mad(measured) > UNSTEADY * statistics.median(measured) for measured in speeds)
        if not unsteady:
            return ""
        return (
            f" It is above {UNSTEADY:.0%} in {unsteady} of {len(speeds)} rows and cells, as happens on a machine with"
            " other work: measure again with nothing beside, or with more --repeats."
        )

    def speed_table(self, medians, shingles, widths):
        speeds = self.speeds()
        tools = list(dict.fromkeys(tool for tool, size, _ in medians if size == shingles))
        rows = [["tool", *(f"K = {num_perm}" for num_perm in widths)]]
        for tool in tools:
            row = [tool]
            for num_perm in widths:
                cell = (tool, shingles, num_perm)
                if cell in medians:
                    row.append(f"{rounded(medians[cell])} ±{100 * mad(speeds[cell]) / medians[cell]:.0f} %")
                else:
                    row.append("-")
            rows.append(row)
        return f"### {shingles} shingles\n\n{markdown(rows)}"

    def error_table(self):
        sizes = sorted({error.shingles for error in self.errors})
        tools = dict.fromkeys(error.tool for error in self.errors)
        cells = {(error.tool, error.shingles): error for error in self.errors}
        rows = [["tool", *(f"{size} shingles" for size in sizes)]]
        for tool in tools:
            errors = [cells.get((tool, size)) for size in sizes]
            texts = [
                f"{e.squared_error_over_ideal:.2f} ±{e.standard_error_of_ratio:.2f}" if e else "-" for e in errors
            ]
            rows.append([tool, *texts])
        return markdown(rows)

    def equal_table(self):
        rows = [["peer", "scheme of simgpu", "cells compared", "that differ"]]
        for (peer, scheme), (compared, different) in self.equal.items():
            rows.append([peer, scheme, str(compared), str(different)])
        return f"## The same bits\n\n{EQUAL}\n\n{markdown(rows)}"


ABOVE = """\
# simgpu and its peers: signing

    python3 benches/peers/run.py

Every tool signs the same documents, sets of random hashes, on one thread pinned to one core. All tools of a cell
(shingles of a document, K slots of a signature) take turns, so that what slows the machine down slows all of them
down. A slow tool gets fewer documents, which are the first of those that the others get. The rows `stringzillas`
start from texts with as many windows as the documents have shingles, and hash them; all others start from hashes.
"""

RATIOS = """\
simgpu's documents/s divided by the peer's, each time they take turns, and the median of that. Where simgpu is slower
the cell says **behind**.
The schemes `fast` and `rensa` skip work, as rensa and FastSketchLSH do: see their squared errors below."""

ABOVE_ERRORS = """\
For pairs whose similarity is one half, at K = {num_perm}: the mean squared error of the estimate, divided by J(1-J)/K, which
is that of K independent permutations, and its standard error. `rensa rho` leaves tokens out, which is why no speed
of it stands above."""

EQUAL = "Signatures of the same hashes, compared by their SHA-1."


def mad(values):
    """The median absolute deviation from the median."""
    median = statistics.median(values)
    return statistics.median(abs(value - median) for value in values)


def rounded(speed):
    """Three digits, as a plain number."""
    digits = max(0, 2 - len(str(int(speed))) + 1)
    scale = 10 ** max(0, len(str(int(speed))) - 3)
    return f"{round(speed / scale) * scale:,}" if digits == 0 else f"{speed:.{digits}f}"


def markdown(rows):
    """Rows, of which the first is the header, as a Markdown table: names to the left, numbers to the
    right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    right = [
        all(re.match(r"[-+0-9]", row[column]) for row in rows[1:]) and column > 0
        for column in range(len(rows[0]))
    ]
    lines = []
    for i, row in enumerate(rows):
        cells = [cell.rjust(width) if r else cell.ljust(width) for cell, width, r in zip(row, widths, right)]
        lines.append("| " + " | ".join(cells) + " |")
        if i == 0:
            lines.append("| " + " | ".join("-" * (w - 1) + ":-"[not r] for w, r in zip(widths, right)) + " |")
    return "\n".join(lines) + "\n"


def environment(core, backend, tools):
    """What decides the numbers, beside the code."""
    changes = said("git", "status", "--porcelain", "--", "src", "benches", "Cargo.toml", "Cargo.lock")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "pinned_to_core": core,
        "memory_bytes": memory_bytes(),
        "os": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "rustc": said("rustc", "--version"),
        "python": platform.python_version(),
        "backend": backend,
        "tools": tools,
        "commit": said("git", "rev-parse", "HEAD"),
        "uncommitted_changes": None if changes is None else changes != "",
    }


def said(*command):
    """What a program prints about this machine or this source tree, if it is there."""
    try:
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None


def cpu_model():
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return said("sysctl", "-n", "machdep.cpu.brand_string") or f"unknown {platform.machine()} CPU"


def memory_bytes():
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def machine(environment):
    """CPU model and cores as part of a folder's name."""
    model = environment["cpu"].lower().replace("(r)", "").replace("(tm)", "")
    words = re.findall(r"[a-z0-9]+", model)
    return f"{'-'.join(words)}-{environment['cores']}-cores"
