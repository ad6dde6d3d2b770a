"""polars: the namespace ``simgpu`` of expressions and data frames. Importing this module registers it.

Needs the package ``polars``: ``pip install "simgpu[polars]"``. ::

    import simgpu.polars

    frame.with_columns(pl.col("text").simgpu.sign().alias("signature"))
    frame.simgpu.dedup("text", threshold=0.8)
"""

from __future__ import annotations

from typing import Any, Unpack

from ._hosts import require

require("simgpu.polars", "polars")

import polars as pl

from . import Signer
from . import dedup as _dedup
from . import pairs as _pairs
from ._options import DedupOptions, PairsOptions

__all__ = ["FrameNamespace", "SignExpression", "sign"]


def sign(texts: pl.Expr | str, signer: Signer | None = None) -> pl.Expr:
    """An expression with the signature of each text.

    Args:
        texts: An expression of strings, or the name of a column. A null is signed as a text without shingles.
        signer: What signs; by default ``Signer()``.

    Returns:
        An expression of type ``Array(UInt32, num_perm)``, or ``UInt64`` for schemes with slots of 64 bits.
    """
    signer = signer if signer is not None else Signer()
    expression = pl.col(texts) if isinstance(texts, str) else texts
    slot = {"uint32": pl.UInt32, "uint64": pl.UInt64}[str(signer.scheme.dtype)]

    def of_series(series: pl.Series) -> pl.Series:
        return pl.Series(series.name, signer.sign(series).slots, dtype=signatures)

    signatures = pl.Array(slot, signer.scheme.num_perm)
    return expression.map_batches(of_series, return_dtype=signatures, is_elementwise=True)


@pl.api.register_expr_namespace("simgpu")
class SignExpression:
    """``pl.col("text").simgpu``."""

    def __init__(self, expression: pl.Expr):
        self._expression = expression

    def sign(self, signer: Signer | None = None) -> pl.Expr:
        """The signature of each text: see :func:`simgpu.polars.sign`."""
        return sign(self._expression, signer)


@pl.api.register_dataframe_namespace("simgpu")
class FrameNamespace:
    """``frame.simgpu``."""

    def __init__(self, frame: pl.DataFrame):
        self._frame = frame

    def dedup(
        self, column: str, *, mark: bool = False, **options: Unpack[DedupOptions]
    ) -> pl.DataFrame:
        """Removes near-duplicates.

        Args:
            column: The column of texts.
            mark: Whether to keep all rows and add two columns instead: ``kept`` (bool) and ``kept_by`` (int64), the
                row that is kept for this one (its own number if it is kept, -1 if none is, or one of ``against``). With
                ``id``, also ``kept_id``, the id of that row.
            options: The options of :func:`simgpu.dedup`, such as ``threshold=0.8``. ``id`` and ``keep_by`` may name
                columns.

        Returns:
            The rows that are kept, in order, with all of their columns; with ``mark``, all rows.
        """
        found = _dedup(self._frame, column, **options)
        if not mark:
            return self._frame.filter(pl.Series(found.keep))
        marks = [pl.Series("kept", found.keep), pl.Series("kept_by", found.kept_by)]
        if (ids := options.get("id")) is not None:
            ids = self._frame[ids] if isinstance(ids, str) else pl.Series(ids)
            if (found.kept_by < 0).any():
                marks.append(pl.Series("kept_id", found._kept_ids(ids.to_list()), dtype=ids.dtype))
            else:
                marks.append(ids[found.kept_by].alias("kept_id"))
        return self._frame.with_columns(marks)

    def pairs(self, column: str, **options: Unpack[PairsOptions]) -> pl.DataFrame:
        """The similar pairs: columns ``left``, ``right`` (row numbers) and ``similarity``; with ``id``, also their ids.

        Args:
            column: The column of texts.
            options: The options of :func:`simgpu.pairs`, such as ``threshold=0.8``.
        """
        found = pl.DataFrame(_pairs(self._frame, column, **options))
        assert isinstance(found, pl.DataFrame)
        return found
