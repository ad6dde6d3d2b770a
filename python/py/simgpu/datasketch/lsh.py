"""datasketch's module ``lsh``: ``MinHashLSH``, and other names of the installed datasketch."""

from typing import Any

from simgpu._datasketch.installed import name_of_installed
from simgpu._datasketch.lsh import MinHashLSH as MinHashLSH
from simgpu._datasketch.lsh import MinHashLSHDeletionSession as MinHashLSHDeletionSession
from simgpu._datasketch.lsh import MinHashLSHInsertionSession as MinHashLSHInsertionSession
from simgpu._simgpu import MinHash as MinHash
from simgpu._simgpu import optimal_bands as _optimal_param  # noqa: F401


def __getattr__(name: str) -> Any:
    return name_of_installed("lsh", name)
