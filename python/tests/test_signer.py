import json
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from corpora import corpus, run_command, vectors, write_records
from hypothesis import given, settings
from hypothesis import strategies as st

import simgpu
from simgpu import Scheme, Shingling, Signer

TEXTS = corpus(150)
TOKENS = [text.split() for text in TEXTS]


def signed_by_command(tmp_path, field, documents, *options):
    records = write_records(tmp_path / "in.jsonl", field, documents)
    output = tmp_path / "out.npy"
    run_command("sign", records, "--output", output, "--quiet", *options)
    return np.load(output)


@pytest.mark.parametrize("name", Scheme.names())
def test_values_are_those_of_the_command_line(tmp_path, name):
    expected = signed_by_command(tmp_path, "text", TEXTS, "--scheme", name)
    signatures = Signer(name).sign(TEXTS)
    assert signatures.slots.dtype == expected.dtype
    np.testing.assert_array_equal(signatures.slots, expected)


@pytest.mark.parametrize(
    ("shingling", "options"),
    [
        (Shingling("bytes", 5, lowercase=True), ["--unit", "bytes", "--size", "5", "--lowercase"]),
        (Shingling("chars", strip_punctuation=True), ["--unit", "chars", "--strip-punctuation"]),
        (Shingling("pieces", keep_whitespace=True), ["--unit", "pieces", "--keep-whitespace"]),
        (Shingling("stopwords"), ["--unit", "stopwords"]),
        (Shingling("words", 1, count=True), ["--size", "1", "--count"]),
        (Shingling(hash="murmur3-32", size=2), ["--hash", "murmur3-32", "--size", "2"]),
    ],
)
def test_shingles_are_those_of_the_command_line(tmp_path, shingling, options):
    expected = signed_by_command(tmp_path, "text", TEXTS, *options)
    np.testing.assert_array_equal(Signer(shingling=shingling).sign(TEXTS).slots, expected)


@pytest.mark.parametrize("name", ["affine32", "datatrove", "nemo"])
def test_tokens_are_those_of_the_command_line(tmp_path, name):
    expected = signed_by_command(tmp_path, "tokens", TOKENS, "--scheme", name, "--unit", "tokens")
    np.testing.assert_array_equal(Signer(name).sign_tokens(TOKENS).slots, expected)
    many = Signer(name, threads=2).sign_tokens(TOKENS * 40)
    np.testing.assert_array_equal(many.slots, np.tile(expected, (40, 1)))


def test_hashes_have_the_published_signatures():
    for case in vectors("families"):
        family = case["family"].replace("_", "-")
        if family not in Scheme.names():
            continue
        signer = Signer(family, num_perm=case["num_perm"], seed=case["seed"])
        sets = [[int(x) for x in one] for one in case["inputs"]]
        expected = np.array(case["signatures"], dtype=np.uint64).astype(signer.scheme.dtype)
        wide = np.uint64 if family == "rensa" else signer.scheme.dtype
        values = np.array(sum(sets, []), dtype=wide)
        offsets = np.cumsum([0, *map(len, sets)])
        np.testing.assert_array_equal(signer.sign_hashes(values, offsets).slots, expected)


PRESETS = {
    "datasketch-legacy": "datasketch-legacy",
    "datasketch affine32": "datasketch",
    "datasketch affine64": "datasketch64",
    "datatrove xxhash precision 64": "datatrove",
    "datatrove xxhash precision 32": "datatrove32",
    "datatrove sha1 precision 64": "datatrove",
    "rensa 0.5 R-MinHash": "rensa",
}
HASHES = {"datatrove sha1 precision 64": "sha1-64"}


def test_tokens_have_the_signatures_of_the_tools():
    published = vectors("peer_signatures")
    for scheme in published["schemes"]:
        numbers = {"num_perm": scheme["num_perm"], "seed": scheme["seed"]}
        shingling = Shingling("tokens", 1, hash=HASHES.get(scheme["name"]))
        signer = Signer(PRESETS[scheme["name"]], **numbers, shingling=shingling)
        got = signer.sign_tokens(published["documents"]).slots
        expected = [[int(slot) for slot in row] for row in scheme["signatures"]]
        np.testing.assert_array_equal(got, np.array(expected, dtype=np.uint64))


def test_texts_have_the_signatures_of_text_dedup():
    published = vectors("text_dedup")
    for case in published["cases"]:
        shingling = Shingling("pieces", case["size"])
        signer = Signer("text-dedup", num_perm=case["num_perm"], shingling=shingling)
        got = signer.sign(published["texts"][: len(case["signatures"])]).slots
        # simgpu leaves texts of fewer than five pieces without shingles; text-dedup drops them first.
        signed = (got != signer.scheme.empty).any(axis=1)
        assert signed.sum() > len(signed) / 2
        np.testing.assert_array_equal(got[signed], np.array(case["signatures"])[signed])


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(st.text(max_size=80), max_size=30),
    threads=st.integers(1, 4),
    name=st.sampled_from(["affine32", "affine64", "fast", "rensa"]),
)
def test_values_do_not_depend_on_the_batch(texts, threads, name):
    one_by_one = [Signer(name).sign([text]).slots[0] for text in texts]
    signer = Signer(name, threads=threads)
    # Enough copies for the pool.
    copies = 70_000 // (16 * len(texts)) + 1 if texts else 1
    together = signer.sign(texts * copies).slots
    assert together.shape == (len(texts) * copies, signer.scheme.num_perm)
    for row, slots in enumerate(one_by_one):
        assert (together[row :: len(texts)] == slots).all()


def test_backends_agree():
    expected = Signer().sign(TEXTS)
    for backend in ["scalar", "simd"]:
        assert Signer(backend=backend).sign(TEXTS) == expected
    with pytest.raises(simgpu.ParameterError, match="backend"):
        Signer(backend="tpu")


def test_sequences_of_all_kinds():
    expected = Signer().sign(["a b", "", "c"]).slots
    signer = Signer()
    for texts in [
        ("a b", "", "c"),
        iter(["a b", "", "c"]),
        ["a b", None, "c"],
        ["a b", float("nan"), "c"],
        np.array(["a b", "", "c"]),
        np.array(["a b", None, "c"], dtype=object),
        {"a b": 1, "": 2, "c": 3}.keys(),
    ]:
        np.testing.assert_array_equal(signer.sign(texts).slots, expected)
    assert signer.sign([]).slots.shape == (0, 128)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("a text", r"type str; give a list of str, such as \[text\]"),
        (b"a text", "type bytes"),
        ({"a", "b"}, "set; give a list"),
        ({"text": ["a"]}, "column="),
        ([1, "a"], "row 0 is of type int; give a str"),
        (["a", ["b"]], "row 1 is of type list"),
        (["a", b"b"], "row 1 is of type bytes"),
        (5, "type int; give a list"),
        (None, "NoneType"),
        (np.arange(3), "row 0 is of type int"),
    ],
)
def test_what_are_no_texts_is_refused(texts, message):
    with pytest.raises(TypeError, match=message):
        Signer().sign(texts)


def test_lone_surrogates_are_refused_with_their_row():
    with pytest.raises(simgpu.InputError, match="row 1") as raised:
        Signer().sign(["a", "\ud800"])
    assert raised.value.row == 1


def test_tokens_of_all_kinds():
    signer = Signer("datasketch")
    expected = signer.sign_tokens([["a", "b"], [], ["c"]]).slots
    for documents in [
        [(b"a", b"b"), None, (b"c",)],
        [iter(["a", "b"]), [], np.array(["c"])],
        [["b", "a", "a"], (), {"c": 1}.keys()],
    ]:
        np.testing.assert_array_equal(signer.sign_tokens(documents).slots, expected)
    for bad in [["a text"], [["a", 1]], [[1, "a"]], [[1, True]], [[1.5]], [5], "a", [[None]]]:
        with pytest.raises(TypeError):
            signer.sign_tokens(bad)
    with pytest.raises(simgpu.ParameterError, match="tokens"):
        Signer(shingling="words").sign_tokens([["a"]])
    with pytest.raises(simgpu.ParameterError, match="tokens"):
        Signer(shingling="tokens").sign(["a"])


def test_integers_are_tokens_of_their_digits():
    sparse = pytest.importorskip("scipy.sparse")
    pa = pytest.importorskip("pyarrow")
    signer = Signer("datasketch")
    numbers = [[7, 1, 2**31], [], [12, 7, -3]]
    expected = signer.sign_tokens([[str(number) for number in row] for row in numbers]).slots
    for documents in [
        numbers,
        [tuple(numbers[0]), None, np.array(numbers[2])],
        [np.array(row, dtype=np.int64) for row in numbers],
        [[np.int64(number) for number in row] for row in numbers],
        (iter(row) for row in numbers),
        pa.array(numbers),
        pa.array(numbers, pa.large_list(pa.int64())),
        pa.chunked_array([numbers[:1], numbers[1:]]),
        np.array([np.array(row) for row in numbers], dtype=object),
    ]:
        np.testing.assert_array_equal(signer.sign_tokens(documents).slots, expected)
    huge = [[2**70, 2**64 - 1]]
    np.testing.assert_array_equal(
        signer.sign_tokens(huge).slots, signer.sign_tokens([[str(2**70), str(2**64 - 1)]]).slots
    )
    wide = np.array([[2**64 - 1, 5]], dtype=np.uint64)
    np.testing.assert_array_equal(
        signer.sign_tokens(wide).slots, signer.sign_tokens([[str(2**64 - 1), "5"]]).slots
    )
    matrix = np.array([[3, 1, 4], [1, 5, 9]], dtype=np.int32)
    rows = signer.sign_tokens(matrix)
    np.testing.assert_array_equal(rows.slots, signer.sign_tokens(matrix.astype(str)).slots)
    np.testing.assert_array_equal(rows.slots, signer.sign_tokens(np.asfortranarray(matrix)).slots)
    columns = sparse.csr_matrix(([1, 1, 1, 1, 1, 0], ([0, 0, 0, 2, 2, 2], [7, 1, 9, 4, 2, 3])))
    of_columns = signer.sign_tokens([["1", "7", "9"], [], ["2", "4"]]).slots
    for kind in (columns, columns.tocsc(), columns.tocoo(), sparse.csr_array(columns)):
        np.testing.assert_array_equal(signer.sign_tokens(kind).slots, of_columns)
    assert columns.nnz == 6
    weighted = Signer("datasketch", shingling=simgpu.Shingling("tokens", weight_scale=4))
    np.testing.assert_array_equal(
        weighted.sign_tokens([{17: 2.0, 4: 1}]).slots, weighted.sign_tokens([{"17": 2.0, "4": 1}]).slots
    )


def test_integers_are_deduplicated_and_paired():
    sparse = pytest.importorskip("scipy.sparse")
    pa = pytest.importorskip("pyarrow")
    numbers = [[1, 2, 3], [1, 2, 4], [1, 2, 3]]
    expected = simgpu.dedup([[str(n) for n in row] for row in numbers], shingling="tokens").keep.tolist()
    rows = np.array(numbers)
    places = (np.repeat(range(3), 3), rows.ravel())
    for documents in [numbers, rows, pa.array(numbers), sparse.csr_matrix((np.ones(9), places))]:
        found = simgpu.dedup(documents, shingling="tokens")
        assert found.keep.tolist() == expected == [True, True, False]
        assert len(simgpu.pairs(documents, threshold=0.5, shingling="tokens")) == 3


def test_rows_of_errors_are_those_of_all_documents():
    documents = [["token"] * 50] * 500 + [["a", 5.5]] + [["b"]]
    with pytest.raises(TypeError, match="row 500 is of type float"):
        Signer(shingling="tokens").sign_tokens(documents)
    with pytest.raises(TypeError, match="row 501 has integers and a token of type str"):
        Signer(shingling="tokens").sign_tokens([["a"]] * 501 + [[1, "a"]])


def test_tokens_in_blocks_have_equal_signatures():
    pa = pytest.importorskip("pyarrow")
    draw = np.random.default_rng(1)
    documents = [[f"w{n}" for n in draw.integers(0, 500, size)] for size in draw.integers(0, 300, 400)]
    documents[7] = [f"long{n}" for n in range(10_000)]
    signer = Signer(threads=2)
    assert signer.sign_tokens(documents) == signer.sign_tokens(pa.array(documents))
    mixed = [{"a": 1.0}] * 3000 + [["a"]]
    weighted = Signer(shingling=simgpu.Shingling("tokens", weight_scale=4))
    with pytest.raises((TypeError, simgpu.ParameterError)):
        weighted.sign_tokens(mixed)


def test_lists_of_strings_of_any_length_and_kind():
    class Text(str):
        pass

    texts = ["", "ñ", "日本語", "😀", *("x" * n for n in range(1, 140)), *("añ" * n for n in range(1, 50))]
    lists = [texts, texts[::-1], texts[:3], [], texts[70:90]]
    for signer in [Signer(), Signer("datasketch"), Signer("rensa")]:
        expected = signer.sign_tokens([tuple(row) for row in lists])
        assert signer.sign_tokens(lists) == expected
        assert signer.sign_tokens([[text.encode() for text in row] for row in lists]) == expected
        assert signer.sign_tokens([[Text(text) for text in row] for row in lists]) == expected
        assert signer.sign_tokens([lists[0], lists[1], iter(lists[2]), None, np.array(lists[4])]) == expected
        changing = [[kind(text) for text, kind in zip(row, [str, Text, str.encode] * 70)] for row in lists]
        assert signer.sign_tokens(changing) == expected
    with pytest.raises(simgpu.InputError, match="row 2") as raised:
        Signer().sign_tokens([["a"], (), ["a", "\ud800"]])
    assert raised.value.row == 2
    with pytest.raises(TypeError, match="row 1 is of type float"):
        Signer().sign_tokens([["a"], [b"a", "b", 5.5]])
    with pytest.raises(simgpu.ParameterError, match="weight"):
        Signer().sign_tokens([["a"], {"a": 1.0}])


def test_sets_of_hashes_of_all_kinds():
    sparse = pytest.importorskip("scipy.sparse")
    signer = Signer()
    values = np.array([7, 1, 9, 4, 4, 2], dtype=np.uint32)
    expected = signer.sign_hashes(values, np.array([0, 3, 3, 6])).slots
    for kind in [np.int32, np.int64, np.uint64]:
        offsets = np.array([0, 3, 3, 6], dtype=kind)
        np.testing.assert_array_equal(signer.sign_hashes(values, offsets).slots, expected)
    strided = np.repeat(values, 2)[::2]
    np.testing.assert_array_equal(signer.sign_hashes(strided, [0, 3, 3, 6]).slots, expected)
    rows = signer.sign_hashes(values.reshape(2, 3))
    np.testing.assert_array_equal(rows.slots, expected[[0, 2]])
    columns = signer.sign_hashes(np.asfortranarray(values.reshape(2, 3)))
    assert columns == rows
    matrix = sparse.csr_matrix(([1, 1, 1, 1, 1, 0], ([0, 0, 0, 2, 2, 2], [7, 1, 9, 4, 2, 3])))
    np.testing.assert_array_equal(signer.sign_hashes(matrix).slots, expected)
    assert matrix.nnz == 6
    wide = Signer("affine64").sign_hashes(matrix)
    assert wide == Signer("affine64").sign_hashes(values.astype(np.uint64), [0, 3, 3, 6])
    # Offsets may leave out values at both ends.
    np.testing.assert_array_equal(signer.sign_hashes(values, [3, 6]).slots, expected[2:])


@pytest.mark.parametrize(
    ("values", "offsets", "error"),
    [
        (np.array([1, 2]), [0, 2], TypeError),
        (np.array([1, 2], dtype=np.int32), [0, 2], TypeError),
        (np.array([1, 2], dtype=np.uint64), [0, 2], TypeError),
        (np.array([1, 2], dtype=np.uint16), [0, 2], TypeError),
        (np.array([1, 2], dtype=">u4"), [0, 2], TypeError),
        (np.array([1.0, 2.0]), [0, 2], TypeError),
        (np.array([1, 2], dtype=np.uint32), None, TypeError),
        (np.array([1, 2], dtype=np.uint32), [0, 3], ValueError),
        (np.array([1, 2], dtype=np.uint32), [0, 2, 1], ValueError),
        (np.array([1, 2], dtype=np.uint32), [-1, 2], ValueError),
        (np.array([1, 2], dtype=np.uint32), [], (TypeError, ValueError)),
        (np.array([1, 2], dtype=np.uint32), [0.0, 2.0], TypeError),
    ],
)
def test_other_numbers_are_refused(values, offsets, error):
    with pytest.raises(error):
        Signer().sign_hashes(values, offsets)


def test_large_sets_of_hashes_are_signed_in_the_pool():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2**32, 300_000, dtype=np.uint32)
    offsets = np.sort(rng.integers(0, len(values), 501))
    signer = Signer(threads=2)
    together = signer.sign_hashes(values, offsets).slots
    for row in range(0, 500, 50):
        one = values[offsets[row] : offsets[row + 1]][None, :]
        np.testing.assert_array_equal(signer.sign_hashes(one).slots[0], together[row])


def test_out_is_written_and_shared():
    signer = Signer()
    expected = signer.sign(TEXTS).slots
    out = np.zeros(expected.shape, dtype=np.uint32)
    signatures = signer.sign(TEXTS, out=out)
    np.testing.assert_array_equal(out, expected)
    assert np.shares_memory(signatures.slots, out)
    for bad in [
        out[:-1],
        out.astype(np.uint64),
        np.asfortranarray(out),
        out.tolist(),
    ]:
        with pytest.raises(TypeError, match="out"):
            signer.sign(TEXTS, out=bad)
    out.flags.writeable = False
    with pytest.raises(TypeError, match="out"):
        signer.sign(TEXTS, out=out)


def test_band_keys_have_the_published_values():
    for case in vectors("band_keys"):
        name = "affine32" if case["slot_bits"] == 32 else "affine64"
        assert name in Scheme.names()
    keys = Signer().band_keys(TEXTS)
    assert keys.shape == (len(TEXTS), 16) and keys.dtype == np.uint64
    few = Signer().band_keys(TEXTS, bands=4, rows=32)
    slots = Signer().sign(TEXTS).slots
    for band in range(4):
        own = slots[:, band * 32 : band * 32 + 32]
        # Keys agree where slots agree, and only there.
        same_slots = (own[:, None] == own[None, :]).all(axis=2)
        np.testing.assert_array_equal(few[:, band, None] == few[None, :, band], same_slots)
    for bad in [{"bands": 4}, {"rows": 4}, {"bands": 64, "rows": 4}, {"threshold": 0}]:
        with pytest.raises(simgpu.ParameterError):
            Signer().band_keys(TEXTS, **bad)


def test_signers_are_pickled_as_their_arguments():
    signers = [
        Signer(),
        Signer("rensa", num_perm=16, seed=3, threads=2, backend="simd"),
        Signer(shingling=Shingling("bytes", 3, lowercase=True)),
    ]
    for signer in signers:
        same = pickle.loads(pickle.dumps(signer))
        assert repr(same) == repr(signer) and same.sign(TEXTS) == signer.sign(TEXTS)


def test_one_signer_serves_many_threads():
    signer = Signer()
    expected = signer.sign(TEXTS)
    wrong = []

    def sign():
        for _ in range(5):
            if signer.sign(TEXTS) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=sign) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_threads_out_of_range_are_refused():
    for threads in [0, -1, 1.5, "two"]:
        with pytest.raises((simgpu.ParameterError, TypeError), match="threads is"):
            Signer(threads=threads)


def test_progress_is_reported_and_stops():
    texts = ["word " * 2000 + str(row) for row in range(3000)]
    seen = []
    Signer().sign(texts, progress=lambda *state: seen.append(state))
    assert seen[-1] == ("sign", len(texts), len(texts))
    with pytest.raises(simgpu.StoppedError):
        # Enough permutations to work for longer than a progress function waits.
        Signer(num_perm=4096).sign(texts, progress=lambda *state: False)


def run_python(code):
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, timeout=60, capture_output=True, text=True
    )


def test_small_batches_start_no_thread_and_import_no_numpy():
    code = """
import os, sys, simgpu
assert "numpy" not in sys.modules
signer = simgpu.Signer()
signatures = signer.sign(["a rose is a rose is a rose"] * 3)
signatures.estimate(0, 1)
assert "numpy" not in sys.modules
if os.path.isdir("/proc/self/task"):
    assert len(os.listdir("/proc/self/task")) == 1
"""
    finished = run_python(code)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_signs():
    code = """
import os, warnings, simgpu
warnings.simplefilter("ignore")
texts = ["a rose is a rose is a rose"] * 20_000
signer = simgpu.Signer(threads=None)
expected = signer.sign(texts)
child = os.fork()
if child == 0:
    os._exit(0 if signer.sign(texts) == expected else 3)
assert os.waitpid(child, 0)[1] == 0
"""
    finished = run_python(code)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_a_batch():
    code = """
import os, signal, threading, time, simgpu
texts = ["word%d " % row * 20_000 for row in range(5000)]
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        simgpu.Signer().sign(texts)
except KeyboardInterrupt:
    os._exit(7)
"""
    assert run_python(code).returncode == 7


def test_devices_that_are_missing_are_said_to_be():
    try:
        Signer(backend="gpu").sign(["a"])
    except simgpu.UnsupportedError as error:
        assert "unsupported" in str(error)
    assert isinstance(Signer(backend="gpu"), Signer)


def weighted_jaccard(a, b):
    tokens = a.keys() | b.keys()
    lesser = sum(min(a.get(token, 0), b.get(token, 0)) for token in tokens)
    return lesser / sum(max(a.get(token, 0), b.get(token, 0)) for token in tokens)


WEIGHTED = [
    {"a": 1.5, "b": 2, "c": 4.0},
    {"a": 3.0, "b": 2, "d": 0.25},
    {"c": 4.0, "a": 1.5, "b": 2},
    {"a": 3.0, "b": 2, "d": 0.25, "e": 0},
]


def test_weights_are_those_of_the_command_line(tmp_path):
    records = [
        json.dumps({"tokens": list(row), "w": list(row.values())}) + "\n" for row in WEIGHTED
    ]
    (tmp_path / "in.jsonl").write_text("".join(records))
    simgpu.sign_files(
        tmp_path / "in.jsonl", tmp_path / "s.npy", unit="tokens", weights_field="w", weight_scale=64
    )
    expected = np.load(tmp_path / "s.npy")
    signer = Signer(shingling=Shingling("tokens", weight_scale=64))
    np.testing.assert_array_equal(signer.sign_tokens(WEIGHTED).slots, expected)
    many = signer.sign_tokens(WEIGHTED * 3000)
    np.testing.assert_array_equal(many.slots, np.tile(expected, (3000, 1)))


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 64)), min_size=2))
def test_exact_similarities_are_those_of_weights(documents):
    documents = [{token: weight / 8 for token, weight in row.items()} for row in documents]
    shingling = Shingling("tokens", weight_scale=16)
    found = simgpu.pairs(documents, shingling=shingling, threshold=0.01, bands=128, rows=1)
    columns = (found[name] for name in ("left", "right", "similarity"))
    for left, right, similarity in zip(*columns, strict=True):
        assert similarity == weighted_jaccard(documents[left], documents[right])


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ([{"a": 1}, ["a"]], TypeError, "give dicts for all, or for none"),
        ([{"a": "1"}], TypeError, "row 0 has a weight that is no number"),
        ([{"a": 1}, {"a": -1}], simgpu.ParameterError, "document 1: -1 is not a weight"),
        ([["a"]], simgpu.ParameterError, "give weights to both, or to neither"),
    ],
)
def test_wrong_weights_are_refused(documents, error, message):
    signer = Signer(shingling=Shingling("tokens", weight_scale=16))
    with pytest.raises(error, match=message):
        signer.sign_tokens(documents)


def test_weights_need_a_weight_scale():
    with pytest.raises(simgpu.ParameterError, match="give weights to both"):
        Signer().sign_tokens([{"a": 1.0}])
    with pytest.raises(simgpu.ParameterError, match="power of two"):
        Shingling("tokens", weight_scale=3)
    with pytest.raises(simgpu.ParameterError, match="exclude each other"):
        Shingling("tokens", weight_scale=2, count=True)
    with pytest.raises(simgpu.ParameterError, match="single tokens"):
        Signer(shingling=Shingling(weight_scale=16))
    signer = Signer(shingling=Shingling("tokens", weight_scale=16))
    assert signer.sign_tokens([None, {}]).slots.shape == (2, 128)
