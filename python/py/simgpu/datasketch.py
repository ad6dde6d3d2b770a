"""datasketch's indexes, natively: the same names, arguments and results, in a fraction of the time and memory."""

from ._datasketch_indexes import (
    MinHashLSH,
    MinHashLSHDeletionSession,
    MinHashLSHEnsemble,
    MinHashLSHForest,
    MinHashLSHInsertionSession,
)

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
    "MinHashLSH",
    "MinHashLSHEnsemble",
    "MinHashLSHForest",
    "WeightedMinHashLSH",
    "WeightedMinHashLSHForest",
]
