"""Errors of tasks on other machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from .. import errors


@contextmanager
def raised() -> Iterator[None]:
    """Raises the errors of simgpu that a task raised on another machine as what they are."""
    try:
        yield
    except errors.Error:
        raise
    except Exception as error:
        if "No module named 'simgpu'" in str(error):
            raise errors.UnsupportedError(
                "unsupported: the Python of the executors has no simgpu; install it on all machines of the cluster, or "
                "let the variable PYSPARK_PYTHON name a Python that has it"
            ) from error
        found = re.search(r"simgpu\.errors\.(\w+): ([^\n]*)", str(error))
        kind = getattr(errors, found[1], None) if found else None
        if kind is None:
            raise
        raise kind(found[2]) from error
