"""Deduplication, and similar pairs, of what is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _simgpu

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._files import Backend, Candidates, Distance, Progress, Unit, Verification
    from ._simgpu import Scheme, Shingling, Table


_SETTINGS = (
    "scheme",
    "num_perm",
    "seed",
    "shingling",
    "threshold",
    "bands",
    "rows",
    "verify",
    "candidates",
    "join_mib",
    "distance",
    "within",
    "weights",
    "backend",
    "threads",
    "progress",
)


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
    """The row of the document kept for each document: its own row where it is kept."""

    removed: Table
    """The removed documents: row, kept (a row), similarity, found_by; with ids, also id and kept_id."""

    def __init__(self, parts: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__("dedup", parts, options)
        self.keep = parts["keep"]
        self.kept_by = parts["kept_by"]
        self.removed = parts["removed"]
        self.report["cluster_sizes"] = self._cluster_sizes()

    @property
    def clusters(self) -> list[NDArray[np.int64]]:
        """The rows of each cluster of two or more documents, the kept one first, by ascending kept row."""
        import numpy as np

        removed = np.flatnonzero(~self.keep)
        by_kept = removed[np.argsort(self.kept_by[removed], kind="stable")]
        kept, starts = np.unique(self.kept_by[by_kept], return_index=True)
        members = np.split(by_kept, starts[1:]) if len(kept) else []
        return [np.concatenate(([row], rows)) for row, rows in zip(kept, members, strict=True)]

    def _cluster_sizes(self) -> dict[int, int]:
        import numpy as np

        _, sizes = np.unique(self.kept_by, return_counts=True)
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
    ids.

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


def dedup(
    data: Any,
    column: str | int | None = None,
    *,
    id: Any = None,
    threshold: float = 0.8,
    scheme: Scheme | str = "affine32",
    num_perm: int | None = None,
    seed: int | None = None,
    shingling: Shingling | Unit | None = None,
    weights: Literal["rarity"] | None = None,
    bands: int | None = None,
    rows: int | None = None,
    verify: Verification | None = None,
    candidates: Candidates | None = None,
    join_mib: int = 2048,
    cluster: Literal["greedy", "connected"] = "greedy",
    keep: Literal["first", "longest"] = "first",
    keep_by: Any = None,
    max_bucket: int = 4096,
    backend: Backend = "auto",
    threads: int | None = None,
    progress: Progress = None,
) -> Deduplicated:
    """Finds near-duplicates in a table or a list, and says which document is kept for which.

    Args:
        data: What :meth:`Signer.sign` takes or, with ``shingling="tokens"``, what :meth:`Signer.sign_tokens` takes. Or
            Signatures, in place of the documents that were signed: documents with equal signatures count as identical,
            and options of signing and of exact verification are refused.
        column: The column of a table. A table of one column, beside those of ``id`` and ``keep_by``, needs none.
        id: The ids of the documents: a column of ``data``, or a sequence of int or str. They are in ``removed``.
        threshold: The least Jaccard similarity of near-duplicates, above 0 and up to 1.
        scheme: A Scheme or its name.
        num_perm: Number of permutations, instead of the scheme's.
        seed: Seed of the permutations, instead of the scheme's.
        shingling: A Shingling or the name of its unit; by default the scheme's.
        weights: ``"rarity"`` weighs each shingle by log2(n / d), if d of n distinct documents have it. The documents
            are read once more, to count.
        bands: Number of bands, with ``rows``; by default the best for the threshold, or the preset's.
        rows: Slots per band, with ``bands``.
        verify: How candidate pairs are verified: ``"exact"``, ``"signature"`` or ``"none"``. By default ``"exact"``,
            or ``"signature"`` for Signatures.
        candidates: How candidate pairs are found: ``"lsh"`` misses some similar pairs, ``"join"`` misses none, and
            ``"auto"`` joins lists of tokens where that costs about as much as LSH. By default ``"auto"``, or ``"lsh"``
            if an option of signatures or bands is not at its default.
        join_mib: Most MiB of memory for the shingles of an exact join, and for the counts of ``weights="rarity"``.
        cluster: ``"greedy"`` removes a document only if it is similar to a kept one; ``"connected"`` keeps one document
            of each set that chains of similar pairs connect.
        keep: Which document of a cluster is kept: the ``"first"`` or the ``"longest"``.
        keep_by: Keep the document with the largest value: of this column of ``data``, or the smallest with
            ``"COLUMN:asc"``; or of a sequence with one value per document. Numbers, dates and strings are compared as
            such; a missing value comes last, and among equal ones the first document is kept.
        max_bucket: The most documents of one bucket that a further document is compared with.
        backend: Where signatures are computed; never changes a result.
        threads: Number of threads; by default ``SIMGPU_NUM_THREADS``, or one per core that this process may use.
        progress: True draws a bar; a function gets (stage, done, total) and stops the work if it returns False.

    Raises:
        ParameterError: An argument is unknown or out of range, or arguments contradict each other.
        TypeError: The documents are of another type.
        InputError: A document cannot be read; ``row`` says which.
        StoppedError: The progress function stopped the work.
    """
    parts = _simgpu.dedup_in_memory(locals())
    options: dict[str, Any] = {"keep": keep, "cluster": cluster}
    if keep_by is not None:
        options["keep_by"] = keep_by if isinstance(keep_by, str) else "a sequence"
    if parts["parameters"]["candidates"] == "lsh":
        options["max_bucket"] = max_bucket
    return Deduplicated(parts, options)


def pairs(
    data: Any,
    column: str | int | None = None,
    *,
    id: Any = None,
    threshold: float = 0.8,
    scheme: Scheme | str = "affine32",
    num_perm: int | None = None,
    seed: int | None = None,
    shingling: Shingling | Unit | None = None,
    weights: Literal["rarity"] | None = None,
    bands: int | None = None,
    rows: int | None = None,
    verify: Verification | None = None,
    candidates: Candidates | None = None,
    join_mib: int = 2048,
    distance: Distance | None = None,
    within: int | None = None,
    identical: Literal["all", "star"] = "all",
    max_pairs: int = 1_000_000_000,
    backend: Backend = "auto",
    threads: int | None = None,
    progress: Progress = None,
) -> SimilarPairs:
    """Finds all similar pairs of the documents in a table or a list.

    Args:
        distance: Search by distance instead of similarity, with ``shingling="tokens"``: ``"hamming"``, the number of
            places at which two lists of equal length differ, or ``"l1"``, the sum of the differences between counts.
            The search is an exact join, and the table has a column ``distance`` in place of ``similarity``.
        within: The greatest distance of a pair.
        identical: Which pairs of identical documents are returned: ``"all"``, or those with the first of them (``"star"``).
        max_pairs: The search ends after so many pairs, with a warning. Each takes 24 bytes.

    The other arguments, and the errors, are those of :func:`dedup`.
    """
    parts = _simgpu.pairs_in_memory(locals())
    return SimilarPairs(parts, {"identical": identical, "max_pairs": max_pairs})


def _settings(arguments: dict[str, Any]) -> dict[str, Any]:
    """What decides the search and how it runs, of the arguments of a call."""
    return {name: arguments.get(name) for name in _SETTINGS}


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
