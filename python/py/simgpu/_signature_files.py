"""Files of signatures: what ``simgpu sign`` writes, and what ``Signatures.save`` writes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._hosts import check
from .errors import InputError, OutputError

if TYPE_CHECKING:
    from ._simgpu import Scheme, Signatures


def save(signatures: Signatures, path: Path) -> None:
    """Writes signatures and their description, each under its final name only when complete."""
    path = Path(path)
    if path.suffix in (".parquet", ".pq"):
        _save_table(signatures, path)
    elif path.suffix == ".npy":
        _save_matrix(signatures, path)
    else:
        raise _output_error(
            path, "unknown file extension", "choose a name that ends in .npy or .parquet"
        )


def _save_matrix(signatures: Signatures, path: Path) -> None:
    import numpy as np

    matrix, described = _partial(path), _partial(_description(path))
    try:
        with open(matrix, "wb") as file:
            np.save(file, signatures.slots)
        described.write_text(json.dumps(_described(signatures)) + "\n")
        # First the description: a matrix never has that of another one of the same shape for longer than a moment.
        os.replace(described, _description(path))
        os.replace(matrix, path)
    finally:
        matrix.unlink(missing_ok=True)
        described.unlink(missing_ok=True)


def _save_table(signatures: Signatures, path: Path) -> None:
    # Without it, a name that ends in .npy serves.
    check("to write a Parquet file of signatures (a name in .npy needs nothing), simgpu", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    described = _described(signatures)
    metadata = {
        "simgpu.signatures": str(_LAYOUT),
        "simgpu.parameters": json.dumps(described["parameters"]),
        "simgpu.report": json.dumps(described),
    }
    ids = pa.array(range(len(signatures)), pa.int64())
    slots = pa.array(signatures)
    schema = pa.schema(
        [pa.field("id", ids.type, nullable=False), pa.field("signature", slots.type, nullable=False)],
        metadata,
    )
    partial = _partial(path)
    try:
        # Hashes do not repeat, so that a dictionary would only cost.
        pq.write_table(
            pa.table([ids, slots], schema=schema), partial, compression="zstd", use_dictionary=False
        )
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


# The version of the layout of descriptions.
_LAYOUT = 1


def _described(signatures: Signatures) -> dict[str, Any]:
    """The description that ``simgpu sign`` writes, as far as signatures know how they were made."""
    scheme, documents = signatures.scheme, len(signatures)
    return {
        "simgpu_report": _LAYOUT,
        "command": "sign",
        "counts": {"documents": documents, "kept": documents},
        "parameters": {
            "scheme": scheme.name,
            "hash": "unknown",
            "seed": scheme.seed,
            "num_perm": scheme.num_perm,
            "unit": "unknown",
        },
        "skipped": [],
        "files": [{"file": "memory", "first_row": 0}],
    }


def load(cls: type[Signatures], path: Path) -> Signatures:
    """Reads a matrix with its description, or a Parquet file."""
    path = Path(path)
    if path.suffix in (".parquet", ".pq"):
        return _load_table(cls, path)
    if path.suffix != ".npy":
        raise _input_error(
            path, "unknown file extension", "choose a .npy or .parquet file of signatures"
        )
    return _load_matrix(cls, path)


def _load_matrix(cls: type[Signatures], path: Path) -> Signatures:
    import numpy as np

    try:
        slots = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise _input_error(
            path, f"no NumPy matrix ({error})", "choose a file of signatures"
        ) from None
    try:
        described = json.loads(_description(path).read_bytes())
    except FileNotFoundError:
        problem = f"the description {_description(path).name} beside it is missing"
        remedy = "keep both files together, or use Signatures.from_array(numpy.load(path), scheme)"
        raise _input_error(path, problem, remedy) from None
    except ValueError:
        raise _input_error(_description(path), "not JSON", "write the signatures again") from None
    return _made(cls.from_array, slots, _parameters(path, described), path)


def _load_table(cls: type[Signatures], path: Path) -> Signatures:
    check("to read a Parquet file of signatures, simgpu", "pyarrow")
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, columns=["signature"])
        described = json.loads((table.schema.metadata or {})[b"simgpu.parameters"])
    except (KeyError, ValueError) as error:
        problem = f"no file of signatures ({error})"
        raise _input_error(path, problem, "choose a file that simgpu sign wrote") from None
    return _made(cls.from_arrow, table["signature"], described, path)


def _made(
    make: Callable[[Any, Scheme], Signatures], slots: Any, parameters: Any, path: Path
) -> Signatures:
    from ._simgpu import Scheme

    try:
        scheme = Scheme(
            parameters["scheme"], num_perm=parameters["num_perm"], seed=parameters["seed"]
        )
        return make(slots, scheme)
    except (KeyError, TypeError, ValueError) as error:
        problem = f"the description does not fit the matrix ({error})"
        raise _input_error(path, problem, "write the signatures again") from None


def _parameters(path: Path, described: Any) -> Any:
    if isinstance(described, dict) and isinstance(described.get("parameters"), dict):
        return described["parameters"]
    raise _input_error(_description(path), "it describes no signatures", "write them again")


def _description(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _partial(path: Path) -> Path:
    return path.with_name(path.name + ".partial")


def _input_error(path: Path, problem: str, remedy: str) -> InputError:
    error = InputError(f"{path}: {problem}; {remedy}")
    error.path, error.problem = path, problem
    return error


def _output_error(path: Path, problem: str, remedy: str) -> OutputError:
    error = OutputError(f"{path}: {problem}; {remedy}")
    error.path, error.problem = path, problem
    return error
