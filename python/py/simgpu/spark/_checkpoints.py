"""Tables of a run that are written before the next stage reads them, so that a run goes on where it was stopped."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import functions as F

from .. import errors
from ..errors import ParameterError

DataFrame = Any


class Checkpoints:
    """The tables of one run, as Parquet in a folder that all machines of the cluster share.

    A table is complete once its mark is there, a table of one row in ``done/``. The mark of the run, ``done/run``, says
    what the run is: parameters and input. Another run in the same folder is refused.
    """

    def __init__(self, session: Any, folder: str, run: dict[str, Any]) -> None:
        self._session = session
        self._folder = folder.rstrip("/")
        #: Seconds of each stage, also of those that an earlier attempt has completed.
        self.seconds: dict[str, float] = {}
        #: The stages that an earlier attempt has completed.
        self.resumed: list[str] = []
        before = self._mark("run")
        if before is None:
            self._set_mark("run", run)
            return
        for name in run:
            if before.get(name) != run[name]:
                raise ParameterError(
                    f"checkpoint_dir {folder} holds another run: {name} is {before.get(name)!r} there and "
                    f"{run[name]!r} here; give another folder, or remove it"
                )

    def table(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        """The table that ``make`` plans: computed and written now, unless it is there already."""
        path = f"{self._folder}/{name}"
        mark = self._mark(name)
        if mark is None:
            start = time.monotonic()
            with raised():
                make().write.mode("overwrite").parquet(path)
            mark = {"elapsed_s": time.monotonic() - start}
            self._set_mark(name, mark)
        else:
            self.resumed.append(name)
        self.seconds[name] = mark["elapsed_s"]
        return self._session.read.parquet(path)

    def _mark(self, name: str) -> dict[str, Any] | None:
        try:
            rows = self._session.read.parquet(f"{self._folder}/done/{name}").collect()
        except Exception as error:
            if _is_missing(error):
                return None
            raise
        return json.loads(rows[0][0]) if rows else None

    def _set_mark(self, name: str, mark: dict[str, Any]) -> None:
        row = self._session.range(1).select(F.lit(json.dumps(mark)).alias("mark"))
        row.coalesce(1).write.mode("overwrite").parquet(f"{self._folder}/done/{name}")


def _is_missing(error: Exception) -> bool:
    """Whether a table could not be read because it is not there, or not yet complete."""
    text = str(error).lower()
    missing = ("path_not_found", "does not exist", "no such file", "not found", "no files found")
    return any(words in text for words in (*missing, "unable_to_infer_schema", "infer schema"))


@contextmanager
def raised() -> Iterator[None]:
    """Raises the errors of simgpu that a task raised on another machine as what they are."""
    try:
        yield
    except errors.Error:
        raise
    except Exception as error:
        found = re.search(r"simgpu\.errors\.(\w+): ([^\n]*)", str(error))
        kind = getattr(errors, found[1], None) if found else None
        if kind is None:
            raise
        raise kind(found[2]) from error
