"""The search of components."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from .ordered import Order, ascending
from .plan import Plan
from .tables import PAIRS, REMOVALS, Batches, batch_of, columns_of


@dataclass(frozen=True)
class Search:
    """Searches components: columns component, place, keeper, buckets, compared and, with a reference, input to
    ``REMOVALS`` or ``PAIRS``.

    The documents of a component come in a row, the one to keep first. The last row of the task has its counts.
    """

    plan: Plan
    pairs: bool = False

    @property
    def order(self) -> Order:
        """The order of rows: by component, and in each the document to keep first."""
        if self.plan.keep == "first":
            return ascending("component", "keeper")
        return (("component", "ascending"), ("length", "descending"), ("keeper", "ascending"))

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        search = self.plan.search()
        components = search.components(self.plan.component_mib, self.pairs)
        schema = PAIRS if self.pairs else REMOVALS
        take = components.take_pairs if self.pairs else components.take_removals
        names = ["component", "place", "keeper", "buckets"]
        others = {"compared": "compared"} if self.plan.verify != "none" else {}
        if self.plan.against:
            others["inputs"] = "input"
        for batch in batches:
            columns = (batch.column(name) for name in names)
            components.add(
                search, *columns, **{name: batch.column(of) for name, of in others.items()}
            )
            found = columns_of(take())
            if len(found["similarity"]) > 0:
                yield batch_of(schema, **found)
        components.finish(search)
        yield batch_of(schema, **columns_of(take()))
        yield batch_of(schema, counts=pa.array([json.dumps(components.counts())]))
