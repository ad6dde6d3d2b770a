"""Deduplication, and similar pairs, of what is in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Unpack, overload

from . import _simgpu
from ._options import DedupOptions, PairsOptions, takes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._simgpu import Table


class _Found:
    """What the results of :func:`dedup` and :func:`pairs` have in common."""

    counts: dict[str, int]
    """The counts of documents and pairs, as in the report of the command."""

    recall: float
    """The probability that a pair with a similarity equal to the threshold is found."""

    expected_precision: float | None
    """The share of truly similar pairs to expect among the pairs found; ``None`` if not verified."""

    report: dict[str, Any]
    """Parameters, counts, and the seconds of each stage; of :func:`dedup`, also the sizes of clusters."""

    def __init__(self, command: str, parts: dict[str, Any], options: dict[str, Any]) -> None:
        self.counts = parts["counts"]
        self.recall = parts["recall"]
        self.expected_precision = parts["expected_precision"]
        parameters = {**parts["parameters"], "recall_at_threshold": self.recall}
        self.report = {"command": command, "counts": self.counts, "parameters": parameters, **options}
        if self.expected_precision is not None:
            self.report["expected_precision"] = self.expected_precision
        self.report["stages"] = parts["stages"]


class Deduplicated(_Found):
    """Which documents are kept, and which of them for each removed one."""

    keep: NDArray[np.bool_]
    """Whether each document is kept."""

    kept_by: NDArray[np.int64]
    """The row of the document kept for each document: its own row where it is kept, -1 where that one is in ``against``, or
    where it is removed for none (``drop_short``, ``drop_empty``)."""

    reference_by: NDArray[np.int64] | None
    """The row in ``against`` of the document for which each document was removed, or -1; ``None`` without ``against``."""

    removed: Table
    """The removed documents: row, kept (a row; null if removed for none), similarity, lost, found_by; with ids, also id and
    kept_id. With ``against``, also reference, the row there, where kept is null. Then kept_id is the id there, if ``id``
    names a column that ``against`` has."""

    def __init__(self, parts: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__("dedup", parts, options)
        self.keep = parts["keep"]
        self.kept_by = parts["kept_by"]
        self.reference_by = parts["reference_by"]
        self.removed = parts["removed"]
        self.report["cluster_sizes"] = self._cluster_sizes()
        # Signatures have no texts to show, so that their results have none.
        self._found = parts.get("found")

    @property
    def clusters(self) -> list[NDArray[np.int64]]:
        """The rows of each cluster of two or more documents, the kept one first, by ascending kept row."""
        import numpy as np

        removed = np.flatnonzero(~self.keep & (self.kept_by >= 0))
        by_kept = removed[np.argsort(self.kept_by[removed], kind="stable")]
        kept, starts = np.unique(self.kept_by[by_kept], return_index=True)
        members = np.split(by_kept, starts[1:]) if len(kept) else []
        return [np.concatenate(([row], rows)) for row, rows in zip(kept, members, strict=True)]

    def _cluster_sizes(self) -> dict[int, int]:
        import numpy as np

        _, sizes = np.unique(self.kept_by[self.kept_by >= 0], return_counts=True)
        if self.reference_by is not None:
            # Such a cluster has the document of the reference, too.
            _, others = np.unique(self.reference_by[self.reference_by >= 0], return_counts=True)
            sizes = np.concatenate((sizes, others + 1))
        known, clusters = np.unique(sizes, return_counts=True)
        return dict(zip(known.tolist(), clusters.tolist(), strict=True))

    def apply(self, data: Any) -> Any:
        """Returns the kept rows of ``data``, which has one row per document.

        Args:
            data: A list, a tuple, a numpy array, a pandas, polars or pyarrow object, Signatures, or a
                datasets.Dataset. The result is of the same type.

        Raises:
            ParameterError: The number of rows differs.
            TypeError: The type is unknown.
        """
        import numpy as np

        package = type(data).__module__.partition(".")[0]
        if package not in _FILTERS and not isinstance(data, (list, tuple, np.ndarray)):
            raise TypeError(
                f"cannot filter a {type(data).__name__}; give a list, a numpy array, a pandas, polars or pyarrow "
                "object, Signatures, or a datasets.Dataset"
            )
        if not hasattr(data, "__len__") or getattr(data, "ndim", 1) == 0:
            raise TypeError(f"cannot filter a {type(data).__name__} without rows; give the documents")
        if len(data) != len(self.keep):
            raise _parameter_error(
                f"{len(data)} rows, but {len(self.keep)} documents were compared; give those documents"
            )
        if isinstance(data, (list, tuple)):
            return type(data)(row for row, is_kept in zip(data, self.keep, strict=True) if is_kept)
        return _FILTERS[package](data, self.keep)

    def _kept_ids(self, ids: list[Any]) -> list[Any]:
        """The id of the document that is kept for each, of the ids of all documents; ``None`` if there is none."""
        kept_ids = [ids[row] if row >= 0 else None for row in self.kept_by.tolist()]
        if self.reference_by is not None and "kept_id" in self.removed.column_names:
            for row, kept_id in zip(self.removed["row"].tolist(), self.removed["kept_id"].tolist(), strict=True):
                if kept_ids[row] is None:
                    kept_ids[row] = kept_id
        return kept_ids

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": None}

    def page(
        self,
        data: Any,
        path: str | os.PathLike[str],
        *,
        column: str | int | None = None,
        id: Any = None,
        against: Any = None,
    ) -> None:
        """Writes a page for a browser that shows what is removed and why, as ``report.html`` of the command does.

        Args:
            data: The documents that were deduplicated, whose texts are shown.
            path: Where to write the page. A file there is replaced.
            column: As for :func:`dedup`.
            id: As for :func:`dedup`; without ids, documents are named by their rows.
            against: The reference, if there was one.

        Raises:
            ParameterError: The number of rows differs; or the result is of Signatures, which have no texts, or was pickled.
        """
        if self._found is None:
            raise _parameter_error(
                "the result is of Signatures, which have no texts to show, or was pickled; deduplicate documents"
            )
        options = {"data": data, "column": column, "id": id, "keep_by": None, "against": against}
        page = self._found.page(options, json.dumps(self.report["parameters"]))
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(page)

    def __len__(self) -> int:
        return len(self.keep)

    def __repr__(self) -> str:
        kept, documents = self.counts["kept"], self.counts["documents"]
        return f"<Deduplicated: {kept} of {documents} documents kept>"

    def _repr_html_(self) -> str:
        from . import _repr

        return _repr.deduplicated(self)


class _Rows:
    """What results that are a table have in common. To iterate goes over the rows, as dicts."""

    table: Table

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self.table.column_names

    @overload
    def __getitem__(self, index: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Table: ...
    def __getitem__(self, index: Any) -> Any:
        return self.table[index]

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.table)

    def to_pandas(self) -> Any:
        """The table as a data frame of pandas."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """The table as a data frame of polars."""
        return self.table.to_polars()

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows, as dicts."""
        return self.table.to_pylist()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


class SimilarPairs(_Found, _Rows):
    """The similar pairs of documents: a table of left, right (rows) and similarity or distance; with ids, also of their
    ids. With ``against``, left is a row there; it has an id if ``id`` names a column that ``against`` has.

    It goes to Arrow as :class:`Table` does; ``pairs["left"]`` is a numpy array.
    """

    table: Table
    """The pairs."""

    incomplete: bool
    """Whether the search ended at ``max_pairs``."""

    def __init__(self, parts: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__("pairs", parts, options)
        self.table = parts["table"]
        self.incomplete = not parts["complete"]
        self.report["complete"] = parts["complete"]

    def __repr__(self) -> str:
        ending = " (incomplete)" if self.incomplete else ""
        return f"<SimilarPairs: {len(self)} pairs of {self.counts['documents']} documents{ending}>"


@takes(DedupOptions)
def dedup(data: Any, column: str | int | None = None, **options: Unpack[DedupOptions]) -> Deduplicated:
    """Finds near-duplicates in a table or a list, and says which document is kept for which.

    Args:
        data: What :meth:`Signer.sign` takes or, with ``shingling="tokens"``, what :meth:`Signer.sign_tokens` takes. Or
            Signatures, in place of the documents that were signed: documents with equal signatures count as identical,
            and options of signing and of exact verification are refused.
        column: The column of a table. A table of one column, beside those of ``id`` and ``keep_by``, needs none.
        **options: The search, and which documents to keep; ``help(simgpu.dedup)`` lists them.

    Raises:
        ParameterError: An argument is unknown or out of range, or arguments contradict each other.
        TypeError: The documents are of another type.
        InputError: A document cannot be read; ``row`` says which.
        StoppedError: The progress function stopped the work.
    """
    options["against"] = _reference(options["against"])
    parts = _simgpu.dedup_in_memory({"data": data, "column": column, **options})
    reported: dict[str, Any] = {"keep": options["keep"], "cluster": options["cluster"]}
    if (keep_by := options["keep_by"]) is not None:
        reported["keep_by"] = keep_by if isinstance(keep_by, str) else "a sequence"
    return Deduplicated(parts, reported | parts["reported"])


@takes(PairsOptions)
def pairs(data: Any, column: str | int | None = None, **options: Unpack[PairsOptions]) -> SimilarPairs:
    """Finds all similar pairs of the documents in a table or a list.

    Args:
        data: As for :func:`dedup`. A search by distance needs ``shingling="tokens"``.
        column: The column of a table.
        **options: The search, and which pairs to return; ``help(simgpu.pairs)`` lists them.

    The errors are those of :func:`dedup`.
    """
    options["against"] = _reference(options["against"])
    parts = _simgpu.pairs_in_memory({"data": data, "column": column, **options})
    return SimilarPairs(parts, parts["reported"])


def _reference(against: Any) -> Any:
    """The reference, which may be a file of signatures."""
    if isinstance(against, (str, os.PathLike)):
        return _simgpu.Signatures.load(against)
    return against


def _parameter_error(message: str) -> Exception:
    from .errors import ParameterError

    return ParameterError(message)


def _filter_pyarrow(data: Any, keep: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return data.filter(pa.array(keep))


def _filter_polars(data: Any, keep: NDArray[np.bool_]) -> Any:
    import polars as pl

    return data.filter(pl.Series(keep))


def _filter_pandas(data: Any, keep: NDArray[np.bool_]) -> Any:
    return data[keep]


def _select_rows(data: Any, keep: NDArray[np.bool_]) -> Any:
    return data.select(keep.nonzero()[0])


_FILTERS: dict[str, Callable[[Any, Any], Any]] = {
    "numpy": _filter_pandas,
    "simgpu": _filter_pandas,
    "pandas": _filter_pandas,
    "polars": _filter_polars,
    "pyarrow": _filter_pyarrow,
    "datasets": _select_rows,
}
