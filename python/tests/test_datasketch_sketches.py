"""The sketches of simgpu.datasketch beside those of datasketch 2.0, and what only simgpu has."""

import copy
import gc
import hashlib
import multiprocessing
import os
import pickle
import random
import struct
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simgpu.datasketch as ours

theirs = pytest.importorskip("datasketch", minversion="2.0")

SCHEMES = ["affine32", "affine64", "legacy"]
refuses_wide = pytest.mark.skipif(
    np.__version__.startswith("1."), reason="with NumPy before 2, datasketch wraps integers that simgpu refuses"
)


def outcome(action):
    """What an action returns or raises, in a form that both packages share."""
    try:
        return shown(action())
    except Exception as error:  # every exception is compared
        return type(error)


def shown(value):
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist()
    if isinstance(value, (ours.bBitMinHash, theirs.bBitMinHash)):
        return "bBit", value.b, value.r, value.seed, value.scheme, shown(value.hashvalues)
    if isinstance(value, (ours.LeanMinHash, theirs.LeanMinHash)):
        return "lean", value.seed, value.scheme, shown(value.hashvalues), hash(value)
    if isinstance(value, (ours.MinHash, theirs.MinHash)):
        return "full", value.seed, value.scheme, shown(value.hashvalues)
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    if isinstance(value, float):
        return "float", struct.pack("<d", value)
    if isinstance(value, (bytearray, bytes)):
        return bytes(value)
    return value


def length_hash(token):
    return len(token) * 0x9E3779B1 % 2**32


def wide_hash(token):
    return int.from_bytes(hashlib.blake2b(token, digest_size=8).digest(), "little")


def signed_hash(token):
    return len(token) - 3


def numpy_hash(token):
    return np.uint32(len(token))


class Calls:
    """The same calls on sketches of both packages."""

    def __init__(self, rng):
        self.rng = rng
        self.pairs = [self.make() for _ in range(4)]

    def make(self):
        """A pair of equal sketches, or the exceptions."""
        rng = self.rng
        while True:
            arguments = {
                "num_perm": rng.choice([1, 7, 16, 16, 16, 16, 130]),
                "seed": rng.choice([1, 1, 1, 1, 0, 42, 2**32 - 1]),
                "scheme": rng.choice([*SCHEMES, *SCHEMES, None]),
                "hashfunc": rng.choice(
                    [None, None, None, length_hash, wide_hash, signed_hash, numpy_hash]
                ),
            }
            if rng.random() < 0.6:
                arguments.update(num_perm=16, seed=1)
            if rng.random() < 0.3:
                # One wrong argument: which of several is refused first is not compared.
                wrong = rng.choice(
                    [
                        ("num_perm", [0, -3, 2.5, "x", 2**70]),
                        ("seed", [2**32, -1, "seed", 1.5]),
                        ("scheme", ["affine", 3]),
                        ("hashfunc", [5]),
                    ]
                )
                arguments[wrong[0]] = rng.choice(wrong[1])
            made = [outcome_or_value(lambda m=m: m.MinHash(**arguments)) for m in (ours, theirs)]
            assert shown(made[0]) == shown(made[1]), arguments
            if not isinstance(made[0], type):
                return tuple(made)

    def token(self):
        rng = self.rng
        word = str(rng.randrange(50)).encode() * rng.randrange(1, 20)
        return rng.choice([word] * 8 + [bytearray(word), memoryview(word), np.bytes_(word), "s", 7])

    def tokens(self):
        tokens = [self.token() for _ in range(self.rng.choice([0, 1, 5, 40]))]
        return self.rng.choice([list, list, tuple, iter, lambda t: (x for x in t)]), tokens

    def both(self, what, action):
        """Runs one action per package and compares."""
        results = [outcome_or_value(lambda i=i: action(i)) for i in (0, 1)]
        assert shown(results[0]) == shown(results[1]), what
        return results

    def step(self):
        rng, modules = self.rng, (ours, theirs)
        where = rng.randrange(len(self.pairs))
        pair, other = self.pairs[where], rng.choice(self.pairs)
        call = rng.choice(
            "update update update_batch update_batch jaccard merge union count digest is_empty "
            "clear copy eq len hashvalues set_hashvalues permutations init_from lean bytes bbit "
            "bulk generator pickle replace foreign".split()
        )
        if call == "update":
            token = self.token()
            self.both(call, lambda i: pair[i].update(token))
        elif call == "update_batch":
            make, tokens = self.tokens()
            self.both(call, lambda i: pair[i].update_batch(make(tokens)))
        elif call in ("jaccard", "merge"):
            self.both(call, lambda i: getattr(pair[i], call)(other[i]))
        elif call == "union":
            several = [rng.choice(self.pairs) for _ in range(rng.randrange(4))]
            self.both(call, lambda i: modules[i].MinHash.union(*(each[i] for each in several)))
        elif call in ("count", "digest", "is_empty", "clear"):
            self.both(call, lambda i: getattr(pair[i], call)())
        elif call == "copy":
            self.pairs[where] = tuple(self.both(call, lambda i: pair[i].copy()))
        elif call == "eq":
            self.both(call, lambda i: (pair[i] == other[i], pair[i] != other[i]))
        elif call == "len":
            self.both(call, lambda i: (len(pair[i]), pair[i].num_perm, pair[i].seed))
        elif call in ("hashvalues", "permutations"):
            self.both(call, lambda i: np.array(getattr(pair[i], call)))
        elif call == "set_hashvalues":
            values = pair[1].hashvalues // 2
            self.both(call, lambda i: setattr(pair[i], "hashvalues", values))
        elif call == "init_from":
            values = rng.choice([pair[1].hashvalues, pair[1].digest().tolist(), [2**40], [-1], []])
            given = rng.choice([None, pair[1].permutations, other[1].permutations])
            arguments = {"hashvalues": values, "permutations": given, "scheme": pair[1].scheme}
            self.both(call, lambda i: modules[i].MinHash(seed=pair[1].seed, **arguments))
        elif call == "lean":
            leans = self.both(call, lambda i: modules[i].LeanMinHash(pair[i]))
            self.both(call, lambda i: (leans[i].jaccard(other[i]), leans[i].count()))
            self.both(call, lambda i: leans[i].update(b"x"))
            self.both(call, lambda i: modules[i].LeanMinHash.union(leans[i], other[i]))
        elif call == "bytes":
            order = rng.choice(["@", "=", "<", ">", "!", "~"])
            leans = [m.LeanMinHash(sketch) for m, sketch in zip(modules, pair)]
            size = self.both(call, lambda i: leans[i].bytesize(order))[0]
            if isinstance(size, int):
                buffers = [bytearray(b"\xff" * (size + rng.choice([0, 5]))) for _ in modules]
                buffers[1][:] = buffers[0]
                self.both(call, lambda i: leans[i].serialize(buffers[i], order))
                assert buffers[0] == buffers[1]
                cut = rng.choice([None, None, 3, 12, size - 1])
                self.both(
                    call, lambda i: modules[i].LeanMinHash.deserialize(buffers[i][:cut], order)
                )
        elif call == "bbit":
            b, r = (
                rng.choice([0, 1, 2, 3, 4, 7, 9, 16, 17, 32, 33, -1]),
                rng.choice([0.0, 0.1, 1.0, 2.0]),
            )
            made = self.both(call, lambda i: modules[i].bBitMinHash(pair[i], b, r))
            others = self.both(call, lambda i: modules[i].bBitMinHash(other[i], b, 0.0))
            self.both(call, lambda i: (made[i].bytesize(), made[i].__getstate__()))
            if len(pair[1]) == len(other[1]):
                self.both(call, lambda i: made[i].jaccard(others[i]))
        elif call in ("bulk", "generator"):
            sets = [[self.token() for _ in range(3)] for _ in range(3)]
            arguments = {"num_perm": rng.choice([8, 0]), "scheme": rng.choice(SCHEMES)}
            self.both(call, lambda i: list(getattr(modules[i].MinHash, call)(sets, **arguments)))
        elif call == "pickle":
            self.pairs[where] = tuple(
                self.both(call, lambda i: pickle.loads(pickle.dumps(pair[i])))
            )
        elif call == "foreign":
            # Either package takes the other's sketches.
            self.both(call, lambda i: pair[i].jaccard(other[1 - i]))
            self.both(call, lambda i: pair[i].merge(other[1 - i]))
            assert shown(ours.MinHash.from_datasketch(pair[1])) == shown(pair[0])
        else:
            self.pairs[where] = self.make()
        assert shown(pair[0]) == shown(pair[1]), call


def outcome_or_value(action):
    try:
        return action()
    except Exception as error:  # compared by type
        return type(error)


@refuses_wide
@pytest.mark.filterwarnings("ignore")
def test_random_calls_agree_with_datasketch():
    for seed in range(10):
        calls = Calls(random.Random(seed))
        for _ in range(int(os.environ.get("SIMGPU_TEST_CALLS", "1000")) // 10):
            calls.step()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.binary(max_size=150), max_size=300),
    st.sampled_from(SCHEMES),
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
)
def test_any_tokens_sign_as_in_datasketch(tokens, scheme, seed, num_perm):
    pair = [m.MinHash(num_perm=num_perm, seed=seed, scheme=scheme) for m in (ours, theirs)]
    for sketch in pair:
        sketch.update_batch(tokens)
        sketch.update(b"one more")
    assert shown(pair[0]) == shown(pair[1])
    assert shown(pair[0].count()) == shown(float(pair[1].count()))


@given(st.binary(max_size=300))
def test_hashes_equal_hashlib(data):
    digest = hashlib.sha1(data).digest()
    assert ours.sha1_hash32(data) == int.from_bytes(digest[:4], "little")
    assert ours.sha1_hash64(bytearray(data)) == int.from_bytes(digest[:8], "little")


@pytest.mark.parametrize("token", ["text", 5, None, 1.5, memoryview(b"abcd")[::2]])
def test_refusals_are_those_of_hashlib(token):
    with pytest.raises(Exception) as expected:
        theirs.MinHash().update(token)
    for action in (ours.MinHash().update, ours.sha1_hash32, ours.sha1_hash64):
        with pytest.raises(type(expected.value)) as raised:
            action(token)
        assert str(raised.value) == str(expected.value)


def test_a_refused_batch_changes_nothing():
    sketch = ours.MinHash()
    with pytest.raises(TypeError):
        sketch.update_batch([b"a"] * 1000 + ["text"])
    assert sketch.is_empty()


@refuses_wide
@pytest.mark.parametrize("scheme", SCHEMES)
def test_xxhash_is_recognised_and_equal(scheme):
    xxhash = pytest.importorskip("xxhash")
    for function in (xxhash.xxh32_intdigest, xxhash.xxh64_intdigest):
        for tokens in ([b"a", b"bc"], ["text", b"bytes"]):
            pair = [m.MinHash(scheme=scheme, hashfunc=function) for m in (ours, theirs)]
            assert outcome(lambda: pair[0].update_batch(tokens)) == outcome(
                lambda: pair[1].update_batch(tokens)
            )
            assert shown(pair[0]) == shown(pair[1])
            assert pair[0].hashfunc is function


def test_datasketch_hash_functions_are_accepted():
    sketch = ours.MinHash(hashfunc=theirs.sha1_hash32)
    sketch.update(b"a")
    assert sketch.hashfunc is theirs.sha1_hash32
    default = ours.MinHash()
    default.update(b"a")
    assert default == sketch and default.hashfunc is ours.sha1_hash32


def test_a_hash_function_may_use_its_sketch():
    sketch = ours.MinHash(num_perm=8, hashfunc=lambda token: int(sketch.is_empty()))
    sketch.update(b"a")
    sketch.update_batch([b"a", b"b"])
    other = theirs.MinHash(num_perm=8, hashfunc=lambda token: token)
    other.update_batch([1, 0])
    assert shown(sketch) == shown(other)


def test_hash_of_wrong_width_names_the_remedy():
    for hashfunc in (ours.sha1_hash64, wide_hash, signed_hash):
        with pytest.raises(ValueError, match="affine64"):
            ours.MinHash(hashfunc=hashfunc).update(b"a")


@refuses_wide
def test_messages_are_those_of_datasketch():
    def messages(module):
        m, wide = module.MinHash(num_perm=4), module.MinHash(num_perm=4, scheme="affine64")
        actions = [
            lambda: module.MinHash(scheme="other"),
            lambda: module.MinHash(hashvalues=[1]),
            lambda: module.MinHash(num_perm=0),
            lambda: module.MinHash(seed=-1),
            lambda: module.MinHash(hashfunc=3),
            lambda: module.MinHash(hashvalues=[2**40], scheme="affine32"),
            lambda: module.MinHash(hashvalues=np.array([2**40]), scheme="affine32"),
            lambda: module.MinHash(hashvalues=[1, 2], permutations=([1], [1]), scheme="affine32"),
            lambda: module.MinHash(2, permutations=([2, 2], [1, 1]), scheme="affine32"),
            lambda: module.MinHash(hashfunc=wide_hash).update(b"a"),
            lambda: m.jaccard(wide),
            lambda: m.jaccard(module.MinHash(num_perm=4, seed=2)),
            lambda: m.merge(module.MinHash(num_perm=5)),
            lambda: m.jaccard(5),
            lambda: module.MinHash.union(m),
            lambda: module.MinHash.union(m, wide),
            lambda: module.LeanMinHash(),
            lambda: module.LeanMinHash(seed=1, hashvalues=[1]),
            lambda: module.LeanMinHash(seed=1, hashvalues=[], scheme="affine32"),
            lambda: module.LeanMinHash(m, scheme="legacy"),
            lambda: module.LeanMinHash.union(module.LeanMinHash(m), module.LeanMinHash(wide)),
            lambda: module.LeanMinHash(m).update(b"a"),
            lambda: module.LeanMinHash(m).serialize(bytearray(3)),
            lambda: module.LeanMinHash.deserialize(b"abc"),
            lambda: module.LeanMinHash.deserialize(struct.pack("<qib", 1, -1, 9), "<"),
            lambda: module.bBitMinHash(m, 33),
            lambda: module.bBitMinHash(m, 1, 1.5),
            lambda: module.bBitMinHash(m, 1).jaccard(module.bBitMinHash(m, 2)),
            lambda: module.bBitMinHash(m).jaccard(module.bBitMinHash(wide)),
        ]
        for action in actions:
            with pytest.raises(Exception) as raised:
                action()
            yield type(raised.value), str(raised.value)

    assert list(messages(ours)) == list(messages(theirs))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_own_permutations_are_used(scheme):
    rng = np.random.default_rng(5)
    bound = 2**32 if scheme == "affine32" else 2**60
    dtype = np.uint32 if scheme == "affine32" else np.uint64
    rows = (
        (rng.integers(0, bound // 2, 40) * 2 + 1).astype(dtype),
        rng.integers(0, bound, 40).astype(dtype),
    )
    pair = [m.MinHash(40, permutations=rows, scheme=scheme) for m in (ours, theirs)]
    for sketch in pair:
        sketch.update_batch([b"a", b"b"])
        sketch.update(b"c")
    assert shown(pair[0]) == shown(pair[1])
    assert shown(pair[0].permutations) == shown(np.array(rows))
    restored = pickle.loads(pickle.dumps(pair[0]))
    restored.update(b"d")
    pair[1].update(b"d")
    assert shown(restored) == shown(pair[1])


def test_permutations_are_shared_and_read_only():
    a, b = ours.MinHash(), ours.MinHash()
    assert a.permutations is b.permutations is a.copy().permutations
    given = ours.MinHash(permutations=theirs.MinHash().permutations, scheme="affine32")
    assert given.permutations is a.permutations
    with pytest.raises(ValueError, match="read-only"):
        a.permutations[0] = 0
    digest = a.digest()
    digest[0] = 0
    assert a.is_empty()


def test_hashvalues_do_not_change_later():
    sketch = ours.MinHash()
    before = sketch.hashvalues
    sketch.update(b"a")
    assert (before == 2**32 - 1).all()


@pytest.mark.parametrize("num_perm", [16384, 20000])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_many_permutations(num_perm, scheme):
    pair = [m.MinHash(num_perm, scheme=scheme) for m in (ours, theirs)]
    for sketch in pair:
        sketch.update_batch([b"a", b"b"])
    assert shown(pair[0]) == shown(pair[1])


def test_legacy_takes_hashes_of_64_bits():
    pair = [m.MinHash(50, scheme="legacy", hashfunc=wide_hash) for m in (ours, theirs)]
    for sketch in pair:
        sketch.update_batch([b"a", b"b", b"c"])
    assert shown(pair[0]) == shown(pair[1])


def test_gpu_modes():
    sketch = ours.MinHash(gpu_mode="detect")
    sketch.update_batch([b"a"])
    assert sketch._gpu_mode == sketch.copy()._gpu_mode == sketch.gpu_mode == "detect"
    always = ours.MinHash(gpu_mode="always")
    always.update(b"a")
    always.update_batch([])
    with pytest.raises(RuntimeError, match="GPU mode 'always' requested"):
        always.update_batch([b"a"])
    with pytest.raises(ValueError, match="gpu_mode"):
        ours.MinHash(gpu_mode="sometimes")


def test_hashobj_warns_at_the_caller():
    with pytest.warns(DeprecationWarning, match="hashobj is deprecated") as warned:
        ours.MinHash(hashobj=hashlib.sha1)
    assert warned[0].filename == __file__


def test_sketches_are_unhashable_but_lean_ones_are():
    for sketch in (ours.MinHash(), ours.bBitMinHash(ours.MinHash())):
        with pytest.raises(TypeError, match="unhashable"):
            hash(sketch)
    lean = ours.LeanMinHash(ours.MinHash())
    assert {lean: 1}[lean.copy()] == 1
    assert isinstance(lean, ours.MinHash) and lean != ours.MinHash()
    assert not hasattr(lean, "permutations") and not hasattr(lean, "hashfunc")


def made(scheme):
    sketch = ours.MinHash(num_perm=128, seed=7, scheme=scheme, gpu_mode="detect")
    sketch.update_batch([b"a", b"b"])
    return sketch


def samples():
    sketch = made("affine32")
    yield from map(made, SCHEMES)
    yield ours.LeanMinHash(sketch)
    yield ours.bBitMinHash(sketch, 3, 0.25)
    yield ours.MinHash(hashfunc=length_hash)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_restore_everything(protocol):
    for sketch in samples():
        for restored in (
            pickle.loads(pickle.dumps(sketch, protocol)),
            copy.copy(sketch),
            copy.deepcopy(sketch),
        ):
            assert restored == sketch and type(restored) is type(sketch)
            assert shown(restored) == shown(sketch)
            if hasattr(sketch, "gpu_mode"):
                assert restored.gpu_mode == sketch.gpu_mode
                restored.update(b"c")
                assert restored != sketch


def test_a_seed_assigned_later_keeps_the_permutations():
    sketch = made("affine32")
    sketch.seed = 8
    restored = pickle.loads(pickle.dumps(sketch))
    assert restored.seed == 8
    assert shown(restored.permutations) == shown(made("affine32").permutations)


def test_a_pickle_is_small():
    assert len(pickle.dumps(ours.MinHash())) <= 600


def test_attributes_and_subclasses_are_pickled():
    sketch = Named("a name")
    sketch.update(b"a")
    restored = pickle.loads(pickle.dumps(sketch))
    assert type(restored) is Named and restored.name == "a name" and restored == sketch
    plain = ours.MinHash()
    plain.note = [1]
    assert pickle.loads(pickle.dumps(plain)).note == [1]
    assert weakref.ref(plain)() is plain


class Named(ours.MinHash):
    """A subclass with arguments of its own."""

    def __init__(self, name):
        super().__init__(num_perm=32, scheme="affine64")
        self.name = name


def test_sketches_with_cycles_are_collected():
    sketch = ours.MinHash()
    gone = weakref.ref(sketch)
    sketch.itself = sketch
    del sketch
    gc.collect()
    assert gone() is None


def test_damaged_states_are_refused():
    sketch = made("affine32")
    restore, (state, *_) = sketch.__reduce__()
    for damaged in (b"", state[:5], state[:-1], b"\2" + state[1:], state[:1] + b"\7" + state[2:]):
        with pytest.raises(ValueError):
            restore(damaged)
    for full in (ours.LeanMinHash(sketch), ours.bBitMinHash(sketch, 3)):
        state = bytes(full.__getstate__())
        for damaged in (b"", state[:5], state[:-1]):
            with pytest.raises(struct.error):
                full.__setstate__(damaged)
        assert bytes(full.__getstate__()) == state


def test_states_equal_datasketchs():
    for scheme in SCHEMES:
        pair = [m.MinHash(num_perm=77, seed=3, scheme=scheme) for m in (ours, theirs)]
        for sketch in pair:
            sketch.update_batch([b"a", b"b"])
        leans = [m.LeanMinHash(sketch) for m, sketch in zip((ours, theirs), pair)]
        assert leans[0].__getstate__() == leans[1].__getstate__()
        assert type(leans[0].__getstate__()) is bytearray
        for b in range(33):
            bbits = [m.bBitMinHash(sketch, b, 0.5) for m, sketch in zip((ours, theirs), pair)]
            assert bbits[0].__getstate__() == bbits[1].__getstate__()
            restored = ours.bBitMinHash.__new__(ours.bBitMinHash)
            restored.__setstate__(bbits[1].__getstate__())
            assert restored == bbits[0]


@pytest.mark.parametrize(
    "wrap",
    [
        bytes,
        bytearray,
        memoryview,
        lambda b: np.frombuffer(b, np.uint8),
        lambda b: b + bytes(1 << 15),
    ],
)
def test_lean_sketches_are_read_from_any_buffer(wrap):
    lean = ours.LeanMinHash(made("affine64"))
    buffer = bytearray(lean.bytesize("<"))
    lean.serialize(memoryview(buffer), "<")
    assert ours.LeanMinHash.deserialize(wrap(buffer), "<") == lean
    with pytest.raises(TypeError):
        lean.serialize(bytes(buffer), "<")


def test_datasketchs_indexes_take_sketches():
    sets = [[b"%d" % i for i in range(k, k + 50)] for k in range(0, 200, 5)]
    answers = []
    for module in (ours, theirs):
        sketches = module.MinHash.bulk(sets, num_perm=64)
        lsh = theirs.MinHashLSH(threshold=0.5, num_perm=64)
        forest = theirs.MinHashLSHForest(num_perm=64)
        for key, sketch in enumerate(sketches):
            lsh.insert(key, sketch)
            forest.add(key, sketch)
        forest.index()
        answers.append([(sorted(lsh.query(s)), sorted(forest.query(s, 3))) for s in sketches])
    assert answers[0] == answers[1]


def restored_in_child(pickled, queue):
    sketch = pickle.loads(pickled)
    sketch.update(b"in the child")
    queue.put(pickle.dumps(sketch))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pickles_cross_processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    sketch = made("affine32")
    ours.MinHash.bulk_texts(
        ["a b c d e f"] * 10
    )  # starts the pool, which a forked child must not wait for
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=restored_in_child, args=(pickle.dumps(sketch), queue))
    child.start()
    restored = pickle.loads(queue.get(timeout=30))
    child.join(30)
    sketch.update(b"in the child")
    assert restored == sketch


def shingles(text, size):
    words = text.split()
    return {" ".join(words[i : i + size]).encode() for i in range(max(1, len(words) - size + 1))}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_texts_are_sets_of_shingles(scheme):
    text = "the quick brown fox jumps over the lazy dog"
    expected = theirs.MinHash(scheme=scheme)
    expected.update_batch(shingles(text, 5))
    sketch = ours.MinHash(scheme=scheme)
    sketch.update_text(text)
    assert shown(sketch) == shown(expected)
    for bulk in (ours.MinHash.bulk_texts([text, "", text], scheme=scheme, threads=2),):
        assert [shown(each) for each in bulk[::2]] == [shown(expected)] * 2
        assert bulk[1].is_empty()


def test_texts_with_other_shingles_hashes_and_permutations():
    xxhash = pytest.importorskip("xxhash")
    rows = theirs.MinHash(16, seed=9).permutations
    arguments = {
        "num_perm": 16,
        "hashfunc": xxhash.xxh32_intdigest,
        "permutations": rows,
        "scheme": "affine32",
    }
    text = "abcdefghijklmnop"
    expected = theirs.MinHash(**arguments)
    expected.update_batch([text[i : i + 9].encode() for i in range(len(text) - 8)])
    (sketch,) = ours.MinHash.bulk_texts([text], "chars", **arguments)
    assert shown(sketch) == shown(expected)


def test_texts_refuse_what_they_cannot_hash():
    with pytest.raises(ValueError, match="hashfunc"):
        ours.MinHash(hashfunc=length_hash).update_text("a text")
    with pytest.raises(TypeError, match="list of strings"):
        ours.MinHash.bulk_texts("a text")
    with pytest.raises(TypeError, match="int"):
        ours.MinHash.bulk_texts(["a text", 5])
    with pytest.raises(ValueError, match="words"):
        ours.MinHash().update_text("a text", "sentences")
    with pytest.raises(TypeError, match="Shingling"):
        ours.MinHash().update_text("a text", 5)


def test_progress_can_stop_texts():
    from simgpu import StoppedError

    with pytest.raises(StoppedError):
        ours.MinHash.bulk_texts(
            ["a b c d e f g h " * 200] * 40_000, progress=lambda *_: False, threads=1
        )


SINGLE_THREADED = """
import sys, os
from simgpu.datasketch import MinHash, LeanMinHash
assert "numpy" not in sys.modules
m = MinHash()
m.update(b"a"); m.update_batch([b"b"] * 5000); m.update_text("a b c d e f " * 1000)
m.jaccard(m.copy()); m.merge(m.copy()); LeanMinHash(m)
assert "numpy" not in sys.modules
if os.path.isdir("/proc/self/task"):
    assert len(os.listdir("/proc/self/task")) == 1
"""


def test_one_sketch_needs_neither_threads_nor_numpy():
    subprocess.run([sys.executable, "-c", SINGLE_THREADED], check=True, env={**os.environ})


def test_threads_share_sketches():
    shared = ours.MinHash()

    def work(offset):
        for i in range(300):
            shared.update(b"%d" % (offset + i))

    threads = [threading.Thread(target=work, args=(300 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = theirs.MinHash()
    expected.update_batch([b"%d" % i for i in range(1200)])
    assert shown(shared) == shown(expected)


def test_other_names_are_datasketchs():
    assert ours.__all__ == theirs.__all__
    assert ours.HyperLogLog is theirs.HyperLogLog
    assert ours.hnsw.HNSW is theirs.HNSW
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        ours.Nothing


def test_missing_datasketch_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(ImportError, match="pip install datasketch"):
        ours.HNSW
