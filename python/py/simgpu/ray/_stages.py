"""The tables between the stages of a search, as datasets of Ray Data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import ray

from .. import _divided
from .._divided import (
    Batches,
    Order,
    Ordered,
    Plan,
    Side,
    ascending,
    batch_of,
    column_named,
    schema_of,
)
from ..errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Dataset = Any
    Stage = Callable[[Batches], Iterable[pa.RecordBatch]]

#: Parts of a connected document: a row with a bucket for each that it shares, one with its keeper and length, and with
#: exact verification one with its text.
_PARTS = (
    "place bigint, band int, key bigint, keeper bigint, length bigint, input int, compared binary"
)

_CONNECTED = (
    "component bigint, place bigint, keeper bigint, length bigint, input int, buckets binary, "
    "compared binary"
)

#: The types of the columns of documents.
_DOCUMENT_KINDS = dict(column.split() for column in _divided.DOCUMENTS.split(", "))

#: Documents by the first one with the same text, and what the search says of that one.
_DECIDED = (
    "first bigint, place bigint, keeper bigint, "
    "kept bigint, similarity double, lost_shingles bigint, shingles bigint, via bigint, via_similarity double"
)

_REMOVED = (
    "place bigint, kept bigint, similarity double, lost_shingles bigint, shingles bigint, "
    "found_by string, via bigint, via_similarity double"
)


def mapped(dataset: Dataset, stage: Stage, schema: str | None = None, **resources: Any) -> Dataset:
    """Applies a stage to each block."""
    return dataset.map_batches(
        lambda table: _applied(table, stage, schema),
        batch_format="pyarrow",
        batch_size=None,
        **resources,
    )


def _applied(table: pa.Table, stage: Stage, schema: str | None) -> pa.Table:
    # An empty block may have lost its columns.
    batches = table.combine_chunks().to_batches() if table.num_rows > 0 else []
    found = list(stage(batches))
    if schema is None:
        return pa.Table.from_batches(found) if found else table
    return pa.Table.from_batches(found, schema_of(schema))


class Stages:
    """The stages of one search. Ray holds their tables in its object store, or on disk where they do not fit."""

    def __init__(
        self,
        sides: list[tuple[Side, Dataset]],
        plan: Plan,
        partitions: int,
        edges_in_one_task: int,
        resources: dict[str, Any],
    ) -> None:
        #: The side of the input, and (place, text) of its records; then those of a reference.
        self._sides = sides
        self._plan = plan
        self._partitions = partitions
        self._edges_in_one_task = edges_in_one_task
        self._resources = resources

    def _grouped(
        self, dataset: Dataset, by: list[str], order: Order, stage: Stage, schema: str
    ) -> Dataset:
        """Brings rows with equal values of ``by`` together, sorts each part, and applies a stage to it."""
        # A part of a hash shuffle is one block, as Ray's own groups are.
        shuffled = dataset.repartition(self._partitions, keys=by)
        return mapped(shuffled, Ordered(stage, order, sorts=True), schema)

    @cached_property
    def signed(self) -> list[Dataset]:
        """``SIGNED``, all records of each side."""
        return [self._signed(side, records) for side, records in self._sides]

    def _signed(self, side: Side, records: Dataset) -> Dataset:
        sign = _divided.Sign(self._plan, side)
        signed = mapped(records, sign, _divided.SIGNED, **self._resources).materialize()
        places = mapped(signed, _Selected("place", ["place"]), "place bigint")
        unique = _Unique(self._plan.record, side)
        self._grouped(places, ["place"], ascending("place"), unique, "place bigint").materialize()
        return signed

    @cached_property
    def documents(self) -> Dataset:
        """``DOCUMENTS`` with shingles."""
        columns = [field.name for field in schema_of(_divided.SIGNED)]
        signed = _united(self.signed)
        by_digest = mapped(signed, _Selected("digest", columns), _divided.SIGNED)
        order = ascending("digest", "place")
        identical = _divided.Identical(self._plan)
        return self._grouped(
            by_digest, ["digest"], order, identical, _divided.DOCUMENTS
        ).materialize()

    @cached_property
    def _edges(self) -> Dataset:
        """``EDGES`` of the buckets of all bands."""
        bands = self._plan.search().bands
        members = _divided.Members(bands, 0, bands, self._plan.against)
        columns = ", ".join(f"{name} {_DOCUMENT_KINDS[name]}" for name in members.columns)
        distinct = mapped(self.documents, _Selected("keeper", members.columns), columns)
        table = mapped(distinct, members, members.schema)
        return self._grouped(
            table, ["band", "key"], members.order, _divided.connect, _divided.EDGES
        ).materialize()

    @cached_property
    def _components(self) -> tuple[Any, Any]:
        """The places of all connected documents, ascending, and the components that they are in, in Ray's object store."""
        edges = mapped(self._edges, _least_of_edges, _divided.LEAST).materialize()
        count = edges.count()
        if count > self._edges_in_one_task:
            raise UnsupportedError(
                f"{count:,} edges are more than one task may join; raise edges_in_one_task (100 bytes of memory "
                "each), or use simgpu.spark"
            )
        if count > 0:
            # Not where there are none: Ray 2.46 fails to bring no rows into one block.
            edges = mapped(edges.repartition(1), _divided.Contract(None), _divided.LEAST)
            # Both columns are taken from it, and one contraction is enough.
            edges = edges.materialize()
        least, place = (_column(edges, name) for name in ("least", "place"))
        leasts = np.unique(least)
        places = np.concatenate([leasts, place])
        components = np.concatenate([leasts, least])
        order = np.argsort(places, kind="stable")
        return ray.put(places[order]), ray.put(components[order])

    @cached_property
    def searched(self) -> Dataset:
        """``REMOVALS``, with the counts of tasks."""
        places, components = self._components
        parts = mapped(self._edges, _bucket_parts, _PARTS)
        documents = _DocumentParts(places, self._plan)
        parts = parts.union(mapped(self.documents, documents, _PARTS))
        if self._plan.verify == "exact":
            records = _united([records for _, records in self._sides])
            parts = parts.union(mapped(records, _TextParts(places), _PARTS))
        gather = _Gathered(places, components, self._plan)
        connected = self._grouped(parts, ["place"], ascending("place"), gather, _CONNECTED)
        search = _Searched(self._plan)
        order = _divided.Search(self._plan).order
        return self._grouped(connected, ["component"], order, search, _divided.REMOVALS).materialize()

    @cached_property
    def removed(self) -> Dataset:
        """All documents to remove: place, kept, similarity, found_by, via, via_similarity, lost_shingles and shingles."""
        decided = mapped(self.documents, _documents_decided, _DECIDED)
        decided = decided.union(mapped(self.searched, _removals_decided, _DECIDED))
        removed = _Removed(self._plan)
        order = ascending("first", "place")
        return self._grouped(decided, ["first"], order, removed, _REMOVED).materialize()

    def kept(self, dataset: Dataset, key: str, text: str) -> Dataset:
        """The good records that are not removed, as they came."""
        removed = ray.put(np.sort(_column(self.removed, "place")))
        side, _ = self._sides[0]

        def is_kept(table: pa.Table) -> pa.Table:
            is_there = [np.asarray(column_named(table, name).is_valid()) for name in (key, text)]
            table = table.filter(pa.array(is_there[0] & is_there[1]))
            places = side.places(column_named(table, key), key).to_numpy()
            return table.filter(pa.array(~_is_among(places, ray.get(removed))))

        return dataset.map_batches(is_kept, batch_format="pyarrow", batch_size=None).materialize()

    def counts_of_signed(self) -> list[tuple[int, int, int, int, int, int]]:
        """How many records of each side have a place, no text, no place, no shingles, at most one shingle, and the bytes
        of all texts.
        """
        names = ("placed", "skipped", "no_place", "no_shingles", "few", "bytes")

        def counted(batches: Batches) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                skipped = batch.column("length").null_count
                no_place = batch.column("place").null_count - skipped
                shingles = batch.column("shingles").fill_null(2).to_numpy()
                is_blank = np.asarray(batch.column("digest").is_null())
                no_shingles = int(np.sum(shingles == 0))
                few = int(np.sum((shingles < 2) & ~is_blank))
                lengths = batch.column("length").filter(batch.column("place").is_valid())
                total = int(np.sum(lengths.to_numpy()))
                row = (len(lengths), skipped, no_place, no_shingles, few, total)
                yield pa.RecordBatch.from_pydict(dict(zip(names, ([n] for n in row), strict=True)))

        schema = ", ".join(f"{name} bigint" for name in names)
        sums = []
        for signed in self.signed:
            rows = mapped(signed, counted, schema).take_all()
            placed, skipped, no_place, no_shingles, few, total = (
                sum(row[name] for row in rows) for name in names
            )
            sums.append((placed, skipped, no_place, no_shingles, few, total))
        return sums

    def equal_shingles(self) -> int:
        """How many documents are removed with the shingles of their kept one, and another text."""
        count = 0
        for batch in self.removed.iter_batches(batch_size=None, batch_format="numpy"):
            count += int(np.sum((batch["similarity"] == 1) & (batch["found_by"] == "exact")))
        return count

    def losses(self) -> tuple[int, int, int]:
        """The shingles that removed documents lose, all of their shingles, and how many losses are not known."""
        lost, shingles, unknown = 0, 0, 0
        for batch in self.removed.iter_batches(batch_size=None, batch_format="pyarrow"):
            lost += pc.sum(batch["lost_shingles"], min_count=0).as_py()
            shingles += pc.sum(batch["shingles"], min_count=0).as_py()
            unknown += batch["shingles"].null_count
        return lost, shingles, unknown

    def counts_of_tasks(self) -> list[str]:
        """The counts of each task of the search."""
        counts = mapped(self.searched, _Selected("counts", ["counts"]), "counts string")
        return [row["counts"] for row in counts.take_all()]

    def removed_of_cluster(self) -> list[tuple[int, int]]:
        """How many documents are removed of a cluster, and of how many clusters so many."""
        _, sizes = np.unique(_column(self.removed, "kept"), return_counts=True)
        sizes, clusters = np.unique(sizes, return_counts=True)
        return [*zip(sizes.tolist(), clusters.tolist(), strict=True)]

    def removed_for_reference(self) -> tuple[int, int]:
        """How many documents are removed for one of the reference, and for how many of these."""
        kept = _column(self.removed, "kept")
        kept = kept[kept < 0]
        return len(kept), len(np.unique(kept))

    def repeats(self) -> int:
        """The number of documents that repeat an earlier one."""
        distinct = mapped(self.documents, _Selected("keeper", ["keeper"]), "keeper bigint")
        return self.documents.count() - distinct.count()


def _united(datasets: list[Dataset]) -> Dataset:
    """The rows of all datasets, which have the same columns."""
    return datasets[0].union(*datasets[1:]) if len(datasets) > 1 else datasets[0]


def _column(dataset: Dataset, name: str) -> NDArray[np.int64]:
    """A column of whole numbers, in the memory of this process."""
    parts = [batch[name] for batch in dataset.iter_batches(batch_size=None, batch_format="numpy")]
    return np.concatenate([np.empty(0, np.int64), *(part.astype(np.int64) for part in parts)])


def _is_among(places: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of these places are among known ones, which ascend."""
    found = np.searchsorted(known, places)
    is_among = found < len(known)
    is_among[is_among] = known[found[is_among]] == places[is_among]
    return is_among


class _Selected:
    """Columns of the rows where one of them is not null."""

    def __init__(self, name: str, columns: list[str]) -> None:
        self.name, self.columns = name, columns

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.filter(batch.column(self.name).is_valid()).select(self.columns)


class _Unique:
    """Refuses two equal places: sorted ones to nothing."""

    def __init__(self, record: str, side: Side) -> None:
        self.record, self.side = record, side

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        parts = [batch.column("place").to_numpy() for batch in batches]
        places = np.concatenate([np.empty(0, np.int64), *parts])
        repeated = places[1:][places[1:] == places[:-1]]
        if len(repeated) > 0:
            key = int(repeated[0]) - self.side.shift
            raise InputError(f"several records{self.side.of} have {self.record} {key}; make it unique")
        return iter(())


def _least_of_edges(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The edges between documents, fewest: ``EDGES`` to ``LEAST``."""
    edges = (batch.filter(batch.column("band").is_null()) for batch in batches)
    return _divided.Contract()(batch.select(["least", "place"]) for batch in edges)


def _bucket_parts(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The shared buckets of each document: ``EDGES`` to ``_PARTS``."""
    for batch in batches:
        shared = batch.filter(batch.column("band").is_valid())
        columns = {name: shared.column(name) for name in ("place", "band", "key")}
        yield batch_of(_PARTS, **columns)


class _DocumentParts:
    """What the search needs to know of connected documents: ``DOCUMENTS`` to ``_PARTS``."""

    def __init__(self, places: Any, plan: Plan) -> None:
        self.places = places
        self.with_signatures, self.against = plan.verify == "signature", plan.against

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        known = ray.get(self.places)
        for batch in batches:
            distinct = batch.filter(batch.column("keeper").is_valid())
            connected = distinct.filter(pa.array(_is_among(distinct.column("place").to_numpy(), known)))
            columns = {name: connected.column(name) for name in ("place", "keeper", "length")}
            if self.against:
                columns["input"] = connected.column("input")
            if self.with_signatures:
                columns["compared"] = connected.column("signature")
            yield batch_of(_PARTS, **columns)


class _TextParts:
    """The texts of connected documents: (place, text) to ``_PARTS``."""

    def __init__(self, places: Any) -> None:
        self.places = places

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        known = ray.get(self.places)
        for batch in batches:
            good = batch.filter(batch.column("place").is_valid())
            places = good.column("place").cast(pa.int64())
            connected = pa.array(_is_among(places.to_numpy(), known))
            texts = good.column("text").filter(connected)
            yield batch_of(_PARTS, place=places.filter(connected), compared=texts)


class _Gathered:
    """Brings the parts of connected documents together: ``_PARTS``, by ascending place, to ``_CONNECTED``."""

    def __init__(self, places: Any, components: Any, plan: Plan) -> None:
        self.places, self.components = places, components
        self.verify, self.against = plan.verify, plan.against

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(list(batches), schema_of(_PARTS))
        buckets = table.filter(table["band"].is_valid())
        documents = table.filter(table["keeper"].is_valid())
        compared = table.filter(table["compared"].is_valid())
        rows = buckets.select(["place"]).append_column("component", pa.nulls(len(buckets), pa.int64()))
        rows = rows.append_column("band", buckets["band"]).append_column("key", buckets["key"])
        gathered = list(_divided.gather(rows.combine_chunks().to_batches()))
        gathered = pa.Table.from_batches(gathered, schema_of(_divided.CONNECTED))
        places = documents["place"].to_numpy()
        if not np.array_equal(places, gathered["place"].to_numpy()):
            raise InputError("connected documents are missing; the input has changed while it was read")
        of_place = np.searchsorted(ray.get(self.places), places)
        names = ("place", "keeper", "length", *(["input"] if self.against else []))
        columns = {name: documents[name] for name in names}
        columns |= {
            "component": pa.array(ray.get(self.components)[of_place]),
            "buckets": gathered["buckets"],
        }
        if self.verify != "none":
            if not np.array_equal(places, compared["place"].to_numpy()):
                raise InputError("texts are missing; the input has changed while it was read")
            columns["compared"] = compared["compared"]
        yield batch_of(_CONNECTED, **columns)


class _Searched:
    """``Search`` of components whose texts came as bytes."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        kind = pa.string() if self.plan.verify == "exact" else pa.binary()

        def with_texts() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                columns["compared"] = columns["compared"].cast(kind)
                yield pa.RecordBatch.from_arrays([*columns.values()], [*columns])

        return _divided.Search(self.plan)(with_texts())


def _documents_decided(batches: Batches) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        names = ("first", "place", "keeper")
        yield batch_of(_DECIDED, **{name: batch.column(name) for name in names})


def _removals_decided(batches: Batches) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        removals = batch.filter(batch.column("counts").is_null())
        names = ("kept", "similarity", "lost_shingles", "shingles", "via", "via_similarity")
        columns = {name: removals.column(name) for name in names}
        yield batch_of(_DECIDED, first=removals.column("place"), **columns)


class _Removed:
    """Documents to remove: ``_DECIDED``, by ascending first document, to ``_REMOVED``."""

    def __init__(self, plan: Plan) -> None:
        self.verify, self.against = plan.verify, plan.against

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(list(batches), schema_of(_DECIDED))
        documents = table.filter(table["place"].is_valid())
        removals = table.filter(table["kept"].is_valid())
        first, place = (documents[name].to_numpy() for name in ("first", "place"))
        known = removals["first"].to_numpy()
        is_found = _is_among(first, known)
        if self.against:
            # A chain of similar pairs may lead from one document of the reference to another.
            is_found &= place >= 0
        of_removal = removals.take(pa.array(np.searchsorted(known, first[is_found])))
        names = ("kept", "similarity", "lost_shingles", "shingles", "via", "via_similarity")
        found = {name: of_removal[name] for name in names}
        found["found_by"] = pa.repeat(self.verify, len(of_removal))
        yield batch_of(_REMOVED, place=pa.array(place[is_found]), **found)
        # Of identical documents that the search keeps, one stays.
        groups = documents.filter(documents["keeper"].is_valid())
        keeper = groups["keeper"].to_numpy()[np.searchsorted(groups["first"].to_numpy(), first)]
        is_repeat = ~is_found & (place != keeper)
        if self.against:
            is_repeat &= place >= 0
        rows = int(is_repeat.sum())
        yield batch_of(
            _REMOVED,
            place=pa.array(place[is_repeat]),
            kept=pa.array(keeper[is_repeat]),
            similarity=pa.repeat(1.0, rows),
            lost_shingles=pa.repeat(0, rows),
            shingles=pa.repeat(0, rows),
            found_by=pa.repeat("identical", rows),
        )
