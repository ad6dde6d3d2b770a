"""The tables that go from stage to stage: their columns, and batches of them.

A *place* is the number of a document in the order of all documents; places need not be consecutive. In a search with a
reference, ``input`` is 1 for a document of the input, and where documents are clustered by chains also for one of the
reference that a document of the input repeats; else it is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Batches = Iterable[pa.RecordBatch]

SIGNED = (
    "place bigint, digest binary, length bigint, shingles int, keys binary, signature binary, "
    "hash bigint"
)
DOCUMENTS = (
    "place bigint, first bigint, keeper bigint, length bigint, keys binary, signature binary, "
    "input int"
)
MEMBERS = "place bigint, band int, key bigint"
MEMBERS_AGAINST = f"{MEMBERS}, input int"
EDGES = "least bigint, place bigint, band int, key bigint"
LEAST = "least bigint, place bigint"
CONNECTED = "place bigint, component bigint, buckets binary"
REMOVALS = (
    "place bigint, kept bigint, similarity double, lost_shingles bigint, shingles bigint, "
    "via bigint, via_similarity double, counts string"
)
PAIRS = "a bigint, b bigint, similarity double, counts string"

_TYPES = {
    "bigint": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "string": pa.string(),
}


def schema_of(columns: str) -> pa.Schema:
    """The Arrow schema of columns that are named as Spark names them."""
    named = (column.split() for column in columns.split(", "))
    return pa.schema([(name, _TYPES[kind]) for name, kind in named])


def batch_of(schema: str, **columns: Any) -> pa.RecordBatch:
    """A batch of this schema; columns that are left out are null."""
    rows = len(next(iter(columns.values())))
    arrays = []
    for column in schema_of(schema):
        values = columns.get(column.name)
        if values is None:
            values = pa.nulls(rows, column.type)
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        arrays.append(values if values.type == column.type else values.cast(column.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema_of(schema))


def rows_of(schema: str, rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    own = schema_of(schema)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, own.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=own)


def column_named(table: pa.Table, name: str) -> pa.ChunkedArray:
    """The column of this name; ``doc.text`` is the field ``text`` of the column ``doc`` unless a column has this name."""
    if name in table.column_names:
        return table[name]
    column, *fields = name.split(".")
    return pc.struct_field(table[column], fields)


def kind_named(names: list[str], kinds: list[Any], name: str) -> Any:
    """The type of a column or of a field of one, of a table with columns of these names and types; ``None`` without one."""
    if name in names:
        return kinds[names.index(name)]
    column, *fields = name.split(".")
    kind = kinds[names.index(column)] if column in names else None
    for field in fields:
        if not (isinstance(kind, pa.StructType) and kind.get_field_index(field) >= 0):
            return None
        kind = kind.field(field).type
    return kind


def columns_of(table: Any) -> dict[str, pa.Array]:
    """The columns of a table of the extension module."""
    batches = pa.table(table).combine_chunks().to_batches()
    if not batches:
        return {name: pa.array([], pa.null()) for name in table.column_names}
    return dict(zip(batches[0].schema.names, batches[0].columns, strict=True))


def words_of(column: pa.Array, of_row: int) -> NDArray[np.uint64]:
    """The words of binaries of equal length, ``[rows, of_row]``."""
    column = column.cast(pa.binary())
    _, offsets, values = column.buffers()
    if len(column) == 0 or values is None:
        return np.empty((0, of_row), "<u8")
    bounds = np.frombuffer(offsets, "<i4")[column.offset :][: len(column) + 1]
    words = np.frombuffer(values, np.uint8)[bounds[0] : bounds[-1]]
    if column.null_count > 0 or len(words) != len(column) * of_row * 8:
        raise InputError(
            "a record of an intermediate table has another length than this run writes; use the same version of "
            "simgpu on all machines"
        )
    return words.view("<u8").reshape(-1, of_row) if words.ctypes.data % 8 == 0 else (
        np.frombuffer(words.tobytes(), "<u8").reshape(-1, of_row)
    )
