"""DuckDB: SQL functions that sign texts and compare signatures.

Needs the packages ``duckdb`` and ``pyarrow``. ::

    import simgpu.duckdb

    simgpu.duckdb.register(connection)
    connection.sql("SELECT id, minhash(text) AS signature FROM documents")
"""

from __future__ import annotations

from typing import Any

try:
    import duckdb
    import pyarrow
except ImportError as error:
    raise ImportError(
        "simgpu.duckdb needs the packages duckdb and pyarrow; pip install duckdb pyarrow"
    ) from error

from . import Signer

__all__ = ["register"]


def register(
    connection: duckdb.DuckDBPyConnection,
    *,
    signer: Signer | None = None,
    name: str = "minhash",
    threshold: float = 0.8,
) -> None:
    """Registers three functions on a connection.

    * ``minhash(text)``: the signature, ``UINTEGER[num_perm]``, or ``UBIGINT[num_perm]`` for schemes with slots of 64
      bits. NULL is signed as a text without shingles.
    * ``minhash_similarity(a, b)``: the share of equal slots, which estimates the Jaccard similarity, ``DOUBLE``.
    * ``minhash_bands(text)``: the band keys for the threshold, ``UBIGINT[]``. Two texts are a candidate pair if they
      share a key; ``unnest`` the keys and join on them. NULL, and a text without shingles, have no key.

    Args:
        connection: Where to register them.
        signer: What signs; by default ``Signer()``.
        name: The name of the first function and the beginning of the others.
        threshold: The similarity that the bands are chosen for.
    """
    signer = signer if signer is not None else Signer()
    slot = {"uint32": "UINTEGER", "uint64": "UBIGINT"}[str(signer.scheme.dtype)]
    signature = duckdb.type(f"{slot}[{signer.scheme.num_perm}]")

    def sign(texts: Any) -> Any:
        return pyarrow.array(signer.sign(texts))

    def similarity(left: Any, right: Any) -> Any:
        equal = _slots(left) == _slots(right)
        return pyarrow.array(equal.mean(axis=1))

    def bands(texts: Any) -> Any:
        signatures = signer.sign(texts)
        has_shingles = (signatures.slots != signer.scheme.empty).any(axis=1)
        keys = signatures.band_keys(threshold=threshold)
        lists: list[Any] = [row if has else [] for row, has in zip(keys, has_shingles, strict=True)]
        return pyarrow.array(lists, type=pyarrow.list_(pyarrow.uint64()))

    functions = [
        (name, sign, [duckdb.type("VARCHAR")], signature),
        (f"{name}_similarity", similarity, [signature, signature], duckdb.type("DOUBLE")),
        (f"{name}_bands", bands, [duckdb.type("VARCHAR")], duckdb.type("UBIGINT[]")),
    ]
    for function, run, parameters, result in functions:
        connection.create_function(
            function, run, parameters, result, type="arrow", null_handling="special"
        )


def _slots(signatures: Any) -> Any:
    """A column of signatures as a matrix of shape (rows, num_perm)."""
    if isinstance(signatures, pyarrow.ChunkedArray):
        signatures = signatures.combine_chunks()
    return signatures.flatten().to_numpy(zero_copy_only=False).reshape(len(signatures), -1)
