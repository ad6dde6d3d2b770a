"""The order in which the rows of a part come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import DefectError
from .tables import Batches

#: Columns and their directions, ``"ascending"`` or ``"descending"``, the first one first.
Order = tuple[tuple[str, str], ...]


def ascending(*names: str) -> Order:
    """The ascending order of columns."""
    return tuple((name, "ascending") for name in names)


@dataclass(frozen=True)
class Ordered:
    """A stage whose rows must come in an order. Rows in another order are an error, or are sorted in memory."""

    stage: Callable[[Batches], Iterable[pa.RecordBatch]]
    order: Order
    sorts: bool

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        yield from self.stage(self._sorted(batches) if self.sorts else self._checked(batches))

    def _sorted(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows > 0]
        if parts:
            yield from pa.Table.from_batches(parts).sort_by(list(self.order)).combine_chunks().to_batches()

    def _checked(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        last: pa.RecordBatch | None = None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            rows = batch.select([name for name, _ in self.order])
            across = last is not None and not self._is_ordered(last, rows.slice(0, 1))
            if across or not self._is_ordered(rows.slice(0, batch.num_rows - 1), rows.slice(1)):
                names = ", ".join(name for name, _ in self.order)
                raise DefectError(
                    f"rows of an intermediate table are not in the order of {names}; report it, with the version of Spark"
                )
            last = rows.slice(batch.num_rows - 1)
            yield batch

    def _is_ordered(self, before: pa.RecordBatch, after: pa.RecordBatch) -> bool:
        """Whether no row of ``before`` comes after the one of ``after`` in its place."""
        is_ordered = pa.repeat(True, before.num_rows)
        for name, direction in reversed(self.order):
            a, b = before.column(name), after.column(name)
            comes_before = pc.less(a, b) if direction == "ascending" else pc.greater(a, b)
            is_ordered = pc.or_(comes_before, pc.and_(pc.equal(a, b), is_ordered))
        return bool(pc.all(is_ordered, min_count=0).as_py())
