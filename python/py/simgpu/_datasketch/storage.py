"""Where an index keeps its keys and buckets: dictionaries, and views of native tables."""

from __future__ import annotations

import random
import string
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .installed import installed

if TYPE_CHECKING:
    from .lsh import MinHashLSH


class Storage(ABC):
    """Values by key. An unknown key has no values."""

    buffer_size = 50000
    """Has no effect in memory."""

    @abstractmethod
    def get(self, key: Any) -> Any:
        """The values of a key, empty if there is none."""

    @abstractmethod
    def has_key(self, key: Any) -> bool:
        """Whether there is a key."""

    @abstractmethod
    def keys(self) -> Iterable[Any]:
        """All keys."""

    @abstractmethod
    def size(self) -> int:
        """The number of keys."""

    @abstractmethod
    def itemcounts(self, **options: Any) -> dict[Any, int]:
        """The number of values of each key."""

    @abstractmethod
    def insert(self, key: Any, *values: Any, **options: Any) -> None:
        """Adds values to those of a key."""

    @abstractmethod
    def remove(self, *keys: Any, **options: Any) -> None:
        """Removes keys with all their values. Raises KeyError if there is none."""

    @abstractmethod
    def remove_val(self, key: Any, value: Any, **options: Any) -> None:
        """Removes one value of a key."""

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __delitem__(self, key: Any) -> None:
        self.remove(key)

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __contains__(self, key: Any) -> bool:
        return self.has_key(key)

    def getmany(self, *keys: Any) -> list[Any]:
        """The values of many keys."""
        return [self.get(key) for key in keys]

    def status(self) -> dict[str, int]:
        """The number of keys, by the name ``keyspace_size``."""
        return {"keyspace_size": len(self)}

    def empty_buffer(self) -> None:
        """Does nothing: memory has no buffer."""

    def add_to_select_buffer(self, keys: Iterable[Any]) -> None:
        """Looks keys up for :meth:`collect_select_buffer`."""
        self.__dict__.setdefault("_select_buffer", []).extend(self.getmany(*keys))

    def collect_select_buffer(self) -> list[Any]:
        """The values of the keys looked up since the last call."""
        collected: list[Any] = self.__dict__.pop("_select_buffer", [])
        return collected


class OrderedStorage(Storage):
    """A storage that keeps the order of values."""


class UnorderedStorage(Storage):
    """A storage whose values are sets."""


class DictListStorage(OrderedStorage):
    """A dictionary of lists."""

    def __init__(self, config: object = None) -> None:
        self._dict: defaultdict[Any, Any] = defaultdict(list)

    def get(self, key: Any) -> Any:
        return self._dict.get(key, [])

    def has_key(self, key: Any) -> bool:
        return key in self._dict

    def keys(self) -> Iterable[Any]:
        return self._dict.keys()

    def size(self) -> int:
        return len(self._dict)

    def itemcounts(self, **options: Any) -> dict[Any, int]:
        return {key: len(values) for key, values in self._dict.items()}

    def insert(self, key: Any, *values: Any, **options: Any) -> None:
        self._dict[key].extend(values)

    def remove(self, *keys: Any, **options: Any) -> None:
        for key in keys:
            del self._dict[key]

    def remove_val(self, key: Any, value: Any, **options: Any) -> None:
        self._dict[key].remove(value)

    def __repr__(self) -> str:
        return repr(dict(self._dict))


class DictSetStorage(UnorderedStorage, DictListStorage):
    """A dictionary of sets."""

    def __init__(self, config: object = None) -> None:
        self._dict = defaultdict(set)

    def get(self, key: Any) -> Any:
        return self._dict.get(key, set())

    def insert(self, key: Any, *values: Any, **options: Any) -> None:
        self._dict[key].update(values)


class _Contents(Mapping[Any, Any]):
    """The contents of a storage as a mapping."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def __getitem__(self, key: Any) -> Any:
        if key not in self._storage:
            raise KeyError(key)
        return self._storage.get(key)

    def __contains__(self, key: object) -> bool:
        return key in self._storage

    def __iter__(self) -> Iterator[Any]:
        return iter(self._storage)

    def __len__(self) -> int:
        return len(self._storage)

    def __repr__(self) -> str:
        return repr(dict(self))


class NativeStorage(Storage):
    """A part of the native tables of an index.

    What it returns are copies. Who writes to a part and not through the index may leave the parts in contradiction,
    which native tables cannot hold: the first such write moves the index to dictionaries.
    """

    def __init__(self, index: MinHashLSH, moved: Callable[[MinHashLSH], Storage]) -> None:
        self._index, self._moved = index, moved

    @property
    def _dict(self) -> Mapping[Any, Any]:
        """What programs read that look into datasketch's storages."""
        return _Contents(self)

    def _written(self) -> Storage:
        self._index._move_to_dictionaries()
        return self._moved(self._index)

    def insert(self, key: Any, *values: Any, **options: Any) -> None:
        self._written().insert(key, *values, **options)

    def remove(self, *keys: Any, **options: Any) -> None:
        self._written().remove(*keys, **options)

    def remove_val(self, key: Any, value: Any, **options: Any) -> None:
        self._written().remove_val(key, value, **options)

    def __repr__(self) -> str:
        return repr(dict(self._dict))


class NativeHashtable(NativeStorage, UnorderedStorage):
    """Of one band: from the bytes of the band to the set of keys."""

    def __init__(self, index: MinHashLSH, band: int) -> None:
        super().__init__(index, lambda index: index.hashtables[band])
        self._band = band

    def get(self, key: bytes) -> Any:
        """The keys with these bytes in the band; an empty set if there are none."""
        if not self._index._is_native:
            return self._moved(self._index).get(key)
        return set(self._index._bucket(self._band, key)) if isinstance(key, bytes) else set()

    def has_key(self, key: bytes) -> bool:
        """Whether a key has these bytes in the band."""
        return bool(self.get(key))

    def keys(self) -> Iterable[Any]:
        """The bytes of the band, of each bucket once."""
        return self.itemcounts().keys()

    def size(self) -> int:
        """The number of buckets."""
        return len(self.itemcounts())

    def itemcounts(self, **options: Any) -> dict[Any, int]:
        """The number of keys in each bucket."""
        if not self._index._is_native:
            return self._moved(self._index).itemcounts(**options)
        return self._index._counts(self._band)


class NativeKeys(NativeStorage, OrderedStorage):
    """From each key to the list of the bytes of its bands."""

    def __init__(self, index: MinHashLSH) -> None:
        super().__init__(index, lambda index: index.keys)

    def get(self, key: Any) -> Any:
        """The bytes of the bands of a key; an empty list if there is none."""
        if not self._index._is_native:
            return self._moved(self._index).get(key)
        return self._index._bands_of(key) or []

    def has_key(self, key: Any) -> bool:
        """Whether the index holds a key, as it is stored."""
        return bool(self.get(key))

    def keys(self) -> Iterable[Any]:
        """The keys as they are stored, in the order of their insertion."""
        if not self._index._is_native:
            return self._moved(self._index).keys()
        return self._index._stored_keys()

    def size(self) -> int:
        """The number of keys."""
        if not self._index._is_native:
            return self._moved(self._index).size()
        return self._index._key_count()

    def itemcounts(self, **options: Any) -> dict[Any, int]:
        """The number of bands of each key."""
        return {key: len(self.get(key)) for key in self}


def _random_name(length: int) -> bytes:
    """A name for storages outside of memory."""
    return "".join(random.choice(string.ascii_lowercase) for _ in range(length)).encode("utf8")


def is_in_memory(config: dict[str, Any]) -> bool:
    """Whether a configuration names memory."""
    return bool(config["type"] == "dict")


def ordered_storage(config: dict[str, Any], name: bytes | None = None) -> Any:
    """A storage of lists: of ours in memory, else of the installed datasketch."""
    if is_in_memory(config):
        return DictListStorage()
    return installed("storage").ordered_storage(config, name=name)


def unordered_storage(config: dict[str, Any], name: bytes | None = None) -> Any:
    """A storage of sets: of ours in memory, else of the installed datasketch."""
    if is_in_memory(config):
        return DictSetStorage()
    return installed("storage").unordered_storage(config, name=name)
