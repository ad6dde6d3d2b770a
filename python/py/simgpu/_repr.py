"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._dedup import Deduplicated
    from ._simgpu import Signatures, Table

_ROWS = 10
_SLOTS = 6


def _html(head: Iterable[object], rows: Iterable[Iterable[object]], note: str) -> str:
    def cells(tag: str, values: Iterable[object]) -> str:
        return "".join(f"<{tag}>{escape(_shown(value))}</{tag}>" for value in values)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{escape(note)}</p>"
    )


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(data: Table) -> str:
    """The first rows of a table."""
    names = data.column_names
    columns = [data[name][:_ROWS].tolist() for name in names]
    return _html(names, zip(*columns, strict=True), f"{len(data):,} rows")


def signatures(data: Signatures) -> str:
    """The first slots of the first signatures."""
    slots = data.slots[:_ROWS, :_SLOTS].tolist()
    rows = [[row, *map(str, values)] for row, values in enumerate(slots)]
    head = ["row", *(f"slot {i}" for i in range(len(slots[0]) if slots else 0))]
    note = f"{len(data):,} signatures of {data.num_perm:,} slots, {data.scheme!r}"
    return _html(head, rows, note)


def deduplicated(data: Deduplicated) -> str:
    """The counts of a deduplication."""
    counts = data.counts
    rows: list[tuple[str, Any]] = [
        (name, counts[name]) for name in ("documents", "kept", "removed", "identical", "clusters")
    ]
    threshold = data.report["parameters"]["threshold"]
    note = f"threshold {threshold}; {100 * data.recall:.1f} % of the pairs just at it are found"
    return _html(("count", ""), rows, note)
