"""Records with their places: those of the input, or of the reference with which it is compared."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from .. import _divided
from .._divided import REACH, Plan, Side, ascending, raised
from ..errors import InputError
from ._checkpoints import Checkpoints
from ._tables import INTEGRAL, Columns, DataFrame, Sorting, column, kind_of, mapped, total_of

#: Columns beside those of the records.
_PLACE, _KEY = "_simgpu_place", "_simgpu_key"


class Records:
    """The records of one side."""

    def __init__(
        self,
        df: DataFrame,
        columns: Columns,
        side: Side,
        plan: Plan,
        checkpoints: Checkpoints,
        sorting: Sorting,
    ) -> None:
        self.df = df
        self._columns = columns
        self._side = side
        self._plan = plan
        self._checkpoints = checkpoints
        self._sorting = sorting

    def _table_name(self, name: str) -> str:
        """The name of a table of this side."""
        return f"{name}-reference" if self._side == _divided.REFERENCE else name

    # Places

    @cached_property
    def _has_places(self) -> bool:
        """Whether the key itself is the place of a document, but for the shift of its side."""
        key = column(self.df, self._columns.key)
        if kind_of(self.df, self._columns.key).typeName() not in INTEGRAL:
            return False
        if self._side.shift == 0 or kind_of(self.df, self._columns.key).typeName() != "long":
            return True
        with raised():
            beyond = self.df.where((key < -REACH) | (key >= REACH)).limit(1).collect()
        return not beyond

    @property
    def kind_of_ids(self) -> Any:
        """The type of ids."""
        return kind_of(self.df, self._columns.id)

    @property
    def ids_are_places(self) -> bool:
        """Whether the id itself is the place of a document, but for the shift of its side."""
        return self._columns.key == self._columns.id and self._has_places

    @cached_property
    def _places(self) -> DataFrame:
        """The place of each key, where keys are not numbers: (key, place)."""
        kind = kind_of(self.df, self._columns.key).simpleString()
        numbered = f"head {kind}, key {kind}, row bigint"

        def make() -> DataFrame:
            keys = self.df.select(column(self.df, self._columns.key).alias("key")).where("key is not null")
            keys = keys.sort("key") if self._sorting.keeps_order else keys.repartition(1)
            number = _divided.Number(self._columns.key)
            return mapped(keys, self._sorting.ordered(number, ascending("key")), numbered)

        table = self._checkpoints.table(self._table_name("numbered"), numbered, make)

        def placed() -> DataFrame:
            rows_up_to = F.sum("count").over(Window.orderBy("head"))
            parts = table.groupBy("head").count()
            offsets = parts.select("head", (rows_up_to - F.col("count")).alias("offset"))
            place_of_row = (F.col("row") + F.col("offset") + F.lit(self._side.shift)).alias("place")
            return table.join(F.broadcast(offsets), "head").select("key", place_of_row)

        name = self._table_name("places")
        return self._checkpoints.table(name, f"key {kind}, place bigint", placed)

    @property
    def _place_of_key(self) -> Any:
        """The place of a key that is a number."""
        key = column(self.df, self._columns.key).cast("bigint")
        return key + F.lit(self._side.shift) if self._side.shift else key

    @property
    def _placed(self) -> DataFrame:
        """The records with a column ``_PLACE``; it is null where the key is."""
        if self._has_places:
            return self.df.withColumn(_PLACE, self._place_of_key)
        places = self._places.select(F.col("key").alias(_KEY), F.col("place").alias(_PLACE))
        return self.df.join(places, column(self.df, self._columns.key) == F.col(_KEY), "left")

    @property
    def texts(self) -> DataFrame:
        """(place, text)"""
        text = column(self.df, self._columns.text)
        return self._placed.select(F.col(_PLACE).alias("place"), text.alias("text"))

    @property
    def ids(self) -> DataFrame:
        """(place, id)"""
        of_record = column(self.df, self._columns.id)
        return self._placed.select(F.col(_PLACE).alias("place"), of_record.alias("id"))

    def kept(self, removed: DataFrame) -> DataFrame:
        """The good records that are not removed, as they came."""
        key, text = column(self.df, self._columns.key), column(self.df, self._columns.text)
        good = self.df.where(key.isNotNull() & text.isNotNull())
        if self._has_places:
            of_place = removed.select(F.col("place").alias(_PLACE))
            return good.join(of_place, self._place_of_key == F.col(_PLACE), "left_anti")
        of_key = self._places.join(removed.select("place"), "place")
        of_key = of_key.select(F.col("key").alias(_KEY))
        return good.join(of_key, key == F.col(_KEY), "left_anti")

    # Signatures

    @property
    def _hash(self) -> Any:
        """A hash of the key and the text of a record."""
        return F.xxhash64(
            column(self.df, self._columns.key), column(self.df, self._columns.text)
        )

    def have_changed_since_signed(self) -> bool:
        """Whether the records have other keys or texts than when they were signed, if they were."""
        if not self._checkpoints.holds(self._table_name("signed")):
            return False
        with raised():
            now = self.df.agg(total_of(self._hash)).collect()[0][0]
            return now != self.signed.agg(total_of(F.col("hash"))).collect()[0][0]

    @cached_property
    def signed(self) -> DataFrame:
        """``SIGNED``, all records."""
        sign = _divided.Sign(self._plan, self._side)

        def make() -> DataFrame:
            text = column(self.df, self._columns.text)
            records = self._placed.select(
                F.col(_PLACE).alias("place"), text.alias("text"), self._hash.alias("hash")
            )
            return mapped(records, sign, _divided.SIGNED)

        table = self._checkpoints.table(self._table_name("signed"), _divided.SIGNED, make)
        if self._has_places:
            self._check_unique(table)
        return table

    def _check_unique(self, signed: DataFrame) -> None:
        """Refuses two records with the same place."""
        by_place = signed.where(F.col("place").isNotNull()).groupBy("place").count()
        for place, documents in by_place.where("count > 1").limit(1).collect():
            raise InputError(
                f"{documents} records{self._side.of} have {self._columns.key} {place - self._side.shift}; make it unique, "
                "or pass the name of a column as order that is"
            )
