"""Deduplication on Apache Spark, for more documents than one machine takes.

Only operations of DataFrames and ``mapInArrow`` are used, so that the same code runs on Spark classic, on Spark Connect,
on Databricks and on Sail. simgpu must be installed on all machines of the cluster. The stages are those of the command,
and so are the results where ids ascend in the order of the files: the same documents are kept, with the same counts. In
any other case the least id of a cluster is kept, or the least value of the column ``order``. Ids are unique, unless
``order`` names a column that is. No number that Spark gives out is the place of a document: ``monotonically_increasing_id``
may change when a lost partition is computed again. ``docs/distributed.md`` has costs, settings, and from which size Spark
pays.
"""

from __future__ import annotations

import pickle
from typing import Any, Unpack

from .._hosts import require

require("simgpu.spark", "spark")

from pyspark.sql import functions as F

from .. import __version__, _divided
from .._contain import Contain
from .._divided import raised
from .._options import (
    ContainOptions,
    DividedBandOptions,
    SignOptions,
    SparkDedupOptions,
    SparkPairsOptions,
    SparkSearchOptions,
    defaults,
    takes,
)
from .._simgpu import DividedSearch
from ..errors import ParameterError
from ._checkpoints import Checkpoints
from ._records import Records
from ._stages import Layout, Stages
from ._tables import (
    Columns,
    Sorting,
    checked_columns,
    checked_key,
    column,
    kind_of,
    mapped,
    total_of,
)

DataFrame = Any

__all__ = ["Deduplicated", "SimilarPairs", "band_keys", "contain", "dedup", "pairs", "sign"]


class Deduplicated:
    """What :func:`dedup` keeps, and why it removes the rest."""

    kept: DataFrame
    """The kept rows of the input, with all of its columns."""

    removed: DataFrame
    """The removed documents: id, kept_id, similarity, lost, found_by, via_id and via_similarity; with ``against`` also
    kept_in: ``input``, or ``reference`` if the kept document is there."""

    clusters: DataFrame
    """The documents of clusters of two or more: id, kept_id, kept and similarity; with ``against`` also kept_in. Those of
    ``against`` have no rows."""

    report: dict[str, Any]
    """Counts, parameters and sizes of clusters, as in ``report.json`` of the command, and the seconds of each stage."""

    def __init__(self, kept: DataFrame, removed: DataFrame, report: dict[str, Any]) -> None:
        self.kept = kept
        self.removed = removed
        of_side = ["kept_in"] if "kept_in" in removed.columns else []
        of_removed = removed.select(
            "id", "kept_id", *of_side, F.lit(False).alias("kept"), "similarity"
        )
        of_input = removed.where("kept_in = 'input'") if of_side else removed
        of_kept = of_input.select(F.col("kept_id").alias("id"), "kept_id", *of_side).distinct()
        nothing = F.lit(None).cast("double").alias("similarity")
        of_kept = of_kept.select("id", "kept_id", *of_side, F.lit(True).alias("kept"), nothing)
        self.clusters = of_removed.unionByName(of_kept)
        self.report = report

    @property
    def counts(self) -> dict[str, Any]:
        """The counts of the report."""
        return self.report["counts"]

    def __repr__(self) -> str:
        counts = self.report["counts"]
        return f"<Deduplicated: {counts['kept']} of {counts['documents']} documents kept>"


class SimilarPairs:
    """What :func:`pairs` finds."""

    table: DataFrame
    """The pairs: left_id, right_id and similarity; the left document comes first in the order of documents."""

    report: dict[str, Any]
    """Counts and parameters, as in ``report.json`` of the command, and the seconds of each stage."""

    def __init__(self, table: DataFrame, report: dict[str, Any]) -> None:
        self.table = table
        self.report = report

    @property
    def counts(self) -> dict[str, Any]:
        """The counts of the report."""
        return self.report["counts"]

    def __repr__(self) -> str:
        return f"<SimilarPairs: {self.report['counts']['similar_pairs']} pairs>"


@takes(SparkDedupOptions)
def dedup(
    df: DataFrame, *, id: str, text: str, **options: Unpack[SparkDedupOptions]
) -> Deduplicated:
    """Finds near-duplicates in a DataFrame, and keeps one document of each cluster.

    The first document of a cluster is the one with the least value of ``order``, as the command takes that of the
    earlier record: files in order whose ids ascend give the same result. Numbers are cheaper than other types, for
    which a sort of all keys finds the places, and every text is sent once more.

    Args:
        df: The documents. It is read several times, so read it from files, and leave it as it is meanwhile.
        id: The column of ids. ``doc.id`` is a field of a struct, here and in ``text`` and ``order``.
        text: The column of texts, strings.
        **options: The search, and how Spark runs it; ``help(simgpu.spark.dedup)`` lists them. ``against`` is a second
            DataFrame, the reference, with columns of the same names: its documents come before all others, in their own
            order, and may have the ids of others. The backend must open on the driver, too. To verify, Spark sends the texts or signatures of all documents to a join, unless the connected ones
            fit a broadcast.

    Raises:
        ParameterError: An argument is unknown or out of range, or ``checkpoint_dir`` holds another run.
        InputError: A record is bad, or two have the same place.
        DefectError: Documents were lost.
    """
    stages, checkpoints = _stages(df, Columns(id, text, options["order"]), "dedup", options)
    removals = stages.searched(pairs=False)
    removed = stages.removed(removals)
    kept = stages.kept(removed)
    equal = removed.where("found_by = 'exact' and similarity = 1")
    report = _report(stages, removals, equal)
    with raised():
        clusters = removed.groupBy("kept").count()
        sizes = [*map(tuple, clusters.groupBy("count").count().collect())]
        of_reference = 0
        if stages.reference is not None:
            for_reference = clusters.where("kept < 0").agg(F.count(F.lit(1)), F.sum("count"))
            of_reference, removed_there = for_reference.collect()[0]
            _divided.add_reference(report, _signed_of(stages.reference), removed_there or 0)
        _divided.add_clusters(report, kept.count(), removed.count(), sizes, of_reference)
        losses = removed.selectExpr(
            "sum(lost_shingles)", "sum(shingles)", "count_if(shingles is null)"
        )
        _divided.add_losses(report, [count or 0 for count in losses.collect()[0]])
    report |= {"command": "dedup", **stages.plan.search().reported}
    report["stages"] = checkpoints.seconds
    names = {"place": "id", "kept": "kept_id", "via": "via_id"}
    # Without shingles, nothing is lost.
    lost = "lost_shingles / greatest(shingles, 1) lost"
    columns = ["id", "kept_id", "similarity", lost, "found_by", "via_id", "via_similarity"]
    if stages.reference is not None:
        columns.insert(2, "if(kept < 0, 'reference', 'input') kept_in")
    return Deduplicated(kept, stages.with_ids(removed, names).selectExpr(*columns), report)


@takes(SparkPairsOptions)
def pairs(
    df: DataFrame, *, id: str, text: str, **options: Unpack[SparkPairsOptions]
) -> SimilarPairs:
    """Finds all similar pairs of the documents in a DataFrame.

    Args:
        df: As for :func:`dedup`.
        id: The column of ids.
        text: The column of texts.
        **options: As for :func:`dedup`; ``help(simgpu.spark.pairs)`` lists them. With ``against``, the pairs are those of a
            document there, which is on the left, and one of ``df``.

    The errors are those of :func:`dedup`.
    """
    identical = options["identical"]
    if identical not in ("all", "star"):
        raise ParameterError(f"unknown identical {identical!r}; choose one of all, star")
    stages, checkpoints = _stages(df, Columns(id, text, options["order"]), "pairs", options)
    found = stages.searched(pairs=True)
    similar = stages.similar(found, star=identical == "star")
    with raised():
        same = stages.identical_pairs(star=identical == "star")
        pairs = similar.count()
    report = _report(stages, found, similar.where("similarity = 1"), (same, pairs))
    counts = report["counts"]
    if stages.reference is not None:
        with raised():
            _divided.add_reference(report, _signed_of(stages.reference))
    counts["similar_pairs"] = pairs
    counts["kept"] = counts["documents"] - _divided.skipped_of(counts)
    report |= {"command": "pairs", "identical": identical, "stages": checkpoints.seconds}
    table = stages.with_ids(similar, {"left": "left_id", "right": "right_id"})
    return SimilarPairs(table.select("left_id", "right_id", "similarity"), report)


@takes(SignOptions)
def sign(df: DataFrame, *, id: str, text: str, **options: Unpack[SignOptions]) -> DataFrame:
    """Signs documents: (id, signature), the slots of a document as little-endian bytes, 4 or 8 each.

    A text that is null has the signature of the empty set, as in :meth:`simgpu.Signer.sign`.

    Args:
        df: The documents.
        id: The column of ids.
        text: The column of texts.
        **options: How to sign; ``help(simgpu.spark.sign)`` lists them.

    Raises:
        ParameterError: An argument is unknown or out of range.
    """
    checked_columns(df, Columns(id, text))
    stage = _divided.SignAlone({**options, "threads": 1})
    kind = kind_of(df, id).simpleString()
    table = df.select(column(df, id).alias("id"), column(df, text).alias("text"))
    return mapped(table, stage, f"id {kind}, signature binary")


@takes(DividedBandOptions)
def band_keys(df: DataFrame, *, id: str, text: str, **options: Unpack[DividedBandOptions]) -> DataFrame:
    """The band keys of documents: (id, band, key), a row for each band; ``key`` has the bits of an unsigned number.

    Documents without shingles have none. Those that share the key of a band are candidates.

    Args:
        df: The documents.
        id: The column of ids.
        text: The column of texts.
        **options: How to sign, and which bands; ``help(simgpu.spark.band_keys)`` lists them.

    Raises:
        ParameterError: An argument is unknown or out of range.
    """
    checked_columns(df, Columns(id, text))
    plan = _divided.Plan({**_divided.settings_of(options), "verify": "none"})
    plan.search()
    kind = kind_of(df, id).simpleString()
    table = df.select(column(df, id).alias("id"), column(df, text).alias("text"))
    return mapped(table, _divided.Band(plan), f"id {kind}, band int, key bigint")


@takes(ContainOptions)
def contain(
    df: DataFrame, items: Any, *, id: str, text: str, **options: Unpack[ContainOptions]
) -> DataFrame:
    """Finds the items of benchmarks that documents ask: (id, item, benchmark, class, ...), a row for each item in a document.

    The columns are those of :class:`simgpu.ItemsFound`, with the id of the document in place of its row. The items go to
    every machine; documents are read once, and not shuffled. A text that is null has no items.

    Args:
        df: The documents.
        items: A :class:`simgpu.Contain`, or what it takes, such as another DataFrame, which the driver collects.
        id: The column of ids.
        text: The column of texts.
        **options: Those of :class:`simgpu.Contain`, unless ``items`` are one; ``help(simgpu.spark.contain)`` lists them.

    Raises:
        ParameterError: An argument is unknown or out of range.
        InputError: An item has no question.
    """
    checked_columns(df, Columns(id, text))
    if not isinstance(items, Contain):
        items = Contain(items, **options)
    elif changed := [name for name, value in options.items() if value != defaults(ContainOptions)[name]]:
        raise ParameterError(f"{changed[0]} is an option of the Contain that is given; make it with {changed[0]}")
    stage = _divided.ScanItems(pickle.dumps(items))
    kind = kind_of(df, id).simpleString()
    table = df.select(column(df, id).alias("id"), column(df, text).alias("text"))
    return mapped(table, stage, f"id {kind}, {_divided.HITS}")


def _stages(
    df: DataFrame, columns: Columns, command: str, options: SparkSearchOptions
) -> tuple[Stages, Checkpoints]:
    """The stages of a search, and the tables that they have written before."""
    checked_columns(df, columns)
    checked_key(df, columns)
    against = options.get("against")
    if against is not None:
        _check_reference(df, against, columns)
    if not options["checkpoint_dir"]:
        raise ParameterError(
            "checkpoint_dir is missing; give a new folder that all machines of the cluster share, for the tables between "
            "stages: s3://BUCKET/FOLDER, /Volumes/CATALOG/SCHEMA/VOLUME/FOLDER on Databricks, or a local folder if all "
            "machines are this one"
        )
    least = {"partitions": 1, "bands_per_pass": 1, "component_mib": 0, "edges_in_one_task": 0}
    _divided.check_numbers(options, least)
    on_bad_record = options["on_bad_record"]
    if on_bad_record not in ("fail", "skip"):
        raise ParameterError(f"unknown on_bad_record {on_bad_record!r}; choose one of fail, skip")
    plan = _divided.Plan(
        _divided.settings_of(options),
        component_mib=options["component_mib"],
        record=columns.key,
        skips=on_bad_record == "skip",
        against=against is not None,
        pairs=command == "pairs",
    )
    search = plan.search()
    counted = [_counted(of, columns) for of in (df, against) if of is not None]
    documents = sum(documents for documents, _ in counted)
    partitions = options["partitions"] or _partitions(df.sparkSession, documents)
    layout = Layout(partitions, options["bands_per_pass"], options["edges_in_one_task"])
    run = _run_of(search, columns, command, options, counted)
    checkpoints = Checkpoints(df.sparkSession, options["checkpoint_dir"], run)
    sorting = Sorting(df.sparkSession)
    sides = [(df, _divided.ALONE)]
    if against is not None:
        sides = [(df, _divided.INPUT), (against, _divided.REFERENCE)]
    records = [Records(of, columns, side, plan, checkpoints, sorting) for of, side in sides]
    stages = Stages(records, plan, layout, checkpoints, sorting)
    stages.records_of_input = counted[0][0]
    if stages.has_changed_since_signed():
        raise ParameterError(
            f"checkpoint_dir {options['checkpoint_dir']} holds a run over other texts with the same ids; give another "
            "folder, or remove it"
        )
    return stages, checkpoints


def _run_of(
    search: DividedSearch,
    columns: Columns,
    command: str,
    options: SparkSearchOptions,
    counted: list[tuple[int, str]],
) -> dict[str, Any]:
    """What a run is, so that another one is refused: parameters, and the number of records and a hash of their keys, of each
    side.
    """
    own = search.reported if command == "dedup" else {"identical": options.get("identical")}
    (documents, keys), of_reference = counted[0], (counted[1:] or [(None, None)])[0]
    return {
        "simgpu": __version__,
        "command": command,
        **own,
        **search.parameters,
        "id": columns.id,
        "text": columns.text,
        "order": columns.order,
        "on_bad_record": options["on_bad_record"],
        "bands_per_pass": options["bands_per_pass"],
        "documents": documents,
        "hash of all keys": keys,
        "documents of against": of_reference[0],
        "hash of all keys of against": of_reference[1],
    }


def _check_reference(df: DataFrame, against: DataFrame, columns: Columns) -> None:
    """Refuses a reference whose columns are not those of the input."""
    checked_columns(against, columns, _divided.REFERENCE)
    checked_key(against, columns, _divided.REFERENCE)
    if against is df:
        raise ParameterError("against is df itself, so that no document would be left; give other documents")
    ids = [kind_of(of, columns.id).simpleString() for of in (df, against)]
    if ids[0] != ids[1]:
        raise ParameterError(
            f"the column {columns.id!r} has the type {ids[0]} in df and {ids[1]} in against; cast one of them"
        )


def _counted(df: DataFrame, columns: Columns) -> tuple[int, str]:
    """The number of records, and a hash of all keys."""
    hashes = F.xxhash64(column(df, columns.key))
    with raised():
        documents, keys = df.agg(F.count(F.lit(1)), total_of(hashes)).collect()[0]
    return documents, str(keys)


def _partitions(session: Any, documents: int) -> int:
    """The parts of shuffled tables, as the session says."""
    default = str(session.conf.get("spark.sql.shuffle.partitions", "200"))
    # Databricks' serverless says "auto".
    return int(default) if default.isdecimal() else max(200, documents // 500_000)


def _report(
    stages: Stages, searched: DataFrame, equal: DataFrame, pairs: tuple[int, int] = (0, 1)
) -> dict[str, Any]:
    """Counts and parameters, without the counts of documents that are kept and removed.

    Args:
        equal: The results of similarity 1, those of identical documents among pairs included.
        pairs: How many pairs are of identical documents, and how many there are.
    """
    with raised():
        of_tasks = searched.where(F.col("counts").isNotNull()).select("counts").collect()
        signed = stages.input.signed.agg(
            F.count_if(F.col("length").isNull()),
            F.count_if(F.col("length").isNotNull() & F.col("place").isNull()),
            F.count_if(F.col("shingles") == 0),
            F.count_if((F.col("shingles") < 2) & F.col("digest").isNotNull()),
            F.sum(F.when(F.col("place").isNotNull(), F.col("length"))),
        ).collect()[0]
        identical = stages.repeats.where("place >= 0" if stages.plan.against else "true").count()
        equal_shingles = equal.count() - pairs[0] if stages.plan.verify == "exact" else None
    *others, bytes_of_texts = signed
    return _divided.report_of(
        stages.plan.search(),
        stages.records_of_input,
        (*others, bytes_of_texts or 0),
        identical,
        equal_shingles,
        (row[0] for row in of_tasks),
        pairs,
    )


def _signed_of(reference: Records) -> tuple[int, int, int, int]:
    """How many records have a text and a place, how many have no text, how many others no place, and the bytes of texts."""
    has_place, has_text = F.col("place").isNotNull(), F.col("length").isNotNull()
    documents, skipped, without_place, total = reference.signed.agg(
        F.count_if(has_place),
        F.count_if(~has_text),
        F.count_if(has_text & ~has_place),
        F.sum(F.when(has_place, F.col("length"))),
    ).collect()[0]
    return documents, skipped, without_place, total or 0
