"""What an index answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ._dedup import _Rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._simgpu import Table


class Hit(NamedTuple):
    """A document of an index that resembles another one."""

    id: str | int | float
    """Its id."""

    similarity: float
    """The similarity of both, at least the threshold: estimated or exact, as the index verifies."""

    found_by: str
    """``"identical"`` if both are the same after normalisation, else the verification: ``"signature"`` or ``"exact"``."""

    query_share: float | None = None
    """In an index of ``measure="contained"``, the share of the shingles of the document that was asked for which this one
    has."""

    document_share: float | None = None
    """In an index of ``measure="contained"``, the share of the shingles of this document which the one that was asked for
    has."""


class Checked(_Rows):
    """What became of a batch of documents: a table of those that resemble each, as of :meth:`Index.check_many`, and beside it
    which were added.

    It goes to Arrow as :class:`Table` does; ``checked["row"]`` is a numpy array.
    """

    table: Table
    """One row per document found: ``row``, ``hit_id``, ``similarity``, ``found_by`` and ``id``; of ``measure="contained"``,
    also ``query_share`` and ``document_share``."""

    added: NDArray[np.bool_]
    """Whether each document was added."""

    known_id: NDArray[np.bool_]
    """Whether each document is new, but was left out, as the index has its id."""

    counts: dict[str, int]
    """The counts, as in the report of the command ``index add``: ``documents`` of the batch; ``added``; ``known_ids``, new
    documents whose ids the index has; ``seen``, those that resemble a document; and ``hits``, the rows of the table."""

    report: dict[str, Any]
    """The counts."""

    def __init__(self, table: Table, added: NDArray[np.bool_], known_id: NDArray[np.bool_]) -> None:
        self.table = table
        self.added = added
        self.known_id = known_id
        documents, added_ones, known_ids = len(added), int(added.sum()), int(known_id.sum())
        self.counts = {
            "documents": documents,
            "added": added_ones,
            "known_ids": known_ids,
            "seen": documents - added_ones - known_ids,
            "hits": len(table),
        }
        self.report = {"command": "index add", "counts": self.counts}

    def __repr__(self) -> str:
        return f"<Checked: {int(self.added.sum())} of {len(self.added)} documents added>"
