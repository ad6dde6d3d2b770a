"""``MinHashLSHEnsemble``: sets that contain a share of a query, by indexes for ranges of set sizes."""

from __future__ import annotations

import functools
import struct
from collections import Counter
from collections.abc import Generator, Hashable, Iterable
from typing import Any, Self

from simgpu import _simgpu

from .lsh import MinHashLSH, check_parameters
from .storage import _random_name

_containment_bands = functools.lru_cache(maxsize=1024)(_simgpu.optimal_containment_bands)


class MinHashLSHEnsemble:
    """Finds the keys of sets that probably contain a given share of a query, by indexes for ranges of set sizes.

    Takes what ``datasketch.MinHashLSHEnsemble`` takes and finds the same keys.

    Args:
        threshold: Share of the query, from 0 to 1, that a set shall contain.
        num_perm: Number of slots of a sketch.
        num_part: Number of ranges of set sizes, with an index each.
        m: Most rows per band to try; the index takes up to ``m`` times the memory of a ``MinHashLSH``.
        weights: Weights of false positives and false negatives in the choice of bands; their sum is 1.
        storage_config: ``{"type": "dict"}`` or None for memory, or what datasketch takes.
        prepickle: Whether to store keys pickled.

    Raises:
        ValueError: If an argument is out of range.
        ImportError: If ``storage_config`` needs datasketch, and it is not installed.

    """

    threshold: float
    h: int
    m: int
    indexes: list[dict[int, MinHashLSH]]
    lowers: list[Any]
    uppers: list[Any]

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        num_part: int = 16,
        m: int = 8,
        weights: tuple[float, float] = (0.5, 0.5),
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
    ) -> None:
        check_parameters(threshold, num_perm, weights)
        if num_part < 1:
            raise ValueError("num_part must be at least 1")
        if m < 2 or m > num_perm:
            raise ValueError("m must be in the range of [2, num_perm]")
        self.threshold, self.h, self.m = threshold, num_perm, m
        rows = sorted(self._init_optimal_params(weights))
        config = storage_config or {"type": "dict"}
        name = config.get("basename", _random_name(11))
        self.indexes = [
            {
                r: MinHashLSH(
                    num_perm=num_perm,
                    params=(num_perm // r, r),
                    storage_config=self._get_storage_config(name, config, part, r),
                    prepickle=prepickle,
                )
                for r in rows
            }
            for part in range(num_part)
        ]
        self.lowers = [None] * num_part
        self.uppers = [None] * num_part

    def _init_optimal_params(self, weights: tuple[float, float]) -> set[int]:
        """Chooses bands and rows for ten ratios of sizes, and returns the rows."""
        import numpy as np

        self.xqs = np.exp(np.linspace(-5, 5, 10))
        self.params = np.array(
            [
                _containment_bands(self.threshold, self.h, self.m, float(xq), tuple(weights))
                for xq in self.xqs
            ],
            dtype=int,
        )
        return {int(r) for _, r in self.params}

    def _get_optimal_param(self, x: float, q: float) -> Any:
        """The bands and rows for indexed sets of at most ``x`` members and a query of ``q``."""
        import numpy as np

        place = int(np.searchsorted(self.xqs, float(x) / float(q), side="left"))
        return self.params[min(place, len(self.params) - 1)]

    def _get_storage_config(
        self, basename: bytes, base_config: dict[str, Any], partition: int, r: int
    ) -> dict[str, Any]:
        """The configuration of one index."""
        name = b"-".join([basename, struct.pack(">H", partition), struct.pack(">H", r)])
        return {**base_config, "basename": name}

    def index(self, entries: Iterable[tuple[Hashable, Any, int]]) -> None:
        """Indexes all sets, given as tuples of key, sketch and number of members. Call it once.

        As in datasketch, a list is sorted by size in place.

        Raises:
            ValueError: If the index is not empty, there are no entries, or a size is not positive.

        """
        if not self.is_empty():
            raise ValueError("Cannot call index again on a non-empty index")
        if not isinstance(entries, list):
            entries = list(entries)
            if any(size <= 0 for _, _, size in entries):
                raise ValueError("Set size must be positive")
        if not entries:
            raise ValueError("entries is empty")
        self._partition([size for _, _, size in entries])
        entries.sort(key=lambda entry: entry[2])
        part = 0
        for key, minhash, size in entries:
            if size > self.uppers[part]:
                part += 1
            for index in self.indexes[part].values():
                index.insert(key, minhash)

    def _partition(self, sizes: list[int]) -> None:
        """Chooses the ranges of sizes with the fewest expected false positives."""
        import numpy as np

        distinct, counts = np.array(sorted(Counter(sizes).items())).T
        parts = min(len(self.indexes), len(distinct))
        ends = _simgpu.optimal_partitions(distinct.astype(float), counts.astype(float), parts)
        lower = 0
        for part, end in enumerate(ends):
            self.lowers[part], self.uppers[part] = distinct[lower], distinct[end]
            lower = end + 1

    def query(self, minhash: Any, size: int) -> Generator[Hashable, None, None]:
        """Yields the keys of sets that probably contain the share ``threshold`` of a set of ``size`` members."""
        for index, upper in zip(self.indexes, self.uppers):
            if upper is None:
                continue
            b, r = (int(each) for each in self._get_optimal_param(upper, size))
            yield from index[r]._query_b(minhash, b)

    def __contains__(self, key: Hashable) -> bool:
        return any(key in index for part in self.indexes for index in part.values())

    def is_empty(self) -> bool:
        """Whether the index holds no key."""
        return all(index.is_empty() for part in self.indexes for index in part.values())

    @classmethod
    def from_datasketch(cls, ensemble: Any) -> Self:
        """The same index as one of datasketch's, of any version, for example an unpickled one.

        ``__init__`` of a subclass is not called: attributes of the given index become those of the new one.

        Args:
            ensemble: A ``datasketch.MinHashLSHEnsemble``.

        """
        made = cls.__new__(cls)
        made.__dict__.update(vars(ensemble))
        made.indexes = [
            {int(r): MinHashLSH.from_datasketch(index) for r, index in part.items()}
            for part in ensemble.indexes
        ]
        return made
