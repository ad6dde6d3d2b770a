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
    counts = {name: count for name, count in report["counts"].items() if name in found.counts}
    assert {**found.counts, "bytes": 0} == {**counts, "bytes": 0}
    for name, value in found.report["parameters"].items():
        assert report["parameters"][name] == value, name
    sizes = {int(size): count for size, count in report["cluster_sizes"].items()}
    assert found.report["cluster_sizes"] == sizes
    assert found.recall == report["parameters"]["recall_at_threshold"]
    assert found.expected_precision == report.get("expected_precision")


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
    with pytest.raises(simgpu.errors.ParameterError, match="keep_whitespace=True changes no token of code"):
        simgpu.Shingling("code", keep_whitespace=True)


def test_short_texts_are_warned_of():
    titles = ["how to fry an egg", "how to boil an egg", "how to boil two eggs in a pan of water"]
    for search in (simgpu.dedup, simgpu.pairs):
        with pytest.warns(simgpu.SimgpuWarning, match=r"at most one shingle in 2 of 3 .* pass a smaller size"):
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
    assert table.column_names == ["row", "kept", "similarity", "found_by", "id", "kept_id"]
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
        dedup(["word " * 3000 + str(row) for row in range(3000)], progress=lambda *state: False)


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
        ],
    )
    def test_joins_refuse_what_they_cannot_do(self, options, named):
        with pytest.raises(simgpu.ParameterError, match=named):
            simgpu.pairs(self.BASKETS, shingling="tokens", **options)


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
