"""datasketch's module ``b_bit_minhash``: ``bBitMinHash``, and other names of the installed datasketch."""

from typing import Any

from simgpu._datasketch.installed import name_of_installed
from simgpu._simgpu import bBitMinHash as bBitMinHash


def __getattr__(name: str) -> Any:
    return name_of_installed("b_bit_minhash", name)
