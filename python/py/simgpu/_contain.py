"""Items of benchmarks in texts."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from . import _simgpu
from ._dedup import _Rows
from ._options import ContainOptions, ItemOptions, ScanOptions, parameters_of, takes
from ._hosts import check
from .errors import InputError, ParameterError

if TYPE_CHECKING:
    from ._simgpu import Table


class ItemsFound(_Rows):
    """The items in texts: a table with one row per item in a text, in the order of the texts.

    It goes to Arrow as :class:`Table` does; ``found["row"]`` is a numpy array. The columns are those of ``hits.jsonl`` of
    the command:

    - ``row``: the row of the text, from 0. With ids, ``id`` is that of the text.
    - ``item``, ``benchmark``: the first id of the item, and its benchmark.
    - ``class``: ``"contaminated"``, ``"passage"``, ``"short"`` or ``"template"``.
    - ``score``: the share of the item's n-grams found, weighted by rarity, from 0 to 1.
    - ``parts``: the parts found: ``"question"``, ``"passage"``, ``"options"``, ``"answer"``.
    - ``start``, ``end``: their place in bytes of the text in UTF-8: ``text.encode()[start:end].decode()`` is to be
      highlighted.
    - ``also``: further places of the item with the same class, each as ``[start, end]``.
    - ``item_start``, ``item_end``: the place in the question, or in the passage where the question is not found.
    - ``found``, ``ngrams``: the distinct n-grams found, of all.
    - ``content``: the words of the question outside of templates that are in place, and all of them; ``own``: the n-grams
      found that at most two questions have.
    - ``lacks``: the conditions of a contaminated text that do not hold.
    - ``rarest``: the rarest n-grams found.
    """

    table: Table
    """The hits."""

    counts: dict[str, Any]
    """The counts, as in the report of the command ``contain``: ``records``, the texts; ``items``, those that were looked
    for; ``hits``, ``documents`` and ``found_items`` by class, where a text and an item count for the first class of their
    hits; and ``near_misses``, the hits that lack one condition of a contaminated text."""

    report: dict[str, Any]
    """Counts, and the options that decide what is found."""

    def __init__(self, table: Table, counts: dict[str, Any], parameters: dict[str, Any]) -> None:
        self.table = table
        self.counts = counts
        self.report = {"command": "contain", "counts": self.counts, "parameters": parameters}

    def __repr__(self) -> str:
        return f"<ItemsFound: {len(self)} items in texts>"


class Contain:
    """Finds the items of benchmarks that texts ask: the questions, with their passages, options and answers.

    The classes are those of the command ``simgpu contain`` with the same items, options and phrases;
    :func:`contain_files` reads files. Any number of threads may use it. It is pickled with its items.
    """

    @takes(ContainOptions)
    def __init__(self, items: Any, **options: Unpack[ContainOptions]) -> None:
        """Takes the items.

        Args:
            items: The path of a file, folder or glob of records, or several, as of the command; or the records themselves:
                dicts, a data frame of pandas, polars or Spark, an Arrow table, a DuckDB relation, a dataset of ``datasets``
                or Ray, or a dict of columns. A string is a path.
            **options: Those of the command ``simgpu contain``; ``help(simgpu.Contain)`` lists them.

        Raises:
            ParameterError: An argument is unknown or out of range; or the phrases are of other items.
            InputError: An item has no question; or the phrases cannot be used.
            OSError: The system refused to read a file.
        """
        phrases, ignore = options.pop("phrases", None), options.pop("ignore", None)
        _refuse_open_file("ignore", ignore)
        if isinstance(ignore, (str, os.PathLike)):
            ignore = _simgpu.ignored_phrases(ignore)
        elif isinstance(ignore, Iterable):
            ignore = list(ignore)
        records = _records(items, dict(options))
        options = {**options, "ignore": ignore}
        self._table = _simgpu.ItemTable(records, {**options, "phrases": phrases})
        # Their content, for pickles: other machines do not have the file.
        content = None if phrases is None else Path(phrases).read_bytes()
        self._state = (records, content, dict(options))

    @takes(ScanOptions)
    def scan(self, data: Any, column: str | None = None, **options: Unpack[ScanOptions]) -> ItemsFound:
        """Finds the items in texts.

        Args:
            data: The texts: a list of str, a numpy array, a Series, an Arrow array, or a table and ``column``. A null is
                empty.
            column: The column of texts, if ``data`` is a table.
            **options: How to scan; ``help(simgpu.Contain.scan)`` lists them.

        Raises:
            TypeError: The texts are of another type.
            StoppedError: The progress function stopped the work.
        """
        table, counts = self._table.scan({"data": data, "column": column, **options})
        return ItemsFound(table, counts, self._parameters())

    def _parameters(self) -> dict[str, Any]:
        return parameters_of(self._state[2], ItemOptions)

    @property
    def items(self) -> Table:
        """The items, one per row: ``item``, the first of its ``ids``; ``benchmark``; ``question``; ``passage``; and
        ``decidable``, whether it can be found in a text that holds all of it."""
        return self._table.items()

    def __len__(self) -> int:
        return len(self._table)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Contain: {len(self)} items>"

    def __getstate__(self) -> tuple[Any, ...]:
        return self._state

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._state = records, phrases, options = state
        with tempfile.TemporaryDirectory() as folder:
            path = None if phrases is None else Path(folder, "phrases.parquet")
            if path is not None:
                path.write_bytes(phrases)
            self._table = _simgpu.ItemTable(records, {**options, "phrases": path})


def _records(items: Any, options: dict[str, Any]) -> list[Any]:
    """The records of items, as the extension module takes them."""
    paths = _paths(items)
    if paths is not None:
        return _simgpu.items_of_files({**options, "against": paths})
    has_id = options["item_id_field"] is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "items.jsonl")
        with path.open("w", encoding="utf-8") as file:
            for row, item in enumerate(_rows(items)):
                if not has_id and item.get("id") is None and item.get("eval_instance_index") is None:
                    item = {**item, "id": str(row)}
                file.write(json.dumps(item) + "\n")
        try:
            return _simgpu.items_of_files({**options, "against": path})
        except InputError as error:
            if error.row is None:
                raise
            raised = InputError(f"item {error.row}: {error.problem}; correct it, or leave it out")
            raised.row, raised.problem = error.row, error.problem
            raise raised from None


def _paths(items: Any) -> list[str | os.PathLike[str]] | None:
    """The paths of items, if they are in files."""
    if isinstance(items, (str, os.PathLike)):
        return [items]
    if isinstance(items, (list, tuple)) and all(isinstance(item, (str, os.PathLike)) for item in items):
        return list(items) or None
    return None


def _rows(items: Any) -> Iterable[dict[str, Any]]:
    """The records of items, as dicts of what JSON has."""
    _refuse_open_file("items", items)
    if isinstance(items, Mapping):
        items = _of_columns(items)
    elif type(items).__module__.startswith("pyspark.sql.") and hasattr(items, "collect"):
        # Items are few: benchmarks, not corpora.
        items = [row.asDict(recursive=True) for row in items.collect()]
    elif hasattr(items, "take_all"):
        items = items.take_all()
    elif not isinstance(items, (list, tuple)) and not any(hasattr(items, name) for name in _TO_ROWS):
        items = _of_arrow(items)
    for method, arguments in _TO_ROWS.items():
        if not isinstance(items, (list, tuple)) and hasattr(items, method):
            items = getattr(items, method)(*arguments)
            break
    if isinstance(items, (bytes, bytearray)) or not isinstance(items, Iterable):
        raise TypeError(
            f"items are of type {type(items).__name__}; give the path of a file, a list of dicts, or a data frame"
        )
    for row, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise TypeError(
                f"item {row} is of type {type(item).__name__}; give dicts with a question, such as {{'question': text}}"
            )
        yield {str(name): _plain(value) for name, value in item.items()}


#: The methods of data frames and tables that return dicts, with their arguments.
_TO_ROWS: dict[str, tuple[str, ...]] = {"to_dicts": (), "to_pylist": (), "to_dict": ("records",)}


def _of_arrow(items: Any) -> Any:
    """The table of what has none of these methods: a relation of DuckDB, a lazy frame, another Arrow stream; else
    ``items``."""
    if hasattr(items, "fetch_arrow_table"):
        return items.fetch_arrow_table()
    if hasattr(items, "collect_schema"):
        return items.collect()
    if not hasattr(items, "__arrow_c_stream__"):
        return items
    check("to read items from Arrow data, simgpu", "pyarrow")
    import pyarrow as pa

    return pa.table(items)


def _refuse_open_file(name: str, value: Any) -> None:
    """Refuses an open file, which would be read as a list of its lines."""
    if hasattr(value, "read") and hasattr(value, "close"):
        raise TypeError(f"{name} is an open file; give its path, such as file.name")


def _of_columns(columns: Mapping[Any, Any]) -> list[dict[Any, Any]]:
    """The records of columns."""
    for name, values in columns.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise TypeError(
                f"items are a dict with {name!r} of type {type(values).__name__}; give columns of values, or a list of dicts"
            )
    lists = {name: list(values) for name, values in columns.items()}
    if len({len(values) for values in lists.values()}) > 1:
        lengths = ", ".join(f"{name!r} has {len(values)} values" for name, values in lists.items())
        raise ParameterError(f"items are columns of different lengths: {lengths}; give columns of one length")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _plain(value: Any) -> Any:
    """A value as JSON has it. What is missing is null."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return [_plain(each) for each in value]
    return str(value)
