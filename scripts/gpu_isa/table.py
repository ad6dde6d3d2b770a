"""The table of all kernels and targets: kept under results/gpu-isa, compared and printed."""

import csv
from dataclasses import astuple, dataclass, fields


@dataclass
class Row:
    """What a compiler made of a kernel; None where there is no such number."""

    kernel: str
    target: str
    # Of the inner loop, for one update: a shingle under a permutation.
    instructions: float
    cycles: float | None
    registers: int
    spills: int
    occupancy: int | None
    # Instructions of a lane that stages a quad of shingles.
    staging: float | None

    @property
    def key(self):
        """What the row is about."""
        return self.kernel, self.target


COLUMNS = [field.name for field in fields(Row)]
# What must not grow, and from which share on it counts as worse.
WATCHED = ("instructions", "cycles", "spills")
TOLERANCE = 0.05


def number(text):
    """A number of the table."""
    return None if text == "" else float(text) if "." in text else int(text)


def shown(value):
    """A number as the table has it."""
    if value is None:
        return ""
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def read(path):
    """The rows of a file by kernel and target; none where there is no file."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = [
            Row(line["kernel"], line["target"], *(number(line[name]) for name in COLUMNS[2:]))
            for line in csv.DictReader(file)
        ]
    return {row.key: row for row in rows}


def write(path, header, lines):
    """Writes a file of comma-separated values."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)


def cells(row):
    """The cells of a row."""
    return [shown(value) for value in astuple(row)]


def is_worse(now, before):
    """Whether a number grew by more than the tolerance."""
    return now is not None and before is not None and now > before * (1 + TOLERANCE)


def differences(row, before):
    """In words what got worse, and what changed otherwise."""
    worse, changed = [], []
    for name in COLUMNS[2:]:
        now, then = getattr(row, name), getattr(before, name)
        if shown(now) != shown(then):
            words = f"{name} {shown(then) or 'none'} -> {shown(now) or 'none'}"
            # A number that is gone cannot be watched any more.
            is_gone = now is None and then is not None
            is_bad = name in WATCHED and (is_gone or is_worse(now, then))
            (worse if is_bad else changed).append(words)
    return worse, changed


def print_table(rows, notes):
    """Prints rows in columns, and beside each what is to be said of it."""
    lines = [[*COLUMNS, ""]] + [[*cells(row), notes.get(row.key, "")] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    for line in lines:
        text = [cell.ljust(width) for cell, width in zip(line[:2], widths)]
        text += [cell.rjust(width) for cell, width in zip(line[2:-1], widths[2:])]
        print("  ".join([*text, line[-1]]).rstrip())
