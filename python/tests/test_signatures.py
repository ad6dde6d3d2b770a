import itertools
import math
import pickle

import numpy as np
import pytest
from corpora import corpus, run_command, write_records

import simgpu
from simgpu import Scheme, Signatures, Signer

TEXTS = corpus(60)


def signed(name="affine32", **options):
    return Signer(name, **options).sign(TEXTS)


def test_slots_are_read_only_and_not_copied():
    signatures = signed()
    slots = signatures.slots
    assert np.shares_memory(slots, signatures.slots) and np.shares_memory(slots, signatures)
    with pytest.raises(ValueError):
        slots[0, 0] = 1
    with pytest.raises(ValueError):
        slots.flags.writeable = True
    expected = slots.copy()
    del signatures
    np.testing.assert_array_equal(slots, expected)


def test_numpy_takes_signatures():
    signatures = signed()
    assert np.asarray(signatures).shape == signatures.shape == (60, 128)
    assert np.asarray(signatures, dtype=np.float64).dtype == np.float64
    copy = np.array(signatures)
    assert not np.shares_memory(copy, signatures.slots)


def test_indexing_is_that_of_the_matrix():
    signatures = signed()
    slots = signatures.slots
    assert len(signatures) == 60
    np.testing.assert_array_equal(signatures[-1], slots[-1])
    np.testing.assert_array_equal(np.stack(list(signatures)), slots)
    mask = np.arange(60) % 3 == 0
    for index in [
        slice(5, 20),
        slice(None, None, -2),
        slice(50, 1000),
        [3, 1, 3],
        mask,
        slice(9, 2),
    ]:
        part = signatures[index]
        assert isinstance(part, Signatures) and part.scheme == signatures.scheme
        np.testing.assert_array_equal(part.slots, slots[index])
    assert np.shares_memory(signatures[5:20].slots, slots)
    for index in [60, -61]:
        with pytest.raises(IndexError):
            signatures[index]
    with pytest.raises((TypeError, IndexError)):
        signatures["a"]
    with pytest.raises(TypeError):
        signatures[:, :5]


def test_equality_and_pickles():
    for name in Scheme.names():
        signatures = signed(name, num_perm=20)
        same = pickle.loads(pickle.dumps(signatures))
        assert same == signatures and same.scheme == signatures.scheme
        assert signatures != signed(name, num_perm=20, seed=5)
        assert signatures != signatures[:-1] and signatures != 5
    with pytest.raises(TypeError):
        hash(signatures)


@pytest.mark.parametrize("name", ["affine32", "affine64", "nemo"])
def test_estimates_are_shares_of_equal_slots(name):
    signatures = signed(name)
    slots = signatures.slots
    expected = (slots[:, None] == slots[None]).mean(axis=2)
    np.testing.assert_allclose(signatures.matrix(), expected)
    np.testing.assert_allclose(signatures[:7].matrix(signatures[3:]), expected[:7, 3:])
    large = Signatures.from_array(np.tile(slots, (3, 1)), signatures.scheme)
    np.testing.assert_allclose(large.matrix(), np.tile(expected, (3, 3)))
    for i, j in [(0, 1), (14, 3), (-1, -2), (5, 5)]:
        assert signatures.estimate(i, j) == pytest.approx(expected[i, j])
    with pytest.raises(IndexError):
        signatures.estimate(0, 60)


def test_intervals_are_those_of_clopper_and_pearson():
    stats = pytest.importorskip("scipy.stats")
    signatures = signed()
    for i, j in itertools.combinations(range(8, 30), 2):
        estimate, low, high = signatures.estimate(i, j, interval=0.9)
        matches = round(estimate * 128)
        exact = stats.binomtest(matches, 128).proportion_ci(0.9, method="exact")
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    for level in [0, 1, 95]:
        with pytest.raises(simgpu.ParameterError):
            signatures.estimate(0, 1, interval=level)


@pytest.mark.parametrize("name", ["affine32", "mersenne61-wide", "fast", "nemo64"])
def test_merged_signatures_are_those_of_unions(name):
    signer = Signer(name)
    rng = np.random.default_rng(1)
    dtype = np.uint64 if name in ("mersenne61-wide", "nemo64") else np.uint32
    left, right = rng.integers(0, 2**32, (2, 20, 30), dtype=np.uint32).astype(dtype)
    union = signer.sign_hashes(np.concatenate([left, right], axis=1))
    assert signer.sign_hashes(left).merge(signer.sign_hashes(right)) == union
    nothing = signer.sign_hashes(np.zeros((20, 0), dtype=dtype))
    assert nothing.merge(union) == union and union.merge(nothing) == union


def test_signatures_that_do_not_fit_are_refused():
    signatures = signed()
    for other in [signed(num_perm=64), signed("affine64"), signed(seed=2)]:
        with pytest.raises(simgpu.ParameterError, match="one scheme"):
            signatures.merge(other)
        with pytest.raises(simgpu.ParameterError, match="one scheme"):
            signatures.matrix(other)
    with pytest.raises(simgpu.ParameterError):
        signatures.merge(signatures[1:])


def mixed(x):
    """MurmurHash3's finaliser of 32 bits."""
    x = x.astype(np.uint64)
    for shift, factor in [(16, 0x85EBCA6B), (13, 0xC2B2AE35)]:
        x = ((x ^ (x >> np.uint64(shift))) * np.uint64(factor)) & np.uint64(0xFFFFFFFF)
    return x ^ (x >> np.uint64(16))


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_packed_slots_have_the_documented_layout(bits):
    signatures = signed(num_perm=100)
    packed = signatures.packed(bits)
    assert packed.shape == (60, math.ceil(100 * bits / 64)) and packed.dtype == np.uint64
    low = mixed(signatures.slots) & np.uint64(2**bits - 1)
    for row in [0, 17, 59]:
        whole = sum(int(slot) << (k * bits) for k, slot in enumerate(low[row]))
        assert packed[row].tobytes() == whole.to_bytes(packed.shape[1] * 8, "little")
    with pytest.raises(simgpu.ParameterError, match="bits"):
        signatures.packed(3)


def test_cardinality_is_near_the_truth():
    signer = Signer(num_perm=512)
    values = np.random.default_rng(1).permutation(2**20).astype(np.uint32)
    for size in [1, 50, 20_000]:
        count, error = signer.sign_hashes(values[None, :size]).cardinality(0)
        assert error == pytest.approx(count / math.sqrt(510))
        assert abs(count - size) < 4 * error
    assert signer.sign([""]).cardinality(0) == (0, 0)
    with pytest.raises(simgpu.ParameterError):
        signed("fast").cardinality(0)


def test_arrays_become_signatures():
    signatures = signed()
    slots = signatures.slots
    assert Signatures.from_array(slots, "affine32") == signatures
    assert np.shares_memory(Signatures.from_array(slots, "affine32").slots, slots)
    writeable = slots.copy()
    copied = Signatures.from_array(writeable, Scheme())
    writeable[:] = 0
    assert copied == signatures
    assert Signatures.from_array(np.asfortranarray(slots), "affine32") == signatures
    assert Signatures.from_array(slots[:, :16], "affine32").num_perm == 16
    with pytest.raises(simgpu.ParameterError, match="slots"):
        Signatures.from_array(slots[:, :16], Scheme())
    for bad in [
        slots.astype(np.int64),
        slots.astype(np.uint64),
        slots[0],
        slots.astype(">u4"),
        "a",
    ]:
        with pytest.raises((TypeError, ValueError)):
            Signatures.from_array(bad, "affine32")


@pytest.mark.parametrize("name", ["affine32", "affine64", "nemo"])
def test_files_of_signatures(tmp_path, name):
    signatures = Signer(name, seed=9).sign(TEXTS)
    path = tmp_path / "signatures.npy"
    signatures.save(path)
    assert Signatures.load(path) == signatures
    np.testing.assert_array_equal(np.load(path), signatures.slots)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "signatures.npy",
        "signatures.npy.json",
    ]
    with pytest.raises(simgpu.OutputError):
        signatures.save(tmp_path / "signatures.bin")
    with pytest.raises(OSError):
        signatures.save(tmp_path / "no" / "signatures.npy")


@pytest.mark.parametrize("ending", ["npy", "parquet"])
def test_files_of_the_command_line(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    records = write_records(tmp_path / "in.jsonl", "text", TEXTS)
    output = tmp_path / f"out.{ending}"
    run_command("sign", records, "-o", output, "--quiet", "--scheme", "datatrove", "--num-perm", 33)
    loaded = Signatures.load(output)
    assert loaded == Signer("datatrove", num_perm=33).sign(TEXTS)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "signatures.npy"
    with pytest.raises(FileNotFoundError):
        Signatures.load(path)
    signed().save(path)
    description = tmp_path / "signatures.npy.json"
    good = description.read_text()
    for bad in ["", "[]", "{}", good.replace("128", "64"), good.replace("affine32", "affine64")]:
        description.write_text(bad)
        with pytest.raises(simgpu.InputError):
            Signatures.load(path)
    description.unlink()
    with pytest.raises(simgpu.InputError, match="missing"):
        Signatures.load(path)
    path.write_bytes(b"no matrix")
    with pytest.raises(simgpu.InputError):
        Signatures.load(path)


def test_pages_show_signatures():
    assert "affine32" in signed()._repr_html_() and "60 signatures" in signed()._repr_html_()
    assert repr(signed()).startswith("<Signatures of 60 documents")
    assert "<table>" in Signer().sign([])._repr_html_()


@pytest.mark.parametrize("ending", ["npy", "parquet", "pq"])
@pytest.mark.parametrize("name", ["affine32", "affine64"])
def test_saved_files_are_those_of_sign(tmp_path, ending, name):
    if ending != "npy":
        pytest.importorskip("pyarrow")
    signatures = signed(name, num_perm=20)
    path = tmp_path / f"signatures.{ending}"
    signatures.save(path)
    assert Signatures.load(path) == signatures
    report = simgpu.pairs_signatures(path, tmp_path / "pairs.jsonl", threshold=0.5)
    assert report.counts["documents"] == len(TEXTS)
    assert report.counts["similar_pairs"] == len(simgpu.pairs(signatures, threshold=0.5)) > 0
    signatures[:3].save(path)
    assert Signatures.load(path) == signatures[:3]
    assert not list(tmp_path.glob("*.partial"))


def test_a_saved_table_has_the_columns_of_sign(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    records = write_records(tmp_path / "in.jsonl", "text", TEXTS)
    run_command("sign", records, "-o", tmp_path / "command.parquet", "--quiet")
    signed().save(tmp_path / "python.parquet")
    command, python = (pq.read_table(tmp_path / f"{who}.parquet") for who in ("command", "python"))
    assert python.column_names == command.column_names == ["id", "signature"]
    assert python["signature"].to_pylist() == command["signature"].to_pylist()
    assert set(command.schema.metadata) >= {b"simgpu.report", b"simgpu.parameters", b"simgpu.signatures"}
    assert set(python.schema.metadata) >= {b"simgpu.report", b"simgpu.parameters", b"simgpu.signatures"}


def test_signatures_are_concatenated():
    for name in ("affine32", "affine64"):
        signatures = signed(name)
        parts = [signatures[:7], signatures[7:7], signatures[7:]]
        assert Signatures.concat(parts) == signatures == Signatures.concat(iter(parts))
    with pytest.raises(simgpu.ParameterError, match="one scheme"):
        Signatures.concat([signed(), signed(seed=9)])
    with pytest.raises(simgpu.ParameterError, match="parts is empty"):
        Signatures.concat([])
    for wrong in (signed(), 5, [signed(), 5]):
        with pytest.raises(TypeError, match="give .*Signatures"):
            Signatures.concat(wrong)
