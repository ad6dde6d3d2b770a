"""datasketch's module ``lshensemble``: ``MinHashLSHEnsemble``, and other names of the installed datasketch."""

from typing import Any

from simgpu._datasketch.installed import name_of_installed
from simgpu._datasketch.ensemble import MinHashLSHEnsemble as MinHashLSHEnsemble
from simgpu._datasketch.lsh import MinHashLSH as MinHashLSH
from simgpu._simgpu import MinHash as MinHash


def __getattr__(name: str) -> Any:
    return name_of_installed("lshensemble", name)
