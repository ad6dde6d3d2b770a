"""datasketch 2.0's sketches and indexes with equal names, values, bytes and errors, computed in Rust.

Replace ``from datasketch import MinHash`` by ``from simgpu.datasketch import MinHash``, and
``from datasketch.lsh import MinHashLSH`` by ``from simgpu.datasketch.lsh import MinHashLSH``. Or leave
a program as it is, and put this package in datasketch's place before the first import of datasketch::

    import sys
    import simgpu.datasketch
    sys.modules["datasketch"] = simgpu.datasketch

Sketches go into datasketch's own indexes and back (``MinHash.from_datasketch``), and datasketch's
sketches into these indexes. ``from_datasketch`` of ``MinHashLSH``, ``MinHashLSHForest`` and
``MinHashLSHEnsemble`` makes an index of one of datasketch's, for example of an unpickled one. Pickles
of datasketch load as classes of this package where it is in datasketch's place. Other names of
datasketch are those of the installed datasketch.

Differences: ``permutations``, and ``hashvalues`` of a ``bBitMinHash``, are read-only arrays, to be assigned
instead of written into; a seed is an integer of 64 bits; sketches are never computed on a GPU; and there
are at most 2**24 permutations. An update makes new ``hashvalues``, as in datasketch: an array got before
it no longer belongs to the sketch. Integers out of the range of a scheme are refused with each version of
NumPy; datasketch wraps them with NumPy before 2.

A program may assign the attributes that it may assign in datasketch, with these differences. A value that
the attribute cannot have is refused at once. ``num_perm`` and ``scheme`` of a ``MinHash`` take another value
only while the sketch is empty, and draw its permutations again; so assign them before ``hashvalues``.
``hashfunc`` of a ``MinHashLSH`` is read-only: give it to the constructor. An index keeps its keys in
dictionaries, and takes datasketch's time, once ``b``, ``r``, ``h``, ``k``, ``l``, ``hashranges``,
``prepickle``, ``keys`` or the hash tables are assigned. Before that, the lists and sets in ``keys`` and
``hashtables`` are copies: assign to ``keys[key]`` instead of changing the list.
"""

# ruff: noqa: F822 (names of the installed datasketch)

from importlib import import_module
from typing import Final

from simgpu._datasketch.ensemble import MinHashLSHEnsemble
from simgpu._datasketch.forest import MinHashLSHForest
from simgpu._datasketch.installed import installed
from simgpu._datasketch.lsh import (
    MinHashLSH,
    MinHashLSHDeletionSession,
    MinHashLSHInsertionSession,
)
from simgpu._simgpu import LeanMinHash, MinHash, bBitMinHash, sha1_hash32, sha1_hash64

__version__: Final = "2.0.0"
"""The version of datasketch whose names and values these are."""

for _class in (
    MinHashLSH,
    MinHashLSHDeletionSession,
    MinHashLSHEnsemble,
    MinHashLSHForest,
    MinHashLSHInsertionSession,
):
    _class.__module__ = "simgpu.datasketch"  # where pickles find it
del _class

WeightedMinHashLSH = MinHashLSH
WeightedMinHashLSHForest = MinHashLSHForest

__all__ = [
    "HNSW",
    "AsyncMinHashLSH",
    "HyperLogLog",
    "HyperLogLogPlusPlus",
    "LeanMinHash",
    "MinHash",
    "MinHashLSH",
    "MinHashLSHBloom",
    "MinHashLSHEnsemble",
    "MinHashLSHForest",
    "WeightedMinHash",
    "WeightedMinHashGenerator",
    "WeightedMinHashLSH",
    "WeightedMinHashLSHForest",
    "bBitMinHash",
    "sha1_hash32",
    "sha1_hash64",
]

_SUBMODULES = frozenset(
    {
        "aio",
        "b_bit_minhash",
        "experimental",
        "hashfunc",
        "hnsw",
        "hyperloglog",
        "hyperloglog_const",
        "lean_minhash",
        "lsh",
        "lsh_bloom",
        "lshensemble",
        "lshensemble_partition",
        "lshforest",
        "minhash",
        "storage",
        "weighted_minhash",
    }
)


def __getattr__(name: str) -> object:
    """Imports a submodule, or looks a name up in the installed datasketch."""
    if name in _SUBMODULES:
        return import_module(f"simgpu.datasketch.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'simgpu.datasketch' has no attribute {name!r}")
    return getattr(installed(), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
