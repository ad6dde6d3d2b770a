"""The table of all kernels and targets: kept under results/gpu-isa, compared and printed."""

import csv
from dataclasses import astuple, dataclass, fields


@dataclass
class Row:
    """What a compiler made of a kernel; None where there is no such number."""

    kernel: str
    target: str
    # Of the cheapest loop of updates, for one update: a shingle under a permutation.
    instructions: float
    cycles: float | None
    registers: int
    spills: int
    occupancy: int | None
    # Instructions of a lane that stages a quad of shingles.
    staging: float | None
    # Instructions of the other loops of updates, in their order.
    others: list[float]

    @property
    def key(self):
        """What the row is about."""
        return self.kernel, self.target


COLUMNS = [field.name for field in fields(Row)]
NUMBERS = COLUMNS[2:]
COMPILER_COLUMNS = ["compiler", "version", "date"]
# What must not grow, and from which share on it counts as worse.
WATCHED = ("instructions", "cycles", "spills", "others")
TOLERANCE = 0.05


def number(text):
    """A number of the table."""
    if text == "":
        return None
    return float(text) if "." in text else int(text)


def numbers(text):
    """Several numbers of the table."""
    return [float(part) for part in text.split()]


def shown(value):
    """A number as the table has it."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(shown(part) for part in value)
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def cells(row):
    """The cells of a row."""
    return [shown(value) for value in astuple(row)]


def read_lines(path):
    """The lines of a file as dictionaries; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def read_rows(path):
    """The rows of a file by kernel and target."""
    rows = {}
    for line in read_lines(path):
        cells_of_row = [number(line[name]) for name in NUMBERS[:-1]]
        row = Row(line["kernel"], line["target"], *cells_of_row, numbers(line["others"]))
        rows[row.key] = row
    return rows


def read_compilers(path):
    """Version and date by compiler."""
    return {line["compiler"]: (line["version"], line["date"]) for line in read_lines(path)}


def write(path, header, lines):
    """Writes a file of comma-separated values."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)


def has_grown(now, then):
    """Whether a number, or one of as many as before, grew by more than the tolerance."""
    if isinstance(now, list):
        return len(now) == len(then) and any(has_grown(*pair) for pair in zip(now, then))
    return then is not None and now > then * (1 + TOLERANCE)


def differences(row, before):
    """In words what got worse, and what changed otherwise."""
    worse, changed = [], []
    for name in NUMBERS:
        now, then = getattr(row, name), getattr(before, name)
        if shown(now) == shown(then):
            continue
        # A number that is gone cannot be watched any more.
        is_worse = name in WATCHED and (now is None or has_grown(now, then))
        words = f"{name} {shown(then) or 'none'} -> {shown(now) or 'none'}"
        (worse if is_worse else changed).append(words)
    return worse, changed


def print_rows(rows, notes):
    """Prints rows in columns, and beside each what is to be said of it."""
    lines = [[*COLUMNS, ""]] + [[*cells(row), notes.get(row.key, "")] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    for line in lines:
        names = [cell.ljust(width) for cell, width in zip(line[:2], widths)]
        numbers = [cell.rjust(width) for cell, width in zip(line[2:-1], widths[2:])]
        print("  ".join([*names, *numbers, line[-1]]).rstrip())
