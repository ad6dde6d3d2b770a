"""The tables between the stages of a search, as plans of DataFrames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyspark.sql import functions as F

from .. import _divided
from .._divided import REACH, Order, Plan, ascending, raised
from ..errors import UnsupportedError
from ._checkpoints import Checkpoints
from ._records import Records
from ._tables import DataFrame, Sorting, mapped

_REMOVED = (
    "place bigint, kept bigint, similarity double, lost_shingles bigint, shingles bigint, "
    "via bigint, via_similarity double, found_by string"
)
_SIMILAR = "left bigint, right bigint, similarity double"

#: A path of n edges is joined in about log2(n) rounds.
_MOST_ROUNDS = 64


@dataclass(frozen=True)
class Layout:
    """How tables are divided. Never changes a result."""

    partitions: int
    bands_per_pass: int | None = None
    edges_in_one_task: int = 20_000_000


class Stages:
    """The stages of one search. Each table is written before the next one is computed from it."""

    def __init__(
        self,
        sides: list[Records],
        plan: Plan,
        layout: Layout,
        checkpoints: Checkpoints,
        sorting: Sorting,
    ) -> None:
        #: The records of the input.
        self.input = sides[0]
        #: Those of a reference.
        self.reference = sides[1] if len(sides) > 1 else None
        #: What decides the search.
        self.plan = plan
        #: The number of records.
        self.records_of_input = 0
        self._sides = sides
        self._layout = layout
        self._checkpoints = checkpoints
        self._sorting = sorting

    def _grouped(
        self, table: DataFrame, by: list[str], order: Order, stage: Callable[..., Any], schema: str
    ) -> DataFrame:
        """Brings rows with equal values of ``by`` together, sorts each part, and applies a stage to it."""
        columns = [F.col(name).asc() if way == "ascending" else F.col(name).desc() for name, way in order]
        table = table.repartition(self._layout.partitions, *by).sortWithinPartitions(*columns)
        return mapped(table, self._sorting.ordered(stage, order), schema)

    # Places

    def has_changed_since_signed(self) -> bool:
        """Whether records have other keys or texts than when they were signed, if they were."""
        return any(side.have_changed_since_signed() for side in self._sides)

    def with_ids(self, table: DataFrame, names: dict[str, str]) -> DataFrame:
        """Adds columns of ids to a table, by its columns of places."""
        if all(side.ids_are_places for side in self._sides):
            for place, name in names.items():
                table = table.withColumn(name, self._key_at(F.col(place)).cast(self.input.kind_of_ids))
            return table
        ids = _united([side.ids for side in self._sides])
        for place, name in names.items():
            of_place = ids.select(F.col("place").alias("_of"), F.col("id").alias(name))
            table = table.join(of_place, F.col(place) == F.col("_of"), "left").drop("_of")
        return table

    def _key_at(self, place: Any) -> Any:
        """The key of the document at a place."""
        if self.reference is None:
            return place
        return F.when(place < 0, place + F.lit(REACH)).otherwise(place - F.lit(REACH))

    def kept(self, removed: DataFrame) -> DataFrame:
        """The good records that are not removed, as they came."""
        return self.input.kept(removed)

    # Documents

    @cached_property
    def documents(self) -> DataFrame:
        """``DOCUMENTS`` with shingles."""

        def make() -> DataFrame:
            signed = _united([side.signed for side in self._sides])
            with_digest = signed.where(F.col("digest").isNotNull()).drop("hash")
            order = ascending("digest", "place")
            identical = _divided.Identical(self.plan)
            return self._grouped(with_digest, ["digest"], order, identical, _divided.DOCUMENTS)

        return self._checkpoints.table("documents", _divided.DOCUMENTS, make)

    @property
    def distinct(self) -> DataFrame:
        """Of identical documents, the first."""
        return self.documents.where(F.col("keeper").isNotNull())

    @property
    def repeats(self) -> DataFrame:
        """(place, first) of all others."""
        return self.documents.where(F.col("keeper").isNull()).select("place", "first")

    # Edges

    @cached_property
    def edges(self) -> DataFrame:
        """``EDGES`` of the buckets of all bands."""
        bands = self.plan.search().bands
        of_pass = self._layout.bands_per_pass or bands
        tables = []
        for first in range(0, bands, of_pass):
            end = min(first + of_pass, bands)
            members = _divided.Members(bands, first, end, self.plan.against)

            def make(members: _divided.Members = members) -> DataFrame:
                table = mapped(self.distinct.select(*members.columns), members, members.schema)
                by = ["band", "key"]
                return self._grouped(table, by, members.order, _divided.connect, _divided.EDGES)

            name = "edges" if of_pass >= bands else f"edges-{first}"
            tables.append(self._checkpoints.table(name, _divided.EDGES, make))
        return _united(tables)

    @cached_property
    def components(self) -> DataFrame:
        """``LEAST``: the least place of each component, and each other place of it."""
        edges = self.edges.where(F.col("band").isNull()).select("least", "place")
        if edges.count() <= self._layout.edges_in_one_task:
            return self._checkpoints.table(
                "components",
                _divided.LEAST,
                lambda: mapped(edges.repartition(1), _divided.Contract(None), _divided.LEAST),
            )
        stars = edges
        for number in range(_MOST_ROUNDS):
            before = stars
            stars = self._checkpoints.table(
                f"stars-{number}", _divided.LEAST, lambda before=before: self._round(before)
            )
            if _are_stars(stars):
                return stars
        raise UnsupportedError(
            f"components are not complete after {_MOST_ROUNDS} rounds; raise edges_in_one_task"
        )

    def _round(self, edges: DataFrame) -> DataFrame:
        """A large star and a small star (Kiveris et al. 2014), after the edges of each partition are contracted."""
        edges = edges.repartition(self._layout.partitions, "least")
        edges = mapped(edges, _divided.Contract(), _divided.LEAST)
        a, b = F.col("least"), F.col("place")
        both = edges.select(a.alias("u"), b.alias("v")).unionByName(
            edges.select(b.alias("u"), a.alias("v"))
        )
        least = both.groupBy("u").agg(F.min("v").alias("m"))
        least = least.select("u", F.least("u", "m").alias("m"))
        large = both.join(least, "u").where("v > u").select("v", "m").distinct()
        least = large.groupBy("v").agg(F.min("m").alias("least"))
        others = large.join(least, "v").where("m <> least")
        small = others.select("least", F.col("m").alias("place"))
        return small.unionByName(least.select("least", F.col("v").alias("place"))).distinct()

    # Components

    @cached_property
    def connected(self) -> DataFrame:
        """Connected documents: component, place, keeper, length, buckets, compared and, with a reference, input."""
        members = self.edges.where(F.col("band").isNotNull())
        members = members.selectExpr("place", "cast(null as bigint) component", "band", "key")
        leasts = self.components.selectExpr("least place", "least component").distinct()
        components = self.components.selectExpr("place", "least component").unionByName(leasts)
        components = components.selectExpr(
            "place", "component", "cast(null as int) band", "cast(null as bigint) key"
        )
        rows = members.unionByName(components)
        order = ascending("place")
        connected = self._grouped(rows, ["place"], order, _divided.gather, _divided.CONNECTED)
        compared = F.col("signature").alias("compared")
        if self.plan.verify != "signature":
            compared = F.lit(None).cast("binary").alias("compared")
        of_input = ["input"] if self.plan.against else []
        documents = self.distinct.select("place", "keeper", "length", compared, *of_input)
        table = connected.join(documents, "place")
        if self.plan.verify == "exact":
            texts = _united([side.texts for side in self._sides])
            texts = texts.withColumnRenamed("text", "compared")
            table = table.drop("compared").join(texts, "place")
        return table

    def searched(self, *, pairs: bool) -> DataFrame:
        """``REMOVALS`` or ``PAIRS``, with the counts of tasks."""

        schema = _divided.PAIRS if pairs else _divided.REMOVALS

        def make() -> DataFrame:
            search = _divided.Search(self.plan, pairs)
            return self._grouped(self.connected, ["component"], search.order, search, schema)

        return self._checkpoints.table("pairs" if pairs else "removals", schema, make)

    def removed(self, removals: DataFrame) -> DataFrame:
        """All documents to remove: place, kept, similarity, found_by, via, via_similarity, lost_shingles and shingles."""
        found = ("kept", "similarity", "lost_shingles", "shingles", "via", "via_similarity")

        def make() -> DataFrame:
            distinct = removals.where(F.col("counts").isNull()).select("place", *found)
            of_first = distinct.withColumnRenamed("place", "first")
            repeated = self.repeats.join(of_first, "first").select("place", *found)
            searched = distinct.unionByName(repeated)
            if self.reference is not None:
                # A chain of similar pairs may lead from one document of it to another.
                searched = searched.where("place >= 0")
            searched = searched.withColumn("found_by", F.lit(self.plan.verify))
            groups = self.distinct.select("first", "keeper")
            left = self.repeats.join(of_first, "first", "left_anti").join(groups, "first")
            replaced = groups.where("first <> keeper").join(of_first, "first", "left_anti")
            left = left.unionByName(replaced.select(F.col("first"), F.col("first").alias("place"), "keeper"))
            identical = left.where("place <> keeper").selectExpr(
                "place",
                "keeper kept",
                "cast(1 as double) similarity",
                "cast(0 as bigint) lost_shingles",
                "cast(0 as bigint) shingles",
                "cast(null as bigint) via",
                "cast(null as double) via_similarity",
                "'identical' found_by",
            )
            return searched.unionByName(identical)

        return self._checkpoints.table("removed", _REMOVED, make)

    def similar(self, pairs: DataFrame, *, star: bool) -> DataFrame:
        """All similar pairs of documents: left, right (places) and similarity; with a reference, those across."""

        def make() -> DataFrame:
            found = pairs.where(F.col("counts").isNull()).select("a", "b", "similarity")
            repeats = self.repeats
            identical = repeats.selectExpr("first a", "place b", "cast(1 as double) similarity")
            if not star:
                others = repeats.select("first", F.col("place").alias("other"))
                both = repeats.join(others, "first").where("place < other")
                identical = identical.unionByName(
                    both.selectExpr("place a", "other b", "cast(1 as double) similarity")
                )
            for side in ("a", "b"):
                copies = self._partners_like(star=star)
                if copies is not None:
                    copies = copies.withColumnRenamed("first", side)
                    copied = found.join(copies, side).drop(side).withColumnRenamed("copy", side)
                    found = found.unionByName(copied)
            table = found.unionByName(identical)
            if self.reference is not None:
                table = table.where("(a < 0) <> (b < 0)")
            return table.select(
                F.least("a", "b").alias("left"), F.greatest("a", "b").alias("right"), "similarity"
            )

        return self._checkpoints.table("similar", _SIMILAR, make)

    def _partners_like(self, *, star: bool) -> DataFrame | None:
        """The copies of documents that have the same partners: first, copy."""
        if not star:
            return self.repeats.select("first", F.col("place").alias("copy"))
        if self.reference is None:
            return None
        # A document of the reference stands for its copies there, and the first of the input for those of the input.
        inputs = self.repeats.where("first < 0 and place >= 0")
        return inputs.groupBy("first").agg(F.min("place").alias("copy"))

    def identical_pairs(self, *, star: bool) -> int:
        """How many pairs are of identical documents."""
        groups = self.repeats.groupBy("first").agg(
            F.count(F.lit(1)).alias("copies"), F.count_if(F.col("place") >= 0).alias("inputs")
        )
        if self.reference is None:
            of_group = "copies" if star else "copies * (copies + 1) / 2"
        elif star:
            of_group = "if(first < 0, inputs, 0)"
        else:
            of_input = "inputs + if(first < 0, 0, 1)"
            of_group = f"({of_input}) * (copies + 1 - ({of_input}))"
        return groups.agg(F.sum(F.expr(f"cast({of_group} as bigint)"))).collect()[0][0] or 0


def _united(tables: list[DataFrame]) -> DataFrame:
    """The rows of all tables, which have the same columns."""
    all_rows = tables[0]
    for table in tables[1:]:
        all_rows = all_rows.unionByName(table)
    return all_rows


def _are_stars(edges: DataFrame) -> bool:
    """Whether each place has one edge, to one that has none."""
    several = edges.groupBy("place").count().where("count > 1")
    chained = edges.select(F.col("least").alias("place")).join(edges, "place", "left_semi")
    with raised():
        return not several.limit(1).collect() and not chained.limit(1).collect()


