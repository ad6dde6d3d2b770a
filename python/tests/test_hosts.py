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


def duckdb_version():
    import duckdb

    return tuple(int(part) for part in duckdb.__version__.split(".")[:2])


def expected(texts=TEXTS, **options):
    return simgpu.Signer(**options).sign(texts).slots


class TestDatasets:
    @pytest.fixture
    def dataset(self):
        datasets = pytest.importorskip("datasets")
        # Older versions have it there alone.
        from datasets.utils.logging import disable_progress_bar

        disable_progress_bar()
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

    def test_columns_are_named_by_position_and_for_ids(self, dataset):
        from simgpu.hf import dedup

        dataset = dataset.add_column("stars", [1, 5, 3, 2, 4])
        kept = dedup(dataset, "text", threshold=0.7, id="id", keep_by="stars")
        assert kept["id"][:] == [1, 2, 3] and kept.column_names == ["id", "text", "stars"]
        marked = dedup(dataset, "text", id="id", threshold=0.7, keep_by="stars:asc", mark=True)
        assert marked["kept_by"][:] == [0, 0, 2, 3, 0] == marked["kept_id"][:]
        named = dedup(dataset, threshold=0.7, id=list("abcde"), mark=True)
        assert named["kept_id"][:] == ["a", "a", "c", "d", "a"]
        with pytest.raises(KeyError, match="name.*id, text"):
            dedup(dataset, id="name")

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
        try:
            signed = lazy.collect(engine=engine)["text"]
        except ValueError:
            # Older versions of polars.
            signed = lazy.collect(streaming=engine == "streaming")["text"]
        assert signed.dtype == pl.Array(getattr(pl, slots), 8)
        assert lazy.collect_schema()["text"] == signed.dtype
        np.testing.assert_array_equal(signed.to_numpy(), expected(scheme=scheme, num_perm=8))

    def test_dedup_and_pairs(self, frame):
        assert frame.simgpu.dedup("text", threshold=0.7)["id"].to_list() == [0, 2, 3]
        marked = frame.simgpu.dedup("text", threshold=0.7, mark=True)
        assert marked["kept_by"].to_list() == [0, 0, 2, 3, 0]
        pairs = frame.simgpu.pairs("text", threshold=0.7)
        assert set(zip(pairs["left"], pairs["right"], strict=True)) == {(0, 1), (0, 4), (1, 4)}


    def test_ids_and_values_are_columns_of_the_frame(self, frame):
        import polars as pl

        frame = frame.with_columns(pl.Series("name", list("vwxyz")), pl.Series("stars", [1, 5, 3, 2, 4]))
        kept = frame.simgpu.dedup("text", id="name", keep_by="stars", threshold=0.7)
        assert kept["name"].to_list() == ["w", "x", "y"] and kept.columns == frame.columns
        marked = frame.simgpu.dedup("text", id="name", threshold=0.7, mark=True)
        assert marked["kept_id"].to_list() == ["v", "v", "x", "y", "v"]
        pairs = frame.simgpu.pairs("text", id="name", threshold=0.7)
        assert set(zip(pairs["left_id"], pairs["right_id"], strict=True)) == {("v", "w"), ("v", "z"), ("w", "z")}


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


    PAIRS = [("alpha beta gamma", "alpha beta gamma"), (None, "x y z"), ("x y z", None), (None, None)]
    PAIRS += [("delta epsilon", "delta epsilon"), ("", ""), ("one two", "three four"), ("", "one two")]

    @staticmethod
    def right(left, right):
        if left is None or right is None:
            return None
        return 1.0 if left and left == right else 0.0

    def test_null_signatures_leave_other_rows_alone(self, connection):
        connection.execute("CREATE TABLE pairs (id INTEGER, a VARCHAR, b VARCHAR)")
        rows = [(i, *self.PAIRS[i * 7 % len(self.PAIRS)]) for i in range(5000)]
        connection.executemany("INSERT INTO pairs VALUES (?, ?, ?)", rows[:40])
        if duckdb_version() < (1, 1):
            pytest.skip("DuckDB 1.0 has no CASE with arrays")
        signed = "CASE WHEN {0} IS NOT NULL THEN minhash({0}) END"
        found = connection.sql(
            f"SELECT minhash_similarity({signed.format('a')}, {signed.format('b')}) FROM pairs ORDER BY id"
        ).fetchall()
        assert [row[0] for row in found] == [self.right(a, b) for _, a, b in rows[:40]]
        nothing = "SELECT minhash_similarity(minhash('a b c'), NULL), minhash_similarity(NULL, NULL)"
        assert connection.sql(nothing).fetchall() == [(None, None)]
        empty = "SELECT minhash_similarity(minhash(a), minhash(b)) FROM pairs WHERE id < 0"
        assert connection.sql(empty).fetchall() == []

    @pytest.mark.parametrize("scheme", ["affine32", "affine64", "nemo"])
    def test_similarities_of_chunked_and_sliced_columns(self, scheme):
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("duckdb")
        from simgpu.duckdb import _similarities

        signer = simgpu.Signer(scheme, num_perm=16)

        def column(texts):
            slots = pa.array(signer.sign(["" if text is None else text for text in texts]))
            lists = [None if text is None else slots[i].as_py() for i, text in enumerate(texts)]
            return pa.array(lists, slots.type)

        pairs = self.PAIRS * 3
        left, right = (column([pair[side] for pair in pairs]) for side in (0, 1))
        expected = [self.right(*pair) for pair in pairs]
        empty = signer.scheme.empty
        assert _similarities(left, right, empty).to_pylist() == expected
        assert _similarities(left[5:], right[5:], empty).to_pylist() == expected[5:]
        chunks = [pa.chunked_array([side[:3], side[3:3], side[3:]]) for side in (left, right)]
        assert _similarities(*chunks, empty).to_pylist() == expected
        none = pa.chunked_array([], left.type)
        assert _similarities(none, none, empty).to_pylist() == []
        nulls = pa.nulls(4, left.type)
        assert _similarities(nulls, left[:4], empty).to_pylist() == [None] * 4
        holed = pa.array([[1] * 15 + [None], [1] * 16], left.type)
        assert _similarities(holed, holed, empty).to_pylist() == [None, 1.0]

    def test_functions_can_be_registered_again(self, connection):
        import simgpu.duckdb

        simgpu.duckdb.register(connection, signer=simgpu.Signer(num_perm=8))
        assert len(connection.sql("SELECT minhash('a b c')").fetchall()[0][0]) == 8
        # The same functions serve all connections to a database.
        cursor = connection.cursor()
        simgpu.duckdb.register(cursor, signer=simgpu.Signer(num_perm=8))
        assert len(cursor.sql("SELECT minhash('a b c')").fetchall()[0][0]) == 8
        with pytest.raises(simgpu.ParameterError, match="name is 'minhash'.*give another name"):
            simgpu.duckdb.register(cursor, signer=simgpu.Signer(num_perm=16))
        simgpu.duckdb.register(cursor, signer=simgpu.Signer(num_perm=16), name="other")
        assert len(cursor.sql("SELECT other('a b c')").fetchall()[0][0]) == 16

    @pytest.mark.parametrize(
        ("arguments", "error", "named"),
        [
            ({"threshold": 2}, simgpu.ParameterError, "threshold is 2"),
            ({"threshold": "x"}, TypeError, "threshold is 'x'"),
            ({"name": 5}, TypeError, "name is 5"),
            ({"signer": 5}, TypeError, "signer is of type int"),
        ],
    )
    def test_wrong_arguments_register_nothing(self, connection, arguments, error, named):
        import simgpu.duckdb

        with pytest.raises(error, match=named):
            simgpu.duckdb.register(connection, **{"name": "new", **arguments})
        with pytest.raises(TypeError, match="connection is of type str"):
            simgpu.duckdb.register("memory")
        assert not connection.sql("SELECT * FROM duckdb_functions() WHERE function_name = 'new'").fetchall()

    def test_ids_of_relations_are_of_their_rows(self, connection):
        # A query without an order gives other rows each time it runs.
        relation = connection.sql(
            """SELECT * FROM (
                SELECT range AS id, 'text ' || range || ' of some more words ' || range AS text, range % 7 AS n
                FROM range(20000) UNION ALL SELECT 20000 + range, 'text of some more words', 0 FROM range(3)
            ) ORDER BY random()"""
        )
        found = simgpu.dedup(relation, "text", id="id", threshold=0.95)
        rows = found.removed.to_pylist()
        assert len(rows) == 2
        assert all(row["id"] >= 20000 and row["kept_id"] >= 20000 for row in rows)


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
