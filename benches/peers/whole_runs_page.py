"""The page of whole runs: shapes.md, from the rows of shapes.csv."""

import shapes
from pipelines import BANDS, NUM_PERM, ROWS, THRESHOLD

TITLES = {
    "web": "Pages of the web",
    "short": "Short documents",
    "code": "Source files",
    "baskets": "Baskets",
}
WHAT = {
    "web": "Log-normal lengths with a mean of 3 kB, of lines of real texts; shingles of 5 words.",
    "short": "5 to 15 words; shingles of 2 words.",
    "code": "Log-normal lengths with a mean of 6 kB, of blocks of real source files; shingles of 5 words.",
    "baskets": (
        "2 to 25 of 50,000 items of unequal frequency; shingles of one item. simgpu reads lists of tokens, the others the same "
        "items as words of a text."
    ),
}
KINDS = {
    "words": "words by UAX #29",
    "pieces": "lowercase pieces between what is neither letter nor number",
    "split": "words between white space",
    "lowered": "lowercase words; what is neither letter nor number is a space",
    "segments": "lowercase words without ASCII punctuation, and the spaces between them: nine of both per shingle in place of 5 words",
    "simplified": "its simplified text, split at spaces; spaCy splits a few of these words further, so that this truth is approximate",
}
COLUMNS = ["tool", "CPU s", "times simgpu's", "MB per CPU s", "documents per CPU s", "elapsed s", "MB/s", "documents/s", "load"]
COLUMNS += ["peak memory, MB", "temporary files, MB", "kept", "exact join keeps", "pairs left"]
COLUMNS += ["removed alone", "removed unlinked"]


def number(value, digits=3):
    """A number with this many significant digits and thousands separators."""
    if value is None:
        return ""
    if isinstance(value, int) or value >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}" if value >= 0.01 else f"{value:.2g}"


def cells(row, own=None):
    """The cells of a row, beside that of simgpu, if there is one."""
    if row.why:
        spent = f" ({row.cpu_s:,.0f} CPU s until then)" if row.cpu_s else ""
        return [row.tool, f"{row.why}{spent}"] + [""] * (len(COLUMNS) - 2)
    bytes_of = row.input_bytes / 1e6
    left = "" if row.true_pairs is None else f"{row.pairs_left:,} of {row.true_pairs:,}"
    times = row.cpu_s / own.cpu_s if own and own.cpu_s else None
    speeds = [row.cpu_s, times, bytes_of / row.cpu_s, row.documents / row.cpu_s]
    speeds += [row.elapsed_s, bytes_of / row.elapsed_s, row.documents / row.elapsed_s, row.load]
    places = [round(row.peak_bytes / 1e6), round(row.temporary_bytes / 1e6), row.kept, row.kept_by_truth]
    return [row.tool, *map(number, speeds + places), left, number(row.removed_alone), number(row.removed_unlinked)]


def line_of(row):
    """A row for the terminal."""
    named = zip(COLUMNS[1:], cells(row)[1:])
    if row.why:
        return f"{row.shape} {row.documents:,} {row.tool}: {row.why}"
    return f"{row.shape} {row.documents:,} {row.tool}: " + ", ".join(f"{name} {value}" for name, value in named if value)


def table_of(rows):
    lines = ["| " + " | ".join(COLUMNS) + " |", "| --- |" + " ---: |" * (len(COLUMNS) - 1)]
    own = next((row for row in rows if row.tool == "simgpu"), None)
    return lines + ["| " + " | ".join(cells(row, own)) + " |" for row in rows]


def words_of(rows):
    """How the tools split texts into words."""
    tools = {}
    for row in sorted(rows, key=place):
        if row.truth and row.truth != "items":
            tools.setdefault(row.truth, {})[row.tool] = None
    return [f"- {', '.join(names)}: {KINDS[kind]}" for kind, names in tools.items()]


MODELLED = {
    "CPU s": "cpu_s",
    "elapsed s": "elapsed_s",
    "peak memory, GB": "peak_bytes",
    "temporary files, GB": "temporary_bytes",
    "results, GB": "output_bytes",
}
MODELLED_SIZES = [10**8, 10**9]


def modelled(rows, tool):
    """Lines about sizes that were not run: straight lines through the two largest sizes, and how far such a line through
    the two sizes before misses the largest."""
    rows = sorted((row for row in rows if row.tool == tool and not row.why), key=lambda row: row.documents)[-3:]
    if len(rows) < 3:
        return []
    largest = rows[2].documents
    head = [tool, f"{largest:,}, measured", f"{largest:,}, modelled", "error"]
    head += [f"{size:,}, modelled" for size in MODELLED_SIZES]
    lines = [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * (len(head) - 1)]
    for title, name in MODELLED.items():
        scale = 1e9 if name.endswith("bytes") else 1
        points = [(row.documents, getattr(row, name) / scale) for row in rows]
        expected, measured = on_line(*points[:2], largest), points[2][1]
        error = f"{100 * (expected / measured - 1):+.1f} %" if measured else ""
        larger = [number(on_line(*points[1:], size)) for size in MODELLED_SIZES]
        lines.append(f"| {' | '.join([title, number(measured), number(expected), error, *larger])} |")
    return lines


def on_line(a, b, x):
    """The value at `x` of the line through two points."""
    return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])


HEAD = """# Whole runs on the shapes of the field

{date}, {cpu}, {cores} cores, {threads} threads, written by `benches/peers/shapes.py`
([how](../../benches/peers/README.md#whole-runs-on-the-shapes-of-the-field)). One run each, while other programs ran on the same cores: *load* is the mean
number of processes that ran or waited when a run began. So processor seconds come first, and elapsed times say little.

All tools have K = {num_perm} in {bands} bands of {rows}, shingles of the same number of words, and a threshold of {threshold}. *simgpu (256 MiB)* has a limit
of memory, and goes on on disk where it is reached. *simgpu (defaults)* has no options: the same bands, but an exact join of baskets where that costs about as
much. simgpu verifies candidates exactly, fastdedup and rensa by signatures, text-dedup, datatrove and duplodocus not at all: these three keep one document of
each set that candidates connect. rensa runs on one thread.

Every tenth document is a copy of an earlier one, with an edit that is known ([generate_shapes.py](../../benches/peers/generate_shapes.py)). The truth is an
exact join, `simgpu pairs --candidates join`, of the words into which the tool itself splits texts. Sets of shingles in Python confirm it for {checked} copies:
each has a pair with its origin where their similarity reaches the threshold, and none where it does not.

{words}

Columns of the tables:

- *exact join keeps*: documents that greedy removal in order keeps, by all similar pairs
- *pairs left*: similar pairs of which both documents were kept
- *removed alone*: documents that were removed though similar to no other
- *removed unlinked*: documents that were removed though similar to no kept one: those removed alone, and ends of chains
"""
ARITHMETIC = """
Modelled, not measured: a straight line through the two largest sizes. *error* is that of the line through the two sizes before, at the largest size. The line
knows nothing of caches and of further passes over files: in [an earlier run](../2026-11-22-amd-epyc-2-cores/scale.md), a document among 100 million took 1.3 to
1.8 times as long as one among a million.
"""


def place(row):
    """Where a row stands in its table: by its number among the tools."""
    tools = shapes.TOOLS + shapes.MORE_TOOLS
    return max((len(name), tools.index(name)) for name in tools if row.tool.startswith(name))[1]


def section(shape, rows):
    rows = sorted(rows, key=place)
    lines = ["", f"## {TITLES[shape]}", "", WHAT[shape]]
    for documents in sorted({row.documents for row in rows}):
        of_size = [row for row in rows if row.documents == documents]
        input_bytes = max(row.input_bytes for row in of_size)
        title = f"### {documents:,} documents, {input_bytes / 1e6:,.0f} MB"
        lines += ["", title, "", *table_of(of_size)]
    # Of other shapes, nobody has so many.
    models = [modelled(rows, tool) for tool in ("simgpu", "simgpu (256 MiB)")] if shape == "short" else []
    if any(models):
        lines.append(ARITHMETIC.rstrip())
    for model in models:
        lines += ["", *model] if model else []
    return lines


def write(rows, machine, folder):
    checked = {(row.shape, row.documents): row.copies_checked for row in rows if row.copies_checked}
    head = HEAD.format(
        **{name: machine[name] for name in ("date", "cpu", "cores")},
        threads=max((row.threads for row in rows), default=0),
        num_perm=NUM_PERM,
        bands=BANDS,
        rows=ROWS,
        threshold=THRESHOLD,
        checked=f"{sum(checked.values()):,}",
        words="\n".join(words_of(rows)),
    )
    lines = [head.rstrip("\n")]
    for shape in TITLES:
        of_shape = [row for row in rows if row.shape == shape]
        lines += section(shape, of_shape) if of_shape else []
    (folder / "shapes.md").write_text("\n".join(lines) + "\n")
