"""What decides a search."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

from .. import _dedup, _simgpu
from ..errors import ParameterError


def settings_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """What decides the search, of the arguments of a call. A task has one thread."""
    settings = _dedup._settings(arguments)
    return {**settings, "candidates": "lsh", "join_mib": 0, "threads": 1, "progress": None}


def check_numbers(arguments: dict[str, Any], least: dict[str, int]) -> None:
    """Refuses numbers below the least ones; ``None`` stands for a default."""
    for name, limit in least.items():
        value = arguments[name]
        if value is not None and not (isinstance(value, int) and value >= limit):
            raise ParameterError(f"{name} is {value!r}; give a whole number from {limit} on")


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
        """The search, which is prepared once per process.

        Raises:
            ParameterError: A setting is unknown or out of range.
        """
        if self._bytes not in _SEARCHES:
            own = (self.settings, self.cluster, self.keep, self.max_bucket)
            search = _simgpu.DividedSearch(*own)
            if search.parameters["unit"] == "tokens":
                raise ParameterError("shingles of tokens need lists of tokens; texts are strings, so choose another unit")
            _SEARCHES.clear()
            _SEARCHES[self._bytes] = search
        return _SEARCHES[self._bytes]

    @property
    def verify(self) -> str:
        """What is compared with what: ``exact``, ``signature`` or ``none``."""
        return self.settings["verify"]


_SEARCHES: dict[bytes, _simgpu.DividedSearch] = {}
