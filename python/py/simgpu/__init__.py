"""Finds near-duplicate documents and similar sets: MinHash signatures, LSH, deduplication."""

from ._contain import Contain, ItemsFound
from ._dedup import Deduplicated, SimilarPairs, dedup, pairs
from ._index import Checked, Hit
from ._links import LinksFound, link
from ._passages import PassagesFound, passages
from ._ratings import RatingsFound, hold_out, neighbours, recommend
from ._simgpu import Index, Scheme, Shingling, Signatures, Signer, Table
from ._files import (
    contain_files,
    dedup_files,
    evaluate,
    link_files,
    pairs_files,
    pairs_signatures,
    passages_files,
    sign_files,
)
from ._report import Comparison, Device, Report, Selftest, Tuning
from ._simgpu import version as _version
from ._tools import compare, devices, selftest, tune
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
    "Checked",
    "Comparison",
    "Contain",
    "Deduplicated",
    "DefectError",
    "Device",
    "Error",
    "Hit",
    "Index",
    "InputError",
    "ItemsFound",
    "LinksFound",
    "OutputError",
    "ParameterError",
    "PassagesFound",
    "RatingsFound",
    "Report",
    "Scheme",
    "Selftest",
    "Shingling",
    "Signatures",
    "Signer",
    "SimgpuWarning",
    "SimilarPairs",
    "StoppedError",
    "Table",
    "Tuning",
    "UnsupportedError",
    "compare",
    "contain_files",
    "dedup",
    "dedup_files",
    "devices",
    "evaluate",
    "hold_out",
    "link",
    "link_files",
    "neighbours",
    "pairs",
    "pairs_files",
    "pairs_signatures",
    "passages",
    "passages_files",
    "recommend",
    "selftest",
    "sign_files",
    "tune",
]
