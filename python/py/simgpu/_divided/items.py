"""Items of benchmarks in texts: each machine gets the items whole."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from .._contain import Contain
from .tables import Batches, columns_of

#: What is found in a text, beside its id.
HITS = (
    "item string, benchmark string, class string, score double, parts array<string>, start bigint, end bigint, "
    "also array<array<bigint>>, item_start bigint, item_end bigint, found bigint, ngrams bigint, content array<bigint>, "
    "own bigint, lacks array<string>, rarest array<string>"
)


@lru_cache(maxsize=1)
def _contain_of(pickled: bytes) -> Contain:
    """The items, whose table is made once in each process, not in each task."""
    return pickle.loads(pickled)


@dataclass(frozen=True)
class ScanItems:
    """Finds items in texts: (id, text) to (id, ...``HITS``). ``pickled`` is a ``Contain``."""

    pickled: bytes

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        contain = _contain_of(self.pickled)
        for batch in batches:
            ids, texts = batch.columns
            columns = columns_of(contain.scan(texts, threads=1).table)
            rows = columns.pop("row")
            if len(rows) > 0:
                yield pa.RecordBatch.from_arrays([ids.take(rows), *columns.values()], ["id", *columns])
