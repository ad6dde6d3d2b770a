import resource
import sys

import numpy as np
import pytest
from corpora import corpus
from hypothesis import given, settings
from hypothesis import strategies as st

import simgpu
from simgpu import Signatures, Signer

pa = pytest.importorskip("pyarrow")

TEXTS = corpus(40)
SIGNER = Signer()


def signed(texts):
    return SIGNER.sign(["" if text is None else text for text in texts])


# Older versions of pyarrow have no views.
VIEWS = {name: getattr(pa, name)() for name in ("string_view", "binary_view") if hasattr(pa, name)}
TYPES = [
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.large_binary(),
    *VIEWS.values(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.uint32(), pa.large_string()),
]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_columns_of_every_kind(data):
    texts = data.draw(st.lists(st.none() | st.text(max_size=40), max_size=40))
    kind = data.draw(st.sampled_from(TYPES))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=4)))
    bounds = [0, *cuts, len(texts)]
    encoded = [t if t is None or not is_binary(kind) else t.encode() for t in texts]
    chunks = [array_of(encoded[a:b], kind) for a, b in zip(bounds, bounds[1:], strict=False)]
    column = pa.chunked_array(chunks, type=kind)
    expected = signed(texts)
    assert SIGNER.sign(column) == expected
    assert SIGNER.sign(pa.table({"text": column})) == expected
    assert (
        SIGNER.sign(pa.table({"id": range(len(texts)), "text": column}), column="text") == expected
    )
    start = data.draw(st.integers(0, len(texts)))
    length = data.draw(st.integers(0, len(texts)))
    assert SIGNER.sign(column.slice(start, length)) == signed(texts[start : start + length])
    array = array_of(encoded, kind)
    assert SIGNER.sign(array.slice(start, length)) == signed(texts[start : start + length])


def is_binary(kind):
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or kind == VIEWS.get("binary_view")


def array_of(texts, kind):
    if pa.types.is_dictionary(kind):
        return pa.array(texts, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(texts, kind)


def test_nulls_are_counted_as_documents_without_shingles():
    signatures = SIGNER.sign(pa.array(["a", None, ""]))
    assert len(signatures) == 3
    assert (signatures.slots[1:] == SIGNER.scheme.empty).all()
    assert (SIGNER.sign(pa.nulls(2)).slots == SIGNER.scheme.empty).all()


def test_invalid_text_is_refused_with_its_row():
    with pytest.raises(simgpu.InputError, match="row 2") as raised:
        SIGNER.sign(pa.chunked_array([[b"a"], [b"b", b"\xff"]]))
    assert raised.value.row == 2
    damaged = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe")]
    )
    with pytest.raises(ValueError, match="valid"):
        SIGNER.sign(damaged)
    beyond = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 9, 3], np.int32)), pa.py_buffer(b"abc")]
    )
    with pytest.raises(ValueError, match="valid"):
        SIGNER.sign(beyond)


def test_other_types_and_columns_are_refused():
    with pytest.raises(TypeError, match="[Ii]nt64"):
        SIGNER.sign(pa.array([1, 2]))
    table = pa.table({"a": ["x"], "b": ["y"]})
    with pytest.raises(TypeError, match="column=, one of a, b"):
        SIGNER.sign(table)
    for other in [table, table.to_pydict()]:
        with pytest.raises(simgpu.ParameterError, match="no column"):
            SIGNER.sign(other, column="c")
    with pytest.raises(TypeError, match="lists"):
        SIGNER.sign(["x"], column="a")


@settings(max_examples=40, deadline=None)
@given(
    documents=st.lists(st.none() | st.lists(st.text(max_size=5), max_size=6), max_size=20),
    kind=st.sampled_from([*TYPES[:3], *[*VIEWS.values()][:1]]),
    make=st.sampled_from([pa.list_, pa.large_list]),
    start=st.integers(0, 20),
)
def test_lists_of_tokens(documents, kind, make, start):
    def encoded(document):
        return document and [token.encode() if kind == pa.binary() else token for token in document]

    array = pa.array([encoded(document) for document in documents], make(kind))
    signer = Signer("datasketch")
    expected = signer.sign_tokens(documents)
    assert signer.sign_tokens(array) == expected
    assert signer.sign_tokens(array.slice(start)) == expected[start:]
    assert signer.sign_tokens(pa.chunked_array([array, array]))[len(array) :] == expected


@settings(max_examples=40, deadline=None)
@given(
    sets=st.lists(st.none() | st.lists(st.integers(0, 2**32 - 1), max_size=6), max_size=20),
    make=st.sampled_from([pa.list_, pa.large_list]),
    start=st.integers(0, 20),
    threads=st.integers(1, 4),
)
def test_lists_of_hashes(sets, make, start, threads):
    array = pa.array(sets, make(pa.uint32()))
    known = [one or [] for one in sets]
    values = np.array(sum(known, []), dtype=np.uint32)
    offsets = np.cumsum([0, *map(len, known)])
    signer = Signer(threads=threads)
    expected = signer.sign_hashes(values, offsets)
    assert signer.sign_hashes(array) == expected
    assert signer.sign_hashes(array.slice(start)) == expected[start:]
    table = pa.table({"sets": pa.chunked_array([array, array])})
    assert signer.sign_hashes(table, column="sets")[len(array) :] == expected


def test_null_lists_may_hide_values():
    values = pa.array([1, 2, 3, 4], pa.uint32())
    hidden = pa.ListArray.from_arrays([0, 1, 3, 4], values, mask=pa.array([False, True, False]))
    expected = SIGNER.sign_hashes(np.array([1, 4], np.uint32), [0, 1, 1, 2])
    assert SIGNER.sign_hashes(hidden) == expected
    fixed = pa.FixedSizeListArray.from_arrays(values, 2)
    assert SIGNER.sign_hashes(fixed) == SIGNER.sign_hashes(np.array([[1, 2], [3, 4]], np.uint32))
    assert SIGNER.sign_hashes(fixed.slice(1)) == SIGNER.sign_hashes(np.array([[3, 4]], np.uint32))


def test_other_hashes_are_refused():
    for kind in [pa.int32(), pa.int64(), pa.uint64(), pa.uint8(), pa.string()]:
        with pytest.raises(TypeError):
            SIGNER.sign_hashes(pa.array([[]], pa.list_(kind)))
    with pytest.raises(TypeError):
        SIGNER.sign_hashes(pa.array([1, 2], pa.uint32()))
    with pytest.raises(simgpu.InputError, match="row 1"):
        SIGNER.sign_hashes(pa.array([[1], [None]], pa.list_(pa.uint32())))
    with pytest.raises(simgpu.InputError, match="row 1"):
        SIGNER.sign_tokens(pa.array([["a"], [None]]))


@pytest.mark.parametrize("name", ["affine32", "affine64"])
def test_signatures_go_to_arrow_and_back(name):
    signatures = Signer(name).sign(TEXTS)
    array = pa.array(signatures)
    kind = pa.uint32() if name == "affine32" else pa.uint64()
    assert array.type.list_size == 128 and array.type.value_type == kind
    np.testing.assert_array_equal(array.values.to_numpy().reshape(-1, 128), signatures.slots)
    address = signatures.slots.__array_interface__["data"][0]
    assert array.values.buffers()[1].address == address
    assert Signatures.from_arrow(array, name) == signatures
    assert np.shares_memory(Signatures.from_arrow(array, name).slots, signatures.slots)
    assert Signatures.from_arrow(array.slice(7, 20), name) == signatures[7:27]
    chunks = pa.chunked_array([array[:3], array[3:]])
    assert Signatures.from_arrow(pa.table({"s": chunks}), name, column="s") == signatures
    part = pa.array(signatures[5:9])
    np.testing.assert_array_equal(part.values.to_numpy().reshape(-1, 128), signatures.slots[5:9])
    with pytest.raises(TypeError):
        Signatures.from_arrow(pa.array(["a"]), name)
    with pytest.raises(simgpu.ParameterError):
        Signatures.from_arrow(pa.array([None], array.type), name)


def test_pandas_and_polars_columns():
    texts = ["a b", None, "naïve", ""]
    expected = signed(texts)
    pd = pytest.importorskip("pandas")
    for kind in [object, "string", "str"]:
        series = pd.Series(texts, dtype=kind)
        assert SIGNER.sign(series) == expected
        assert (
            SIGNER.sign(pd.DataFrame({"id": range(4), "text": series}), column="text") == expected
        )
    pl = pytest.importorskip("polars")
    for kind in [pl.String, pl.Categorical]:
        series = pl.Series("text", texts, dtype=kind)
        assert SIGNER.sign(series) == expected
        assert (
            SIGNER.sign(pl.DataFrame({"id": range(4), "text": series}), column="text") == expected
        )
    signatures = pl.Series(expected)
    assert (
        signatures.dtype == pl.Array(pl.UInt32, 128)
        and Signatures.from_arrow(signatures, "affine32") == expected
    )


def test_duckdb_relations_and_datasets():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql(
        "select 'word ' || range as text, range as id from range(5000) order by id"
    )
    expected = signed([f"word {number}" for number in range(5000)])
    assert SIGNER.sign(relation, column="text") == expected
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"id": range(40), "text": TEXTS})
    assert SIGNER.sign(dataset, column="text") == signed(TEXTS)
    odd = dataset.select(range(1, 40, 2))
    assert SIGNER.sign(odd, column="text") == signed(TEXTS[1::2])


def peak_bytes():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def test_a_million_documents_take_little_memory_beside_their_signatures():
    base = pa.array([f"some text of no great length, number {number}" for number in range(1000)])
    column = pa.chunked_array([pa.concat_arrays([base] * 1000)])
    signer = Signer(num_perm=4)
    before = peak_bytes()
    signatures = signer.sign(column)
    assert peak_bytes() - before < signatures.slots.nbytes + (64 << 20)
