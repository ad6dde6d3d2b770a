"""datasketch 2.0's sketches and indexes with equal names, values, bytes and errors, computed in Rust.

Replace ``from datasketch import MinHash`` by ``from simgpu.datasketch import MinHash``. Sketches go
into datasketch's own indexes and back (``MinHash.from_datasketch``), and datasketch's sketches into
these indexes. Other names of datasketch are those of the installed datasketch.

Differences: ``hashvalues`` is a read-only copy, to be assigned instead of written into; a seed is
an integer of 64 bits; sketches are never computed on a GPU; and there are at most 2**24
permutations.
"""

# ruff: noqa: F822 (names of the installed datasketch)

from importlib import import_module

from ._datasketch_indexes import (
    MinHashLSH,
    MinHashLSHDeletionSession,
    MinHashLSHEnsemble,
    MinHashLSHForest,
    MinHashLSHInsertionSession,
)
from ._simgpu import LeanMinHash, MinHash, bBitMinHash, sha1_hash32, sha1_hash64

for _class in (
    MinHashLSH,
    MinHashLSHDeletionSession,
    MinHashLSHEnsemble,
    MinHashLSHForest,
    MinHashLSHInsertionSession,
):
    _class.__module__ = __name__  # where pickles find it
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
        "lean_minhash",
        "lsh",
        "lsh_bloom",
        "lshensemble",
        "lshforest",
        "minhash",
        "storage",
        "weighted_minhash",
    }
)


def __getattr__(name: str) -> object:
    """Looks a name up in the installed datasketch."""
    if name not in __all__ and name not in _SUBMODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        if name in _SUBMODULES:
            return import_module(f"datasketch.{name}")
        return getattr(import_module("datasketch"), name)
    except ImportError as error:
        raise ImportError(
            f"simgpu.datasketch.{name} is datasketch's own; install it: pip install datasketch"
        ) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
