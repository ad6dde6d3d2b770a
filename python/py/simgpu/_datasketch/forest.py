"""``MinHashLSHForest``: the most similar sketches by common prefixes of bands."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Self

from simgpu import _simgpu


class _Tree(Mapping[bytes, list[Any]]):
    """Of one tree of a forest: from the bytes of its slots to the list of keys."""

    def __init__(self, forest: MinHashLSHForest, tree: int) -> None:
        self._forest, self._tree = forest, tree
        self._known: dict[bytes, list[Any]] = {}
        self._count = 0

    def _buckets(self) -> dict[bytes, list[Any]]:
        # A forest only grows, so the number of keys tells whether the last buckets still hold.
        count = self._forest._key_count()
        if count != self._count:
            self._known = {}
            for key, bands in self._forest.keys.items():
                self._known.setdefault(bands[self._tree], []).append(key)
            self._count = count
        return self._known

    def __getitem__(self, band: bytes) -> list[Any]:
        return self._buckets()[band]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._buckets())

    def __len__(self) -> int:
        return len(self._buckets())

    def __repr__(self) -> str:
        return repr(self._buckets())


class _Keys(Mapping[Hashable, list[bytes]]):
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

    hashranges: list[tuple[int, int]]

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
        self.hashranges = [(tree * self.k, (tree + 1) * self.k) for tree in range(self.l)]

    @property
    def hashtables(self) -> list[_Tree]:
        """Of each tree, a read-only mapping from the bytes of its slots to the list of keys."""
        return [_Tree(self, tree) for tree in range(self.l)]

    @property
    def sorted_hashtables(self) -> list[list[bytes]]:
        """Of each tree, the sorted bytes of the searchable keys."""
        return [self._sorted_bytes(tree) for tree in range(self.l)]

    @property
    def keys(self) -> _Keys:
        """A read-only mapping from each key to the list of the bytes of its trees."""
        return _Keys(self)

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
        own = {"k", "l", "keys", "hashtables", "sorted_hashtables", "hashranges", "_minhash_scheme"}
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
        # A num_perm of k * l makes the same trees.
        parameters = (self.k * self.l, self.l)
        return _restored, (type(self), parameters, self._state()), self.__getstate__()


def _restored(cls: type[MinHashLSHForest], parameters: tuple[int, int], state: tuple[Any, ...]) -> Any:
    """A forest from its pickle."""
    forest = _simgpu.MinHashLSHForest.__new__(cls)
    MinHashLSHForest.__init__(forest, *parameters)
    forest._set_state(state)
    return forest
