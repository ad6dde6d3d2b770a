"""``MinHashLSHForest``: the most similar sketches by common prefixes of bands."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterator, MutableMapping
from types import SimpleNamespace
from typing import Any, Self

from simgpu import _simgpu

from .part import part


class _Tree(MutableMapping[bytes, list[Any]]):
    """Of one tree of a forest: from the bytes of its slots to the list of keys. A write moves the forest to dictionaries."""

    def __init__(self, forest: MinHashLSHForest, tree: int) -> None:
        self._forest, self._tree = forest, tree
        self._known: dict[bytes, list[Any]] = {}
        self._count = 0

    def _buckets(self) -> dict[bytes, list[Any]]:
        if not self._forest._is_native:
            return self._forest.hashtables[self._tree]
        # A native forest only grows, so the number of keys tells whether the last buckets still hold.
        count = self._forest._key_count()
        if count != self._count:
            self._known = {}
            for key, bands in self._forest.keys.items():
                self._known.setdefault(bands[self._tree], []).append(key)
            self._count = count
        return self._known

    def _written(self) -> Any:
        self._forest._move_to_dictionaries()
        return self._forest.hashtables[self._tree]

    def __getitem__(self, band: bytes) -> list[Any]:
        if band in self._buckets():
            return self._buckets()[band]
        # As datasketch's, which makes an empty list that the program fills.
        return self._written()[band]

    def __setitem__(self, band: bytes, keys: list[Any]) -> None:
        self._written()[band] = keys

    def __delitem__(self, band: bytes) -> None:
        del self._written()[band]

    def __contains__(self, band: object) -> bool:
        return band in self._buckets()

    def get(self, band: bytes, default: Any = None) -> Any:
        """The keys with these bytes in the tree, or the default."""
        return self._buckets().get(band, default)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._buckets())

    def __len__(self) -> int:
        return len(self._buckets())

    def __repr__(self) -> str:
        return repr(self._buckets())


class _Keys(MutableMapping[Hashable, list[bytes]]):
    """From each key of a forest to the list of the bytes of its trees. A write moves the forest to dictionaries."""

    def __init__(self, forest: MinHashLSHForest) -> None:
        self._forest = forest

    def _written(self) -> Any:
        self._forest._move_to_dictionaries()
        return self._forest.keys

    def __setitem__(self, key: Hashable, bands: list[bytes]) -> None:
        self._written()[key] = bands

    def __delitem__(self, key: Hashable) -> None:
        del self._written()[key]

    def __getitem__(self, key: Hashable) -> list[bytes]:
        if not self._forest._is_native:
            return self._forest.keys[key]
        bands = self._forest._bands_of(key)
        if bands is None:
            raise KeyError(key)
        return bands

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._forest._stored_keys() if self._forest._is_native else self._forest.keys)

    def __len__(self) -> int:
        return self._forest._key_count() if self._forest._is_native else len(self._forest.keys)

    def __repr__(self) -> str:
        return repr(dict(self))


#: The attributes of a forest that a program may assign, as it may those of datasketch.
_PARTS = ("l", "k", "hashtables", "hashranges", "keys", "sorted_hashtables", "_minhash_scheme")


class MinHashLSHForest(_simgpu.MinHashLSHForest):
    """Finds the ``k`` keys whose sketches are probably most similar to a query, by common prefixes of bands.

    Takes what ``datasketch.MinHashLSHForest`` takes and finds the same keys; ``query`` returns them with the longest
    common prefixes first. The forest keeps its keys in native tables. It keeps them in dictionaries, as datasketch does,
    and takes datasketch's time, once a program assigns ``k``, ``l``, ``hashranges``, ``keys``, ``hashtables`` or
    ``sorted_hashtables``, or writes to ``keys`` or ``hashtables``. Until then, the lists in them are copies.

    Args:
        num_perm: Number of slots of a sketch.
        l: Number of prefix trees; each has ``k = num_perm // l`` slots.

    Raises:
        ValueError: If an argument is not positive, or ``l`` exceeds ``num_perm``.

    """

    _is_native = True
    _parts: dict[str, Any]

    l = part("l", "The number of prefix trees.")  # type: ignore[assignment]
    k = part("k", "The depth of a prefix tree: its number of slots.")  # type: ignore[assignment]
    hashranges = part("hashranges", "Of each tree, the first of its slots and their end.")
    hashtables = part("hashtables", "Of each tree, a mapping from the bytes of its slots to the list of keys.", holds_keys=True)
    sorted_hashtables = part("sorted_hashtables", "Of each tree, the sorted bytes of the searchable keys.", holds_keys=True)
    keys = part("keys", "A mapping from each key to the list of the bytes of its trees.", holds_keys=True)
    _minhash_scheme = part("_minhash_scheme", "The scheme of the sketches; None before the first.")  # type: ignore[assignment]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for hook in ("_H", "_query", "_binary_search"):
            if hasattr(cls, hook):
                raise TypeError(
                    f"{cls.__name__} overrides {hook}, which simgpu's forest does not call; derive it from the "
                    "installed datasketch.MinHashLSHForest, which takes sketches of simgpu, too"
                )

    def __init__(self, num_perm: int = 128, l: int = 8) -> None:
        self._begin(num_perm, l)
        self._use_native_tables()

    def _use_native_tables(self) -> None:
        self.__dict__.pop("_is_native", None)
        self.__dict__.pop("_parts", None)

    def _native_part(self, name: str) -> Any:
        """The attribute of a forest in native tables."""
        l, k = super().l, super().k
        match name:
            case "l":
                return l
            case "k":
                return k
            case "hashranges":
                return [(tree * k, (tree + 1) * k) for tree in range(l)]
            case "hashtables":
                return [_Tree(self, tree) for tree in range(l)]
            case "sorted_hashtables":
                return [self._sorted_bytes(tree) for tree in range(l)]
            case "keys":
                return _Keys(self)
        return super()._minhash_scheme

    def _move_to_dictionaries(self) -> None:
        """Keeps keys in dictionaries, as datasketch does, from now on."""
        if not self._is_native:
            return
        parts = {name: self._native_part(name) for name in _PARTS}
        parts["keys"] = dict(parts["keys"])
        hashtables: list[defaultdict[bytes, list[Any]]] = [defaultdict(list) for _ in range(parts["l"])]
        for key, bands in parts["keys"].items():
            for band, table in zip(bands, hashtables, strict=True):
                table[band].append(key)
        parts["hashtables"] = hashtables
        self._begin(parts["k"] * parts["l"], parts["l"])
        self._is_native, self._parts = False, parts

    def _bands_of_sketch(self, minhash: Any, slots: int | None = None) -> list[bytes]:
        """The bytes of the first slots of each tree, or of all."""
        if len(minhash) < self.k * self.l:
            raise ValueError("The num_perm of MinHash out of range")
        scheme, known = getattr(minhash, "scheme", None), self._minhash_scheme
        if scheme is not None and known is not None and scheme != known:
            raise ValueError(
                f"MinHash scheme {scheme!r} does not match scheme {known!r} of the MinHash previously given to this "
                "index; sign all sketches of an index with one scheme"
            )
        values = minhash.hashvalues
        return [
            bytes(values[start : end if slots is None else start + slots].byteswap().data)
            for start, end in self.hashranges
        ]

    def add(self, key: Hashable, minhash: Any) -> None:
        """Adds a key with its sketch. Call ``index`` to make it searchable.

        Raises:
            ValueError: If the key exists, or if the sketch is too short or of another scheme or kind of slots than those
                before.

        """
        if self._is_native:
            return super().add(key, minhash)
        bands = self._bands_of_sketch(minhash)
        if key in self.keys:
            raise ValueError("The given key has already been added")
        if self._minhash_scheme is None:
            self._minhash_scheme = getattr(minhash, "scheme", None)
        self.keys[key] = bands
        for band, table in zip(bands, self.hashtables):
            # The program may have given dictionaries of another kind.
            table.setdefault(band, []).append(key)

    def index(self) -> None:
        """Makes all keys searchable."""
        if self._is_native:
            return super().index()
        self.sorted_hashtables = [sorted(table) for table in self.hashtables]

    def query(self, minhash: Any, k: int) -> list[Any]:
        """Up to ``k`` keys with the longest common prefixes with a sketch, longest first."""
        if self._is_native:
            return super().query(minhash, k)
        if k <= 0:
            raise ValueError("k must be positive")
        found: dict[Any, None] = {}
        for slots in range(self.k, 0, -1):
            prefixes = self._bands_of_sketch(minhash, slots)
            for prefix, ordered, table in zip(prefixes, self.sorted_hashtables, self.hashtables):
                for place in range(bisect_left(ordered, prefix), len(ordered)):
                    if not ordered[place].startswith(prefix):
                        break
                    for key in table.get(ordered[place], ()):
                        found[key] = None
                        if len(found) >= k:
                            return list(found)
        return list(found)

    def get_minhash_hashvalues(self, key: Hashable) -> Any:
        """The hash values of a key, without those that are in no tree. Raises KeyError if there is none."""
        if self._is_native:
            return super().get_minhash_hashvalues(key)
        import numpy as np

        bands = self.keys.get(key)
        if bands is None:
            raise KeyError(f"The provided key does not exist in the LSHForest: {key}")
        width, rest = divmod(len(bands[0]), self.k)
        if rest or width not in (4, 8) or any(len(band) != len(bands[0]) for band in bands):
            raise ValueError(f"the trees of {key!r} do not have {self.k} values of 4 or 8 bytes each; add its sketch again")
        return np.frombuffer(b"".join(bands), dtype=f"u{width}").byteswap()

    def is_empty(self) -> bool:
        """Whether no key is searchable."""
        if self._is_native:
            return super().is_empty()
        return any(len(ordered) == 0 for ordered in self.sorted_hashtables)

    def __contains__(self, key: Hashable) -> bool:
        return super().__contains__(key) if self._is_native else key in self.keys

    @classmethod
    def from_datasketch(cls, forest: Any) -> Self:
        """The same forest as one of datasketch's, of any version, for example an unpickled one.

        ``__init__`` of a subclass is not called: attributes of the given forest become those of the new one.

        Args:
            forest: A ``datasketch.MinHashLSHForest``.

        """
        made = cls.__new__(cls)
        made._adopt(forest)
        return made

    def _adopt(self, forest: Any) -> None:
        """Takes on the contents of a forest of datasketch."""
        MinHashLSHForest.__init__(self, forest.k * forest.l, forest.l)
        own = {*_PARTS, "_is_native", "_parts"}
        self.__dict__.update({k: v for k, v in vars(forest).items() if k not in own})
        scheme = getattr(forest, "_minhash_scheme", None)
        searchable = [set(bands) for bands in forest.sorted_hashtables]
        later = []
        for key in forest.keys:
            bands = forest.keys[key]
            if all(band in known for band, known in zip(bands, searchable)):
                self._add_bands(key, bands, scheme)
            else:
                later.append(key)
        if self._key_count():
            self.index()
        for key in later:
            self._add_bands(key, forest.keys[key], scheme)

    def __setstate__(self, state: Any) -> None:
        attributes, slots = state if isinstance(state, tuple) else (state, None)
        if "sorted_hashtables" in (attributes or {}):
            # A pickle of datasketch's, where this class stands in the place of its class.
            return self._adopt(SimpleNamespace(**attributes))
        self.__dict__.update(attributes or {})
        for name, value in (slots or {}).items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # A num_perm of k * l makes the same trees. Dictionaries are attributes.
        l = super().l
        parameters = (super().k * l, l)
        return _restored, (type(self), parameters, self._state()), self.__getstate__()


def _restored(cls: type[MinHashLSHForest], parameters: tuple[int, int], state: tuple[Any, ...]) -> Any:
    """A forest from its pickle."""
    forest = _simgpu.MinHashLSHForest.__new__(cls)
    MinHashLSHForest.__init__(forest, *parameters)
    forest._set_state(state)
    return forest
