"""What the tests share."""

import os
import shutil
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command():
    """The ``simgpu`` command of this package."""
    found = shutil.which("simgpu", path=os.path.dirname(sys.executable))
    return [found] if found else [sys.executable, "-m", "simgpu"]


@pytest.fixture(scope="session")
def driver_docs():
    """A corpus in the repository: texts with near-duplicates."""
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.json

    path = REPOSITORY / "examples" / "driver-docs.jsonl.zst"
    with pyarrow.input_stream(str(path), compression="zstd") as stream:
        return pyarrow.json.read_json(stream)["text"].to_pylist()
