"""Deduplication and signing on Ray Data, on CPUs or GPUs.

simgpu must be installed on all machines of the cluster. The stages are those of the command, and so are the results where
ids ascend in the order of the files: the same documents are kept, with the same counts. ``simgpu.spark`` takes more documents, and goes on where it was stopped;
``docs/distributed.md`` says when to use which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Unpack

from .._hosts import require

require("simgpu.ray", "ray")

import pyarrow as pa
import pyarrow.compute as pc
import ray
import ray.data
from ray.data.context import ShuffleStrategy

from .. import _divided
from .._divided import raised
from .._options import RayDedupOptions, RaySignOptions, defaults, takes
from ..errors import ParameterError
from ._stages import Stages, mapped

Dataset = Any

__all__ = ["Deduplicated", "dedup", "sign"]


class Deduplicated:
    """What :func:`dedup` keeps, and why it removes the rest."""

    kept: Dataset
    """The kept rows of the input, with all of its columns."""

    removed: Dataset
    """The removed documents: id, kept_id, similarity, lost, found_by, via_id and via_similarity; with ``against`` also
    kept_in: ``input``, or ``reference`` if the kept document is there."""

    report: dict[str, Any]
    """Counts, parameters and sizes of clusters, as in ``report.json`` of the command."""

    def __init__(self, kept: Dataset, removed: Dataset, report: dict[str, Any]) -> None:
        self.kept = kept
        self.removed = removed
        self.report = report

    @property
    def counts(self) -> dict[str, Any]:
        """The counts of the report."""
        return self.report["counts"]

    def __repr__(self) -> str:
        counts = self.report["counts"]
        return f"<Deduplicated: {counts['kept']} of {counts['documents']} documents kept>"


@takes(RayDedupOptions, others="resources")
def dedup(
    dataset: Dataset, *, id: str, text: str, **options: Unpack[RayDedupOptions]
) -> Deduplicated:
    """Finds near-duplicates in a dataset, and keeps one document of each cluster.

    The first document of a cluster is the one with the least id, as the command takes that of the earlier record: files
    in order whose ids ascend give the same result.

    Ray holds the tables between the stages in its object store and spills them to disk; nothing is left of them if the
    driver stops. Each of ``partitions`` parts of a shuffled table must fit in the memory of one task, and the driver
    holds 24 bytes per connected or removed document.

    Args:
        dataset: The documents. It is read several times, so it must give the same rows each time.
        id: The column of ids: unique whole numbers. ``doc.id`` is a field of a struct, here and in ``text``.
        text: The column of texts.
        **options: The search, and how Ray runs it; ``help(simgpu.ray.dedup)`` lists them. ``against`` is a second dataset, the
            reference, with columns of the same names: its documents come before all others, in the order of their ids,
            which may be those of others. Beside it, ids are from -2^62 up to 2^62.
        resources: What ``Dataset.map_batches`` takes beside, for signing: ``num_gpus=1, backend="gpu"`` signs on GPUs.

    Raises:
        ParameterError: An argument is unknown or out of range.
        InputError: A record is bad, or two have the same id.
        UnsupportedError: There are more edges than ``edges_in_one_task``.
        DefectError: Documents were lost.
    """
    on_bad_record = options["on_bad_record"]
    if on_bad_record not in ("fail", "skip"):
        raise ParameterError(f"unknown on_bad_record {on_bad_record!r}; choose one of fail, skip")
    least = {"partitions": 1, "component_mib": 0, "edges_in_one_task": 0}
    _divided.check_numbers(options, least)
    against = options["against"]
    plan = _divided.Plan(
        _divided.settings_of(options),
        component_mib=options["component_mib"],
        record=id,
        skips=on_bad_record == "skip",
        against=against is not None,
    )
    search = plan.search()
    sides = [(_divided.ALONE, dataset)]
    if against is not None:
        if against is dataset:
            raise ParameterError(
                "against is the dataset itself, so that no document would be left; give other documents"
            )
        sides = [(_divided.INPUT, dataset), (_divided.REFERENCE, against)]
    records = [(side, _columns(of, (id, text), ("place", "text"), side)) for side, of in sides]
    kinds = [_kind_of_ids(of, id, side) for side, of in sides]
    if kinds[0] != kinds[-1]:
        raise ParameterError(
            f"the column {id!r} has the type {kinds[0]} in the dataset and {kinds[1]} in against; cast one of them"
        )
    resources = _others(options, RayDedupOptions)
    counted = [of.count() for _, of in sides]
    partitions = options["partitions"] or _partitions(sum(counted))
    stages = Stages(records, plan, partitions, options["edges_in_one_task"], resources)
    with raised(), _hash_shuffles([of for _, of in sides]):
        removed = stages.removed
        kept = stages.kept(dataset, id, text)
        signed = stages.counts_of_signed()
        report = _report(stages, plan, counted[0], signed[0])
        of_reference = 0
        if against is not None:
            removed_there, of_reference = stages.removed_for_reference()
            documents, skipped, without_place, *_, total = signed[1]
            of_records = (documents, skipped, without_place, total)
            _divided.add_reference(report, of_records, removed_there)
        sizes = stages.removed_of_cluster()
        _divided.add_clusters(report, kept.count(), removed.count(), sizes, of_reference)
        _divided.add_losses(report, stages.losses())
    report |= {"command": "dedup", **search.reported}
    with_ids = _WithIds(kinds[0], against is not None)
    removed = removed.map_batches(
        lambda table: with_ids(table), batch_format="pyarrow", batch_size=None
    )
    return Deduplicated(kept, removed, report)


@contextmanager
def _hash_shuffles(datasets: list[Dataset]) -> Iterator[None]:
    """Shuffles by keys meanwhile. Older versions of Ray sort by default, and then divide no dataset by keys."""
    contexts = [ray.data.DataContext.get_current(), *(dataset.context for dataset in datasets)]
    before = [context.shuffle_strategy for context in contexts]
    for context, strategy in zip(contexts, before, strict=True):
        if strategy in (ShuffleStrategy.SORT_SHUFFLE_PULL_BASED, ShuffleStrategy.SORT_SHUFFLE_PUSH_BASED):
            context.shuffle_strategy = ShuffleStrategy.HASH_SHUFFLE
    try:
        yield
    finally:
        for context, strategy in zip(contexts, before, strict=True):
            context.shuffle_strategy = strategy


def _partitions(documents: int) -> int:
    """The parts of shuffled tables. A part costs some tasks in each of six shuffles, and must fit in the memory of one."""
    if documents > 200 * 500_000:
        return documents // 500_000
    cores = int(ray.cluster_resources().get("CPU", 1))
    # A few documents need no part for each core, because a task takes longer to start than to run.
    return max(1, min(200, max(documents // 20_000, min(cores, documents // 500))))


def _report(
    stages: Stages, plan: _divided.Plan, documents: int, signed: tuple[int, int, int, int, int, int]
) -> dict[str, Any]:
    """Counts and parameters, without the counts of documents that are kept and removed."""
    of_tasks = stages.counts_of_tasks()
    equal = stages.equal_shingles() if plan.verify == "exact" else None
    repeats = stages.repeats()
    return _divided.report_of(plan.search(), documents, signed[1:], repeats, equal, of_tasks)


class _WithIds:
    """Removed documents with ids in place of places."""

    def __init__(self, kind: Any, against: bool) -> None:
        self.kind, self.against = kind, against

    def __call__(self, table: pa.Table) -> pa.Table:
        # Without shingles, nothing is lost.
        shingles = pc.max_element_wise(table["shingles"], 1, skip_nulls=False)
        lost = pc.divide(table["lost_shingles"].cast(pa.float64()), shingles.cast(pa.float64()))
        columns = {"id": self._ids(table["place"]), "kept_id": self._ids(table["kept"])}
        if self.against:
            is_there = pc.less(table["kept"], 0)
            columns["kept_in"] = pc.if_else(is_there, "reference", "input")
        columns |= {"similarity": table["similarity"], "lost": lost, "found_by": table["found_by"]}
        columns |= {"via_id": self._ids(table["via"]), "via_similarity": table["via_similarity"]}
        return pa.table(columns)

    def _ids(self, places: Any) -> Any:
        return (_divided.keys_at(places) if self.against else places).cast(self.kind)


@takes(RaySignOptions, others="resources")
def sign(dataset: Dataset, *, id: str, text: str, **options: Unpack[RaySignOptions]) -> Dataset:
    """Signs documents: (id, signature), the slots of a document as little-endian bytes, 4 or 8 each.

    A text that is null has the signature of the empty set, as in :meth:`simgpu.Signer.sign`.

    Args:
        dataset: The documents.
        id: The column of ids.
        text: The column of texts.
        **options: How to sign; ``help(simgpu.ray.sign)`` lists them.
        resources: What ``Dataset.map_batches`` takes beside: ``num_gpus=1, backend="gpu"`` signs on GPUs.

    Raises:
        ParameterError: An argument is unknown or out of range.
    """
    resources = _others(options, RaySignOptions)
    of_signer = {name: value for name, value in options.items() if name not in resources}
    stage = _divided.SignAlone({**of_signer, "threads": 1})
    stage.signer()
    return mapped(_columns(dataset, (id, text), ("id", "text")), stage, **resources)


def _others(options: Mapping[str, Any], group: type) -> dict[str, Any]:
    """What is given beside the options of a group."""
    own = defaults(group)
    return {name: value for name, value in options.items() if name not in own}


def _columns(
    dataset: Dataset,
    names: tuple[str, str],
    renamed: tuple[str, str],
    side: _divided.Side = _divided.ALONE,
) -> Dataset:
    """Columns under other names. The first has keys, which become places on the sides of a search with a reference."""
    known, kinds = dataset.schema().names, dataset.schema().types
    for name in names:
        if _divided.kind_named(known, kinds, name) is None:
            raise ParameterError(f"no column {name!r}{side.of}; give one of {', '.join(known)}")

    def selected(table: pa.Table) -> pa.Table:
        keys, texts = (_divided.column_named(table, name) for name in names)
        if side.shift:
            keys = side.places(keys, names[0])
        return pa.table([keys, texts], renamed)

    return dataset.map_batches(selected, batch_format="pyarrow", batch_size=None)


def _kind_of_ids(dataset: Dataset, id: str, side: _divided.Side) -> Any:
    """The type of ids, which are whole numbers."""
    kind = _divided.kind_named(dataset.schema().names, dataset.schema().types, id)
    if not (isinstance(kind, pa.DataType) and pa.types.is_integer(kind)):
        raise ParameterError(
            f"the column {id!r}{side.of} has the type {kind}; give ids that are whole numbers, or use simgpu.spark"
        )
    return kind
