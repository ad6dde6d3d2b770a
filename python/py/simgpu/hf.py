"""Hugging Face ``datasets``: sign by ``Dataset.map``, and deduplicate a ``Dataset``.

Needs the package ``datasets``: ``pip install "simgpu[hf]"``.
"""

from __future__ import annotations

from typing import Any, Unpack

from ._hosts import require

require("simgpu.hf", "hf")

import datasets

from . import Signer
from . import dedup as _dedup
from ._options import DedupOptions

__all__ = ["SignBatch", "dedup", "sign_batch"]


class SignBatch:
    """Signs the texts of a batch, for ``Dataset.map(..., batched=True)``. Make it by :func:`sign_batch`.

    Equal objects pickle to equal bytes, so ``datasets`` finds the result of an earlier ``map`` in its cache.
    """

    def __init__(self, signer: Signer, column: str, signature_column: str):
        self.signer = signer
        self.column = column
        self.signature_column = signature_column

    def __call__(self, batch: Any) -> Any:
        signatures = self.signer.sign(batch[self.column])
        if isinstance(batch, dict) or not hasattr(batch, "append_column"):
            return {self.signature_column: signatures.slots}
        # With the format "arrow", a batch is a pyarrow.Table, and so is the answer.
        import pyarrow

        return batch.append_column(self.signature_column, [pyarrow.array(signatures)])


def sign_batch(
    signer: Signer | None = None, *, column: str = "text", signature_column: str = "signature"
) -> SignBatch:
    """Makes a function for ``Dataset.map(..., batched=True)`` that adds a column of signatures.

    ``dataset.with_format("arrow").map(sign_batch(), batched=True)`` copies no text. ``num_proc`` works, too: each
    process has its own threads, so ``Signer(threads=1)`` fits there.

    Args:
        signer: What signs; by default ``Signer()``.
        column: The column of texts.
        signature_column: The new column: lists of ``num_perm`` integers.
    """
    return SignBatch(signer if signer is not None else Signer(), column, signature_column)


def dedup(
    dataset: datasets.Dataset,
    column: str = "text",
    *,
    mark: bool = False,
    **options: Unpack[DedupOptions],
) -> datasets.Dataset:
    """Removes near-duplicates from a ``Dataset``.

    Args:
        dataset: A ``Dataset``. A ``DatasetDict`` has several: deduplicate each, or concatenate them before.
        column: The column of texts.
        mark: Whether to keep all rows and add two columns instead: ``kept`` (bool), and ``kept_by`` (int64), the row
            that is kept for this one (its own number if it is kept, -1 if none is, or one of ``against``). With ``id``, also
            ``kept_id``, the id of that row.
        options: The options of :func:`simgpu.dedup`, such as ``threshold=0.8``. ``id`` and ``keep_by`` may name columns.

    Returns:
        The rows that are kept, in order, with all of their columns; with ``mark``, all rows.

    Raises:
        TypeError: If ``dataset`` is not a ``Dataset``, or ``column`` no ``str``.
        KeyError: If it has no such column.
    """
    if not isinstance(dataset, datasets.Dataset):
        raise TypeError(
            f"dataset is a {type(dataset).__name__}; give a datasets.Dataset, such as one split of a DatasetDict"
        )
    if not isinstance(column, str):
        raise TypeError(f"column is {column!r}; give the name of a column, as a str")
    named = [column, options.get("id"), options.get("keep_by")]
    found = _dedup(_table(dataset, [name for name in named if isinstance(name, str)]), column, **options)
    if not mark:
        return dataset.select(found.keep.nonzero()[0])
    dataset = dataset.add_column("kept", found.keep).add_column("kept_by", found.kept_by)
    if options.get("id") is None:
        return dataset
    ids = options["id"]
    ids = dataset[ids][:] if isinstance(ids, str) else list(ids)
    return dataset.add_column("kept_id", found._kept_ids(ids))


def _table(dataset: datasets.Dataset, names: list[str]) -> Any:
    """The columns of these names, as an Arrow table in the order of the rows. A ``Dataset`` may hold its rows in another
    order, and columns that are costly to read."""
    columns = [name.removesuffix(":asc").removesuffix(":desc") for name in names]
    for name in columns:
        if name not in dataset.column_names:
            raise KeyError(f"no column {name!r}; choose one of {', '.join(dataset.column_names)}")
    return dataset.select_columns(list(dict.fromkeys(columns))).with_format("arrow")[:]
