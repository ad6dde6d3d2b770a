"""Data frames: their columns, and stages that are applied to their parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyspark.sql import functions as F

from .._divided import ALONE, Order, Ordered, Side
from ..errors import ParameterError

DataFrame = Any

#: Types of a column whose values are places.
INTEGRAL = ("byte", "short", "integer", "long")

#: Types of a column whose values are numbered in their order.
_SORTABLE = ("string", "varchar", "char", "binary", "date", "timestamp", "timestamp_ntz", "decimal")


@dataclass(frozen=True)
class Columns:
    """The columns of the input: the id, the text, and the one whose order is that of the documents."""

    id: str
    text: str
    order: str | None = None

    @property
    def key(self) -> str:
        """The column that tells documents apart."""
        return self.order or self.id


def mapped(table: DataFrame, stage: Callable[..., Any], schema: str) -> DataFrame:
    """Applies a stage to each partition."""
    return table.mapInArrow(lambda batches: stage(batches), schema)


class Sorting:
    """How the rows of a part come to a stage in an order."""

    def __init__(self, session: Any) -> None:
        self._session = session

    @cached_property
    def keeps_order(self) -> bool:
        """Whether ``mapInArrow`` gets sorted rows as they were sorted; Sail 0.7 leaves such a sort out of its plan."""
        rows = self._session.range(0, 64, 1, 1).selectExpr("63 - id as place")
        rows = rows.sortWithinPartitions("place")
        first = mapped(rows, _first_row, "place bigint").collect()
        return [row[0] for row in first] == [0]

    def ordered(self, stage: Callable[..., Any], order: Order) -> Ordered:
        """The stage, on rows in this order."""
        return Ordered(stage, order, sorts=not self.keeps_order)


def _first_row(batches: Any) -> Any:
    for batch in batches:
        yield batch.slice(0, 1)
        return


def total_of(hashes: Any) -> Any:
    """The sum of hashes of 64 bits, which no order of rows changes."""
    return F.sum(hashes.cast("decimal(38,0)"))


def _found(df: DataFrame, name: str) -> tuple[list[str], Any] | None:
    """The parts of a name and the type of what it names: a column, whose name may hold dots, or a field of a struct."""
    if name in df.columns:
        return [name], df.schema[name].dataType
    parts, kind = name.split("."), df.schema
    for part in parts:
        if kind.typeName() != "struct" or part not in kind.names:
            return None
        kind = kind[part].dataType
    return parts, kind


def column(df: DataFrame, name: str) -> Any:
    """The column or the field of this name."""
    parts, _ = _found(df, name) or ([name], None)
    return F.col(".".join("`" + part.replace("`", "``") + "`" for part in parts))


def kind_of(df: DataFrame, name: str) -> Any:
    """The type of the column or the field of this name."""
    found = _found(df, name)
    return found[1] if found else None


def _names(kind: Any, above: str = "") -> list[str]:
    """The names of columns, and of the fields of structs."""
    names = []
    for field in kind.fields:
        name = f"{above}{field.name}"
        is_struct = field.dataType.typeName() == "struct"
        names += _names(field.dataType, f"{name}.") if is_struct else [name]
    return names


def checked_columns(df: DataFrame, columns: Columns, side: Side = ALONE) -> None:
    """Refuses what is no DataFrame, and columns that are missing or of another type."""
    named = "against" if side.of else "df"
    if not hasattr(df, "mapInArrow"):
        kind = f"{type(df).__module__}.{type(df).__qualname__}"
        raise ParameterError(f"{named} is a {kind}; give a DataFrame of Spark, as spark.createDataFrame makes")
    for name in filter(None, (columns.id, columns.text, columns.order)):
        if _found(df, name) is None:
            names = ", ".join(_names(df.schema))
            remedy = f"give one of {names}" if names else f"{named} has no columns, so look at its files"
            if side.of:
                remedy += ", or name a column as in df"
            raise ParameterError(f"no column {name!r}{side.of}; {remedy}")
        if df.columns.count(name) > 1:
            raise ParameterError(f"several columns{side.of} are named {name!r}; rename all but one")
    kind = kind_of(df, columns.text).simpleString()
    if kind != "string":
        raise ParameterError(
            f"the column {columns.text!r}{side.of} has the type {kind}; give a column of strings"
        )


def checked_key(df: DataFrame, columns: Columns, side: Side = ALONE) -> None:
    """Refuses a key of a type whose order is not that of the documents."""
    kind = kind_of(df, columns.key)
    if kind.typeName() not in (*INTEGRAL, *_SORTABLE):
        raise ParameterError(
            f"the column {columns.key!r}{side.of} has the type {kind.simpleString()}; give whole numbers, strings or dates, "
            "or pass the name of such a column as order"
        )
