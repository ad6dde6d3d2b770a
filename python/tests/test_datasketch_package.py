"""simgpu.datasketch in datasketch's place: modules, pickles, subclasses and storages of programs written for datasketch."""

import gc
import hashlib
import json
import pathlib
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from simgpu import datasketch as ours

NUM_PERM, PARAMS = 16, (4, 3)


def sketch_of(text, module=ours, num_perm=NUM_PERM, **options):
    sketch = module.MinHash(num_perm=num_perm, **options)
    sketch.update_batch([word.encode() for word in text.split()])
    return sketch


TEXTS = {
    "a": "the quick brown fox jumps over the lazy dog today",
    "b": "the quick brown fox jumps over the lazy cat today",
    "c": "something else of which no word is shared at all",
    "d": "the quick brown fox jumps over the lazy dog",
}


def filled(make, module=ours):
    index = make()
    for key, text in TEXTS.items():
        index.insert(key, sketch_of(text, module))
    return index


def run(program, path=None):
    """Runs a program in a new Python, where no module is imported yet, and returns what it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *filter(None, [path])],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Modules


def test_submodules_hold_the_classes_of_simgpu():
    from simgpu.datasketch.b_bit_minhash import bBitMinHash
    from simgpu.datasketch.hashfunc import sha1_hash32
    from simgpu.datasketch.lean_minhash import LeanMinHash
    from simgpu.datasketch.lsh import MinHashLSH, MinHashLSHInsertionSession, _optimal_param
    from simgpu.datasketch.lshensemble import MinHashLSHEnsemble
    from simgpu.datasketch.lshforest import MinHashLSHForest
    from simgpu.datasketch.minhash import MinHash

    assert MinHashLSH is ours.MinHashLSH is ours.lsh.MinHashLSH
    assert MinHash is ours.MinHash and LeanMinHash is ours.LeanMinHash
    assert bBitMinHash is ours.bBitMinHash and sha1_hash32 is ours.sha1_hash32
    assert MinHashLSHEnsemble is ours.MinHashLSHEnsemble
    assert MinHashLSHForest is ours.MinHashLSHForest
    assert _optimal_param(0.9, 128, 0.5, 0.5) == (5, 25)
    assert isinstance(ours.MinHashLSH().insertion_session(), MinHashLSHInsertionSession)
    assert ours.__version__ >= "2.0"


def test_other_submodules_are_those_of_datasketch():
    theirs = pytest.importorskip("datasketch")
    import datasketch.hyperloglog

    from simgpu.datasketch.hyperloglog import HyperLogLog
    from simgpu.datasketch.weighted_minhash import WeightedMinHashGenerator

    assert HyperLogLog is ours.HyperLogLog is theirs.HyperLogLog
    assert WeightedMinHashGenerator is theirs.WeightedMinHashGenerator
    assert ours.hyperloglog is datasketch.hyperloglog
    assert ours.lsh._false_positive_probability is theirs.lsh._false_positive_probability
    with pytest.raises(AttributeError, match="no attribute 'unheard_of'"):
        _ = ours.lsh.unheard_of
    with pytest.raises(AttributeError, match="no attribute 'unheard_of'"):
        _ = ours.unheard_of


def test_modules_without_datasketch_say_what_to_install():
    program = """
        import json, sys
        sys.modules["datasketch"] = None
        import simgpu.datasketch as ours
        messages = []
        for name in ("hnsw", "hyperloglog", "weighted_minhash", "HyperLogLog", "HNSW"):
            try:
                getattr(ours, name)
            except ImportError as error:
                messages.append(str(error))
        print(json.dumps([len(messages) == 5, *("pip install datasketch" in message for message in messages)]))
    """
    assert all(run(program))


ALIAS = """
    import json, pickle, sys
    import simgpu.datasketch as ours
    sys.modules["datasketch"] = ours
    import datasketch
    import datasketch.lsh
    from datasketch import MinHash, HyperLogLog
    from datasketch.lsh import MinHashLSH
    from datasketch.lean_minhash import LeanMinHash
    from datasketch.hyperloglog import HyperLogLog as Same
    from datasketch.weighted_minhash import WeightedMinHashGenerator
    from datasketch.storage import DictSetStorage, _random_name
    import datasketch.hnsw
    counter = pickle.loads(pickle.dumps(HyperLogLog()))
    counter.update(b"a")
    lsh = MinHashLSH(num_perm=16, params=(4, 3))
    lsh.insert("w", WeightedMinHashGenerator(4, 16).minhash([1.0, 2.0, 3.0, 4.0]))
    print(json.dumps([
        MinHash is ours.MinHash,
        MinHashLSH is ours.MinHashLSH is datasketch.lsh.MinHashLSH,
        LeanMinHash is ours.LeanMinHash,
        HyperLogLog is Same and HyperLogLog is not None,
        isinstance(lsh.hashtables[0], datasketch.storage.UnorderedStorage),
        len(_random_name(11)) == 11,
        "MinHash" in dir(datasketch) and datasketch.__version__ >= "2.0",
        datasketch.hnsw.HNSW is datasketch.HNSW,
        pickle.loads(pickle.dumps(lsh)).query(WeightedMinHashGenerator(4, 16).minhash([1.0, 2.0, 3.0, 4.0])) == ["w"],
    ]))
"""


def test_simgpu_stands_in_the_place_of_datasketch():
    pytest.importorskip("datasketch")
    assert all(run(ALIAS))


def test_simgpu_replaces_an_imported_datasketch():
    pytest.importorskip("datasketch")
    program = """
        import json, sys
        import datasketch as theirs
        import simgpu.datasketch as ours
        sys.modules["datasketch"] = ours
        import datasketch
        print(json.dumps([
            datasketch.MinHashLSH is ours.MinHashLSH is not theirs.MinHashLSH,
            datasketch.HyperLogLog is theirs.HyperLogLog,
            datasketch.lsh.MinHashLSH is ours.MinHashLSH,
        ]))
    """
    assert all(run(program))


# Subclasses with an __init__ of their own, as public programs have them


class ShopIndex(ours.MinHashLSH):
    """Other arguments than those of its base, and slots."""

    __slots__ = ("table", "_notes")

    def __init__(self, similarity, permutations):
        super().__init__(threshold=similarity, num_perm=permutations)
        assert self.hashfunc is None
        self.table = None
        self.notes = {}

    def export(self):
        self.notes = {f"range_{band}": self.hashranges[band] for band in range(self.b)}
        self.table = [
            (place, band.hex(), sorted(table.get(band)))
            for place, table in enumerate(self.hashtables)
            for band in table.keys()
        ]


class ProbingIndex(ours.MinHashLSH):
    """Further keywords, and a query that also looks into neighbouring buckets."""

    def __init__(self, *args, radius=2, most=8, **kwargs):
        super().__init__(*args, **kwargs)
        self.radius, self.most = int(radius), int(most)

    def query(self, minhash):
        found = set(super().query(minhash))
        for (start, end), table in zip(self.hashranges, self.hashtables):
            for step in range(1, self.radius + 1):
                band = np.asarray(minhash.hashvalues[start:end] + step)
                if (H := self._H(band)) in table:
                    found.update(table[H])
        return list(found)


class FileIndex(ours.MinHashLSH):
    """Keeps its keys itself: only parameters and bands are those of its base."""

    def __init__(self, path, threshold=0.9, num_perm=128, weights=(0.5, 0.5), params=None):
        super().__init__(threshold=threshold, num_perm=num_perm, weights=weights, params=params)
        del self.hashtables
        del self.keys
        self.path, self.stored = path, {}

    def insert(self, key, minhash):
        for start, end in self.hashranges:
            self.stored.setdefault(self._H(minhash.hashvalues[start:end]), []).append(key)
        self.path.write_text(json.dumps(sorted(self.stored.values())))

    def query(self, minhash):
        bands = (self._H(minhash.hashvalues[start:end]) for start, end in self.hashranges)
        return {key for band in bands for key in self.stored.get(band, ())}


class IntegerIndex(ours.MinHashLSH):
    """Bands as integers, for a database."""

    def _byteswap(self, hs):
        return int.from_bytes(hs.byteswap().data, "big")


class DocumentIndex(ours.MinHashLSH):
    """Takes documents, and storages and seeds of its own choice."""

    def __init__(self, threshold=0.9, num_perm=128, weights=(0.5, 0.5), storage_config={"type": "dict"}, random_seed=1):
        super(DocumentIndex, self).__init__(
            threshold=threshold, num_perm=num_perm, weights=weights, storage_config=storage_config
        )
        self.random_seed, self.storage_config = random_seed, storage_config

    def insert_documents(self, *documents):
        for key, text in documents:
            self.insert(key.encode(), sketch_of(text, num_perm=self.h, seed=self.random_seed))

    def status(self):
        return self.keys.status()

    def neighbours(self, *keys):
        stored = [key.encode() for key in keys]
        found = set()
        for bands in self.keys.getmany(*stored):
            for band, table in zip(bands, self.hashtables):
                found |= table.get(band)
        return sorted(key.decode() for key in found - set(stored))


def test_subclass_with_other_arguments_and_slots():
    index = filled(lambda: ShopIndex(0.5, NUM_PERM))
    index.export()
    assert len(index.notes) == index.b and len(index.hashranges) == index.b
    assert {key for _, _, keys in index.table for key in keys} == set(TEXTS)
    assert index._is_native
    restored = pickle.loads(pickle.dumps(index))
    assert type(restored) is ShopIndex and restored.table == index.table
    assert restored.notes == index.notes and list(restored.keys) == list(TEXTS)


def test_subclass_with_further_keywords():
    index = filled(lambda: ProbingIndex(num_perm=NUM_PERM, params=PARAMS, radius=1, most=3))
    plain = filled(lambda: ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS))
    for text in TEXTS.values():
        assert set(index.query(sketch_of(text))) >= set(plain.query(sketch_of(text)))
    assert (index.radius, index.most) == (1, 3) and index._is_native


def test_subclass_that_keeps_its_keys_itself(tmp_path):
    index = filled(lambda: FileIndex(tmp_path / "index", num_perm=NUM_PERM, params=PARAMS))
    plain = filled(lambda: ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS))
    for text in TEXTS.values():
        assert index.query(sketch_of(text)) == set(plain.query(sketch_of(text)))
    for name in ("keys", "hashtables"):
        with pytest.raises(AttributeError):
            getattr(index, name)


def test_subclass_with_other_bands():
    index = filled(lambda: IntegerIndex(num_perm=NUM_PERM, params=PARAMS))
    plain = filled(lambda: ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS))
    assert all(isinstance(band, int) for table in index.hashtables for band in table)
    for each in (index, pickle.loads(pickle.dumps(index))):
        for text in TEXTS.values():
            assert set(each.query(sketch_of(text))) == set(plain.query(sketch_of(text)))
    index.remove("a")
    assert "a" not in index and "a" not in index.query(sketch_of(TEXTS["a"]))


def test_subclass_of_documents():
    index = DocumentIndex(threshold=0.5, num_perm=NUM_PERM, random_seed=7)
    index.insert_documents(*TEXTS.items())
    assert index.status() == {"keyspace_size": 4}
    assert index.neighbours("a") == ["b", "d"] and index._is_native


def test_subclasses_of_the_other_classes():
    class Forest(ours.MinHashLSHForest):
        def __init__(self, name, trees=4):
            super().__init__(num_perm=NUM_PERM, l=trees)
            self.name = name

    class Ensemble(ours.MinHashLSHEnsemble):
        def __init__(self, name, parts):
            super().__init__(threshold=0.5, num_perm=NUM_PERM, num_part=parts, m=2)
            self.name = name

        def _get_storage_config(self, basename, base_config, partition, r):
            return super()._get_storage_config(basename, base_config, partition, r)

    class Sketch(ours.MinHash):
        def __init__(self, words, num_perm=NUM_PERM):
            super().__init__(num_perm=num_perm)
            self.words = words
            self.update_batch([word.encode() for word in words])

    forest, ensemble = Forest("f"), Ensemble("e", parts=2)
    for key, text in TEXTS.items():
        forest.add(key, Sketch(text.split()))
    forest.index()
    ensemble.index([(key, Sketch(text.split()), len(text.split())) for key, text in TEXTS.items()])
    query = Sketch(TEXTS["a"].split())
    assert forest.query(query, 1) == ["a"] and forest.name == "f"
    assert "a" in list(ensemble.query(query, 10)) and ensemble.name == "e"
    assert query.words == TEXTS["a"].split() and query == query.copy().copy() or query.jaccard(query) == 1.0


def test_forest_refuses_overrides_that_it_ignores():
    with pytest.raises(TypeError, match="overrides _H"):

        class Forest(ours.MinHashLSHForest):
            def _H(self, hs):
                return bytes(hs)


def test_subclass_without_parameters_is_refused():
    class Index(ours.MinHashLSH):
        def __init__(self):
            pass

    class Forest(ours.MinHashLSHForest):
        def __init__(self):
            pass

    with pytest.raises(RuntimeError, match=r"super\(\).__init__\(\)"):
        Index().insert("a", sketch_of("a"))
    with pytest.raises(RuntimeError, match=r"super\(\).__init__\(\)"):
        Forest().add("a", sketch_of("a"))


# Hash values in place


@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
def test_values_written_in_place_are_those_of_the_sketch(scheme):
    source = sketch_of(TEXTS["a"], scheme=scheme)
    restored = ours.MinHash(num_perm=NUM_PERM, scheme=scheme)
    restored.hashvalues[:] = source.digest()
    assert restored == source and restored.jaccard(source) == 1.0 and source.jaccard(restored) == 1.0
    assert not restored.is_empty() and restored.count() == source.count()
    assert np.array_equal(restored.digest(), source.digest())
    assert ours.LeanMinHash(restored) == ours.LeanMinHash(source)
    assert ours.bBitMinHash(restored, 4) == ours.bBitMinHash(source, 4)
    assert pickle.loads(pickle.dumps(restored)) == source
    index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    index.insert("restored", restored)
    assert index.query(source) == ["restored"]
    forest = ours.MinHashLSHForest(NUM_PERM, 4)
    forest.add("restored", restored)
    forest.index()
    assert forest.query(source, 1) == ["restored"]
    merged, union = ours.MinHash(num_perm=NUM_PERM, scheme=scheme), ours.MinHash.union(restored, source)
    merged.merge(restored)
    assert merged == source == union


def test_held_values_follow_datasketch():
    theirs = pytest.importorskip("datasketch")
    for module in (ours, theirs):
        sketch, other = sketch_of(TEXTS["a"], module), sketch_of(TEXTS["c"], module)
        values = sketch.hashvalues
        assert sketch.hashvalues is values
        values[0] = 1
        assert sketch.digest()[0] == 1 and sketch.jaccard(sketch) == 1.0
        values[1:3] = 2  # seen later, too, as long as nothing else changes the sketch
        assert sketch.copy().hashvalues[2] == 2 and sketch.hashvalues[1] == 2
        sketch.update(b"word")
        assert sketch.hashvalues is not values and sketch.digest()[0] == 1
        values[0] = 0
        assert sketch.digest()[0] == 1, "an array of before the update is no longer that of the sketch"
        held = sketch.hashvalues
        sketch.merge(other)
        held[:] = 0
        assert sketch.digest()[0] == 1 and sketch.digest()[5] != 0
        sketch.hashvalues[3] = 7
        sketch.update_batch([])
        sketch.clear()
        assert sketch.is_empty()
        lean = module.LeanMinHash(other)
        lean.hashvalues[0] = 9
        assert lean.digest()[0] == 9 and lean.copy().digest()[0] == 9


def test_values_of_another_shape_are_refused():
    sketch = sketch_of(TEXTS["a"])
    values = sketch.hashvalues
    values.shape = (4, 4)
    with pytest.raises(ValueError, match="another shape"):
        sketch.digest()
    values.shape = (16,)
    assert len(sketch.digest()) == 16


# Storages


def clusters_of(module):
    """The loop of programs that write into the tables themselves."""
    lsh = module.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    found = {}
    for key, text in TEXTS.items():
        values = sketch_of(text, module).hashvalues
        bands = [bytes(values[start:end].byteswap().data) for start, end in lsh.hashranges]
        found[key] = sorted({other for band, table in zip(bands, lsh.hashtables) for other in table.get(band)})
        lsh.keys.insert(key, *bands, buffer=False)
        for band, table in zip(bands, lsh.hashtables):
            table.insert(band, key, buffer=False)
    return lsh, found


def test_tables_that_programs_write_to():
    theirs = pytest.importorskip("datasketch")
    (mine, my_found), (other, their_found) = clusters_of(ours), clusters_of(theirs)
    assert my_found == their_found
    assert list(mine.keys) == list(other.keys) == list(TEXTS)
    for text in TEXTS.values():
        assert set(mine.query(sketch_of(text))) == set(other.query(sketch_of(text, theirs)))
    assert mine.get_counts() == other.get_counts()
    for index in (mine, other):
        del index.keys["a"]
        index.hashtables[0].remove(next(iter(index.hashtables[0])))
        assert "a" not in index and "b" in index
    assert mine.get_counts() == other.get_counts()
    native = ours.MinHashLSH.from_datasketch(clusters_of(ours)[0])
    assert native._is_native and native.get_counts() == clusters_of(theirs)[0].get_counts()


def test_half_written_tables_follow_datasketch():
    theirs = pytest.importorskip("datasketch")
    for module in (ours, theirs):
        index = filled(lambda: module.MinHashLSH(num_perm=NUM_PERM, params=PARAMS), module)
        table, keys = index.hashtables[0], index.keys
        sketch = sketch_of("new words", module)
        band = bytes(sketch.hashvalues[0:3].byteswap().data)
        assert band not in table
        table.insert(band, "new")
        assert table.get(band) == {"new"} and band in table, "a view that was got before"
        assert index.query(sketch) == ["new"] and "new" not in index and len(keys) == 4
        index.insert("late", sketch_of(TEXTS["c"], module))
        assert set(index.query(sketch_of(TEXTS["c"], module))) == {"c", "late"}
        assert keys.has_key("late") and keys._dict.keys() >= {"a", "late"}


def test_contents_of_storages_can_be_looked_into():
    index = filled(lambda: ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS))
    assert "a" in index.keys._dict.keys() and "x" not in index.keys._dict
    first = next(iter(index.hashtables[0]._dict.keys()))
    assert index.hashtables[0]._dict[first] == index.hashtables[0][first]
    assert repr(index.keys).startswith("{'a': [b'") and index._is_native
    with pytest.raises(KeyError):
        index.keys._dict["x"]


def test_storages_of_a_subclass_are_used():
    class Loud(ours.storage.DictListStorage):
        inserted = 0

        def insert(self, key, *values, **options):
            self.inserted += 1
            super().insert(key, *values, **options)

    class Index(ours.MinHashLSH):
        def __init__(self):
            super().__init__(num_perm=NUM_PERM, params=PARAMS)
            self.keys = Loud()

    index = filled(Index)
    assert index.keys.inserted == 4 and set(index.query(sketch_of(TEXTS["a"]))) >= {"a"}
    with index.insertion_session() as session:
        session.insert("e", sketch_of(TEXTS["c"]))
    with index.deletion_session() as session:
        session.remove("c")
    assert index.query(sketch_of(TEXTS["c"])) == ["e"] and index.keys.inserted == 5
    index.add_to_query_buffer(sketch_of(TEXTS["a"]))
    index.add_to_query_buffer(sketch_of(TEXTS["b"]))
    both = set(index.query(sketch_of(TEXTS["a"]))) & set(index.query(sketch_of(TEXTS["b"])))
    assert set(index.collect_query_buffer()) == both and index.collect_query_buffer() == []
    rows = np.stack([sketch_of(text).hashvalues for text in TEXTS.values()])
    index.insert_many(["f", "g", "h", "i"], rows)
    assert [set(found) for found in index.query_many(rows)] == [
        set(index.query(sketch_of(text))) for text in TEXTS.values()
    ]
    other = filled(Index)
    with pytest.raises(ValueError, match="overlapping"):
        index.merge(other, check_overlap=True)
    other.remove("a")
    fresh = Index()
    fresh.merge(other)
    assert list(fresh.keys) == ["b", "c", "d"] and not fresh.is_empty()
    with pytest.raises(ValueError, match="scheme"):
        fresh.query(sketch_of("a", scheme="legacy"))
    with pytest.raises(ValueError, match="length 16, got 8"):
        fresh.query(ours.MinHash(num_perm=8))


def test_indexes_are_freed_without_the_collector():
    import weakref

    index = filled(lambda: ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS))
    assert len(index.hashtables[0]) and len(index.keys)
    seen = weakref.ref(index)
    gc.disable()
    try:
        del index
        assert seen() is None
    finally:
        gc.enable()


# Indexes of datasketch


@pytest.mark.parametrize(
    "options",
    [{}, {"prepickle": True}, {"hashfunc": lambda band: hashlib.sha1(band).digest()[:4]}],
)
@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
def test_index_of_datasketch_becomes_ours(options, scheme):
    theirs = pytest.importorskip("datasketch")
    other = theirs.MinHashLSH(num_perm=NUM_PERM, params=PARAMS, **options)
    for number in range(60):
        words = f"{number // 3} {number // 3} {number % 2}"
        other.insert(number, sketch_of(words, theirs, scheme=scheme))
    for number in range(0, 60, 7):
        other.remove(number)
    other.insert(1, sketch_of("again", theirs, scheme=scheme), check_duplication=False)
    if "hashfunc" not in options:
        other = pickle.loads(pickle.dumps(other))
    mine = ours.MinHashLSH.from_datasketch(other)
    assert mine._is_native and type(mine) is ours.MinHashLSH
    assert (mine.b, mine.r, mine.h, mine._minhash_scheme) == (4, 3, NUM_PERM, scheme)
    assert list(mine.keys) == list(other.keys) and mine.get_counts() == other.get_counts()
    for number in range(60):
        sketch = sketch_of(f"{number // 3} {number % 2}", theirs, scheme=scheme)
        assert set(mine.query(sketch)) == set(other.query(sketch))
    mine.insert("new", sketch_of("new", scheme=scheme))
    assert "new" in mine and "new" not in other
    with pytest.raises(ValueError, match="already exists"):
        mine.insert(1, sketch_of("x", scheme=scheme))


def test_old_and_empty_indexes_become_ours():
    theirs = pytest.importorskip("datasketch")
    empty = ours.MinHashLSH.from_datasketch(theirs.MinHashLSH(num_perm=NUM_PERM, params=PARAMS))
    empty.insert("a", sketch_of("a"))
    assert empty.query(sketch_of("a")) == ["a"]
    old = theirs.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    old.insert("a", sketch_of("a", theirs, scheme="legacy"))
    del old._minhash_scheme  # as in pickles of before 2.0
    mine = ours.MinHashLSH.from_datasketch(old)
    assert mine.query(sketch_of("a", scheme="legacy")) == ["a"]
    with pytest.raises(ValueError, match="legacy"):
        mine.query(sketch_of("a"))
    weighted = theirs.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    draw = theirs.WeightedMinHashGenerator(5, NUM_PERM)
    weighted.insert("w", draw.minhash([1, 2, 3, 4, 5]))
    assert ours.MinHashLSH.from_datasketch(weighted).query(draw.minhash([1, 2, 3, 4, 5])) == ["w"]


def test_contradicting_index_stays_as_it_is():
    theirs = pytest.importorskip("datasketch")
    other = theirs.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    other.insert("a", sketch_of("a", theirs))
    other.hashtables[0].insert(b"half", "b")
    mine = ours.MinHashLSH.from_datasketch(other)
    assert not mine._is_native and mine.hashtables[0].get(b"half") == {"b"}
    assert mine.query(sketch_of("a")) == ["a"]


def test_index_with_other_bands_needs_its_class():
    theirs = pytest.importorskip("datasketch")

    class Other(theirs.MinHashLSH):
        def _byteswap(self, hs):
            return int.from_bytes(hs.byteswap().data, "big")

    other = Other(num_perm=NUM_PERM, params=PARAMS)
    other.insert("a", sketch_of("a", theirs))
    with pytest.raises(TypeError, match="type int, not bytes"):
        ours.MinHashLSH.from_datasketch(other)
    assert IntegerIndex.from_datasketch(other).query(sketch_of("a")) == ["a"]


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_forest_and_ensemble_of_datasketch_become_ours(dtype):
    theirs = pytest.importorskip("datasketch")
    scheme = "affine32" if dtype == np.uint32 else "affine64"
    forest = theirs.MinHashLSHForest(num_perm=NUM_PERM, l=4)
    sketches = {n: sketch_of(f"{n // 4} {n // 2}", theirs, scheme=scheme) for n in range(40)}
    for number in range(30):
        forest.add(number, sketches[number])
    forest.index()
    for number in range(30, 40):
        forest.add(number, sketches[number])
    forest.note = "kept"
    mine = ours.MinHashLSHForest.from_datasketch(pickle.loads(pickle.dumps(forest)))
    assert mine.note == "kept" and dict(mine.keys) == dict(forest.keys)
    for sketch in sketches.values():
        for k in (1, 3, 40):
            assert set(mine.query(sketch, k)) == set(forest.query(sketch, k))
    ensemble = theirs.MinHashLSHEnsemble(threshold=0.5, num_perm=NUM_PERM, num_part=3, m=4)
    ensemble.index([(number, sketch, number + 1) for number, sketch in sketches.items()])
    contained = ours.MinHashLSHEnsemble.from_datasketch(pickle.loads(pickle.dumps(ensemble)))
    for number, sketch in sketches.items():
        assert set(contained.query(sketch, number + 1)) == set(ensemble.query(sketch, number + 1))


def test_pickles_of_datasketch_load_in_its_place(tmp_path):
    theirs = pytest.importorskip("datasketch")
    sketch = sketch_of(TEXTS["a"], theirs, seed=5)
    sketch.note = "kept"
    index = theirs.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    index.insert("a", sketch)
    forest = theirs.MinHashLSHForest(num_perm=NUM_PERM, l=4)
    forest.add("a", sketch)
    forest.index()
    ensemble = theirs.MinHashLSHEnsemble(threshold=0.5, num_perm=NUM_PERM, num_part=2, m=2)
    ensemble.index([("a", sketch, 9)])
    path = tmp_path / "pickle"
    parts = [sketch, index, forest, ensemble, theirs.LeanMinHash(sketch), theirs.bBitMinHash(sketch, 2)]
    path.write_bytes(pickle.dumps((parts, sketch.digest())))
    program = """
        import json, pathlib, pickle, sys
        import simgpu.datasketch as ours
        sys.modules["datasketch"] = ours
        parts, values = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())
        sketch, index, forest, ensemble, lean, bits = parts
        classes = ["MinHash", "MinHashLSH", "MinHashLSHForest", "MinHashLSHEnsemble", "LeanMinHash", "bBitMinHash"]
        fresh = ours.MinHash(num_perm=16, seed=5)
        fresh.update_batch([word.encode() for word in "%s".split()])
        print(json.dumps([
            *(type(part) is getattr(ours, name) for part, name in zip(parts, classes)),
            sketch == fresh and sketch.note == "kept" and "seed" not in vars(sketch),
            (sketch.digest() == values).all().item(),
            index._is_native and index.query(fresh) == ["a"],
            forest.query(fresh, 1) == ["a"],
            list(ensemble.query(fresh, 9)) == ["a"],
            lean == ours.LeanMinHash(fresh) and bits == ours.bBitMinHash(fresh, 2),
        ]))
    """
    assert all(run(program % TEXTS["a"], str(path)))


def test_package_has_a_module_per_module_of_datasketch():
    theirs = pytest.importorskip("datasketch")
    folders = [pathlib.Path(module.__file__).parent for module in (theirs, ours)]
    named = [{path.stem for path in folder.iterdir() if path.stem[0] != "_"} for folder in folders]
    assert named[0] <= named[1]
