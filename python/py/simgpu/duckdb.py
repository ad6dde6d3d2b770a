"""DuckDB: SQL functions that sign texts and compare signatures.

Needs the packages ``duckdb`` and ``pyarrow``: ``pip install "simgpu[duckdb]"``. ::

    import simgpu.duckdb

    simgpu.duckdb.register(connection)
    connection.sql("SELECT id, minhash(text) AS signature FROM documents")
"""

from __future__ import annotations

from typing import Any

from ._hosts import require

require("simgpu.duckdb", "duckdb")

import duckdb
import numpy as np
import pyarrow

from . import ParameterError, Signer

__all__ = ["register"]


def register(
    connection: duckdb.DuckDBPyConnection,
    *,
    signer: Signer | None = None,
    name: str = "minhash",
    threshold: float = 0.8,
) -> None:
    """Registers three functions on a connection. Those of an earlier call with the same name are replaced.

    * ``minhash(text)``: the signature, ``UINTEGER[num_perm]``, or ``UBIGINT[num_perm]`` for schemes with slots of 64
      bits. NULL is signed as a text without shingles.
    * ``minhash_similarity(a, b)``: the share of equal slots, which estimates the Jaccard similarity, ``DOUBLE``. It is
      NULL if a signature is NULL, and 0 if one is that of a text without shingles: such a text is similar to nothing.
    * ``minhash_bands(text)``: the band keys for the threshold, ``UBIGINT[]``. Two texts are a candidate pair if they
      share a key; ``unnest`` the keys and join on them. NULL, and a text without shingles, have no key.

    DuckDB has one set of functions per database: every connection and cursor uses what one of them registered.

    Args:
        connection: Where to register them.
        signer: What signs; by default ``Signer()``.
        name: The name of the first function and the beginning of the others.
        threshold: The similarity that the bands are chosen for.

    Raises:
        ParameterError: The threshold is out of range, or another connection to the same database has registered other
            functions of this name.
        TypeError: An argument is of another type.
    """
    if not hasattr(connection, "create_function"):
        kind = type(connection).__name__
        raise TypeError(f"connection is of type {kind}; give a connection, such as duckdb.connect()")
    if not isinstance(name, str):
        raise TypeError(f"name is {name!r}; give the name of a function, as a str")
    if signer is not None and not isinstance(signer, Signer):
        raise TypeError(f"signer is of type {type(signer).__name__}; give a simgpu.Signer")
    signer = signer if signer is not None else Signer()
    # Now rather than in the first query.
    signer.band_keys([], threshold=threshold)
    slot = {"uint32": "UINTEGER", "uint64": "UBIGINT"}[str(signer.scheme.dtype)]
    signature = duckdb.type(f"{slot}[{signer.scheme.num_perm}]")

    def sign(texts: Any) -> Any:
        return pyarrow.array(signer.sign(texts))

    def similarity(left: Any, right: Any) -> Any:
        return _similarities(left, right, signer.scheme.empty)

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
        try:
            connection.remove_function(function)
        except duckdb.InvalidInputException:
            pass  # This connection has registered none.
        try:
            connection.create_function(
                function, run, parameters, result, type="arrow", null_handling="special"
            )
        except duckdb.CatalogException:
            if not _is_same(connection, name, sign, bands):
                raise ParameterError(
                    f"name is {name!r}, and another connection to this database has registered a function "
                    f"{function!r}; register on that connection, or give another name"
                ) from None


def _similarities(left: Any, right: Any, empty: int) -> Any:
    """The share of equal slots of each row: null where a signature is, 0 where one is that of the empty set."""
    (left, has_left), (right, has_right) = _slots(left), _slots(right)
    shares = (left == right).mean(axis=1) if left.size else np.zeros(len(left))
    shares[(left == empty).all(axis=1) | (right == empty).all(axis=1)] = 0.0
    return pyarrow.array(shares, pyarrow.float64(), mask=~(has_left & has_right))


def _slots(signatures: Any) -> tuple[Any, Any]:
    """A column of signatures as a matrix of shape (rows, num_perm), and whether each row is a signature."""
    if isinstance(signatures, pyarrow.ChunkedArray):
        signatures = signatures.combine_chunks()
    is_known = signatures.is_valid().to_numpy(zero_copy_only=False)
    values = signatures.drop_null().flatten()
    num_perm = signatures.type.list_size
    slots = np.zeros((len(signatures), num_perm), values.type.to_pandas_dtype())
    slots[is_known] = values.fill_null(0).to_numpy(zero_copy_only=False).reshape(-1, num_perm)
    if values.null_count:
        is_whole = values.is_valid().to_numpy(zero_copy_only=False).reshape(-1, num_perm).all(axis=1)
        is_known[is_known] = is_whole
    return slots, is_known


def _is_same(connection: duckdb.DuckDBPyConnection, name: str, sign: Any, bands: Any) -> bool:
    """Whether the functions that another connection has registered compute the same."""
    text = pyarrow.array(["one text of more than just a few different words"])
    expected = [sign(text).to_pylist()[0], bands(text).to_pylist()[0]]
    quoted = name.replace('"', '""')
    try:
        found = connection.cursor().execute(
            f'SELECT "{quoted}"($1), "{quoted}_bands"($1), typeof("{quoted}_similarity"("{quoted}"($1), NULL))',
            [text[0].as_py()],
        )
        rows = found.fetchall()
    except duckdb.Error:
        return False
    return [list(values) for values in rows[0][:2]] == expected
