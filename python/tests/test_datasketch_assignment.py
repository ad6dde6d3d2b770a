"""Programs that assign attributes of datasketch's sketches and indexes, for example to rebuild them from JSON."""

import json
import pickle
from collections import defaultdict

import numpy as np
import pytest
import simgpu.datasketch.storage  # noqa: F401
from simgpu import datasketch as ours

theirs = pytest.importorskip("datasketch")

TEXTS = {
    "a": "the quick brown fox jumps over the lazy dog today",
    "b": "the quick brown fox jumps over the lazy cat today",
    "c": "something else of which no word is shared at all",
    "d": "the quick brown fox jumps over the lazy dog",
}


def text_sketch(module, text, **options):
    sketch = module.MinHash(num_perm=32, **options)
    sketch.update_batch([word.encode() for word in text.split()])
    return sketch


def forest_of(module):
    forest = module.MinHashLSHForest(num_perm=32, l=4)
    for key, text in TEXTS.items():
        forest.add(key, text_sketch(module, text))
    forest.index()
    return forest


def rebuilt_by_assignment(module, saved):
    """A forest from what a program kept of it as JSON."""
    forest = module.MinHashLSHForest()
    forest.k, forest.l = saved["k"], saved["l"]
    forest.hashranges = [tuple(ends) for ends in saved["hashranges"]]
    forest.keys = {key: [bytes.fromhex(band) for band in bands] for key, bands in saved["keys"].items()}
    forest.hashtables = [
        defaultdict(list, {bytes.fromhex(band): keys for band, keys in table.items()}) for table in saved["hashtables"]
    ]
    forest.sorted_hashtables = [[] for _ in range(forest.l)]
    forest.index()
    return forest


def rebuilt_by_writing(module, saved):
    """The same, by writes into the forest's own mappings."""
    forest = module.MinHashLSHForest(num_perm=saved["k"] * saved["l"], l=saved["l"])
    for key, bands in saved["keys"].items():
        forest.keys[key] = [bytes.fromhex(band) for band in bands]
        for band, table in zip(forest.keys[key], forest.hashtables):
            table[band].append(key)
    forest.index()
    return forest


def rebuilt_from_hashtables(module, saved):
    """The same, with the hash tables first."""
    forest = module.MinHashLSHForest(num_perm=saved["k"] * saved["l"], l=saved["l"])
    for table, kept in zip(forest.hashtables, saved["hashtables"]):
        for band, keys in kept.items():
            table[bytes.fromhex(band)].extend(keys)
    forest.keys.update({key: [bytes.fromhex(band) for band in bands] for key, bands in saved["keys"].items()})
    forest.index()
    return forest


@pytest.mark.parametrize("rebuild", [rebuilt_by_assignment, rebuilt_by_writing])
def test_a_forest_is_rebuilt_from_json(rebuild):
    original = forest_of(theirs)
    saved = {
        "k": original.k,
        "l": original.l,
        "hashranges": original.hashranges,
        "keys": {key: [band.hex() for band in bands] for key, bands in original.keys.items()},
        "hashtables": [{band.hex(): keys for band, keys in table.items()} for table in original.hashtables],
    }
    saved = json.loads(json.dumps(saved))
    forests = {module: rebuild(module, saved) for module in (ours, theirs)}
    forests["pickle"] = pickle.loads(pickle.dumps(forests[ours]))
    forests["native"] = forest_of(ours)
    for module, forest in forests.items():
        assert (forest.k, forest.l) == (8, 4)
        assert dict(forest.keys) == original.keys and not forest.is_empty()
        assert [list(table) for table in forest.sorted_hashtables] == original.sorted_hashtables
        for key, text in TEXTS.items():
            assert key in forest and "none" not in forest
            np.testing.assert_array_equal(forest.get_minhash_hashvalues(key), original.get_minhash_hashvalues(key))
            for most in (1, 3, 100):
                for query in (text, text + " and more words", text[: len(text) // 2]):
                    sketch = text_sketch(ours, query)
                    expected = set(original.query(text_sketch(theirs, query), most))
                    found = forest.query(sketch, most)
                    assert len(found) == len(set(found)) == len(expected)
                    assert most < 100 or set(found) == expected, module
    for module in (ours, theirs):
        forest = forests[module]
        forest.add("new", text_sketch(module, "entirely new words of a text"))
        with pytest.raises(ValueError, match="already been added"):
            forest.add("new", text_sketch(module, "entirely new words of a text"))
        assert "new" not in forest.query(text_sketch(module, "entirely new words of a text"), 1)
        forest.index()
        assert forest.query(text_sketch(module, "entirely new words of a text"), 1) == ["new"]
        with pytest.raises(ValueError, match="out of range"):
            forest.query(module.MinHash(num_perm=16), 1)
        with pytest.raises(KeyError):
            forest.get_minhash_hashvalues("none")


def test_a_forest_takes_hashtables_before_keys():
    original = forest_of(theirs)
    saved = {
        "k": original.k,
        "l": original.l,
        "keys": {key: [band.hex() for band in bands] for key, bands in original.keys.items()},
        "hashtables": [{band.hex(): keys for band, keys in table.items()} for table in original.hashtables],
    }
    forest = rebuilt_from_hashtables(ours, saved)
    assert forest.query(text_sketch(ours, TEXTS["a"]), 1) == original.query(text_sketch(theirs, TEXTS["a"]), 1)


def test_a_forest_with_the_same_parameters_stays_native():
    forest = ours.MinHashLSHForest(num_perm=32, l=4)
    forest.k, forest.l, forest.hashranges = 8, 4, [(0, 8), (8, 16), (16, 24), (24, 32)]
    assert forest._is_native
    forest.add("a", text_sketch(ours, "some words"))
    forest.k = 4
    assert not forest._is_native and forest.k == 4 and "a" in forest
    assert ours.MinHashLSHForest.from_datasketch(forest_of(theirs))._is_native


def test_an_index_is_rebuilt_by_assignment():
    original = theirs.MinHashLSH(num_perm=32, params=(8, 4))
    for key, text in TEXTS.items():
        original.insert(key, text_sketch(theirs, text))
    indexes = {}
    for module in (ours, theirs):
        index = module.MinHashLSH()
        index.h, index.b, index.r, index.hashranges = 32, 8, 4, list(original.hashranges)
        keys = module.storage.DictListStorage({"type": "dict"})
        tables = [module.storage.DictSetStorage({"type": "dict"}) for _ in range(8)]
        for key in original.keys:
            keys.insert(key, *original.keys[key])
            for band, table in zip(original.keys[key], tables):
                table.insert(band, key)
        index.keys, index.hashtables = keys, tables
        indexes[module] = index
    indexes["pickle"] = pickle.loads(pickle.dumps(indexes[ours]))
    assert (indexes["pickle"].h, indexes["pickle"].b, indexes["pickle"].r) == (32, 8, 4)
    for module, index in indexes.items():
        for text in TEXTS.values():
            expected = set(original.query(text_sketch(theirs, text)))
            assert set(index.query(text_sketch(ours, text))) == expected, module
        index.insert("new", text_sketch(ours, "entirely new words"))
        assert index.query(text_sketch(ours, "entirely new words")) == ["new"]
    same = ours.MinHashLSH(num_perm=32, params=(8, 4))
    same.h, same.b, same.r, same.prepickle = 32, 8, 4, False
    same.hashranges = list(original.hashranges)
    assert same._is_native


def assigned(module, kind, attribute, value):
    """An object of datasketch's or ours after an assignment: its attributes, or the error."""
    sketch = module.MinHash(num_perm=32)
    made = {
        "MinHash": lambda: sketch,
        "LeanMinHash": lambda: module.LeanMinHash(sketch),
        "bBitMinHash": lambda: module.bBitMinHash(sketch, b=4, r=0.5),
        "MinHashLSH": lambda: module.MinHashLSH(num_perm=32, params=(8, 4)),
        "MinHashLSHForest": lambda: module.MinHashLSHForest(num_perm=32, l=4),
        "MinHashLSHEnsemble": lambda: module.MinHashLSHEnsemble(num_perm=32, m=4, num_part=2),
    }[kind]()
    setattr(made, attribute, value)
    return getattr(made, attribute)


@pytest.mark.parametrize("kind", ["MinHash", "LeanMinHash", "bBitMinHash", "MinHashLSH", "MinHashLSHForest", "MinHashLSHEnsemble"])
def test_attributes_are_assigned_as_those_of_datasketch(kind):
    example = {
        "MinHash": lambda: theirs.MinHash(num_perm=32),
        "LeanMinHash": lambda: theirs.LeanMinHash(theirs.MinHash(num_perm=32)),
        "bBitMinHash": lambda: theirs.bBitMinHash(theirs.MinHash(num_perm=32), b=4, r=0.5),
        "MinHashLSH": lambda: theirs.MinHashLSH(num_perm=32, params=(8, 4)),
        "MinHashLSHForest": lambda: theirs.MinHashLSHForest(num_perm=32, l=4),
        "MinHashLSHEnsemble": lambda: theirs.MinHashLSHEnsemble(num_perm=32, m=4, num_part=2),
    }[kind]()
    names = [*vars(example)] if hasattr(example, "__dict__") else []
    names += getattr(type(example), "__slots__", ())
    public = sorted(name for name in names if not name.startswith("_"))
    assert len(public) >= 3
    others = {
        "seed": 7, "b": 2, "r": 0.25, "scheme": "legacy", "num_perm": 16, "hashfunc": hash, "h": 16, "k": 2, "l": 2, "prepickle": True, "m": 3,
        "hashranges": [(0, 2), (2, 4)], "threshold": 0.1, "hashvalues": np.arange(32, dtype=np.uint32),
    }
    refused = []
    for name in public:
        # Its own value, and another one.
        for value in (getattr(example, name), others.get(name)):
            if value is None:
                continue
            try:
                found = assigned(ours, kind, name, value)
            except (AttributeError, ValueError, TypeError):
                refused.append(name)
                continue
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(found, value)
            elif not hasattr(value, "__len__") or isinstance(value, str):
                assert found == value or callable(value), name
    # The documentation of simgpu.datasketch lists it under "Differences".
    assert refused == (["hashfunc"] if kind == "MinHashLSH" else [])


def test_assignments_to_sketches_compute_as_those_of_datasketch():
    for scheme, count in [("affine32", 16), ("legacy", 32), ("affine64", 8)]:
        mine = ours.MinHash(num_perm=64, seed=3)
        mine.scheme, mine.num_perm = scheme, count
        # The hash function stays, as in datasketch.
        expected = theirs.MinHash(num_perm=count, seed=3, scheme=scheme, hashfunc=theirs.sha1_hash32)
        for sketch in (mine, expected):
            sketch.update(b"token")
        np.testing.assert_array_equal(mine.hashvalues, expected.hashvalues)
        assert (mine.scheme, mine.num_perm, len(mine)) == (scheme, count, count)
    filled = text_sketch(ours, "some words")
    filled.num_perm, filled.scheme = 32, "affine32"
    for name, value in [("num_perm", 16), ("scheme", "legacy")]:
        with pytest.raises(ValueError, match="assign num_perm and scheme before hashvalues"):
            setattr(filled, name, value)
    np.testing.assert_array_equal(filled.hashvalues, text_sketch(theirs, "some words").hashvalues)
    bits = [module.bBitMinHash(text_sketch(module, "some words"), b=1) for module in (ours, theirs)]
    others = [module.bBitMinHash(text_sketch(module, "some other words"), b=4, r=0.5) for module in (ours, theirs)]
    for bit, other in zip(bits, others):
        bit.b, bit.r, bit.hashvalues = 4, 0.25, other.hashvalues
    assert bits[0].jaccard(others[0]) == bits[1].jaccard(others[1])
    assert bits[0].__getstate__() == bits[1].__getstate__()
    with pytest.raises(ValueError, match="b must be an integer in"):
        bits[0].b = 33
    with pytest.raises(ValueError, match="r must be a float in"):
        bits[0].r = 1.5
