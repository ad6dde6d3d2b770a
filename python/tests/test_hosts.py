"""The adapters, each with the real package: datasets, polars, DuckDB, scikit-learn."""

import pickle

import numpy as np
import pytest

import simgpu

TEXTS = [
    "the quick brown fox jumps over the lazy dog near the river bank",
    "the quick brown fox jumps over the lazy dog near the river bank today",
    "signatures of sets estimate how similar the sets are",
    "",
    "the quick brown fox jumps over the lazy dog near the river bank",
]


def expected(texts=TEXTS, **options):
    return simgpu.Signer(**options).sign(texts).slots


class TestDatasets:
    @pytest.fixture
    def dataset(self):
        datasets = pytest.importorskip("datasets")
        datasets.disable_progress_bars()
        return datasets.Dataset.from_dict({"id": list(range(len(TEXTS))), "text": TEXTS})

    @pytest.mark.parametrize("layout", [None, "arrow"])
    @pytest.mark.parametrize("processes", [None, 2])
    def test_map_adds_signatures(self, dataset, layout, processes):
        from simgpu.hf import sign_batch

        simgpu.Signer().sign(["a pool exists in the parent " * 1000])
        mapped = dataset.with_format(layout).map(
            sign_batch(simgpu.Signer(num_perm=16)), batched=True, batch_size=2, num_proc=processes
        )
        signatures = np.array(mapped.with_format("numpy")["signature"][:])
        np.testing.assert_array_equal(signatures, expected(num_perm=16))

    def test_equal_functions_have_equal_fingerprints(self):
        pytest.importorskip("datasets")
        from datasets.fingerprint import Hasher

        from simgpu.hf import sign_batch

        first, second = (sign_batch(simgpu.Signer(seed=3)) for _ in range(2))
        assert Hasher.hash(first) == Hasher.hash(second)
        assert Hasher.hash(first) != Hasher.hash(sign_batch(simgpu.Signer(seed=4)))

    def test_dedup_keeps_one_of_each_group(self, dataset):
        from simgpu.hf import dedup

        # In another order than the memory's.
        shuffled = dataset.select([4, 3, 2, 1, 0])
        assert dedup(shuffled, threshold=0.7)["id"][:] == [4, 3, 2]
        marked = dedup(shuffled, threshold=0.7, mark=True)
        assert marked["kept"][:] == [True, True, True, False, False]
        assert marked["kept_by"][:] == [0, 1, 2, 0, 0]

    def test_wrong_arguments_are_named(self, dataset):
        from simgpu.hf import dedup

        with pytest.raises(KeyError, match="body.*id, text"):
            dedup(dataset, column="body")
        with pytest.raises(TypeError, match="DatasetDict|one split"):
            dedup({"train": dataset})


class TestPolars:
    @pytest.fixture
    def frame(self):
        pl = pytest.importorskip("polars")
        import simgpu.polars  # noqa: F401

        return pl.DataFrame({"id": range(len(TEXTS)), "text": TEXTS})

    @pytest.mark.parametrize("scheme, slots", [("affine32", "UInt32"), ("affine64", "UInt64")])
    @pytest.mark.parametrize("engine", ["in-memory", "streaming"])
    def test_an_expression_signs(self, frame, scheme, slots, engine):
        import polars as pl

        signer = simgpu.Signer(scheme, num_perm=8)
        lazy = frame.lazy().select(pl.col("text").simgpu.sign(signer))
        signed = lazy.collect(engine=engine)["text"]
        assert signed.dtype == pl.Array(getattr(pl, slots), 8)
        assert lazy.collect_schema()["text"] == signed.dtype
        np.testing.assert_array_equal(signed.to_numpy(), expected(scheme=scheme, num_perm=8))

    def test_dedup_and_pairs(self, frame):
        assert frame.simgpu.dedup("text", threshold=0.7)["id"].to_list() == [0, 2, 3]
        marked = frame.simgpu.dedup("text", threshold=0.7, mark=True)
        assert marked["kept_by"].to_list() == [0, 0, 2, 3, 0]
        pairs = frame.simgpu.pairs("text", threshold=0.7)
        assert set(zip(pairs["left"], pairs["right"], strict=True)) == {(0, 1), (0, 4), (1, 4)}


class TestDuckdb:
    @pytest.fixture
    def connection(self):
        duckdb = pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
        import simgpu.duckdb

        connection = duckdb.connect()
        simgpu.duckdb.register(connection, signer=simgpu.Signer(num_perm=32), threshold=0.7)
        connection.execute("CREATE TABLE documents (id INTEGER, text VARCHAR)")
        connection.executemany("INSERT INTO documents VALUES (?, ?)", list(enumerate(TEXTS)))
        return connection

    def test_minhash_signs(self, connection):
        rows = connection.sql("SELECT minhash(text) FROM documents ORDER BY id").fetchall()
        np.testing.assert_array_equal(np.array([row[0] for row in rows]), expected(num_perm=32))

    def test_similarity_is_the_share_of_equal_slots(self, connection):
        found = connection.sql(
            """SELECT minhash_similarity(minhash(a.text), minhash(b.text))
            FROM documents a, documents b WHERE a.id = 0 AND b.id IN (1, 2, 4) ORDER BY b.id"""
        ).fetchall()
        slots = expected(num_perm=32)
        assert [row[0] for row in found] == [np.mean(slots[0] == slots[i]) for i in (1, 2, 4)]

    def test_a_join_on_band_keys_finds_candidates(self, connection):
        found = connection.sql(
            """WITH keyed AS (SELECT id, unnest(minhash_bands(text)) AS key FROM documents)
            SELECT DISTINCT a.id, b.id FROM keyed a JOIN keyed b USING (key) WHERE a.id < b.id"""
        ).fetchall()
        assert {(0, 4)} <= set(found) <= {(0, 1), (0, 4), (1, 4)}

    def test_null_is_a_text_without_shingles(self, connection):
        signature = connection.sql("SELECT minhash(NULL)").fetchall()[0][0]
        assert list(signature) == expected([""], num_perm=32)[0].tolist()
        assert connection.sql("SELECT minhash_bands(NULL)").fetchall()[0][0] == []


class TestSklearn:
    @pytest.fixture
    def transformer(self):
        pytest.importorskip("sklearn")
        from simgpu.sklearn import MinHashTransformer

        return MinHashTransformer(num_perm=64, size=2)

    def test_it_signs_texts(self, transformer):
        signer = simgpu.Signer(num_perm=64, shingling=simgpu.Shingling("words", 2))
        np.testing.assert_array_equal(
            transformer.fit_transform(TEXTS), signer.sign(TEXTS).slots
        )
        assert transformer.get_feature_names_out()[[0, 63]].tolist() == ["minhash0", "minhash63"]

    def test_it_works_in_a_pipeline_and_is_cloned_and_pickled(self, transformer):
        from sklearn.base import clone
        from sklearn.neighbors import NearestNeighbors
        from sklearn.pipeline import make_pipeline

        copy = pickle.loads(pickle.dumps(clone(transformer).fit(TEXTS)))
        signatures = make_pipeline(copy).transform(TEXTS)
        neighbours = NearestNeighbors(n_neighbors=3, metric="hamming").fit(signatures)
        _, rows = neighbours.kneighbors(signatures[:1])
        assert set(rows[0]) == {0, 1, 4}

    def test_a_wrong_parameter_fails_in_fit(self):
        pytest.importorskip("sklearn")
        from simgpu.sklearn import MinHashTransformer

        with pytest.raises(simgpu.ParameterError, match="nonsense"):
            MinHashTransformer(scheme="nonsense").fit(TEXTS)
