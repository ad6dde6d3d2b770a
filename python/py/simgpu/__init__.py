"""Finds near-duplicate documents and similar sets: MinHash signatures, LSH, deduplication."""

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
    "DefectError",
    "Error",
    "InputError",
    "OutputError",
    "ParameterError",
    "SimgpuWarning",
    "StoppedError",
    "UnsupportedError",
]
