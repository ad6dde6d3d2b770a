"""datasketch's module ``hashfunc``: the hash functions, and other names of the installed datasketch."""

from typing import Any

from simgpu._datasketch.installed import name_of_installed
from simgpu._simgpu import sha1_hash32 as sha1_hash32
from simgpu._simgpu import sha1_hash64 as sha1_hash64


def __getattr__(name: str) -> Any:
    return name_of_installed("hashfunc", name)
