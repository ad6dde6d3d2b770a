"""What tables of results become: rows, and data frames of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._hosts import check

if TYPE_CHECKING:
    from ._simgpu import Table

_ROWS = 1024


def rows(table: Table) -> Iterator[dict[str, Any]]:
    """The rows, made some at a time."""
    for start in range(0, len(table), _ROWS):
        yield from table[start : start + _ROWS].to_pylist()


def to_pandas(table: Table) -> Any:
    """The table as a data frame of pandas."""
    check("to_pandas", "pandas")
    import pandas as pd

    def series(name: str) -> Any:
        values = table[name]
        known = [value for value in values if value is not None] if values.dtype == object else []
        # Integers of which some are missing: not floats, which hold no large ones.
        if known and all(isinstance(value, int) for value in known):
            return pd.array(values.tolist(), dtype="Int64")
        return values

    return pd.DataFrame({name: series(name) for name in table.column_names})


def to_polars(table: Table) -> Any:
    """The table as a data frame of polars."""
    check("to_polars", "polars")
    import polars as pl

    return pl.DataFrame(table)
