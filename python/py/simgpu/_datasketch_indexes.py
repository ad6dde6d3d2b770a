"""The indexes of ``simgpu.datasketch``: datasketch's names and results over native tables."""

from __future__ import annotations

import functools
import importlib
import pickle
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from . import _simgpu


def _installed(name: str) -> Any:
    """A class of the installed datasketch."""
    try:
        return getattr(importlib.import_module("datasketch"), name)
    except ImportError as error:
        raise ImportError(
            f"simgpu keeps {name} in memory only; for another storage, install datasketch"
        ) from error


def _is_elsewhere(storage_config: dict | None) -> bool:
    """Whether an index is to be kept outside of memory."""
    return storage_config is not None and storage_config != {} and storage_config["type"] != "dict"


def _check_parameters(threshold: float, num_perm: int, weights: Sequence[float]) -> None:
    if not 0.0 <= threshold <= 1.0:
        raise ValueError("threshold must be in [0.0, 1.0]")
    if num_perm < 2:
        raise ValueError("Too few permutation functions")
    if not all(0.0 <= weight <= 1.0 for weight in weights):
        raise ValueError("Weight must be in [0.0, 1.0]")
    if sum(weights) != 1.0:
        raise ValueError("Weights must sum to 1.0")


_optimal_bands = functools.lru_cache(maxsize=128)(_simgpu.optimal_bands)
_containment_bands = functools.lru_cache(maxsize=1024)(_simgpu.optimal_containment_bands)


class _Storage(ABC):
    """A read-only view of a part of an index, with the methods of datasketch's storages."""

    @abstractmethod
    def get(self, key: Any) -> Any:
        """The value of a key, empty if there is none."""

    @abstractmethod
    def has_key(self, key: Any) -> bool:
        """Whether there is a key."""

    @abstractmethod
    def keys(self) -> Iterable[Any]:
        """All keys."""

    @abstractmethod
    def size(self) -> int:
        """The number of keys."""

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __contains__(self, key: Any) -> bool:
        return self.has_key(key)

    def getmany(self, *keys: Any) -> list:
        """The values of many keys."""
        return [self.get(key) for key in keys]

    def status(self) -> dict[str, int]:
        """The number of keys, by the name ``keyspace_size``."""
        return {"keyspace_size": len(self)}


class _Hashtable(_Storage):
    """Of one band: from the bytes of the band to the set of keys."""

    def __init__(self, index: MinHashLSH, band: int) -> None:
        self._index, self._band = index, band

    def __repr__(self) -> str:
        return repr({band: set(keys) for band, keys in self._index._buckets(self._band).items()})

    def get(self, band: bytes) -> set:
        """The keys with these bytes in the band; an empty set if there are none."""
        return set(self._index._bucket(self._band, band))

    def has_key(self, band: bytes) -> bool:
        """Whether a key has these bytes in the band."""
        return bool(self._index._bucket(self._band, band))

    def keys(self) -> Iterable[bytes]:
        """The bytes of the band, of each bucket once."""
        return self.itemcounts().keys()

    def size(self) -> int:
        """The number of buckets."""
        return len(self.itemcounts())

    def itemcounts(self) -> dict[bytes, int]:
        """The number of keys in each bucket."""
        return self._index._counts(self._band)


class _Keys(_Storage):
    """From each key to the list of the bytes of its bands."""

    def __init__(self, index: MinHashLSH) -> None:
        self._index = index

    def __repr__(self) -> str:
        return repr({key: self.get(key) for key in self})

    def get(self, key: Hashable) -> list[bytes]:
        """The bytes of the bands of a key; an empty list if there is none."""
        bands = self._index._bands_of(key)
        return [] if bands is None else bands

    def has_key(self, key: Hashable) -> bool:
        """Whether the index holds a key, as it is stored."""
        return self._index._bands_of(key) is not None

    def keys(self) -> list:
        """The keys as they are stored, in the order of their insertion."""
        return self._index._stored_keys()

    def size(self) -> int:
        """The number of keys."""
        return self._index._key_count()

    def itemcounts(self) -> dict[Hashable, int]:
        """The number of bands of each key."""
        return {key: len(self.get(key)) for key in self}


class MinHashLSH(_simgpu.MinHashLSH):
    """Finds the keys whose sketches are probably similar to a query, by equal bands.

    Takes what ``datasketch.MinHashLSH`` takes and finds the same keys. Sketches are anything with ``hashvalues`` (an
    array of ``num_perm`` values), ``len()`` and, if they have one, a ``scheme``. A ``storage_config`` of another type
    than ``"dict"`` makes an index of the installed datasketch.

    Differences: ``query`` returns keys in the order of their insertion. ``remove`` removes a key that was inserted
    twice (``check_duplication=False``, or ``merge``) completely. Sketches of different widths (uint32, uint64,
    weighted) do not fit into one index. ``hashfunc`` must return ``bytes``. ``hashtables`` and ``keys`` are read-only.

    Args:
        threshold: Jaccard similarity from 0 to 1 for which to choose bands and rows.
        num_perm: Number of slots of a sketch.
        weights: Weights of false positives and false negatives in that choice; their sum is 1.
        params: Number of bands and rows per band, instead of that choice.
        storage_config: ``{"type": "dict"}`` or None for memory, or what datasketch takes.
        prepickle: Whether to store keys pickled.
        hashfunc: Function from the bytes of a band to those to compare.

    Raises:
        ValueError: If an argument is out of range.
        ImportError: If ``storage_config`` needs datasketch, and it is not installed.

    """

    __slots__ = ()

    def __new__(
        cls,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
        storage_config: dict | None = None,
        prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> Any:
        if _is_elsewhere(storage_config):
            elsewhere = _installed("MinHashLSH")
            return elsewhere(
                threshold, num_perm, weights, params, storage_config, prepickle, hashfunc
            )
        _check_parameters(threshold, num_perm, weights)
        if params is None:
            false_positive_weight, false_negative_weight = weights
            params = _optimal_bands(
                threshold, num_perm, false_positive_weight, false_negative_weight
            )
        bands, rows = params
        if bands * rows > num_perm:
            raise ValueError(
                "The product of b and r in params is "
                f"{bands} * {rows} = {bands * rows} -- it must be less than num_perm {num_perm}. "
                "Did you forget to specify num_perm?"
            )
        if bands < 2:
            raise ValueError("The number of bands are too small (b < 2)")
        if rows < 1:
            raise ValueError("The bands are too small (r < 1); give at least one row")
        return super().__new__(cls, num_perm, bands, rows, bool(prepickle), hashfunc or None)

    @property
    def hashtables(self) -> list[_Hashtable]:
        """Of each band, a read-only view: from the bytes of the band to the set of keys."""
        return [_Hashtable(self, band) for band in range(self.b)]

    @property
    def keys(self) -> _Keys:
        """A read-only view: from each key to the list of the bytes of its bands."""
        return _Keys(self)

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Inserts all keys of an index with the same ``num_perm``, bands and rows.

        Raises:
            ValueError: If the other index has other parameters or another scheme, or, with ``check_overlap``, if both
                hold a key.

        """
        if type(self) is not type(other):
            raise ValueError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ValueError("Cannot merge MinHashLSH with different initialization parameters.")
        known, other_known = self._minhash_scheme, other._minhash_scheme
        if known is not None and other_known is not None and known != other_known:
            raise ValueError(
                f"Cannot merge MinHashLSH indexed with MinHash scheme {other_known!r} "
                f"into one indexed with scheme {known!r}"
            )
        if (self.hashfunc is None) != (other.hashfunc is None):
            raise ValueError("Cannot merge MinHashLSH with and without a hashfunc.")
        self._merge(other, check_overlap)

    def insertion_session(self, buffer_size: int = 50000) -> MinHashLSHInsertionSession:
        """A context manager with a method ``insert``; it inserts at once."""
        return MinHashLSHInsertionSession(self, buffer_size=buffer_size)

    def deletion_session(self, buffer_size: int = 50000) -> MinHashLSHDeletionSession:
        """A context manager with a method ``remove``; it removes at once."""
        return MinHashLSHDeletionSession(self, buffer_size=buffer_size)

    def get_counts(self) -> list[dict[bytes, int]]:
        """Of each band, the number of keys in each bucket, by the bytes of the band."""
        return [self._counts(band) for band in range(self.b)]

    def get_subset_counts(self, *keys: Hashable) -> list[dict[bytes, int]]:
        """The same of some keys only; unknown ones count nowhere."""
        counts: list[Counter[bytes]] = [Counter() for _ in range(self.b)]
        stored = self.keys
        for key in set(keys):
            if self.prepickle:
                key = pickle.dumps(key)
            for band, count in zip(stored.get(key), counts):
                count[band] += 1
        return [dict(count) for count in counts]

    def __reduce__(self) -> tuple:
        parameters = (self.h, self.b, self.r, self.prepickle, self.hashfunc)
        return (
            _restored,
            (type(self), parameters, self._state()),
            getattr(self, "__dict__", None) or None,
        )


class _Session:
    """Changes an index at once, for compatibility with datasketch: an index in memory has no buffer."""

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        self.close()

    def close(self) -> None:
        """Does nothing: the index is changed already."""


class MinHashLSHInsertionSession(_Session):
    """Inserts into an index, for compatibility with datasketch: an index in memory has no buffer."""

    def insert(self, key: Hashable, minhash: Any, check_duplication: bool = True) -> None:
        """Inserts a key with its sketch, as ``MinHashLSH.insert`` does."""
        self.lsh.insert(key, minhash, check_duplication=check_duplication)


class MinHashLSHDeletionSession(_Session):
    """Removes from an index, for compatibility with datasketch: an index in memory has no buffer."""

    def remove(self, key: Hashable) -> None:
        """Removes a key, as ``MinHashLSH.remove`` does."""
        self.lsh.remove(key)


class _Tree(Mapping):
    """Of one tree of a forest: from the bytes of its slots to the list of keys."""

    def __init__(self, forest: MinHashLSHForest, tree: int) -> None:
        self._forest, self._tree = forest, tree
        self._known: dict[bytes, list] = {}
        self._count = 0

    def _buckets(self) -> dict[bytes, list]:
        # A forest only grows, so the number of keys tells whether the last buckets still hold.
        count = self._forest._key_count()
        if count != self._count:
            self._known = {}
            for key, bands in self._forest.keys.items():
                self._known.setdefault(bands[self._tree], []).append(key)
            self._count = count
        return self._known

    def __getitem__(self, band: bytes) -> list:
        return self._buckets()[band]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._buckets())

    def __len__(self) -> int:
        return len(self._buckets())

    def __repr__(self) -> str:
        return repr(self._buckets())


class _ForestKeys(Mapping):
    """From each key of a forest to the list of the bytes of its trees."""

    def __init__(self, forest: MinHashLSHForest) -> None:
        self._forest = forest

    def __getitem__(self, key: Hashable) -> list[bytes]:
        bands = self._forest._bands_of(key)
        if bands is None:
            raise KeyError(key)
        return bands

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._forest._stored_keys())

    def __len__(self) -> int:
        return self._forest._key_count()

    def __repr__(self) -> str:
        return repr(dict(self))


class MinHashLSHForest(_simgpu.MinHashLSHForest):
    """Finds the ``k`` keys whose sketches are probably most similar to a query, by common prefixes of bands.

    Takes what ``datasketch.MinHashLSHForest`` takes and finds the same keys; ``query`` returns them with the longest
    common prefixes first. ``hashtables``, ``sorted_hashtables`` and ``keys`` are read-only.

    Args:
        num_perm: Number of slots of a sketch.
        l: Number of prefix trees; each has ``k = num_perm // l`` slots.

    Raises:
        ValueError: If an argument is not positive, or ``l`` exceeds ``num_perm``.

    """

    __slots__ = ()

    @property
    def hashtables(self) -> list[_Tree]:
        """Of each tree, a read-only mapping from the bytes of its slots to the list of keys."""
        return [_Tree(self, tree) for tree in range(self.l)]

    @property
    def sorted_hashtables(self) -> list[list[bytes]]:
        """Of each tree, the sorted bytes of the searchable keys."""
        return [self._sorted_bytes(tree) for tree in range(self.l)]

    @property
    def keys(self) -> _ForestKeys:
        """A read-only mapping from each key to the list of the bytes of its trees."""
        return _ForestKeys(self)

    def __reduce__(self) -> tuple:
        # A num_perm of k * l makes the same trees.
        return (
            _restored,
            (type(self), (self.k * self.l, self.l), self._state()),
            getattr(self, "__dict__", None) or None,
        )


def _restored(cls: type, parameters: tuple, state: tuple) -> Any:
    """An index from its pickle."""
    native = _simgpu.MinHashLSH if issubclass(cls, MinHashLSH) else _simgpu.MinHashLSHForest
    index: Any = native.__new__(cls, *parameters)
    index._set_state(state)
    return index


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
    lowers: list
    uppers: list

    def __new__(
        cls,
        threshold: float = 0.9,
        num_perm: int = 128,
        num_part: int = 16,
        m: int = 8,
        weights: tuple[float, float] = (0.5, 0.5),
        storage_config: dict | None = None,
        prepickle: bool | None = None,
    ) -> Any:
        if _is_elsewhere(storage_config):
            elsewhere = _installed("MinHashLSHEnsemble")
            return elsewhere(threshold, num_perm, num_part, m, weights, storage_config, prepickle)
        return super().__new__(cls)

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        num_part: int = 16,
        m: int = 8,
        weights: tuple[float, float] = (0.5, 0.5),
        storage_config: dict | None = None,
        prepickle: bool | None = None,
    ) -> None:
        _check_parameters(threshold, num_perm, weights)
        if num_part < 1:
            raise ValueError("num_part must be at least 1")
        if m < 2 or m > num_perm:
            raise ValueError("m must be in the range of [2, num_perm]")
        import numpy as np

        self.threshold, self.h, self.m = threshold, num_perm, m
        self.xqs = np.exp(np.linspace(-5, 5, 10))
        self.params = np.array(
            [
                _containment_bands(threshold, num_perm, m, float(xq), tuple(weights))
                for xq in self.xqs
            ],
            dtype=int,
        )
        rows = sorted({int(r) for _, r in self.params})
        self.indexes = [
            {
                r: MinHashLSH(num_perm=num_perm, params=(num_perm // r, r), prepickle=prepickle)
                for r in rows
            }
            for _ in range(num_part)
        ]
        self.lowers = [None] * num_part
        self.uppers = [None] * num_part

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

    def _partition(self, sizes: list) -> None:
        """Chooses the ranges of sizes with the fewest expected false positives."""
        import numpy as np

        table: np.ndarray = np.array(sorted(Counter(sizes).items()))
        distinct, counts = table.T
        parts = min(len(self.indexes), len(distinct))
        ends = _simgpu.optimal_partitions(distinct.astype(float), counts.astype(float), parts)
        lower = 0
        for part, end in enumerate(ends):
            self.lowers[part], self.uppers[part] = distinct[lower], distinct[end]
            lower = end + 1

    def query(self, minhash: Any, size: int) -> Generator[Hashable, None, None]:
        """Yields the keys of sets that probably contain the share ``threshold`` of a set of ``size`` members."""
        import numpy as np

        for index, upper in zip(self.indexes, self.uppers):
            if upper is None:
                continue
            place = np.searchsorted(self.xqs, float(upper) / float(size), side="left")
            b, r = self.params[min(int(place), len(self.params) - 1)].tolist()
            yield from index[r]._query_b(minhash, b)

    def __contains__(self, key: Hashable) -> bool:
        return any(key in index for part in self.indexes for index in part.values())

    def is_empty(self) -> bool:
        """Whether the index holds no key."""
        return all(index.is_empty() for part in self.indexes for index in part.values())
