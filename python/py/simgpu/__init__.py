"""Finds near-duplicate documents and similar sets: MinHash signatures, LSH, deduplication."""

from ._dedup import Deduplicated, SimilarPairs, dedup, pairs
from ._simgpu import Scheme, Shingling, Signatures, Signer, Table
from ._simgpu import version as _version
from .errors import (
    DefectError,
    Error,
    InputError,
    OutputError,
    ParameterError,
    SimgpuWarning,
    StoppedError,
    UnsupportedError,
)

__version__ = _version()

__all__ = [
    "Deduplicated",
    "DefectError",
    "Error",
    "InputError",
    "OutputError",
    "ParameterError",
    "Scheme",
    "Shingling",
    "Signatures",
    "Signer",
    "SimgpuWarning",
    "SimilarPairs",
    "StoppedError",
    "Table",
    "UnsupportedError",
    "dedup",
    "pairs",
]
