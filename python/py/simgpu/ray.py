"""Signing on Ray Data, on CPUs or GPUs. For whole deduplications, use ``simgpu.spark`` or one machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import _divided
from .errors import ParameterError

if TYPE_CHECKING:
    from ._simgpu import Scheme, Shingling

    Dataset = Any

__all__ = ["sign"]


def sign(
    dataset: Dataset,
    *,
    id: str,
    text: str,
    scheme: Scheme | str = "affine32",
    num_perm: int | None = None,
    seed: int | None = None,
    shingling: Shingling | str | None = None,
    backend: str = "auto",
    **resources: Any,
) -> Dataset:
    """Signs documents: (id, signature), the slots of a document as little-endian bytes, 4 or 8 each.

    A text that is null has the signature of the empty set, as in :meth:`simgpu.Signer.sign`.

    Args:
        resources: What ``Dataset.map_batches`` takes beside: ``num_gpus=1, backend="gpu"`` signs on GPUs.

    Raises:
        ParameterError: An argument is unknown or out of range.
    """
    options = {"scheme": scheme, "num_perm": num_perm, "seed": seed, "shingling": shingling}
    stage = _divided.SignAlone({**options, "backend": backend, "threads": 1})
    stage.signer()
    return _mapped(_columns(dataset, id, text), stage, **resources)


def _columns(dataset: Dataset, id: str, text: str) -> Dataset:
    """The columns of ids and texts, under these names."""
    known = dataset.schema().names
    for name in (id, text):
        if name not in known:
            raise ParameterError(f"no column {name!r}; give one of {', '.join(known)}")

    def selected(table: pa.Table) -> pa.Table:
        return pa.table([table[id], table[text]], ["id", "text"])

    return dataset.map_batches(selected, batch_format="pyarrow", batch_size=None)


def _mapped(dataset: Dataset, stage: Callable[..., Any], **resources: Any) -> Dataset:
    def apply(table: pa.Table) -> pa.Table:
        return pa.Table.from_batches(list(stage(table.combine_chunks().to_batches())))

    return dataset.map_batches(apply, batch_format="pyarrow", **resources)
