"""What decides a search."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import _options, _simgpu
from ..errors import ParameterError


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """What decides the search, of the options of a call; what they leave out is at its default. A task has one thread."""
    settings = _options.defaults(_options.DedupOptions)
    settings |= {name: options[name] for name in settings if name in options}
    fixed = {"against": None, "candidates": "lsh", "join_mib": 0, "threads": 1, "progress": None}
    return {**settings, **fixed}


def check_numbers(options: Mapping[str, Any], least: dict[str, int]) -> None:
    """Refuses numbers below the least ones; ``None`` stands for a default."""
    for name, limit in least.items():
        value = options[name]
        if value is not None and not (isinstance(value, int) and value >= limit):
            raise ParameterError(f"{name} is {value!r}; give a whole number from {limit} on")


@dataclass(frozen=True)
class Plan:
    """What decides a search: all tasks on all machines get the same."""

    #: Those of :func:`settings_of`.
    settings: dict[str, Any]
    component_mib: int = 256
    #: What a bad record is called, and how it is skipped.
    record: str = "place"
    skips: bool = False
    #: Whether documents are compared with a reference.
    against: bool = False
    #: Whether all similar pairs are found, and no documents are removed.
    pairs: bool = False
    _bytes: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_bytes", pickle.dumps(self.settings))

    def search(self) -> _simgpu.DividedSearch:
        """The search, which is prepared once per process.

        Raises:
            ParameterError: A setting is unknown or out of range.
        """
        if self._bytes not in _SEARCHES:
            search = _simgpu.DividedSearch(self.settings)
            if search.parameters["unit"] == "tokens":
                raise ParameterError("shingles of tokens need lists of tokens; texts are strings, so choose another unit")
            _SEARCHES.clear()
            _SEARCHES[self._bytes] = search
        return _SEARCHES[self._bytes]

    @property
    def verify(self) -> str:
        """What is compared with what: ``exact``, ``signature`` or ``none``."""
        return self.settings["verify"]

    @property
    def keep(self) -> str:
        """Which document of a cluster is kept: ``first`` or ``longest``."""
        return self.settings["keep"]

    @property
    def stands_for_inputs(self) -> bool:
        """Whether a document of a reference is compared as the documents of the input are that repeat it: in pairs, and on
        chains of similar pairs. Else they are removed for it.
        """
        return self.pairs or self.settings["cluster"] == "connected"


_SEARCHES: dict[bytes, _simgpu.DividedSearch] = {}
