"""``MinHashLSH``: candidates of a sketch by equal bands."""

from __future__ import annotations

import functools
import pickle
import struct
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Self

from simgpu import _simgpu

from .part import part
from .storage import (
    DictListStorage,
    DictSetStorage,
    NativeHashtable,
    NativeKeys,
    NativeStorage,
    _random_name,
    is_in_memory,
    ordered_storage,
    unordered_storage,
)


def check_parameters(threshold: float, num_perm: int, weights: Sequence[float]) -> None:
    """Refuses what datasketch refuses."""
    if not 0.0 <= threshold <= 1.0:
        raise ValueError("threshold must be in [0.0, 1.0]")
    if num_perm < 2:
        raise ValueError("Too few permutation functions")
    if not all(0.0 <= weight <= 1.0 for weight in weights):
        raise ValueError("Weight must be in [0.0, 1.0]")
    if sum(weights) != 1.0:
        raise ValueError("Weights must sum to 1.0")


_optimal_bands = functools.lru_cache(maxsize=128)(_simgpu.optimal_bands)


def _banding(
    threshold: float,
    num_perm: int,
    weights: tuple[float, float],
    params: tuple[int, int] | None,
) -> tuple[int, int]:
    check_parameters(threshold, num_perm, weights)
    bands, rows = params or _optimal_bands(threshold, num_perm, *weights)
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
    return bands, rows


class _Row:
    """A row of an array as a sketch."""

    def __init__(self, hashvalues: Any, scheme: Any) -> None:
        self.hashvalues, self.scheme = hashvalues, scheme

    def __len__(self) -> int:
        return len(self.hashvalues)


def _sketches(minhashes: Any) -> list[Any]:
    """Each of many sketches, given as to ``insert_many``."""
    rows = getattr(minhashes, "slots", minhashes)
    if not hasattr(rows, "__array_interface__"):
        return list(minhashes)
    return [_Row(row, getattr(minhashes, "scheme", None)) for row in rows]


#: The parameters of an index that a program may assign, as it may those of datasketch.
_PARAMETERS = ("h", "b", "r", "prepickle", "hashranges")


class MinHashLSH(_simgpu.MinHashLSH):
    """Finds the keys whose sketches are probably similar to a query, by equal bands.

    Takes what ``datasketch.MinHashLSH`` takes and finds the same keys. Sketches are anything with ``hashvalues`` (an
    array of ``num_perm`` values), ``len()`` and, if they have one, a ``scheme``.

    The index keeps its keys in native tables. It keeps them as datasketch does, in dictionaries or in the storage of
    ``storage_config``, and takes datasketch's time, if

    - ``storage_config`` has another type than ``"dict"`` (this needs the installed datasketch),
    - a subclass overrides what datasketch computes with: ``_H``, ``_byteswap``, ``_hashed_byteswap``, ``_insert``,
      ``_remove`` or ``_merge``, or assigns or deletes ``keys`` or ``hashtables``, or
    - a program writes to ``keys`` or ``hashtables`` themselves, or assigns another value to ``b``, ``r``, ``h``,
      ``hashranges`` or ``prepickle``.

    Differences: ``query`` returns keys in the order of their insertion. ``remove`` removes a key that was inserted
    twice (``check_duplication=False``, or ``merge``) completely. Sketches of different widths (uint32, uint64,
    weighted) do not fit into one index. ``hashfunc`` must return ``bytes``. What ``hashtables`` and ``keys`` return
    are copies. None of these applies to an index that keeps its keys as datasketch does. ``hashfunc`` is read-only.

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

    _is_native = True
    _has_hooks = False
    _require_bytes_keys = False
    _buffer_size = 50000
    _keys: Any
    _hashtables: list[Any]
    _parts: dict[str, Any]

    h = part("h", "The number of slots of a sketch.")  # type: ignore[assignment]
    b = part("b", "The number of bands.")  # type: ignore[assignment]
    r = part("r", "The number of slots per band.")  # type: ignore[assignment]
    prepickle = part("prepickle", "Whether keys are stored pickled.")  # type: ignore[assignment]
    hashranges = part("hashranges", "Of each band, the first of its slots and their end.")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        hooks = ("_H", "_byteswap", "_hashed_byteswap", "_insert", "_remove", "_merge")
        cls._has_hooks = any(getattr(cls, hook) is not getattr(MinHashLSH, hook) for hook in hooks)

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> None:
        config = storage_config or {"type": "dict"}
        bands, rows = _banding(threshold, num_perm, weights, params)
        if prepickle is None:
            prepickle = config["type"] == "redis"
        self._start(num_perm, bands, rows, bool(prepickle), hashfunc or None)
        if is_in_memory(config) and not self._has_hooks:
            return
        name = config.get("basename", _random_name(11))
        tables = [
            unordered_storage(config, name=b"".join([name, b"_bucket_", struct.pack(">H", band)]))
            for band in range(bands)
        ]
        self._keep(ordered_storage(config, name=b"".join([name, b"_keys"])), tables)
        self._require_bytes_keys = not (is_in_memory(config) or prepickle)

    def _start(
        self,
        num_perm: int,
        bands: int,
        rows: int,
        prepickle: bool,
        hashfunc: Callable[[bytes], bytes] | None,
    ) -> None:
        """Makes this an empty index in native tables."""
        self._begin(num_perm, bands, rows, prepickle, hashfunc)
        self.__dict__.pop("_is_native", None)
        self.__dict__.pop("_parts", None)

    def _native_part(self, name: str) -> Any:
        """The parameter of an index in native tables."""
        b, r = super().b, super().r
        match name:
            case "b":
                return b
            case "r":
                return r
            case "h":
                return super().h
            case "prepickle":
                return super().prepickle
        return [(band * r, (band + 1) * r) for band in range(b)]

    def _keep(self, keys: Any, hashtables: list[Any]) -> None:
        """Keeps keys in these storages from now on."""
        self._parts = {name: self._native_part(name) for name in _PARAMETERS}
        self._is_native, self._keys, self._hashtables = False, keys, hashtables

    def _move_to_dictionaries(self) -> None:
        """Keeps keys in dictionaries, as datasketch does, from now on."""
        if not self._is_native:
            return
        keys, tables = DictListStorage(), [DictSetStorage() for _ in range(self.b)]
        for key in self._stored_keys():
            bands = self._bands_of(key) or []
            keys.insert(key, *bands)
            for place, band in enumerate(bands):
                tables[place % self.b].insert(band, key)
        self._forget()
        self._keep(keys, tables)

    @property
    def hashtables(self) -> list[Any]:
        """Of each band, a storage: from the bytes of the band to the set of keys."""
        if self._is_native:
            return [NativeHashtable(self, band) for band in range(self.b)]
        return self._hashtables

    @hashtables.setter
    def hashtables(self, storages: list[Any]) -> None:
        self._move_to_dictionaries()
        self._hashtables = storages

    @hashtables.deleter
    def hashtables(self) -> None:
        self._move_to_dictionaries()
        del self._hashtables

    @property
    def keys(self) -> Any:
        """A storage: from each key to the list of the bytes of its bands."""
        return NativeKeys(self) if self._is_native else self._keys

    @keys.setter
    def keys(self, storage: Any) -> None:
        self._move_to_dictionaries()
        self._keys = storage

    @keys.deleter
    def keys(self) -> None:
        self._move_to_dictionaries()
        del self._keys

    @property
    def buffer_size(self) -> int:
        """Statements that a database gets at once. Has no effect in memory."""
        return self._buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._buffer_size = value
        if not self._is_native:
            for storage in (self.keys, *self.hashtables):
                storage.buffer_size = value

    def _byteswap(self, hs: Any) -> Any:
        return bytes(hs.byteswap().data)

    def _hashed_byteswap(self, hs: Any) -> Any:
        if self.hashfunc is None:
            raise RuntimeError("Hash function not configured.")
        return self.hashfunc(bytes(hs.byteswap().data))

    def _H(self, hs: Any) -> Any:  # noqa: N802 (datasketch's name)
        return self._byteswap(hs) if self.hashfunc is None else self._hashed_byteswap(hs)

    def _cut(self, minhash: Any, learns_scheme: bool = False) -> list[Any]:
        """What stands for each band of a sketch."""
        if len(minhash) != self.h:
            raise ValueError(f"Expecting minhash with length {self.h}, got {len(minhash)}")
        scheme, known = getattr(minhash, "scheme", None), self._minhash_scheme
        if scheme is not None and known is not None and scheme != known:
            raise ValueError(
                f"MinHash scheme {scheme!r} does not match scheme {known!r} of the MinHash previously given to this "
                "index; sign all sketches of an index with one scheme"
            )
        if learns_scheme and known is None:
            self._minhash_scheme = scheme
        hashvalues = minhash.hashvalues
        return [self._H(hashvalues[start:end]) for start, end in self.hashranges]

    def _stored(self, key: Hashable) -> Any:
        return pickle.dumps(key) if self.prepickle else key

    def _given(self, stored: Iterable[Any]) -> list[Any]:
        return [pickle.loads(key) if self.prepickle else key for key in stored]

    def insert(self, key: Hashable, minhash: Any, check_duplication: bool = True) -> None:
        """Inserts a key with its sketch.

        Raises:
            ValueError: If the key exists (unless ``check_duplication`` is false, which adds the sketch to those of the
                key), or if the sketch has another length, scheme or kind of slots than those of the index.

        """
        if self._is_native:
            super().insert(key, minhash, check_duplication)
        else:
            self._insert(key, minhash, check_duplication=check_duplication, buffer=False)

    def _insert(
        self, key: Hashable, minhash: Any, check_duplication: bool = True, buffer: bool = False
    ) -> None:
        if self._is_native:
            return super().insert(key, minhash, check_duplication)
        bands = self._cut(minhash, learns_scheme=True)
        if self._require_bytes_keys and not isinstance(key, bytes):
            raise TypeError(
                f"prepickle=False requires bytes keys for non-dict storage, got {type(key).__name__}. "
                "Either pass bytes keys or use prepickle=True for automatic serialization."
            )
        stored = self._stored(key)
        if check_duplication and stored in self.keys:
            raise ValueError("The given key already exists")
        self.keys.insert(stored, *bands, buffer=buffer)
        for band, table in zip(bands, self.hashtables):
            table.insert(band, stored, buffer=buffer)

    def insert_many(
        self, keys: Iterable[Hashable], minhashes: Any, check_duplication: bool = True
    ) -> None:
        """Inserts many keys with their sketches: a sequence of sketches, an array of shape (n, num_perm) of uint32 or
        uint64, or an object with such an array as ``slots``.

        Raises as ``insert`` does; the keys before the one that raises are inserted.
        """
        if self._is_native:
            return super().insert_many(keys, minhashes, check_duplication)
        given, sketches = list(keys), _sketches(minhashes)
        if len(given) != len(sketches):
            raise ValueError(
                f"there are {len(given)} keys and {len(sketches)} sketches; give one sketch per key"
            )
        for key, sketch in zip(given, sketches):
            self.insert(key, sketch, check_duplication)

    def query(self, minhash: Any) -> list[Any]:
        """The keys that share a band with a sketch."""
        if self._is_native:
            return super().query(minhash)
        return self._query_storages(minhash, len(self.hashtables))

    def query_many(self, minhashes: Any) -> list[list[Any]]:
        """The results of ``query`` for many sketches, given as to ``insert_many``."""
        if self._is_native:
            return super().query_many(minhashes)
        return [self.query(sketch) for sketch in _sketches(minhashes)]

    def _query_b(self, minhash: Any, b: int) -> list[Any]:
        """The keys that share one of the first ``b`` bands with a sketch."""
        if self._is_native:
            return super()._query_b(minhash, b)
        if b > len(self.hashtables):
            raise ValueError("b must be less or equal to the number of hash tables")
        return self._query_storages(minhash, b)

    def _query_storages(self, minhash: Any, bands: int) -> list[Any]:
        found: dict[Any, None] = {}
        for band, table in zip(self._cut(minhash)[:bands], self.hashtables):
            found.update(dict.fromkeys(table.get(band)))
        return self._given(found)

    def add_to_query_buffer(self, minhash: Any) -> None:
        """Remembers a query for ``collect_query_buffer``."""
        if self._is_native:
            return super().add_to_query_buffer(minhash)
        for band, table in zip(self._cut(minhash), self.hashtables):
            table.add_to_select_buffer([band])

    def collect_query_buffer(self) -> list[Any]:
        """The keys that all remembered queries find; forgets the queries."""
        if self._is_native:
            return super().collect_query_buffer()
        by_band = [table.collect_select_buffer() for table in self.hashtables]
        by_query: list[set[Any]] = [set().union(*found) for found in zip(*by_band)]
        return self._given(set.intersection(*by_query) if by_query else ())

    def __contains__(self, key: Hashable) -> bool:
        return super().__contains__(key) if self._is_native else self._stored(key) in self.keys

    def remove(self, key: Hashable) -> None:
        """Removes a key. Raises ValueError if there is none."""
        self._remove(key, buffer=False)

    def _remove(self, key: Hashable, buffer: bool = False) -> None:
        if self._is_native:
            return super().remove(key)
        stored = self._stored(key)
        if stored not in self.keys:
            raise ValueError("The given key does not exist")
        for band, table in zip(self.keys[stored], self.hashtables):
            table.remove_val(band, stored, buffer=buffer)
            if not table.get(band):
                table.remove(band, buffer=buffer)
        self.keys.remove(stored, buffer=buffer)

    def is_empty(self) -> bool:
        """Whether the index holds no key."""
        if self._is_native:
            return super().is_empty()
        return any(table.size() == 0 for table in self.hashtables)

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Inserts all keys of an index with the same ``num_perm``, bands and rows.

        Raises:
            ValueError: If the other index has other parameters or another scheme, or, with ``check_overlap``, if both
                hold a key.

        """
        self._merge(other, check_overlap=check_overlap, buffer=False)

    def _merge(self, other: MinHashLSH, check_overlap: bool = False, buffer: bool = False) -> None:
        self._check_mergeable(other)
        if self._is_native and other._is_native:
            return self._merge_native(other, check_overlap)
        if check_overlap and not set(self.keys).isdisjoint(other.keys):
            raise ValueError("The keys are overlapping, duplicate key exists.")
        if self._minhash_scheme is None:
            self._minhash_scheme = other._minhash_scheme
        self._move_to_dictionaries()
        for key in other.keys:
            bands = other.keys.get(key)
            self.keys.insert(key, *bands, buffer=buffer)
            for band, table in zip(bands, self.hashtables):
                table.insert(band, key, buffer=buffer)

    def _check_mergeable(self, other: MinHashLSH) -> None:
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

    def insertion_session(self, buffer_size: int = 50000) -> MinHashLSHInsertionSession:
        """A context manager with a method ``insert``. In memory it inserts at once."""
        return MinHashLSHInsertionSession(self, buffer_size=buffer_size)

    def deletion_session(self, buffer_size: int = 50000) -> MinHashLSHDeletionSession:
        """A context manager with a method ``remove``. In memory it removes at once."""
        return MinHashLSHDeletionSession(self, buffer_size=buffer_size)

    def get_counts(self) -> list[dict[Any, int]]:
        """Of each band, the number of keys in each bucket, by the bytes of the band."""
        return [table.itemcounts() for table in self.hashtables]

    def get_subset_counts(self, *keys: Hashable) -> list[dict[Any, int]]:
        """The same of some keys only; unknown ones count nowhere."""
        counts: list[Counter[Any]] = [Counter() for _ in range(self.b)]
        stored = [self._stored(key) for key in set(keys)]
        for bands in self.keys.getmany(*stored):
            for band, count in zip(bands, counts):
                count[band] += 1
        return [dict(count) for count in counts]

    @classmethod
    def from_datasketch(cls, index: Any) -> Self:
        """The same index as one of datasketch's, of any version, for example an unpickled one.

        Its keys are copied into native tables; those in another storage than memory stay there. ``__init__`` of a
        subclass is not called: attributes of the given index become those of the new one.

        Args:
            index: A ``datasketch.MinHashLSH``.

        Raises:
            TypeError: If the index compares something else than bytes.

        """
        made = cls.__new__(cls)
        made._adopt(index)
        return made

    def _adopt(self, index: Any) -> None:
        """Takes on the contents of an index of datasketch."""
        prepickle, hashfunc = getattr(index, "prepickle", False), getattr(index, "hashfunc", None)
        self._start(index.h, index.b, index.r, bool(prepickle), hashfunc)
        names = {"h", "b", "r", "prepickle", "hashfunc", "keys", "hashtables", "_H", "_minhash_scheme"}
        attributes = {k: v for k, v in vars(index).items() if k not in names | _NATIVE_NAMES}
        self.__dict__.update(attributes)
        scheme = getattr(index, "_minhash_scheme", None)
        if _is_memory(index.keys) and all(map(_is_memory, index.hashtables)) and not self._has_hooks:
            layout = _layout(index, scheme)
            ranges = self._native_part("hashranges")
            if _is_consistent(index) and getattr(index, "hashranges", ranges) == ranges:
                # Before 2.0, datasketch had one scheme, whose values have 64 bits, and did not name it.
                is_old = scheme is None and hashfunc is None and layout == (8, 1)
                self._minhash_scheme = "legacy" if is_old and len(index.keys) else scheme
                for key in index.keys:
                    self._insert_bands(key, index.keys.get(key), layout)
                return
        self._minhash_scheme = scheme
        self._keep(index.keys, list(index.hashtables))
        self.hashranges = getattr(index, "hashranges", self.hashranges)

    def __setstate__(self, state: Any) -> None:
        attributes, slots = state if isinstance(state, tuple) else (state, None)
        if "hashtables" in (attributes or {}):
            # A pickle of datasketch's, where this class stands in the place of its class.
            return self._adopt(SimpleNamespace(**attributes))
        self.__dict__.update(attributes or {})
        if not self._is_native and "_parts" not in self.__dict__:
            # An older pickle, from when parameters could not be assigned.
            self._keep(self._keys, self._hashtables)
        for name, value in (slots or {}).items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # Parameters that were assigned are attributes.
        parameters = (*(self._native_part(name) for name in ("h", "b", "r", "prepickle")), self.hashfunc)
        return _restored, (type(self), parameters, self._state()), self.__getstate__()


# Attributes of indexes that are about the native tables.
_NATIVE_NAMES = {"_is_native", "_keys", "_hashtables", "_parts", "hashranges"}


def _is_memory(storage: Any) -> bool:
    """Whether a storage is a dictionary, or a view of native tables."""
    return isinstance(storage, (Mapping, NativeStorage)) or hasattr(storage, "_dict")


def _layout(index: Any, scheme: str | None) -> tuple[int, int]:
    """Bytes of a value, and values per slot, of the bands of an index.

    Raises:
        TypeError: If a band is not bytes.

    """
    for key in index.keys:
        for band in index.keys.get(key):
            if not isinstance(band, bytes):
                raise TypeError(
                    f"the index compares bands of type {type(band).__name__}, not bytes; derive a class from "
                    "simgpu.datasketch.MinHashLSH that overrides what the index's class overrides, and call its "
                    "from_datasketch"
                )
            slot = len(band) // index.r
            return (4, 1) if scheme == "affine32" or slot == 4 else (8, max(slot // 8, 1))
    return 8, 1


def _is_consistent(index: Any) -> bool:
    """Whether keys and hash tables of an index in memory agree, as native tables must."""
    entries = [0] * index.b
    for key in index.keys:
        bands = index.keys.get(key)
        if not bands or len(bands) % index.b:
            return False
        for place, table in enumerate(index.hashtables):
            own = set(bands[place :: index.b])
            if not all(key in (table.get(band) or ()) for band in own):
                return False
            entries[place] += len(own)
    return entries == [
        sum(len(set(table.get(band) or ())) for band in list(table)) for table in index.hashtables
    ]


class _Session:
    """Changes an index, and at its end empties the buffers of a database."""

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        self.close()

    def close(self) -> None:
        """Empties the buffers; an index in memory has none."""
        for storage in (self.lsh.keys, *self.lsh.hashtables):
            storage.empty_buffer()


class MinHashLSHInsertionSession(_Session):
    """Inserts into an index."""

    def insert(self, key: Hashable, minhash: Any, check_duplication: bool = True) -> None:
        """Inserts a key with its sketch, as ``MinHashLSH.insert`` does."""
        self.lsh._insert(key, minhash, check_duplication=check_duplication, buffer=True)


class MinHashLSHDeletionSession(_Session):
    """Removes from an index."""

    def remove(self, key: Hashable) -> None:
        """Removes a key, as ``MinHashLSH.remove`` does."""
        self.lsh._remove(key, buffer=True)


def _restored(cls: type[MinHashLSH], parameters: tuple[Any, ...], state: tuple[Any, ...]) -> Any:
    """An index from its pickle."""
    index = _simgpu.MinHashLSH.__new__(cls)
    index._start(*parameters)
    index._set_state(state)
    return index
