"""datasketch's module ``minhash``: ``MinHash``, and other names of the installed datasketch."""

from typing import Any

from simgpu._datasketch.installed import name_of_installed
from simgpu._simgpu import MinHash as MinHash


def __getattr__(name: str) -> Any:
    return name_of_installed("minhash", name)
