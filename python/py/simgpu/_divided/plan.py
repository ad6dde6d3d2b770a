"""What decides a search."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

from .. import _dedup, _simgpu


def settings_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """What decides the search, of the arguments of a call. A task has one thread."""
    settings = _dedup._settings(arguments)
    return {**settings, "candidates": "lsh", "join_mib": 0, "threads": 1, "progress": None}


@dataclass(frozen=True)
class Plan:
    """What decides a search: all tasks on all machines get the same."""

    settings: dict[str, Any]
    cluster: str = "greedy"
    keep: str = "first"
    max_bucket: int = 4096
    component_mib: int = 256
    #: What a bad record is called, and how it is skipped.
    record: str = "place"
    skips: bool = False
    _bytes: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own = (self.settings, self.cluster, self.keep, self.max_bucket)
        object.__setattr__(self, "_bytes", pickle.dumps(own))

    def search(self) -> _simgpu.DividedSearch:
        """The search, which is prepared once per process."""
        if self._bytes not in _SEARCHES:
            _SEARCHES.clear()
            _SEARCHES[self._bytes] = _simgpu.DividedSearch(
                self.settings, self.cluster, self.keep, self.max_bucket
            )
        return _SEARCHES[self._bytes]

    @property
    def verify(self) -> str:
        """What is compared with what: ``exact``, ``signature`` or ``none``."""
        return self.settings["verify"]


_SEARCHES: dict[bytes, _simgpu.DividedSearch] = {}
