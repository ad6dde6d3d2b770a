import collections
import json
import math
import pickle
import warnings

import numpy as np
import pytest
from corpora import corpus, run_command

import simgpu
from simgpu import dedup, pairs

TEXTS = corpus(200, seed=3) + corpus(30, seed=3)


def deduplicated_by_command(tmp_path, *options):
    records = tmp_path / "in.jsonl"
    lines = (json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(TEXTS))
    records.write_text("".join(lines), encoding="utf-8")
    run_command("dedup", records, "-o", tmp_path / "out", "--quiet", *options)
    removed = (tmp_path / "out" / "removed.jsonl").read_text().splitlines()
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    return [json.loads(line) for line in removed], report


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({}, []),
        ({"threshold": 0.5, "cluster": "connected"}, ["-t", "0.5", "--cluster", "connected"]),
        (
            {"keep": "longest", "verify": "signature"},
            ["--keep", "longest", "--verify", "signature"],
        ),
        (
            {"verify": "none", "bands": 20, "rows": 5},
            ["--verify", "none", "--bands", "20", "--rows", "5"],
        ),
        ({"scheme": "datatrove", "threads": 2}, ["--scheme", "datatrove"]),
        (
            {"min_shingles": 35, "drop_short": True, "drop_empty": True},
            ["--min-shingles", "35", "--drop-short", "--drop-empty"],
        ),
        (
            {"shingling": "chars", "num_perm": 64, "seed": 5},
            ["--unit", "chars", "--num-perm", "64", "--seed", "5"],
        ),
    ],
)
def test_results_are_those_of_the_command_line(tmp_path, arguments, options):
    expected, report = deduplicated_by_command(tmp_path, *options)
    found = dedup(TEXTS, id=list(range(len(TEXTS))), **arguments)
    got = found.removed.to_pylist()
    assert len(got) > 20
    for row, other in zip(got, expected, strict=True):
        assert (row["row"], row["kept"]) == (other["id"], other["kept_id"])
        assert (row["id"], row["kept_id"]) == (other["id"], other["kept_id"])
        assert (row["similarity"], row["found_by"]) == (other["similarity"], other["found_by"])
        assert row["lost"] == other["lost"]
    counts = {name: count for name, count in report["counts"].items() if name in found.counts}
    assert {**found.counts, "bytes": 0} == {**counts, "bytes": 0}
    for name, value in found.report["parameters"].items():
        assert report["parameters"][name] == value, name
    sizes = {int(size): count for size, count in report["cluster_sizes"].items()}
    assert found.report["cluster_sizes"] == sizes
    assert found.recall == report["parameters"]["recall_at_threshold"]
    assert found.expected_precision == report.get("expected_precision")


def test_short_documents_are_kept_or_dropped():
    long = "a b c d e f g h"
    texts = ["", "one two", long, long, "one two", " "]
    found = dedup(texts, id=list("uvwxyz"), min_shingles=2, drop_short=True)
    assert found.keep.tolist() == [False, False, True, False, False, False]
    assert found.kept_by.tolist() == [-1, -1, 2, 2, -1, -1]
    assert [rows.tolist() for rows in found.clusters] == [[2, 3]]
    assert found.report["cluster_sizes"] == {2: 1}
    rows = found.removed.to_pylist()
    assert [row["found_by"] for row in rows] == ["empty", "short", "identical", "short", "empty"]
    assert [row["kept"] for row in rows] == [None, None, 2, None, None]
    assert [row["kept_id"] for row in rows] == [None, None, "w", None, None]
    assert (found.counts["short"], found.counts["dropped"], found.counts["removed"]) == (4, 4, 5)
    kept = dedup(texts, min_shingles=2)
    assert kept.keep.tolist() == [True, True, True, False, True, True]
    assert "dropped" not in kept.counts
    empty = dedup(texts, drop_empty=True)
    assert empty.keep.tolist() == [False, True, True, False, False, False]
    assert empty.kept_by.tolist() == [-1, 1, 2, 2, 1, -1]
    with pytest.raises(simgpu.ParameterError, match="min_shingles"):
        dedup(texts, drop_short=True)
    with pytest.raises(simgpu.ParameterError, match="number of shingles"):
        dedup(simgpu.Signer().sign(texts), drop_empty=True)


def test_arrays_and_clusters_say_the_same():
    found = dedup(TEXTS)
    rows = np.arange(len(TEXTS))
    np.testing.assert_array_equal(found.keep, found.kept_by == rows)
    np.testing.assert_array_equal(found.removed["row"], rows[~found.keep])
    np.testing.assert_array_equal(found.removed["kept"], found.kept_by[~found.keep])
    assert found.keep[found.kept_by].all() and len(found) == len(TEXTS)
    clusters = found.clusters
    assert len(clusters) == found.counts["clusters"]
    for cluster in clusters:
        assert len(cluster) > 1 and (found.kept_by[cluster] == cluster[0]).all()
    assert sum(map(len, clusters)) - len(clusters) == found.counts["removed"]
    assert dedup([]).clusters == [] and dedup(["a"]).clusters == []
    with pytest.raises(ValueError):
        found.keep[0] = False


def test_the_result_filters_what_it_was_made_of():
    found = dedup(TEXTS)
    expected = [text for text, kept in zip(TEXTS, found.keep, strict=True) if kept]
    assert found.apply(TEXTS) == expected and found.apply(tuple(TEXTS)) == tuple(expected)
    assert found.apply(np.array(TEXTS)).tolist() == expected
    with pytest.raises(simgpu.ParameterError, match="rows"):
        found.apply(TEXTS[1:])
    with pytest.raises(TypeError):
        found.apply("text")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": TEXTS, "n": range(len(TEXTS))})
    assert found.apply(frame)["text"].tolist() == expected == found.apply(frame["text"]).tolist()
    assert (
        dedup(frame, column="text", id="n").removed["id"].tolist() == found.removed["row"].tolist()
    )
    pl = pytest.importorskip("polars")
    assert found.apply(pl.DataFrame({"text": TEXTS}))["text"].to_list() == expected
    assert found.apply(pl.Series(TEXTS)).to_list() == expected
    pa = pytest.importorskip("pyarrow")
    assert found.apply(pa.table({"text": TEXTS}))["text"].to_pylist() == expected
    assert found.apply(pa.array(TEXTS)).to_pylist() == expected
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"text": TEXTS})
    assert list(found.apply(dataset)["text"]) == expected
    assert (dedup(dataset, column="text").keep == found.keep).all()


def test_ids_are_numbers_or_strings():
    names = [f"doc-{row}" for row in range(len(TEXTS))]
    removed = dedup(TEXTS, id=names).removed
    assert removed["id"].tolist() == [names[row] for row in removed["row"]]
    assert removed["kept_id"].tolist() == [names[row] for row in removed["kept"]]
    for bad in [names[1:], [None] * len(TEXTS), [1.5] * len(TEXTS)]:
        with pytest.raises((TypeError, ValueError)):
            dedup(TEXTS, id=bad)


def jaccard(a, b):
    return len(a & b) / len(a | b)


def test_pairs_of_tokens_have_exact_similarities():
    rng = np.random.default_rng(2)
    documents = [[f"t{x}" for x in rng.integers(0, 40, 12)] for _ in range(150)]
    found = pairs(documents, shingling="tokens", threshold=0.3, bands=64, rows=2)
    sets = [set(document) for document in documents]
    truth = {
        (i, j): jaccard(sets[i], sets[j])
        for j in range(len(sets))
        for i in range(j)
        if jaccard(sets[i], sets[j]) >= 0.3
    }
    got = {(row["left"], row["right"]): row["similarity"] for row in found.to_pylist()}
    assert set(got) <= set(truth) and len(got) > 0.9 * len(truth) > 30
    for pair, similarity in got.items():
        assert similarity == pytest.approx(truth[pair])
    assert not found.incomplete and found.recall > 0.99


def runs_of(text, size=5):
    words = text.split()
    return {tuple(words[at : at + size]) for at in range(max(1, len(words) - size + 1))}


@pytest.mark.parametrize("cluster", ["greedy", "connected"])
def test_losses_are_counts_of_shingles(cluster):
    words = [f"w{number}" for number in range(400)]
    texts = [" ".join(words[start : start + 60 + start % 7]) for start in range(0, 300, 3)]
    found = simgpu.dedup([*texts, texts[0]], threshold=0.5, cluster=cluster)
    rows = found.removed.to_pylist()
    assert len(rows) > 50
    texts.append(texts[0])
    lost, shingles = 0, 0
    for row in rows:
        document, kept = runs_of(texts[row["row"]]), runs_of(texts[row["kept"]])
        assert row["lost"] == len(document - kept) / len(document)
        if row["found_by"] != "identical":
            lost += len(document - kept)
            shingles += len(document)
    assert found.counts["lost_shingles"] == lost > 0
    assert found.counts["removed_shingles"] == shingles
    assert found.counts["unknown_losses"] == 0
    estimated = simgpu.dedup(texts, threshold=0.5, cluster=cluster, verify="signature")
    unknown = [row for row in estimated.removed.to_pylist() if np.isnan(row["lost"] or 0) or row["lost"] is None]
    assert len(unknown) == estimated.counts["unknown_losses"] > 0


@pytest.mark.parametrize("candidates", ["lsh", "join"])
def test_contained_documents_lose_nothing(candidates):
    words = [f"w{number}" for number in range(400)]
    wholes = [" ".join(words[start : start + 40]) for start in range(0, 360, 40)]
    parts = [" ".join(words[start + 3 : start + 35]) for start in range(0, 360, 40)]
    others = [part + " and more of its own" for part in parts[:4]]
    texts = [*parts, *wholes, *others]
    found = simgpu.dedup(texts, measure="contained", threshold=1, candidates=candidates)
    removed = {row["row"]: (row["kept"], row["similarity"], row["lost"]) for row in found.removed.to_pylist()}
    assert set(removed.values()) <= {(len(parts) + row, 1.0, 0.0) for row in range(len(parts))}
    assert set(removed) <= set(range(len(parts))) and len(removed) >= 6
    assert found.report["keep"] == "largest"
    parameters = found.report["parameters"]
    assert parameters["measure"] == "contained"
    if candidates == "join":
        assert len(removed) == len(parts) and found.recall == 1
    else:
        recall = parameters["recall_by_size_ratio"]
        assert recall["1"] > recall["2"] > recall["10"] and recall["2"] == found.recall
    both = {(row["left"], row["right"]) for row in simgpu.pairs(texts, measure="contained", threshold=1)}
    assert both >= {(row, kept) for row, (kept, *_) in removed.items()}
    for refused in ({"cluster": "connected"}, {"keep": "longest"}, {"verify": "signature"}, {"weights": "rarity"}):
        with pytest.raises(simgpu.ParameterError, match="measure"):
            simgpu.dedup(texts, measure="contained", **refused)


def test_copies_of_symbols_are_removed():
    texts = ["???", "😀 😀", "???", "", "", "😀\n😀", "a < b and all the rest of it", "a > b and all the rest of it"]
    found = simgpu.dedup(texts, shingling=simgpu.Shingling("words", size=2))
    removed = [(row["row"], row["kept"], row["found_by"]) for row in found.removed.to_pylist()]
    assert removed == [(2, 0, "identical"), (5, 1, "identical"), (7, 6, "exact")]
    assert (found.counts["identical"], found.counts["equal_shingles"]) == (2, 1)
    assert len(pairs(texts, shingling=simgpu.Shingling("words", size=2))) == 3


def test_code_tells_operators_apart():
    programs = ["if (a >= b) return -1.5;", "if(a>=b)\n\treturn -1.5;", "if (a > b) return 1.5;"]
    code = simgpu.Shingling("code", size=2)
    found = simgpu.dedup(programs, shingling=code, threshold=1.0)
    assert [(row["row"], row["found_by"]) for row in found.removed.to_pylist()] == [(1, "exact")]
    with pytest.raises(simgpu.errors.ParameterError, match="shingles of this unit hold no white space"):
        simgpu.Shingling("code", keep_whitespace=True)


def test_short_texts_are_warned_of():
    titles = ["how to fry an egg", "how to boil an egg", "how to boil two eggs in a pan of water"]
    for search in (simgpu.dedup, simgpu.pairs):
        with pytest.warns(simgpu.SimgpuWarning, match=r"2 of 3 .* have at most one shingle.* pass a smaller size"):
            assert search(titles).counts["few_shingles"] == 2
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            search(titles, shingling=simgpu.Shingling("words", size=2))


def test_a_search_that_ends_early_warns():
    with pytest.warns(simgpu.SimgpuWarning, match="max_pairs"):
        found = pairs(["a b c d e f"] * 10, max_pairs=5)
    assert found.incomplete and len(found) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(pairs(["a b c d e f"] * 10)) == 45
        assert len(pairs(["a b c d e f"] * 10, identical="star")) == 9


def test_tables_go_to_arrow():
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    found = dedup(TEXTS, verify="none", id=[f"{row}" for row in range(len(TEXTS))])
    removed = found.removed
    table = pa.table(removed)
    assert table.column_names == removed.column_names
    assert table.column_names == ["row", "kept", "similarity", "lost", "found_by", "id", "kept_id"]
    assert table.to_pylist() == removed.to_pylist() == pl.DataFrame(removed).to_dicts()
    assert np.isnan(removed["similarity"][removed["found_by"] == "none"]).all()
    same = pickle.loads(pickle.dumps(removed))
    assert same.to_pylist() == removed.to_pylist() and pa.table(same).schema == table.schema
    assert pa.table(pairs(TEXTS)).column_names == ["left", "right", "similarity"]
    with pytest.raises(KeyError, match="found_by"):
        removed["nothing"]


def test_results_are_pickled_and_shown():
    found = dedup(TEXTS)
    same = pickle.loads(pickle.dumps(found))
    assert (same.kept_by == found.kept_by).all() and same.report == found.report
    assert "documents kept" in repr(found) and "<table>" in found._repr_html_()
    assert "<table>" in found.removed._repr_html_() and "<table>" in pairs(TEXTS)._repr_html_()
    assert "&lt;" in dedup(["a"] * 2, id=["<b>", "<i>"]).removed._repr_html_()


def test_progress_stops_a_search():
    seen = []
    dedup(TEXTS, progress=lambda *state: seen.append(state))
    assert seen and all(done <= total for _, done, total in seen)
    with pytest.raises(simgpu.StoppedError):
        dedup(["word " * 3000 + str(row) for row in range(3000)], num_perm=16384, progress=lambda *state: False)


@pytest.mark.parametrize(
    "arguments",
    [
        {"threshold": 0},
        {"threshold": 1.5},
        {"threshold": float("nan")},
        {"scheme": "md5"},
        {"verify": "maybe"},
        {"cluster": "star"},
        {"keep": "last"},
        {"max_bucket": 0},
        {"bands": 4},
        {"bands": 400, "rows": 400},
        {"backend": "tpu"},
        {"threads": 0},
        {"shingling": "lines"},
    ],
)
def test_bad_arguments_are_refused(arguments):
    with pytest.raises(simgpu.ParameterError):
        dedup(TEXTS, **arguments)
    with pytest.raises(TypeError):
        dedup("text")


class TestColumns:
    """What is given as documents, and beside them."""

    ROWS = {
        "id": ["a", "b", "c", "d"],
        "text": ["a rose is a rose is a rose"] * 3 + ["by any other name it smells"],
        "stars": [2, 9, 10, None],
    }

    def tables(self):
        pa = pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        pl = pytest.importorskip("polars")
        datasets = pytest.importorskip("datasets")
        duckdb = pytest.importorskip("duckdb")
        table = pa.table(self.ROWS)
        yield self.ROWS
        yield table
        yield table.to_reader()
        yield pd.DataFrame(self.ROWS)
        yield pl.DataFrame(self.ROWS)
        yield datasets.Dataset.from_dict(self.ROWS)
        yield duckdb.from_arrow(table)

    def test_ids_and_values_are_columns_of_every_table(self):
        for table in self.tables():
            found = dedup(table, "text", id="id", keep_by="stars")
            rows = found.removed.to_pylist()
            assert [(row["id"], row["kept_id"]) for row in rows] == [("a", "c"), ("b", "c")], type(table)
        for table in self.tables():
            got = pairs(table, "text", id="id").to_pylist()
            assert [(row["left_id"], row["right_id"]) for row in got] == [("a", "b"), ("a", "c"), ("b", "c")]

    def test_a_filtered_frame_of_one_column_works(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(self.ROWS)[["text"]].iloc[[0, 2, 3]]
        assert dedup(frame).keep.tolist() == [True, False, True]
        named = pd.DataFrame(self.ROWS)[["text", "id"]].iloc[[1, 2, 3]]
        assert dedup(named, id="id").removed["kept_id"].tolist() == ["b"]
        assert simgpu.Signer().sign(frame) == simgpu.Signer().sign(frame["text"])
        with pytest.raises(TypeError, match="column=, one of id, text, stars"):
            dedup(pd.DataFrame(self.ROWS))
        with pytest.raises(TypeError, match="column=, one of text, stars"):
            dedup(pd.DataFrame(self.ROWS), id="id")

    def test_columns_of_pandas_may_be_called_by_numbers(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({number: values for number, values in enumerate(self.ROWS.values())})
        assert dedup(frame, 1, id="0").removed["id"].tolist() == ["b", "c"]
        assert pairs(frame, column=1).counts["similar_pairs"] == 3
        assert len(simgpu.link(frame, fields=["1"], id="0", threshold=0.9)) == 2
        twice = pd.concat([frame, frame], axis=1)
        with pytest.raises(simgpu.ParameterError, match="several times"):
            dedup(twice, 1)
        with pytest.raises(TypeError, match="column is 1; give the name of a column, as a str"):
            dedup(self.ROWS, 1)

    @pytest.mark.parametrize(
        "one", [np.array("a b c d"), np.array(None, dtype=object), np.str_("a b"), "a b", b"a b", np.float64(1)]
    )
    def test_one_value_is_no_column(self, one):
        for call in (dedup, pairs, simgpu.Signer().sign):
            with pytest.raises(TypeError, match="documents are of type .*; give "):
                call(one)
        with pytest.raises(TypeError, match="the values of id are of type .*; give |has no|names a column"):
            dedup(["a b c"], id=one)

    @pytest.mark.parametrize(
        ("values", "kept"),
        [
            ([2, 9, 10], 2),
            (["2", "9", "10"], 2),
            ([2.5, None, 1.5], 0),
            (["a", "b", ""], 1),
            (np.array(["2024-01-02", "2024-03-01", "2023-12-31"], dtype="datetime64[s]"), 1),
            ([1, 1, 1], 0),
        ],
    )
    def test_the_largest_value_is_kept(self, values, kept):
        found = dedup(self.ROWS["text"][:3], keep_by=values)
        assert found.kept_by.tolist() == [kept] * 3
        assert found.report["keep_by"] == "a sequence"

    def test_dates_of_frames_decide_without_missing_ones(self):
        pd = pytest.importorskip("pandas")
        pl = pytest.importorskip("polars")
        frame = pd.DataFrame({"text": self.ROWS["text"]})
        frame["when"] = pd.to_datetime(["2020-01-01", "2021-06-01", None, "2019-01-01"])
        for table in (frame, pl.from_pandas(frame)):
            assert dedup(table, "text", keep_by="when").kept_by.tolist() == [1, 1, 1, 3]
            assert dedup(table, "text", keep_by="when:asc").kept_by.tolist() == [0, 0, 0, 3]
        assert dedup(frame["text"], keep_by=frame["when"]).kept_by.tolist() == [1, 1, 1, 3]

    @pytest.mark.parametrize(
        ("data", "error", "named"),
        [
            ("arrow", simgpu.ParameterError, 'no column "body"; give one of id, text, stars'),
            ("polars", simgpu.ParameterError, 'no column "body"; give one of id, text, stars'),
            ("dict", simgpu.ParameterError, 'no column "body"; give one of id, text, stars'),
            ("lazy", TypeError, "documents are of type LazyFrame; give a DataFrame, as collect"),
            ("matrix", TypeError, 'row 0 is of type list; give texts, or shingling="tokens"'),
        ],
    )
    def test_refusals_of_tables_name_a_remedy(self, data, error, named):
        pa = pytest.importorskip("pyarrow")
        pl = pytest.importorskip("polars")
        data = {
            "arrow": lambda: (pa.table(self.ROWS), "body"),
            "polars": lambda: (pl.DataFrame(self.ROWS), "body"),
            "dict": lambda: (self.ROWS, "body"),
            "lazy": lambda: (pl.LazyFrame(self.ROWS), "text"),
            "matrix": lambda: (np.array([["a", "b"]]),),
        }[data]()
        with pytest.raises(error, match=named):
            dedup(*data)

    def test_values_decide_as_in_files(self, tmp_path):
        rng = np.random.default_rng(5)
        stars = [None if n % 11 == 0 else float(n) for n in rng.integers(0, 20, len(TEXTS))]
        records = tmp_path / "in.jsonl"
        rows = zip(TEXTS, stars, strict=True)
        records.write_text("".join(json.dumps({"text": text, "stars": n}) + "\n" for text, n in rows))
        for by in ["stars", "stars:asc"]:
            for cluster in ["greedy", "connected"]:
                options = {"threshold": 0.6, "cluster": cluster, "keep_by": by}
                simgpu.dedup_files(records, tmp_path / "out", overwrite=True, **options)
                removed = (tmp_path / "out" / "removed.jsonl").read_text().splitlines()
                expected = [(row["row"], row["kept_row"]) for row in map(json.loads, removed)]
                found = dedup({"text": TEXTS, "stars": stars}, "text", **options)
                assert [(row["row"], row["kept"]) for row in found.removed] == expected
                assert found.report["keep_by"] == by

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"keep_by": "stars", "keep": "longest"}, "keep_by"),
            ({"keep_by": "price"}, "keep_by is \"price\", no column of data; give one of id, text, stars"),
            ({"id": "price"}, "id is \"price\", no column of data; give one of id, text, stars"),
            ({"keep_by": [1, 2]}, "keep_by has 2 values for 4 documents"),
            ({"id": [1, 2]}, "id has 2 values for 4 documents"),
            ({"keep_by": [None] * 4}, "keep_by"),
        ],
    )
    def test_wrong_ids_and_values_are_named(self, options, named):
        with pytest.raises(simgpu.ParameterError, match=named):
            dedup(self.ROWS, "text", **options)
        with pytest.raises(TypeError, match="id names a column, but data are of type list"):
            dedup(["a"], id="id")
        with pytest.warns(simgpu.SimgpuWarning, match="as strings"):
            dedup(self.ROWS["text"], keep_by=["1", "x", "2", "3"])

    def test_ids_of_other_types_are_refused_by_name(self):
        pa = pytest.importorskip("pyarrow")
        with pytest.raises(TypeError, match="ids have the Arrow type Float64; give integers"):
            dedup(["a", "b"], id=pa.array([1.0, 2.0]))
        with pytest.raises(TypeError, match="id of row 0 is of type float; give ids"):
            dedup(["a", "b"], id=[1.5, 2.5])


class TestTokenIds:
    """Token ids are the tokens of their digits, as files have them."""

    LISTS = [[1, 2, 3, 40], [3, 1, 2, 40], [7, 8, -9], [], [7, 8, -9, 2**40]]

    def expected(self):
        return [[str(number) for number in numbers] for numbers in self.LISTS]

    def test_lists_of_integers_are_lists_of_their_digits(self):
        pa = pytest.importorskip("pyarrow")
        texts = self.expected()
        options = {"shingling": "tokens", "threshold": 0.5}
        truth = pairs(texts, **options).to_pylist()
        assert len(truth) == 2
        for kind in [pa.list_(pa.int64()), pa.large_list(pa.int64())]:
            column = pa.array(self.LISTS, kind)
            assert pairs(column, **options).to_pylist() == truth
            assert pairs(pa.chunked_array([column[:2], column[2:]]), **options).to_pylist() == truth
        for lists in [self.LISTS, [np.array(numbers, dtype=np.int64) for numbers in self.LISTS]]:
            assert pairs(lists, **options).to_pylist() == truth
        assert (dedup(self.LISTS, **options).keep == dedup(texts, **options).keep).all()
        signer = simgpu.Signer()
        assert signer.sign_tokens(self.LISTS) == signer.sign_tokens(texts)

    @pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"])
    def test_matrices_of_integers(self, dtype):
        matrix = np.array([[1, 2, 3], [1, 2, 3], [9, 2, 100]], dtype=dtype)
        texts = [[str(number) for number in row] for row in matrix]
        signer = simgpu.Signer()
        assert signer.sign_tokens(matrix) == signer.sign_tokens(texts)
        pa = pytest.importorskip("pyarrow")
        column = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), 3)
        assert signer.sign_tokens(column) == signer.sign_tokens(texts)
        assert dedup(matrix, shingling="tokens").keep.tolist() == [True, False, True]

    def test_rows_of_sparse_matrices_are_sets(self):
        sparse = pytest.importorskip("scipy.sparse")
        dense = np.array([[1, 0, 2, 0, 1], [3, 0, 1, 0, 1], [0, 0, 0, 0, 0], [0, 1, 0, 1, 0]])
        texts = [[str(column) for column in np.flatnonzero(row)] for row in dense]
        options = {"shingling": "tokens", "threshold": 0.9}
        for make in [sparse.csr_matrix, sparse.csc_array, sparse.coo_array]:
            found = dedup(make(dense), id=list("wxyz"), **options)
            assert found.removed.to_pylist() == dedup(texts, id=list("wxyz"), **options).removed.to_pylist()
            assert found.keep.tolist() == [True, False, True, True]
            counted = simgpu.Shingling("tokens", count=True)
            with pytest.raises(simgpu.ParameterError, match="count has no effect on a SciPy matrix"):
                dedup(make(dense), shingling=counted)
        with pytest.raises(TypeError, match='give texts, or shingling="tokens"'):
            dedup(sparse.csr_matrix(dense))

    @pytest.mark.parametrize("tokens", [["b", 1.5], ["b", True], [None], [[1]], ["b", 1], [1, "b"], [1, True]])
    def test_other_tokens_are_refused_by_row(self, tokens):
        with pytest.raises(TypeError, match="row 1 .*; give tokens that are all str or bytes, or all int"):
            dedup([["a"], tokens], shingling="tokens")


class TestSignatures:
    """Signatures in place of the documents that were signed."""

    def test_pairs_are_those_of_the_documents(self):
        signatures = simgpu.Signer().sign(TEXTS)
        for verify in ["signature", "none"]:
            options = {"threshold": 0.6, "verify": verify, "bands": 32, "rows": 4}
            expected = pairs(TEXTS, **options)
            found = pairs(signatures, id=list(range(len(TEXTS))), **options)
            got = [{name: row[name] for name in ("left", "right", "similarity")} for row in found]
            # Signatures cannot tell texts without shingles apart.
            with_shingles = [row for row in expected if any(map(str.isalnum, TEXTS[row["left"]]))]
            assert got == with_shingles and len(got) > 20
            assert (found["left_id"] == found["left"]).all()
            assert found.recall == expected.recall
            kept = dedup(signatures, **options)
            # Texts of equal signatures count as identical, in signatures alone.
            keep = dedup(TEXTS, **options).keep | ~np.array([any(map(str.isalnum, text)) for text in TEXTS])
            assert (kept.keep == keep).all()
            assert kept.apply(signatures) == signatures[kept.keep]
        assert pairs(signatures, threshold=0.6).report["parameters"]["verify"] == "signature"

    def test_files_of_signatures_have_the_same_pairs(self, tmp_path):
        signatures = simgpu.Signer("datatrove").sign(TEXTS)
        signatures.save(tmp_path / "s.npy")
        simgpu.pairs_signatures(tmp_path / "s.npy", tmp_path / "pairs.jsonl", threshold=0.7)
        written = map(json.loads, (tmp_path / "pairs.jsonl").read_text().splitlines())
        expected = [(row["row_a"], row["row_b"], row["similarity"]) for row in written]
        found = pairs(signatures, threshold=0.7)
        assert [tuple(row.values()) for row in found] == expected and expected

    def test_values_decide_which_signature_is_kept(self):
        signatures = simgpu.Signer().sign(["a b c d e f"] * 3 + [""])
        assert dedup(signatures, keep_by=[1, 3, 2, 9]).kept_by.tolist() == [1, 1, 1, 3]
        assert dedup(signatures[:0]).keep.tolist() == []

    @pytest.mark.parametrize(
        "options",
        [
            {"verify": "exact"},
            {"candidates": "join"},
            {"shingling": "chars"},
            {"num_perm": 128},
            {"seed": 1},
            {"weights": "rarity"},
            {"scheme": "datatrove"},
            {"backend": "gpu"},
            {"column": "text"},
            {"id": "id"},
            {"keep": "longest"},
            {"keep_by": "stars"},
        ],
    )
    def test_options_of_documents_are_refused(self, options):
        signatures = simgpu.Signer().sign(TEXTS)
        (name,) = options
        with pytest.raises(simgpu.ParameterError, match=name):
            dedup(signatures, **options)


class TestJoins:
    BASKETS = [[f"item {(i * i + j) % 90}" for j in range(3 + i % 9)] for i in range(200)]

    def test_a_join_finds_all_pairs(self):
        sets = [set(basket) for basket in self.BASKETS]
        for threshold in (0.3, 0.5, 0.7, 0.9):
            found = simgpu.pairs(self.BASKETS, shingling="tokens", threshold=threshold, candidates="join")
            expected = {
                (i, j)
                for j in range(len(sets))
                for i in range(j)
                if len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= threshold
            }
            assert set(zip(found["left"].tolist(), found["right"].tolist(), strict=True)) == expected
            assert found.recall == 1.0
            assert found.report["parameters"]["candidates"] == "join"
            assert "bands" not in found.report["parameters"]

    def test_tokens_are_joined_by_default(self):
        joined = simgpu.dedup(self.BASKETS, shingling="tokens", candidates="join")
        by_default = simgpu.dedup(self.BASKETS, shingling="tokens")
        assert by_default.recall == 1.0
        assert (by_default.keep == joined.keep).all()
        assert simgpu.dedup(self.BASKETS, shingling="tokens", seed=7).recall < 1.0

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"candidates": "join", "bands": 16, "rows": 8}, "bands"),
            ({"candidates": "join", "num_perm": 64}, "candidates"),
            ({"candidates": "join", "verify": "signature"}, "verify"),
            ({"candidates": "all"}, "candidates"),
            ({"candidates": "join", "join_mib": 0}, "join_mib"),
            ({"candidates": "lsh", "join_mib": 7}, "omit join_mib"),
            ({"distance": "l1", "within": 3, "threshold": 0.5}, "omit threshold, or distance"),
            ({"distance": "l1", "within": 3, "backend": "simd"}, "no signatures; omit backend"),
        ],
    )
    def test_joins_refuse_what_they_cannot_do(self, options, named):
        with pytest.raises(simgpu.ParameterError, match=named):
            simgpu.pairs(self.BASKETS, shingling="tokens", **options)

    def test_a_join_refuses_a_limit_of_buckets(self):
        with pytest.raises(simgpu.ParameterError, match="compares no buckets; omit max_bucket"):
            simgpu.dedup(self.BASKETS, shingling="tokens", candidates="join", max_bucket=9)


class TestDistances:
    LISTS = [[f"t{(i * i * j + i) % 5}" for j in range(i % 7)] for i in range(120)]

    @staticmethod
    def hamming(a, b):
        return sum(x != y for x, y in zip(a, b, strict=True)) if len(a) == len(b) else None

    @staticmethod
    def l1(a, b):
        return sum(abs(a.count(token) - b.count(token)) for token in {*a, *b})

    @pytest.mark.parametrize("distance", ["hamming", "l1"])
    @pytest.mark.parametrize("within", [0, 1, 3, 50])
    def test_all_pairs_within_a_distance_are_found(self, distance, within):
        found = simgpu.pairs(self.LISTS, shingling="tokens", distance=distance, within=within)
        between = getattr(self, distance)
        expected = {
            (i, j, between(self.LISTS[i], self.LISTS[j])) for j in range(len(self.LISTS)) for i in range(j)
        }
        expected = {pair for pair in expected if pair[2] is not None and pair[2] <= within}
        columns = (found[name].tolist() for name in ("left", "right", "distance"))
        assert set(zip(*columns, strict=True)) == expected
        assert found.column_names == ["left", "right", "distance"]
        assert found.recall == 1.0
        parameters = found.report["parameters"]
        assert (parameters["distance"], parameters["within"]) == (distance, within)
        assert "threshold" not in parameters

    def test_files_are_searched_by_distance(self, tmp_path):
        records = tmp_path / "in.jsonl"
        records.write_text("".join(json.dumps({"tokens": tokens}) + "\n" for tokens in self.LISTS))
        report = simgpu.pairs_files(
            records, tmp_path / "pairs.jsonl", unit="tokens", distance="l1", within=2
        )
        found = simgpu.pairs(self.LISTS, shingling="tokens", distance="l1", within=2)
        written = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
        assert [(pair["row_a"], pair["row_b"], pair["distance"]) for pair in written] == list(
            zip(*(found[name].tolist() for name in ("left", "right", "distance")), strict=True)
        )
        assert report["parameters"]["distance"] == "l1"

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"distance": "l1"}, "within"),
            ({"within": 2}, "distance"),
            ({"distance": "l3", "within": 2}, "distance"),
            ({"distance": "l1", "within": -1}, "within"),
            ({"distance": "l1", "within": 2, "threshold": 0.5}, "threshold"),
            ({"distance": "l1", "within": 2, "candidates": "lsh"}, "candidates"),
            ({"distance": "l1", "within": 2, "verify": "none"}, "verify"),
            ({"distance": "l1", "within": 2, "shingling": "words"}, "unit"),
            ({"distance": "l1", "within": 2, "shingling": simgpu.Shingling("tokens", count=True)}, "count"),
        ],
    )
    def test_distances_refuse_what_they_have_no_use_for(self, options, named):
        with pytest.raises(simgpu.ParameterError, match=named):
            simgpu.pairs(self.LISTS, **{"shingling": "tokens", **options})


class TestRarity:
    def similarities(self, documents):
        sets = [frozenset(document) for document in documents]
        distinct = {document for document in map(tuple, documents) if document}
        counts = collections.Counter(token for document in distinct for token in set(document))
        weights = {token: math.log2(len(distinct) / count) for token, count in counts.items()}

        def similarity(a, b):
            total = sum(weights[token] for token in a | b)
            return sum(weights[token] for token in a & b) / total if total else 0.0

        return {(i, j): similarity(sets[i], sets[j]) for j in range(len(sets)) for i in range(j)}

    def test_pairs_are_compared_by_rarity(self):
        baskets = TestJoins.BASKETS
        truth = self.similarities(baskets)
        found = simgpu.pairs(baskets, shingling="tokens", weights="rarity", threshold=0.4)
        rows = zip(found["left"].tolist(), found["right"].tolist(), strict=True)
        similarities = dict(zip(rows, found["similarity"].tolist(), strict=True))
        assert similarities.keys() >= {pair for pair, similarity in truth.items() if similarity >= 0.40001}
        for pair, similarity in similarities.items():
            assert similarity == pytest.approx(truth[pair], abs=1e-5)
            assert similarity >= 0.4
        assert found.report["parameters"]["weights"] == "rarity"

    def test_dedup_of_texts_ignores_what_all_have(self):
        boilerplate = " ".join(f"word{i}" for i in range(60))
        texts = [f"{boilerplate} {' '.join(f'own{i} own{i + j}' for j in range(30))}" for i in range(0, 900, 90)]
        options = {"threshold": 0.3, "candidates": "join"}
        assert simgpu.dedup(texts, **options).counts["kept"] == 1
        assert simgpu.dedup(texts, weights="rarity", **options).counts["kept"] == len(texts)

    def test_files_are_weighed_as_memory_is(self, tmp_path):
        baskets = TestJoins.BASKETS
        records = tmp_path / "in.jsonl"
        records.write_text("".join(json.dumps({"tokens": tokens}) + "\n" for tokens in baskets))
        report = simgpu.dedup_files(records, tmp_path / "out", unit="tokens", weights="rarity")
        found = simgpu.dedup(baskets, shingling="tokens", weights="rarity")
        removed = (tmp_path / "out" / "removed.jsonl").read_text().splitlines()
        assert [json.loads(line)["row"] for line in removed] == found.removed["row"].tolist()
        assert report["parameters"]["weights"] == "rarity"

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"weights": "frequency"}, "weights"),
            ({"weights": "rarity", "shingling": simgpu.Shingling("tokens", count=True)}, "count"),
            ({"weights": "rarity", "distance": "l1", "within": 2}, "distance"),
        ],
    )
    def test_rarity_refuses_other_weights(self, options, named):
        with pytest.raises(simgpu.ParameterError, match=named):
            simgpu.pairs(TestJoins.BASKETS, **{"shingling": "tokens", **options})


def test_a_page_shows_the_texts_that_were_given(tmp_path):
    words = [f"word{number}" for number in range(60)]
    near = [" ".join([*words[:30], f"<b>{edit}", *words[31:]]) for edit in ("one", "two", "three")]
    texts = [*near, "something else altogether, of a few more words"]
    path = tmp_path / "page.html"
    found = simgpu.dedup(texts, threshold=0.5, candidates="join")
    found.page(texts, path)
    page = path.read_text(encoding="utf-8")
    assert "2 of 4 documents removed" in page and "<bdi>0</bdi> in <bdi>data</bdi>, row 0" in page
    assert "&lt;" in page and "<b>one" not in page
    for edit in ("one", "two", "three"):
        assert f"<mark>{edit}</mark>" in page
    # Equal results make equal pages, and a file is replaced.
    simgpu.dedup(texts, threshold=0.5, candidates="join").page(texts, path)
    assert path.read_text(encoding="utf-8") == page
    frame = pytest.importorskip("pandas").DataFrame({"text": texts, "key": ["a", "b", "it's", "d"]})
    found = simgpu.dedup(frame, "text", id="key", threshold=0.5, candidates="join")
    found.page(frame, path, column="text", id="key")
    assert "<bdi>it's</bdi> in <bdi>data</bdi>, row 2" in path.read_text(encoding="utf-8")
    with pytest.raises(simgpu.ParameterError, match="data"):
        found.page(texts[1:], path)


def test_a_page_shows_a_reference_and_tokens(tmp_path):
    words = [f"word{number}" for number in range(40)]
    old, new = [[*words, "old"]], [[*words, "new"], ["else"]]
    path = tmp_path / "page.html"
    found = simgpu.dedup(new, against=old, shingling="tokens", threshold=0.5)
    found.page(new, path, against=old)
    page = path.read_text(encoding="utf-8")
    assert "1 of 2 documents removed" in page and "of the reference" in page
    assert "<mark>old</mark>" in page and "<mark>new</mark>" in page
    with pytest.raises(simgpu.ParameterError, match="against"):
        found.page(new, path)
    with pytest.raises(simgpu.ParameterError, match="or was pickled"):
        pickle.loads(pickle.dumps(found)).page(new, path, against=old)
    signatures = simgpu.Signer().sign(["a b c d e f g", "a b c d e f g"])
    with pytest.raises(simgpu.ParameterError, match="no texts to show"):
        simgpu.dedup(signatures).page(["a", "b"], path)


def test_ids_and_values_may_be_levels_of_a_pandas_index():
    pd = pytest.importorskip("pandas")
    texts = ["a rose is a rose is a rose", "by any other name", "a rose is a rose is a rose"]
    frame = pd.DataFrame({"text": texts, "n": [1, 2, 3]}, index=pd.Index(["x", "y", "z"], name="key"))
    found = simgpu.dedup(frame, "text", id=frame.index.name)
    assert [(row["id"], row["kept_id"]) for row in found.removed] == [("z", "x")]
    found = simgpu.dedup(frame.set_index("n", append=True), "text", id="key", keep_by="n")
    assert [(row["id"], row["kept_id"]) for row in found.removed] == [("x", "z")]
    # A column of the same name comes first.
    frame["key"] = ["p", "q", "r"]
    assert simgpu.dedup(frame, "text", id="key").removed["id"].tolist() == ["r"]
    # The index may hold the texts, too.
    assert len(simgpu.dedup(pd.DataFrame({"n": [1, 2, 3]}, index=pd.Index(texts, name="text")), "text").removed) == 1
    with pytest.raises(simgpu.ParameterError, match='id is "none", no column of data; give one of text, n, key'):
        simgpu.dedup(frame, "text", id="none")
    people = pd.DataFrame({"name": ["Ann Howard", "Ann Howard"]}, index=pd.Index([7, 9], name="number"))
    linked = simgpu.link(people, fields="name", threshold=0.5, id="number")
    assert [(row["id_a"], row["id_b"]) for row in linked] == [(7, 9)]
