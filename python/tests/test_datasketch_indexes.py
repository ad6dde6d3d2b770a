"""The indexes of simgpu.datasketch against those of datasketch: the same calls, the same outcomes."""

import copy
import gc
import os
import pickle
import random
import sys
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simgpu import datasketch as ours

theirs = pytest.importorskip("datasketch")

NUM_PERM = 16
PARAMS = (4, 3)


class Sketch:
    """The least that an index needs of a sketch."""

    def __init__(self, hashvalues, scheme="affine32"):
        self.hashvalues, self.scheme = hashvalues, scheme

    def __len__(self):
        return len(self.hashvalues)


def random_sketches(seed, count, num_perm=NUM_PERM, values=3, dtype=np.uint32):
    """Sketches of few distinct values, so that many share bands."""
    draws = np.random.default_rng(seed).integers(0, values, (count, num_perm))
    return [Sketch((row * 0x9E3779B1 % 2**32).astype(dtype)) for row in draws]


SKETCHES = random_sketches(1, 60)
KEYS = ["a", "b", 1, 2, (3, "c"), b"d", None, 7.5, frozenset([1]), "e" * 50]


def outcome(call):
    """The keys found, in no order, or the class of the exception."""
    try:
        result = call()
    except Exception as error:
        return type(error)
    return {repr(key) for key in result} if isinstance(result, (list, set)) else result


def assert_equal_indexes(mine, other):
    assert mine.is_empty() == other.is_empty()
    assert list(mine.keys) == list(other.keys)
    assert len(mine.keys) == len(other.keys)
    for key in other.keys:
        assert mine.keys[key] == other.keys[key]
    assert len(mine.hashtables) == len(other.hashtables)
    for my_table, other_table in zip(mine.hashtables, other.hashtables):
        assert len(my_table) == len(other_table)
        assert {H: my_table[H] for H in my_table} == {H: other_table[H] for H in other_table}
        assert all(H in my_table and my_table.get(H) for H in other_table)
        assert my_table.get(b"none") == set() and b"none" not in my_table
    assert mine.get_counts() == other.get_counts()
    assert mine.get_subset_counts(*KEYS[:4]) == other.get_subset_counts(*KEYS[:4])


sketch_numbers = st.integers(0, len(SKETCHES) - 1)
calls = st.one_of(
    st.tuples(st.just("insert"), st.sampled_from(KEYS), sketch_numbers),
    st.tuples(st.just("remove"), st.sampled_from(KEYS)),
    st.tuples(st.just("query"), sketch_numbers),
    st.tuples(st.just("contains"), st.sampled_from(KEYS)),
    st.tuples(st.just("session"), st.sampled_from(KEYS), sketch_numbers),
    st.tuples(st.just("deletion"), st.sampled_from(KEYS)),
    st.tuples(st.just("buffer"), sketch_numbers, sketch_numbers),
    st.tuples(st.just("query_b"), sketch_numbers, st.integers(0, 6)),
    st.tuples(st.just("merge"), st.sampled_from(KEYS), sketch_numbers),
    st.tuples(st.just("pickle")),
    st.tuples(st.just("unhashable"), sketch_numbers),
    st.tuples(st.just("short")),
    st.tuples(st.just("scheme")),
)


def perform(index, module, call, options):
    """Performs a call on an index and returns the index and the outcome."""
    match call:
        case "insert", key, number:
            return index, outcome(lambda: index.insert(key, SKETCHES[number]))
        case "remove", key:
            return index, outcome(lambda: index.remove(key))
        case "query", number:
            return index, outcome(lambda: index.query(SKETCHES[number]))
        case "contains", key:
            return index, key in index
        case "session", key, number:
            with index.insertion_session(buffer_size=3) as session:
                return index, outcome(lambda: session.insert(key, SKETCHES[number]))
        case "deletion", key:
            with index.deletion_session() as session:
                return index, outcome(lambda: session.remove(key))
        case "buffer", first, second:
            index.add_to_query_buffer(SKETCHES[first])
            index.add_to_query_buffer(SKETCHES[second])
            return index, outcome(index.collect_query_buffer)
        case "query_b", number, b:
            return index, outcome(lambda: index._query_b(SKETCHES[number], b))
        case "merge", key, number:
            other = module.MinHashLSH(num_perm=NUM_PERM, params=PARAMS, **options)
            other.insert(key, SKETCHES[number])
            return index, outcome(lambda: index.merge(other, check_overlap=True))
        case ("pickle",):
            return pickle.loads(pickle.dumps(index)), None
        case "unhashable", number:
            if options.get("prepickle"):
                return index, None  # a pickled list is hashable, but no longer when it is found
            return index, outcome(lambda: index.insert(["a"], SKETCHES[number]))
        case ("short",):
            return index, outcome(lambda: index.query(Sketch(np.zeros(3, np.uint32))))
        case ("scheme",):
            return index, outcome(lambda: index.query(Sketch(np.zeros(NUM_PERM, np.uint32), "x")))


def first_byte(band):
    return band[:1]


@pytest.mark.parametrize("options", [{}, {"prepickle": True}, {"hashfunc": first_byte}])
@settings(max_examples=60, deadline=None)
@given(st.lists(calls, max_size=40))
def test_lsh_behaves_as_datasketch(options, steps):
    mine = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS, **options)
    other = theirs.MinHashLSH(num_perm=NUM_PERM, params=PARAMS, **options)
    for step in steps:
        mine, my_outcome = perform(mine, ours, step, options)
        other, other_outcome = perform(other, theirs, step, options)
        assert my_outcome == other_outcome, step
    assert mine.buffer_size == other.buffer_size
    assert_equal_indexes(mine, other)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_many_inserts_and_removals(dtype):
    sketches = random_sketches(2, 3000, values=6, dtype=dtype)
    mine, other = (m.MinHashLSH(num_perm=NUM_PERM, params=PARAMS) for m in (ours, theirs))
    draw = random.Random(3)
    inside = set()
    for step in range(6000):
        number = draw.randrange(len(sketches))
        if number in inside and (step // 1500 % 2 or draw.random() < 0.3):
            mine.remove(number)
            other.remove(number)
            inside.remove(number)
        elif number not in inside:
            mine.insert(number, sketches[number])
            other.insert(number, sketches[number])
            inside.add(number)
        assert set(mine.query(sketches[number])) == set(other.query(sketches[number]))
    assert_equal_indexes(mine, other)
    for number in list(inside):
        mine.remove(number)
    assert mine.is_empty() and not mine.query(sketches[0])


def test_real_sketches_of_each_scheme():
    for scheme in ("affine32", "affine64", "legacy"):
        sets = [[b"%d" % (i // 3 * 7 + j + i % 3) for j in range(20)] for i in range(30)]
        sketches = theirs.MinHash.bulk(sets, num_perm=64, scheme=scheme)
        mine, other = (m.MinHashLSH(threshold=0.6, num_perm=64) for m in (ours, theirs))
        for index in (mine, other):
            for i, sketch in enumerate(sketches):
                index.insert(i, sketch)
        for sketch in sketches:
            assert set(mine.query(sketch)) == set(other.query(sketch))
            assert set(mine.query(theirs.LeanMinHash(sketch))) == set(other.query(sketch))
        assert mine.keys[5] == other.keys[5]


def test_weighted_sketches():
    generator = theirs.WeightedMinHashGenerator(10, NUM_PERM)
    random_state = np.random.RandomState(1)
    sketches = [generator.minhash(random_state.uniform(1, 3, 10)) for _ in range(30)]
    mine, other = (m.MinHashLSH(num_perm=NUM_PERM, params=(8, 2)) for m in (ours, theirs))
    for i, sketch in enumerate(sketches):
        mine.insert(i, sketch)
        other.insert(i, sketch)
    assert [set(mine.query(s)) for s in sketches] == [set(other.query(s)) for s in sketches]
    assert_equal_indexes(mine, other)


def test_queries_return_keys_in_order_of_insertion():
    index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    for key in "dbac":
        index.insert(key, SKETCHES[0])
    index.remove("b")
    index.insert("b", SKETCHES[0])
    assert index.query(SKETCHES[0]) == ["d", "a", "c", "b"]


def test_repeated_keys_are_found_once_and_removed_completely():
    mine, other = (m.MinHashLSH(num_perm=NUM_PERM, params=PARAMS) for m in (ours, theirs))
    for index in (mine, other):
        for i in range(20):
            index.insert(i % 5, SKETCHES[i], check_duplication=False)
    assert_equal_indexes(mine, other)
    for sketch in SKETCHES:
        assert sorted(mine.query(sketch)) == sorted(other.query(sketch))
    assert_equal_indexes(pickle.loads(pickle.dumps(mine)), other)
    merged, expected = (m.MinHashLSH(num_perm=NUM_PERM, params=PARAMS) for m in (ours, theirs))
    for index in (merged, expected):
        index.insert(1, SKETCHES[1])
        one = type(index)(num_perm=NUM_PERM, params=PARAMS)
        one.insert(1, SKETCHES[2])
        index.merge(one)
    assert_equal_indexes(merged, expected)
    for key in range(5):
        mine.remove(key)
    assert mine.is_empty() and mine.keys[1] == []


@pytest.mark.parametrize("num_perm", [2, 3, 16, 100, 128])
def test_bands_are_those_of_datasketch(num_perm):
    thresholds = [0.0, 0.05, 0.1, 0.25, 0.333, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0]
    weights = [(0.5, 0.5), (0.25, 0.75), (0.9, 0.1), (0.0, 1.0), (1.0, 0.0)]
    for threshold in thresholds[:: 1 if num_perm < 100 else 2]:
        for weight in weights[: 5 if num_perm < 100 else 2]:
            found = []
            for module in (ours, theirs):
                try:
                    index = module.MinHashLSH(threshold, num_perm, weight)
                    found.append((index.b, index.r))
                except ValueError as error:
                    found.append(str(error))
            assert found[0] == found[1], (threshold, weight)


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 1.5},
        {"threshold": -0.1},
        {"threshold": 1.0},
        {"num_perm": 1},
        {"weights": (0.5, 0.6)},
        {"weights": (-0.5, 1.5)},
        {"params": (20, 20)},
        {"params": (1, 20)},
        {"params": 5},
        {"threshold": "high"},
    ],
)
def test_bad_parameters(options):
    with pytest.raises(Exception) as expected:
        theirs.MinHashLSH(**options)
    with pytest.raises(expected.type):
        ours.MinHashLSH(**options)


def test_refusals_say_what_is_wrong():
    index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    index.insert("a", SKETCHES[0])
    with pytest.raises(ValueError, match="already exists"):
        index.insert("a", SKETCHES[1])
    with pytest.raises(ValueError, match="does not exist"):
        index.remove("b")
    with pytest.raises(ValueError, match="length 16, got 3"):
        index.insert("b", Sketch(np.zeros(3, np.uint32)))
    with pytest.raises(ValueError, match="legacy"):
        index.insert("b", Sketch(np.zeros(NUM_PERM, np.uint32), "legacy"))
    with pytest.raises(ValueError, match="8 bytes"):
        index.insert("b", Sketch(np.zeros(NUM_PERM, np.uint64)))
    with pytest.raises(TypeError, match="float64"):
        index.insert("b", Sketch(np.zeros(NUM_PERM)))
    with pytest.raises(AttributeError, match="hashvalues"):
        index.insert("b", "x" * NUM_PERM)
    with pytest.raises(ValueError, match="different initialization"):
        index.merge(ours.MinHashLSH(num_perm=NUM_PERM, params=(2, 2)))
    with pytest.raises(ValueError, match="type"):
        index.merge(ours.MinHashLSHForest())
    assert list(index.keys) == ["a"]


def test_insert_many_and_query_many():
    rows = np.stack([sketch.hashvalues for sketch in SKETCHES])
    one_by_one = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    for key, sketch in enumerate(SKETCHES):
        one_by_one.insert(key, sketch)

    class Signatures:
        slots = rows

    for batch in (rows, np.asfortranarray(rows), Signatures(), SKETCHES, iter(SKETCHES)):
        index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
        index.insert_many(range(len(rows)), batch)
        assert index.query_many(rows) == [one_by_one.query(sketch) for sketch in SKETCHES]
    with pytest.raises(ValueError, match="already exists"):
        index.insert_many(["new", 3], rows[:2])
    with pytest.raises(ValueError, match="2 keys and 3 sketches"):
        index.insert_many(["x", "y"], rows[:3])
    with pytest.raises(ValueError, match="length 16, got 5"):
        index.query_many(rows[:, :5])
    with pytest.raises(ValueError, match="shape"):
        index.query_many(rows[0])


def test_pickles_and_copies():
    index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        restored = pickle.loads(pickle.dumps(index, protocol))
        assert restored.is_empty() and type(restored) is ours.MinHashLSH
    for key, sketch in enumerate(SKETCHES):
        index.insert(key, sketch)
    for key in range(0, 50, 2):
        index.remove(key)
    for restored in (pickle.loads(pickle.dumps(index)), copy.deepcopy(index), copy.copy(index)):
        assert restored.query_many(SKETCHES) == index.query_many(SKETCHES)
        restored.remove(1)
        assert 1 in index
    function, arguments, _ = index.__reduce__()
    state = list(arguments[2])
    state[-1] = state[-1][:-8]
    with pytest.raises(ValueError, match="damaged"):
        function(*arguments[:2], tuple(state))


def test_keys_with_python_equality():
    class Key:
        def __init__(self, name):
            self.name = name

        def __hash__(self):
            return 1

        def __eq__(self, other):
            # An index may be used while it compares keys.
            assert "other" not in index
            return isinstance(other, Key) and self.name == other.name

    index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    for name in range(20):
        index.insert(Key(name), SKETCHES[name])
    assert all(Key(name) in index for name in range(20)) and Key(20) not in index
    with pytest.raises(ValueError):
        index.insert(Key(3), SKETCHES[0])
    index.remove(Key(3))
    assert Key(3) not in index and len(index.keys) == 19

    class Broken:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            raise RuntimeError("no comparison")

    index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    index.insert(Broken(), SKETCHES[0])
    with pytest.raises(RuntimeError, match="no comparison"):
        index.insert(Broken(), SKETCHES[0])


def test_cycles_are_collected_and_keys_released():
    class Key:
        pass

    key = Key()
    key.lsh = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    key.lsh.insert(key, SKETCHES[0])
    key.forest = ours.MinHashLSHForest(num_perm=NUM_PERM)
    key.forest.add(key, SKETCHES[0])
    seen = weakref.ref(key)
    del key
    gc.collect()
    assert seen() is None
    index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    key = Key()
    index.insert(key, SKETCHES[0])
    seen = weakref.ref(key)
    index.remove(key)
    del key
    assert seen() is None


def test_threads_share_an_index():
    index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    sketches = random_sketches(5, 400, values=4)

    def work(first):
        for i in range(first, 400, 4):
            index.insert(("key", i), sketches[i])
            assert ("key", i) in index.query(sketches[i])
            if i % 3 == 0:
                index.remove(("key", i))

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(index.keys) == [("key", i) for i in range(400) if i % 3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_uses_the_index():
    index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS)
    index.insert("a", SKETCHES[0])
    child = os.fork()
    if child == 0:
        index.insert("b", SKETCHES[0])
        os._exit(0 if index.query(SKETCHES[0]) == ["a", "b"] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert index.query(SKETCHES[0]) == ["a"]


def test_other_storages_are_those_of_datasketch(monkeypatch):
    with pytest.raises(ValueError, match="Unknown storage type"):
        ours.MinHashLSH(storage_config={"type": "unknown"})
    created = []

    def storage(config, name):
        created.append(name)
        return theirs.storage.DictSetStorage(config)

    def keys(config, name):
        created.append(name)
        return theirs.storage.DictListStorage(config)

    with monkeypatch.context() as patched:
        patched.setattr(theirs.storage, "unordered_storage", storage)
        patched.setattr(theirs.storage, "ordered_storage", keys)
        config = {"type": "redis", "basename": b"name"}
        index = ours.MinHashLSH(num_perm=NUM_PERM, params=PARAMS, storage_config=config)
    assert type(index) is ours.MinHashLSH and index.prepickle and not index._is_native
    assert created == [*(b"name_bucket_" + bytes([0, band]) for band in range(4)), b"name_keys"]
    with index.insertion_session(buffer_size=3) as session:
        session.insert(("a", 1), SKETCHES[0])
    assert index.query(SKETCHES[0]) == [("a", 1)] and ("a", 1) in index
    assert index.buffer_size == index.keys.buffer_size == index.hashtables[0].buffer_size == 3
    with pytest.raises(ValueError, match="already exists"):
        index.insert(("a", 1), SKETCHES[1])
    index.remove(("a", 1))
    assert index.is_empty()
    monkeypatch.setitem(sys.modules, "datasketch", None)
    for index in (ours.MinHashLSH, ours.MinHashLSHEnsemble):
        with pytest.raises(ImportError, match="install datasketch"):
            index(storage_config={"type": "redis"})
    assert ours.MinHashLSH(storage_config={"type": "dict"}).is_empty()


# Random calls


def shown(result):
    """A result in a form that both packages share: values, dtypes and exceptions."""
    if isinstance(result, np.ndarray):
        return result.dtype.str, result.tolist()
    if isinstance(result, np.generic):
        return result.dtype.str, result.item()
    if isinstance(result, (list, tuple)):
        return [shown(each) for each in result]
    if isinstance(result, (set, frozenset)):
        return {repr(each) for each in result}
    return type(result).__name__, result


class Calls:
    """The same calls on indexes of both packages."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        options = rng.choice([{}, {}, {"prepickle": True}, {"hashfunc": first_byte}])
        self.lsh = [m.MinHashLSH(num_perm=NUM_PERM, params=PARAMS, **options) for m in (ours, theirs)]
        self.options = options
        # Keys that may have several sketches: datasketch leaves those after the first one behind when it removes them.
        self.repeated = set()
        shape = rng.choice([(16, 4), (16, 3), (15, 1), (16, 16)])
        self.forest = [m.MinHashLSHForest(*shape) for m in (ours, theirs)]
        self.new_ensemble()

    def new_ensemble(self):
        rng = self.rng
        arguments = {
            "threshold": rng.choice([0.0, 0.3, 0.5, 0.8, 1.0]),
            "num_perm": NUM_PERM,
            "num_part": rng.choice([1, 2, 5, 16]),
            "m": rng.choice([2, 4, 8]),
        }
        self.ensemble = [m.MinHashLSHEnsemble(**arguments) for m in (ours, theirs)]

    def both(self, what, action):
        """Runs one action per package and compares."""
        results = []
        for index in (0, 1):
            try:
                results.append(shown(action(index)))
            except Exception as error:  # every exception is compared
                results.append(type(error))
        assert results[0] == results[1], what

    def step(self):
        rng, modules = self.rng, (ours, theirs)
        lsh, forest, ensemble = self.lsh, self.forest, self.ensemble
        key, number, size = rng.choice(KEYS), rng.randrange(len(SKETCHES)), rng.randrange(1, 60)
        sketch = SKETCHES[number]
        if rng.random() < 0.05:
            sketch = rng.choice([Sketch(np.zeros(3, np.uint32)), 5, Sketch(sketch.hashvalues, "x")])
        k, b = rng.choice([-1, 0, 1, 3, 100]), rng.randrange(6)
        call = rng.choice(
            "insert insert insert repeat remove query query_b contains empty counts subset keys tables session deletion "
            "buffer merge pickle add add add index forest_query forest_values forest_contains forest_keys forest_pickle "
            "ensemble ensemble_index ensemble_query ensemble_query ensemble_contains ensemble_pickle".split()
        )
        if call == "insert":
            self.both(call, lambda i: lsh[i].insert(key, sketch))
        elif call == "repeat":
            self.repeated |= {key} if key in lsh[1] else set()
            self.both(call, lambda i: lsh[i].insert(key, sketch, check_duplication=False))
        elif call in ("remove", "deletion") and key in self.repeated:
            pass
        elif call == "remove":
            self.both(call, lambda i: lsh[i].remove(key))
        elif call == "query":
            self.both(call, lambda i: set(lsh[i].query(sketch)))
        elif call == "query_b":
            self.both(call, lambda i: set(lsh[i]._query_b(sketch, b)))
        elif call == "contains":
            self.both(call, lambda i: key in lsh[i])
        elif call == "empty":
            self.both(call, lambda i: (lsh[i].is_empty(), forest[i].is_empty(), ensemble[i].is_empty()))
        elif call == "counts":
            self.both(call, lambda i: lsh[i].get_counts())
        elif call == "subset":
            self.both(call, lambda i: lsh[i].get_subset_counts(*KEYS[:b]))
        elif call == "keys":
            self.both(call, lambda i: [(each, lsh[i].keys[each]) for each in lsh[i].keys])
        elif call == "tables":
            self.both(call, lambda i: [{H: set(map(repr, t[H])) for H in t} for t in lsh[i].hashtables])
        elif call == "session":
            with lsh[0].insertion_session() as mine, lsh[1].insertion_session() as other:
                self.both(call, lambda i: (mine, other)[i].insert(key, sketch))
        elif call == "deletion":
            with lsh[0].deletion_session() as mine, lsh[1].deletion_session() as other:
                self.both(call, lambda i: (mine, other)[i].remove(key))
        elif call == "buffer":
            self.both(call, lambda i: lsh[i].add_to_query_buffer(sketch))
            self.both(call, lambda i: set(lsh[i].collect_query_buffer()))
        elif call == "merge":
            params = rng.choice([PARAMS, PARAMS, PARAMS, (2, 4)])
            check = rng.random() < 0.5
            self.repeated |= {key} if key in lsh[1] else set()
            others = [m.MinHashLSH(num_perm=NUM_PERM, params=params, **self.options) for m in modules]
            for other in others:
                other.insert(key, SKETCHES[number])
            self.both(call, lambda i: lsh[i].merge(others[i], check_overlap=check))
        elif call == "pickle":
            self.lsh = [pickle.loads(pickle.dumps(each)) for each in lsh]
        elif call == "add":
            self.both(call, lambda i: forest[i].add(forest_key(key, number), sketch))
        elif call == "index":
            self.both(call, lambda i: forest[i].index())
        elif call == "forest_query":
            self.both(call, lambda i: set(forest[i].query(sketch, k)))
        elif call == "forest_values":
            self.both(call, lambda i: forest[i].get_minhash_hashvalues(forest_key(key, number)))
        elif call == "forest_contains":
            self.both(call, lambda i: forest_key(key, number) in forest[i])
        elif call == "forest_keys":
            self.both(call, lambda i: dict(forest[i].keys))
            self.both(call, lambda i: forest[i].sorted_hashtables)
        elif call == "forest_pickle":
            self.forest = [pickle.loads(pickle.dumps(each)) for each in forest]
        elif call == "ensemble":
            self.new_ensemble()
        elif call == "ensemble_index":
            count = rng.choice([0, 1, 30])
            sizes = [rng.randrange(0 if rng.random() < 0.02 else 1, 60) for _ in range(count)]
            entries = [(each, SKETCHES[each], size) for each, size in enumerate(sizes)]
            make = rng.choice([list, iter])
            self.both(call, lambda i: ensemble[i].index(make(list(entries))))
            self.both(call, lambda i: (ensemble[i].params, ensemble[i].lowers, ensemble[i].uppers))
        elif call == "ensemble_query":
            self.both(call, lambda i: set(ensemble[i].query(sketch, size)))
        elif call == "ensemble_contains":
            self.both(call, lambda i: number in ensemble[i])
        else:
            self.ensemble = [pickle.loads(pickle.dumps(each)) for each in ensemble]


def forest_key(key, number):
    """Keys of a forest, which are never removed: more than of the other indexes."""
    return key if number < len(KEYS) else number


@pytest.mark.filterwarnings("ignore")
def test_random_calls_agree_with_datasketch():
    for seed in range(10):
        calls = Calls(seed)
        for _ in range(int(os.environ.get("SIMGPU_TEST_CALLS", "1000")) // 10):
            calls.step()


# Forest


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_forest_finds_what_datasketch_finds(data):
    shape = data.draw(st.sampled_from([(16, 4), (16, 3), (16, 16), (15, 1)]))
    mine, other = ours.MinHashLSHForest(*shape), theirs.MinHashLSHForest(*shape)
    for number in data.draw(st.lists(st.one_of(sketch_numbers, st.just("index")), max_size=60)):
        if number == "index":
            mine.index()
            other.index()
            continue
        key = KEYS[number] if number < len(KEYS) else number
        results = [outcome(lambda: index.add(key, SKETCHES[number])) for index in (mine, other)]
        assert results[0] == results[1]
    assert mine.is_empty() == other.is_empty()
    for forest in (mine, pickle.loads(pickle.dumps(mine))):
        assert dict(forest.keys) == other.keys
        assert [dict(table) for table in forest.hashtables] == other.hashtables
        assert forest.sorted_hashtables == other.sorted_hashtables
        for number in range(0, len(SKETCHES), 5):
            for k in (0, 1, 2, 5, 100):
                results = [
                    outcome(lambda: index.query(SKETCHES[number], k)) for index in (forest, other)
                ]
                assert results[0] == results[1]


def test_forest_returns_hash_values():
    for dtype in (np.uint32, np.uint64):
        mine, other = ours.MinHashLSHForest(15, 4), theirs.MinHashLSHForest(15, 4)
        sketch = random_sketches(4, 1, dtype=dtype)[0]
        for forest in (mine, other):
            forest.add("a", sketch)
        values, expected = (forest.get_minhash_hashvalues("a") for forest in (mine, other))
        assert values.dtype == expected.dtype and np.array_equal(values, expected)
        with pytest.raises(KeyError, match="missing"):
            mine.get_minhash_hashvalues("missing")


@pytest.mark.parametrize("arguments", [(0, 8), (8, 0), (4, 8), (-1, -1)])
def test_forest_refuses_bad_shapes(arguments):
    with pytest.raises(ValueError):
        theirs.MinHashLSHForest(*arguments)
    with pytest.raises(ValueError):
        ours.MinHashLSHForest(*arguments)


# Ensemble


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=60), st.sampled_from([1, 2, 3, 5, 16]))
def test_ensemble_finds_what_datasketch_finds(sizes, num_part):
    options = {"threshold": 0.5, "num_perm": NUM_PERM, "num_part": num_part, "m": 4}
    mine, other = (m.MinHashLSHEnsemble(**options) for m in (ours, theirs))
    entries = [(i, SKETCHES[i], size) for i, size in enumerate(sizes)]
    for index, given_entries in ((mine, list(entries)), (other, iter(entries))):
        index.index(given_entries)
        with pytest.raises(ValueError):
            index.index(entries)
    assert mine.params.tolist() == other.params.tolist()
    assert (mine.lowers, mine.uppers) == (other.lowers, other.uppers)
    assert 0 in mine and -1 not in mine and not mine.is_empty()
    for index in (mine, pickle.loads(pickle.dumps(mine))):
        for number in range(0, len(SKETCHES), 7):
            for size in (1, 10, 50):
                results = [set(i.query(SKETCHES[number], size)) for i in (index, other)]
                assert results[0] == results[1]


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.8, 1.0])
def test_ensemble_bands_are_those_of_datasketch(threshold):
    for m, weights in ((2, (0.5, 0.5)), (8, (0.2, 0.8))):
        mine, other = (
            module.MinHashLSHEnsemble(threshold, 64, num_part=1, m=m, weights=weights)
            for module in (ours, theirs)
        )
        assert mine.params.tolist() == other.params.tolist()


def test_ensemble_partitions_are_those_of_datasketch():
    from datasketch.lshensemble_partition import optimal_partitions
    from simgpu._simgpu import optimal_partitions as ends_of

    draws = np.random.default_rng(1)
    for _ in range(60):
        count = int(draws.integers(1, 60))
        sizes = np.sort(draws.choice(np.arange(1, 400), count, replace=False))
        counts = draws.integers(1, 30, count)
        parts = int(draws.integers(1, 20))
        ends = ends_of(sizes.astype(float), counts.astype(float), min(parts, count))
        uppers = [int(upper) for _, upper in optimal_partitions(sizes, counts, parts)]
        assert [int(sizes[end]) for end in ends] == uppers


@pytest.mark.parametrize(
    "options",
    [{"threshold": 2}, {"num_perm": 1}, {"num_part": 0}, {"m": 1}, {"m": 500}, {"weights": (1, 1)}],
)
def test_ensemble_refuses_bad_parameters(options):
    with pytest.raises(ValueError):
        theirs.MinHashLSHEnsemble(**options)
    with pytest.raises(ValueError):
        ours.MinHashLSHEnsemble(**options)
    index = ours.MinHashLSHEnsemble(num_perm=NUM_PERM, num_part=2, m=2)
    with pytest.raises(ValueError, match="positive"):
        index.index((key, SKETCHES[0], 0) for key in "a")
    with pytest.raises(ValueError, match="empty"):
        index.index([])
