"""Edges between the documents of buckets, and the components that they make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .. import _simgpu
from .ordered import Order, ascending
from .tables import (
    CONNECTED,
    EDGES,
    LEAST,
    MEMBERS,
    MEMBERS_AGAINST,
    Batches,
    batch_of,
    columns_of,
    rows_of,
    words_of,
)

#: Connected documents in the memory of a task, before it writes the edges of their components: some 100 MB.
_CONNECTED_AT_A_TIME = 1 << 20

#: Members of buckets in a batch.
_MEMBERS_AT_A_TIME = 1 << 17

#: A bucket that a document shares.
_BUCKET = np.dtype([("band", "<u4"), ("key", "<i8")])


@dataclass(frozen=True)
class Members:
    """Lists the members of the buckets of some bands: (place, keys) to ``MEMBERS``, or with ``input`` to
    ``MEMBERS_AGAINST``.
    """

    bands: int
    first: int
    end: int
    against: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns of documents that it needs."""
        return ["place", "keys", "input"] if self.against else ["place", "keys"]

    @property
    def schema(self) -> str:
        """The columns of members."""
        return MEMBERS_AGAINST if self.against else MEMBERS

    @property
    def order(self) -> Order:
        """The order of members: by bucket. The documents of the input come first, so that their first row says whether
        the bucket has any.
        """
        first = (("input", "descending"),) if self.against else ()
        return (*ascending("band", "key"), *first, *ascending("place"))

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        bands = np.arange(self.first, self.end, dtype=np.int32)
        rows = max(1, _MEMBERS_AT_A_TIME // len(bands))
        for batch in batches:
            # Documents without shingles are in no bucket.
            batch = batch.filter(batch.column("keys").is_valid())
            for start in range(0, batch.num_rows, rows):
                part = batch.slice(start, rows)
                keys = words_of(part.column("keys"), self.bands)[:, self.first : self.end]
                of_input = {}
                if self.against:
                    of_row = part.column("input").to_numpy()
                    of_input["input"] = pa.array(np.repeat(of_row, len(bands)))
                yield batch_of(
                    self.schema,
                    place=pa.array(np.repeat(part.column("place").to_numpy(), len(bands))),
                    band=pa.array(np.tile(bands, part.num_rows)),
                    key=pa.array(np.ascontiguousarray(keys).reshape(-1).view("<i8")),
                    **of_input,
                )


def connect(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Connects the documents of buckets: members, in the order of :attr:`Members.order`, to ``EDGES``.

    Rows with a band are the members of buckets of two or more; others connect a document to the least place of those it is
    connected with here. A bucket of a reference alone has no rows.
    """
    edges = _simgpu.DividedEdges()
    for batch in batches:
        names = ("band", "key", "place", "input")[: batch.num_columns]
        shared = columns_of(edges.add_members(*(batch.column(name) for name in names)))
        if len(shared["place"]) > 0:
            yield batch_of(EDGES, **shared)
        if len(edges) >= _CONNECTED_AT_A_TIME:
            yield batch_of(EDGES, **columns_of(edges.take()))
    yield batch_of(EDGES, **columns_of(edges.take()))


@dataclass(frozen=True)
class Contract:
    """Leaves the fewest edges that make the same components: ``LEAST`` to ``LEAST``.

    With all edges in one task and no limit, these are the components.
    """

    limit: int | None = _CONNECTED_AT_A_TIME

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        edges = _simgpu.DividedEdges()
        for batch in batches:
            edges.add_edges(batch.column("least"), batch.column("place"))
            if self.limit is not None and len(edges) >= self.limit:
                yield batch_of(LEAST, **columns_of(edges.take()))
        taken = columns_of(edges.take())
        for start in range(0, len(taken["place"]), _MEMBERS_AT_A_TIME):
            yield batch_of(
                LEAST,
                **{name: column.slice(start, _MEMBERS_AT_A_TIME) for name, column in taken.items()},
            )


def gather(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Gathers the buckets of each document: (place, component, band, key) to ``CONNECTED``.

    Rows come by ascending place. One row of each place has the component, the others a bucket.
    """
    place: int | None = None
    component: int | None = None
    buckets: list[bytes] = []
    for batch in batches:
        places = batch.column("place").to_numpy()
        has_bucket = np.asarray(batch.column("band").is_valid())
        packed = np.empty(batch.num_rows, _BUCKET)
        packed["band"] = batch.column("band").fill_null(0).to_numpy()
        packed["key"] = batch.column("key").fill_null(0).to_numpy()
        components = batch.column("component").fill_null(0).to_numpy()
        starts = np.flatnonzero(np.diff(places, prepend=places[:1] - 1)) if len(places) else []
        rows: list[tuple[int, int | None, bytes]] = []
        for start, end in zip(starts, [*starts[1:], len(places)], strict=True):
            if int(places[start]) != place:
                if place is not None:
                    rows.append((place, component, b"".join(buckets)))
                place, component, buckets = int(places[start]), None, []
            own = slice(start, end)
            buckets.append(packed[own][has_bucket[own]].tobytes())
            of_component = np.flatnonzero(~has_bucket[own])
            if len(of_component) > 0:
                component = int(components[own][of_component[0]])
        if rows:
            yield rows_of(CONNECTED, rows)
    if place is not None:
        yield rows_of(CONNECTED, [(place, component, b"".join(buckets))])
