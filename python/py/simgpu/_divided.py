"""The stages of a search that is divided among machines, without the engine that moves their tables.

A stage takes an iterator of Arrow batches and returns another: what ``mapInArrow`` of Spark calls. ``simgpu.spark``
says how the tables between them are partitioned and sorted.

A *place* is the number of a document in the order of all documents; places need not be consecutive.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from . import _simgpu
from .errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Batches = Iterable[pa.RecordBatch]

SIGNED = "place bigint, digest binary, length bigint, keys binary, signature binary"
DOCUMENTS = (
    "place bigint, first bigint, keeper bigint, length bigint, keys binary, signature binary"
)
MEMBERS = "place bigint, band int, key bigint"
LINKS = "least bigint, place bigint, band int, key bigint"
LEAST = "least bigint, place bigint"
LINKED = "place bigint, component bigint, buckets binary"
REMOVALS = (
    "place bigint, kept bigint, similarity double, via bigint, via_similarity double, counts string"
)
PAIRS = "a bigint, b bigint, similarity double, counts string"

_TYPES = {
    "bigint": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "string": pa.string(),
}

#: Linked documents in the memory of a task, before it writes the links of their components: some 100 MB.
_LINKED_AT_A_TIME = 1 << 20

#: Members of buckets in a batch.
_MEMBERS_AT_A_TIME = 1 << 17

#: A bucket that a document shares.
_BUCKET = np.dtype([("band", "<u4"), ("key", "<i8")])


@dataclass(frozen=True)
class Plan:
    """What decides a search: all tasks on all machines get the same."""

    settings: dict[str, Any]
    cluster: str = "greedy"
    keep: str = "first"
    max_bucket: int = 4096
    component_mib: int = 256
    #: What a bad record is called, and how it is skipped.
    record: str = "place"
    skips: bool = False
    _bytes: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own = (self.settings, self.cluster, self.keep, self.max_bucket)
        object.__setattr__(self, "_bytes", pickle.dumps(own))

    def search(self) -> _simgpu.DividedSearch:
        """The search, which is prepared once per process."""
        if self._bytes not in _SEARCHES:
            _SEARCHES.clear()
            _SEARCHES[self._bytes] = _simgpu.DividedSearch(
                self.settings, self.cluster, self.keep, self.max_bucket
            )
        return _SEARCHES[self._bytes]

    @property
    def verify(self) -> str:
        """What is compared with what: ``exact``, ``signature`` or ``none``."""
        return self.settings["verify"]


_SEARCHES: dict[bytes, _simgpu.DividedSearch] = {}


@dataclass(frozen=True)
class Sign:
    """Signs documents: (place, text) to ``SIGNED``. A bad record that is skipped has no length."""

    plan: Plan

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        search = self.plan.search()
        for batch in batches:
            place, text = batch.columns
            good, bad = self._good(place, text)
            if bad:
                yield _batch(SIGNED, place=pa.nulls(bad, pa.int64()))
            if good is not None:
                place, text = place.filter(good), text.filter(good)
            if len(place) > 0:
                yield _batch(SIGNED, place=place, **_columns(search.sign(text)))

    def _good(self, place: pa.Array, text: pa.Array) -> tuple[pa.Array | None, int]:
        """Which records are good, if some are not, and the number of bad ones."""
        if place.null_count == 0 and text.null_count == 0:
            return None, 0
        good = np.asarray(place.is_valid()) & np.asarray(text.is_valid())
        bad = np.flatnonzero(~good)
        if not self.plan.skips:
            row = int(bad[0])
            name = f"the record with {self.plan.record} {place[row].as_py()!r}"
            problem = f"{name} has no text"
            if not place[row].is_valid:
                problem = f"a record has no {self.plan.record}"
            raise InputError(f'{problem}; correct it, or pass on_bad_record="skip"')
        return pa.array(good), len(bad)


@dataclass(frozen=True)
class SignAlone:
    """Signs documents with a ``Signer`` of these options: (id, text) to (id, signature)."""

    options: dict[str, Any]

    def signer(self) -> _simgpu.Signer:
        return _simgpu.Signer(**self.options)

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        signer = self.signer()
        for batch in batches:
            ids, texts = batch.columns
            slots = np.asarray(signer.sign(texts))
            bytes_of_row = slots.shape[1] * slots.itemsize
            slots = np.ascontiguousarray(slots, slots.dtype.newbyteorder("<"))
            rows = pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(bytes_of_row), len(slots), [None, pa.py_buffer(slots)]
            )
            yield pa.RecordBatch.from_arrays([ids, rows.cast(pa.binary())], ["id", "signature"])


@dataclass(frozen=True)
class Band:
    """The band keys of documents: (id, text) to (id, band, key)."""

    plan: Plan

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        search = self.plan.search()
        for batch in batches:
            signed = _columns(search.sign(batch.column(1)))
            has_shingles = signed["digest"].is_valid()
            ids, keys = batch.column(0).filter(has_shingles), signed["keys"].filter(has_shingles)
            rows = np.repeat(np.arange(len(ids)), search.bands)
            bands = np.tile(np.arange(search.bands, dtype=np.int32), len(ids))
            words = _words(keys, search.bands).reshape(-1).view("<i8")
            yield pa.RecordBatch.from_arrays(
                [ids.take(pa.array(rows)), pa.array(bands), pa.array(words)], ["id", "band", "key"]
            )


@dataclass(frozen=True)
class Identical:
    """Finds identical documents: ``SIGNED``, by ascending digest and place, to ``DOCUMENTS``.

    ``first`` is the place of the first document with the same digest. The row of that one has also the place and
    length of the one to keep of them, keys and signature; other rows have none of these.
    """

    plan: Plan

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        is_open = False
        digest = np.empty(0, "<u8")
        # The open group: its first document, and the length and the place of the one to keep.
        first = pa.table({})
        length = keeper = 0
        for batch in batches:
            if batch.num_rows == 0:
                continue
            digests = _words(batch.column("digest"), 2)
            places = batch.column("place").to_numpy()
            lengths = batch.column("length").to_numpy()
            before = np.vstack([digest if is_open else ~digests[:1], digests[:-1]])
            is_first = (digests != before).any(axis=1)
            starts = np.flatnonzero(is_first)
            if len(starts) == 0 or starts[0] > 0:
                end = int(starts[0]) if len(starts) else len(places)
                length, keeper = self._preferred((length, keeper), lengths[:end], places[:end])
            if len(starts) > 0 and is_open:
                yield _first_document(first, [keeper], [length])
            group = np.cumsum(is_first) - 1
            opened = first.column("place")[0].as_py() if is_open else 0
            first_places = np.concatenate([[opened], places[starts]])[group + 1]
            if not is_first.all():
                yield _batch(
                    DOCUMENTS,
                    place=pa.array(places[~is_first]),
                    first=pa.array(first_places[~is_first]),
                )
            if len(starts) > 0:
                # The last group stays open.
                closed = starts[:-1]
                if len(closed) > 0:
                    most, preferred = self._preferred_of(closed, starts[-1], lengths, places)
                    yield _first_document(batch.take(pa.array(closed)), preferred, most)
                last = int(starts[-1])
                first = batch.slice(last, 1)
                opened = (int(lengths[last]), int(places[last]))
                length, keeper = self._preferred(opened, lengths[last:], places[last:])
            is_open, digest = True, digests[-1:]
        if is_open:
            yield _first_document(first, [keeper], [length])

    def _preferred(
        self, best: tuple[int, int], lengths: NDArray[np.int64], places: NDArray[np.int64]
    ) -> tuple[int, int]:
        """The length and place of the document to keep: an earlier one, or one of these."""
        if self.plan.keep == "first" or len(lengths) == 0:
            return best
        longest = int(np.argmax(lengths))
        if lengths[longest] <= best[0]:
            return best
        return int(lengths[longest]), int(places[longest])

    def _preferred_of(
        self,
        starts: NDArray[np.int64],
        end: int,
        lengths: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The length and place of the document to keep of each group, up to ``end``."""
        if self.plan.keep == "first":
            return lengths[starts], places[starts]
        most = np.maximum.reduceat(lengths[:end], starts)
        group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, end)))
        begin = int(starts[0])
        longest = np.flatnonzero(lengths[begin:end] == most[group])
        _, of_group = np.unique(group[longest], return_index=True)
        return most, places[begin:end][longest[of_group]]


def _first_document(rows: Any, keeper: Any, length: Any) -> pa.RecordBatch:
    """Rows of the first documents of their groups."""
    place = rows.column("place")
    columns = {name: rows.column(name) for name in ("keys", "signature")}
    return _batch(
        DOCUMENTS,
        place=place,
        first=place,
        keeper=pa.array(keeper, pa.int64()),
        length=pa.array(length, pa.int64()),
        **columns,
    )


@dataclass(frozen=True)
class Members:
    """Lists the members of the buckets of some bands: (place, keys) to ``MEMBERS``."""

    bands: int
    first: int
    end: int

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        bands = np.arange(self.first, self.end, dtype=np.int32)
        rows = max(1, _MEMBERS_AT_A_TIME // len(bands))
        for batch in batches:
            for start in range(0, batch.num_rows, rows):
                part = batch.slice(start, rows)
                keys = _words(part.column("keys"), self.bands)[:, self.first : self.end]
                yield _batch(
                    MEMBERS,
                    place=pa.array(np.repeat(part.column("place").to_numpy(), len(bands))),
                    band=pa.array(np.tile(bands, part.num_rows)),
                    key=pa.array(np.ascontiguousarray(keys).reshape(-1).view("<i8")),
                )


def link(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Links the documents of buckets: ``MEMBERS``, by ascending band, key and place, to ``LINKS``.

    Rows with a band are the members of buckets of two or more; others link a document to the least place of those it is
    linked with here.
    """
    links = _simgpu.DividedLinks()
    for batch in batches:
        shared = _columns(links.add_members(*(batch.column(name) for name in ("band", "key", "place"))))
        if len(shared["place"]) > 0:
            yield _batch(LINKS, **shared)
        if len(links) >= _LINKED_AT_A_TIME:
            yield _batch(LINKS, **_columns(links.take()))
    yield _batch(LINKS, **_columns(links.take()))


@dataclass(frozen=True)
class Contract:
    """Leaves the fewest links that make the same components: ``LEAST`` to ``LEAST``.

    With all links in one task and no limit, these are the components.
    """

    limit: int | None = _LINKED_AT_A_TIME

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        links = _simgpu.DividedLinks()
        for batch in batches:
            links.add_links(batch.column("least"), batch.column("place"))
            if self.limit is not None and len(links) >= self.limit:
                yield _batch(LEAST, **_columns(links.take()))
        taken = _columns(links.take())
        for start in range(0, len(taken["place"]), _MEMBERS_AT_A_TIME):
            yield _batch(
                LEAST,
                **{name: column.slice(start, _MEMBERS_AT_A_TIME) for name, column in taken.items()},
            )


def gather(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Gathers the buckets of each document: (place, component, band, key) to ``LINKED``.

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
            yield _rows(LINKED, rows)
    if place is not None:
        yield _rows(LINKED, [(place, component, b"".join(buckets))])


@dataclass(frozen=True)
class Search:
    """Searches components: columns component, place, keeper, buckets and compared to ``REMOVALS`` or ``PAIRS``.

    The documents of a component come in a row, the one to keep first. The last row of the task has its counts.
    """

    plan: Plan
    pairs: bool = False

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        search = self.plan.search()
        components = search.components(self.plan.component_mib, self.pairs)
        schema = PAIRS if self.pairs else REMOVALS
        take = components.take_pairs if self.pairs else components.take_removals
        names = ["component", "place", "keeper", "buckets", "compared"]
        if self.plan.verify == "none":
            names.remove("compared")
        for batch in batches:
            components.add(search, *(batch.column(name) for name in names))
            found = _columns(take())
            if len(found["similarity"]) > 0:
                yield _batch(schema, **found)
        components.finish(search)
        yield _batch(schema, **_columns(take()))
        yield _batch(schema, counts=pa.array([json.dumps(components.counts())]))


def added_counts(counts: Iterable[str]) -> tuple[dict[str, int], list[int]]:
    """The sums of the counts of tasks, and the numbers of compared candidates by equal slots."""
    names = ("candidate_pairs", "similar_pairs", "large_buckets", "omitted_pairs")
    sums = dict.fromkeys(names, 0)
    by_matches: list[int] = []
    for of_task in map(json.loads, counts):
        for name in names:
            sums[name] += of_task[name]
        matches = of_task["by_matches"]
        by_matches = [a + b for a, b in zip(by_matches or [0] * len(matches), matches, strict=True)]
    return sums, by_matches


def schema_of(columns: str) -> pa.Schema:
    """The Arrow schema of columns that are named as Spark names them."""
    named = (column.split() for column in columns.split(", "))
    return pa.schema([(name, _TYPES[kind]) for name, kind in named])


def _columns(table: Any) -> dict[str, pa.Array]:
    """The columns of a table of the extension module."""
    batches = pa.RecordBatchReader.from_stream(table).read_all().combine_chunks().to_batches()
    if not batches:
        return {name: pa.array([], pa.null()) for name in table.column_names}
    return dict(zip(batches[0].schema.names, batches[0].columns, strict=True))


def _batch(schema: str, **columns: Any) -> pa.RecordBatch:
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


def _rows(schema: str, rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    own = schema_of(schema)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, own.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=own)


def _words(column: pa.Array, of_row: int) -> NDArray[np.uint64]:
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


@dataclass(frozen=True)
class Number:
    """Numbers sorted keys: (key) to (head, key, row), where ``head`` is the first key of the partition."""

    name: str

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        import pyarrow.compute as pc

        head = last = None
        row = 0
        for batch in batches:
            keys = batch.column(0)
            if len(keys) == 0:
                continue
            head = keys[0] if head is None else head
            before = keys.slice(0, len(keys) - 1)
            repeated = keys.slice(1).filter(pc.equal(keys.slice(1), before))
            if last is not None and last == keys[0]:
                repeated = keys.slice(0, 1)
            if len(repeated) > 0:
                raise InputError(
                    f"several records have {self.name} {repeated[0].as_py()!r}; make it unique, or pass the name of a "
                    "column as order that is"
                )
            rows = pa.array(np.arange(row, row + len(keys)))
            yield pa.RecordBatch.from_arrays(
                [pa.repeat(head, len(keys)), keys, rows], ["head", "key", "row"]
            )
            last, row = keys[len(keys) - 1], row + len(keys)
