"""The tables between the stages of a search, as plans of DataFrames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from .. import _divided
from .._divided import Order, Ordered, Plan, ascending, raised
from ..errors import InputError, ParameterError, UnsupportedError
from ._checkpoints import Checkpoints

DataFrame = Any

#: Types of a column whose values are places.
_INTEGRAL = ("byte", "short", "integer", "long")

#: Types of a column whose values are numbered in their order.
_SORTABLE = ("string", "varchar", "char", "binary", "date", "timestamp", "timestamp_ntz", "decimal")

_REMOVED = (
    "place bigint, kept bigint, similarity double, lost_shingles bigint, shingles bigint, "
    "via bigint, via_similarity double, found_by string"
)
_SIMILAR = "left bigint, right bigint, similarity double"

#: Columns beside those of the input.
_PLACE, _KEY = "_simgpu_place", "_simgpu_key"

#: A path of n edges is joined in about log2(n) rounds.
_MOST_ROUNDS = 64


@dataclass(frozen=True)
class Columns:
    """The columns of the input: the id, the text, and the one whose order is that of the documents."""

    id: str
    text: str
    order: str | None = None

    @property
    def key(self) -> str:
        """The column that tells documents apart."""
        return self.order or self.id


@dataclass(frozen=True)
class Layout:
    """How tables are divided. Never changes a result."""

    partitions: int
    bands_per_pass: int | None = None
    edges_in_one_task: int = 20_000_000


def mapped(table: DataFrame, stage: Callable[..., Any], schema: str) -> DataFrame:
    """Applies a stage to each partition."""
    return table.mapInArrow(lambda batches: stage(batches), schema)


class Stages:
    """The stages of one search. Each table is written before the next one is computed from it."""

    def __init__(
        self, df: DataFrame, columns: Columns, plan: Plan, layout: Layout, checkpoints: Checkpoints
    ) -> None:
        #: What decides the search.
        self.plan = plan
        #: The number of records.
        self.records_of_input = 0
        self._df = df
        self._columns = columns
        self._layout = layout
        self._checkpoints = checkpoints

    # Places

    @property
    def _has_places(self) -> bool:
        """Whether the key itself is the place of a document."""
        return kind_of(self._df, self._columns.key).typeName() in _INTEGRAL

    @cached_property
    def _places(self) -> DataFrame:
        """The place of each key, where keys are not numbers: (key, place)."""
        kind = kind_of(self._df, self._columns.key).simpleString()
        numbered = f"head {kind}, key {kind}, row bigint"

        def make() -> DataFrame:
            keys = self._df.select(column(self._df, self._columns.key).alias("key")).where("key is not null")
            keys = keys.sort("key") if self._keeps_order else keys.repartition(1)
            number = _divided.Number(self._columns.key)
            return mapped(keys, self._ordered(number, ascending("key")), numbered)

        table = self._checkpoints.table("numbered", numbered, make)

        def placed() -> DataFrame:
            rows_up_to = F.sum("count").over(Window.orderBy("head"))
            parts = table.groupBy("head").count()
            offsets = parts.select("head", (rows_up_to - F.col("count")).alias("offset"))
            place_of_row = (F.col("row") + F.col("offset")).alias("place")
            return table.join(F.broadcast(offsets), "head").select("key", place_of_row)

        return self._checkpoints.table("places", f"key {kind}, place bigint", placed)

    @property
    def _placed(self) -> DataFrame:
        """The input with a column ``_PLACE``; it is null where the key is."""
        if self._has_places:
            return self._df.withColumn(_PLACE, column(self._df, self._columns.key).cast("bigint"))
        places = self._places.select(F.col("key").alias(_KEY), F.col("place").alias(_PLACE))
        return self._df.join(places, column(self._df, self._columns.key) == F.col(_KEY), "left")

    @property
    def records(self) -> DataFrame:
        """(place, text, hash)"""
        return self._placed.select(
            F.col(_PLACE).alias("place"),
            column(self._df, self._columns.text).alias("text"),
            self._hash.alias("hash"),
        )

    @property
    def _hash(self) -> Any:
        """A hash of the key and the text of a record."""
        return F.xxhash64(
            column(self._df, self._columns.key), column(self._df, self._columns.text)
        )

    def has_changed_since_signed(self) -> bool:
        """Whether the input has other keys or texts than when it was signed, if it was."""
        if not self._checkpoints.holds("signed"):
            return False
        with raised():
            now = self._df.agg(total_of(self._hash)).collect()[0][0]
            return now != self.signed.agg(total_of(F.col("hash"))).collect()[0][0]

    def with_ids(self, table: DataFrame, names: dict[str, str]) -> DataFrame:
        """Adds columns of ids to a table, by its columns of places."""
        if self._has_places and self._columns.key == self._columns.id:
            kind = kind_of(self._df, self._columns.id)
            for place, name in names.items():
                table = table.withColumn(name, F.col(place).cast(kind))
            return table
        ids = self._placed.select(F.col(_PLACE), column(self._df, self._columns.id).alias("_id"))
        for place, name in names.items():
            of_place = ids.select(F.col(_PLACE).alias("_of"), F.col("_id").alias(name))
            table = table.join(of_place, F.col(place) == F.col("_of"), "left").drop("_of")
        return table

    def kept(self, removed: DataFrame) -> DataFrame:
        """The good records that are not removed, as they came."""
        key, text = column(self._df, self._columns.key), column(self._df, self._columns.text)
        good = self._df.where(key.isNotNull() & text.isNotNull())
        if self._has_places:
            of_place = removed.select(F.col("place").alias(_PLACE))
            return good.join(of_place, key.cast("bigint") == F.col(_PLACE), "left_anti")
        of_key = self._places.join(removed.select("place"), "place")
        of_key = of_key.select(F.col("key").alias(_KEY))
        return good.join(of_key, key == F.col(_KEY), "left_anti")

    # Parts

    @cached_property
    def _keeps_order(self) -> bool:
        """Whether ``mapInArrow`` gets sorted rows as they were sorted; Sail 0.7 leaves such a sort out of its plan."""
        rows = self._df.sparkSession.range(0, 64, 1, 1).selectExpr("63 - id as place")
        rows = rows.sortWithinPartitions("place")
        first = mapped(rows, _first_row, "place bigint").collect()
        return [row[0] for row in first] == [0]

    def _grouped(
        self, table: DataFrame, by: list[str], order: Order, stage: Callable[..., Any], schema: str
    ) -> DataFrame:
        """Brings rows with equal values of ``by`` together, sorts each part, and applies a stage to it."""
        columns = [F.col(name).asc() if way == "ascending" else F.col(name).desc() for name, way in order]
        table = table.repartition(self._layout.partitions, *by).sortWithinPartitions(*columns)
        return mapped(table, self._ordered(stage, order), schema)

    def _ordered(self, stage: Callable[..., Any], order: Order) -> Ordered:
        return Ordered(stage, order, sorts=not self._keeps_order)

    # Documents

    @cached_property
    def signed(self) -> DataFrame:
        """``SIGNED``, all records."""
        sign = _divided.Sign(self.plan)
        table = self._checkpoints.table(
            "signed", _divided.SIGNED, lambda: mapped(self.records, sign, _divided.SIGNED)
        )
        if self._has_places:
            by_place = table.where(F.col("place").isNotNull()).groupBy("place").count()
            for place, documents in by_place.where("count > 1").limit(1).collect():
                raise InputError(
                    f"{documents} records have {self._columns.key} {place}; make it unique, or pass the name of a "
                    "column as order that is"
                )
        return table

    @cached_property
    def documents(self) -> DataFrame:
        """``DOCUMENTS`` with shingles."""

        def make() -> DataFrame:
            with_digest = self.signed.where(F.col("digest").isNotNull()).drop("hash")
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
            members = _divided.Members(bands, first, min(first + of_pass, bands))

            def make(members: _divided.Members = members) -> DataFrame:
                table = mapped(self.distinct.select("place", "keys"), members, _divided.MEMBERS)
                order = ascending("band", "key", "place")
                return self._grouped(table, ["band", "key"], order, _divided.connect, _divided.EDGES)

            name = "edges" if of_pass >= bands else f"edges-{first}"
            tables.append(self._checkpoints.table(name, _divided.EDGES, make))
        edges = tables[0]
        for table in tables[1:]:
            edges = edges.unionByName(table)
        return edges

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
        """Connected documents: component, place, keeper, length, buckets and compared."""
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
        documents = self.distinct.select("place", "keeper", "length", compared)
        table = connected.join(documents, "place")
        if self.plan.verify == "exact":
            texts = self.records.select("place", F.col("text").alias("compared"))
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
        """All similar pairs of documents: left, right (places) and similarity."""

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
                    copies = repeats.select(F.col("first").alias(side), F.col("place").alias("copy"))
                    copied = found.join(copies, side).drop(side).withColumnRenamed("copy", side)
                    found = found.unionByName(copied)
            table = found.unionByName(identical)
            return table.select(
                F.least("a", "b").alias("left"), F.greatest("a", "b").alias("right"), "similarity"
            )

        return self._checkpoints.table("similar", _SIMILAR, make)


def total_of(hashes: Any) -> Any:
    """The sum of hashes of 64 bits, which no order of rows changes."""
    return F.sum(hashes.cast("decimal(38,0)"))


def _first_row(batches: Any) -> Any:
    for batch in batches:
        yield batch.slice(0, 1)
        return


def _are_stars(edges: DataFrame) -> bool:
    """Whether each place has one edge, to one that has none."""
    several = edges.groupBy("place").count().where("count > 1")
    chained = edges.select(F.col("least").alias("place")).join(edges, "place", "left_semi")
    with raised():
        return not several.limit(1).collect() and not chained.limit(1).collect()


def _found(df: DataFrame, name: str) -> tuple[list[str], Any] | None:
    """The parts of a name and the type of what it names: a column, whose name may hold dots, or a field of a struct."""
    if name in df.columns:
        return [name], df.schema[name].dataType
    parts, kind = name.split("."), df.schema
    for part in parts:
        if kind.typeName() != "struct" or part not in kind.names:
            return None
        kind = kind[part].dataType
    return parts, kind


def column(df: DataFrame, name: str) -> Any:
    """The column or the field of this name."""
    parts, _ = _found(df, name) or ([name], None)
    return F.col(".".join("`" + part.replace("`", "``") + "`" for part in parts))


def kind_of(df: DataFrame, name: str) -> Any:
    """The type of the column or the field of this name."""
    found = _found(df, name)
    return found[1] if found else None


def _names(kind: Any, above: str = "") -> list[str]:
    """The names of columns, and of the fields of structs."""
    names = []
    for field in kind.fields:
        name = f"{above}{field.name}"
        is_struct = field.dataType.typeName() == "struct"
        names += _names(field.dataType, f"{name}.") if is_struct else [name]
    return names


def checked_columns(df: DataFrame, columns: Columns) -> None:
    """Refuses what is no DataFrame, and columns that are missing or of another type."""
    if not hasattr(df, "mapInArrow"):
        kind = f"{type(df).__module__}.{type(df).__qualname__}"
        raise ParameterError(f"df is a {kind}; give a DataFrame of Spark, as spark.createDataFrame makes")
    for name in filter(None, (columns.id, columns.text, columns.order)):
        if _found(df, name) is None:
            names = ", ".join(_names(df.schema))
            remedy = f"give one of {names}" if names else "df has no columns, so look at its files"
            raise ParameterError(f"no column {name!r}; {remedy}")
        if df.columns.count(name) > 1:
            raise ParameterError(f"several columns are named {name!r}; rename all but one")
    kind = kind_of(df, columns.text).simpleString()
    if kind != "string":
        raise ParameterError(f"the column {columns.text!r} has the type {kind}; give a column of strings")


def checked_key(df: DataFrame, columns: Columns) -> None:
    """Refuses a key of a type whose order is not that of the documents."""
    kind = kind_of(df, columns.key)
    if kind.typeName() not in (*_INTEGRAL, *_SORTABLE):
        raise ParameterError(
            f"the column {columns.key!r} has the type {kind.simpleString()}; give whole numbers, strings or dates, or "
            "pass the name of such a column as order"
        )
