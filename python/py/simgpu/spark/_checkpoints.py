"""Tables of a run that are written before the next stage reads them, so that a run goes on where it was stopped.

A plan over all stages would compute tables again whenever an executor is lost, and its lineage would grow with every round
of joins. So a table is written as Parquet, and then its mark. ``localCheckpoint`` was rejected: it dies with its executor,
and Spark Connect lacks it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import functions as F

from .._divided import raised
from ..errors import ParameterError

DataFrame = Any


class Checkpoints:
    """The tables of one run, as Parquet in a folder that all machines of the cluster share.

    They are in a folder of their own below it, ``simgpu-tables``, so that no table replaces a folder of somebody else. A
    table is complete once its mark is there, a table of one row in ``done/``: its name, and JSON. The mark of the run,
    ``done/run``, says what the run is: parameters and input. Another run is refused where a stage is complete.
    """

    def __init__(self, session: Any, folder: str, run: dict[str, Any]) -> None:
        self._session = session
        self._folder = f"{folder.rstrip('/')}/simgpu-tables"
        # Seconds of the stages that the open one has waited for.
        self._inner = 0.0
        self._marks = self._read_marks()
        before = self._marks.get("run")
        if before is None or len(self._marks) == 1:
            # No stage is complete that would be lost.
            self._set_mark("run", run)
            return
        for name in run:
            if before.get(name) != run[name]:
                raise ParameterError(
                    f"checkpoint_dir {folder} holds another run: {name} is {before.get(name)!r} there and "
                    f"{run[name]!r} here; give another folder, or remove it"
                )

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of each complete stage, also of those that an earlier attempt has completed."""
        return {name: mark["elapsed_s"] for name, mark in self._marks.items() if name != "run"}

    def holds(self, name: str) -> bool:
        """Whether the table of this name is complete."""
        return name in self._marks

    def table(self, name: str, schema: str, make: Callable[[], DataFrame]) -> DataFrame:
        """The table that ``make`` plans, with these columns: computed and written now, unless it is there already."""
        path = f"{self._folder}/{name}"
        if name not in self._marks:
            outer, self._inner = self._inner, 0.0
            start = time.monotonic()
            with raised():
                make().write.mode("overwrite").parquet(path)
            elapsed = time.monotonic() - start
            self._set_mark(name, {"elapsed_s": elapsed - self._inner})
            self._inner = outer + elapsed
        # Sail writes no file for a table without rows, so that none says what its columns are.
        return self._session.read.schema(schema).parquet(path)

    def _read_marks(self) -> dict[str, dict[str, Any]]:
        try:
            marks = self._session.read.schema("name string, mark string")
            marks = marks.option("recursiveFileLookup", "true")
            # Of a single path that is missing, Spark logs a stack trace.
            rows = marks.parquet(*[f"{self._folder}/done"] * 2).collect()
        except Exception as error:
            if is_missing(error):
                return {}
            raise
        return {row["name"]: json.loads(row["mark"]) for row in rows}

    def _set_mark(self, name: str, mark: dict[str, Any]) -> None:
        columns = [F.lit(name).alias("name"), F.lit(json.dumps(mark)).alias("mark")]
        self._marks[name] = mark
        row = self._session.range(1).select(*columns)
        row.coalesce(1).write.mode("overwrite").parquet(f"{self._folder}/done/{name}")


def is_missing(error: Exception) -> bool:
    """Whether a path could not be read because nothing is there."""
    missing = ("path_not_found", "does not exist", "no such file", "not found", "no files found")
    return any(words in str(error).lower() for words in missing)
