"""simgpu.ray on two processes of this machine, against the signer in memory."""

import os

import pyarrow as pa
import pytest
from corpora import corpus

import simgpu
from simgpu.errors import InputError, ParameterError

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

from simgpu.ray import dedup, sign  # noqa: E402

TEXTS = [*corpus(300, seed=3), *corpus(40, seed=3), "", "x y z " * 9, "x y  z " * 9]


@pytest.fixture(scope="module")
def cluster():
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_raylet_start_wait_time_s"] = "120"
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 << 20,
        log_to_driver=False,
        # To start a worker takes seconds, and Ray ends those that are idle.
        _system_config={"kill_idle_workers_interval_ms": 0},
        _node_ip_address="127.0.0.1",
    )
    yield
    ray.shutdown()


def dataset(texts, ids=None):
    ids = range(len(texts)) if ids is None else ids
    return ray.data.from_arrow(pa.table({"doc": ids, "body": texts})).repartition(3)


def test_signatures_are_those_of_one_machine(cluster):
    rows = sign(dataset(TEXTS), id="doc", text="body", num_perm=64).take_all()
    signed = {row["id"]: row["signature"] for row in rows}
    expected = simgpu.Signer(num_perm=64).sign(TEXTS).slots
    assert signed == {row: expected[row].astype("<u4").tobytes() for row in range(len(TEXTS))}


def test_bad_arguments_are_refused(cluster):
    with pytest.raises(ParameterError, match="no column 'text'"):
        sign(dataset(["a"]), id="doc", text="text")
    with pytest.raises(ParameterError, match="num_perm"):
        sign(dataset(["a"]), id="doc", text="body", num_perm=0)


def test_a_cluster_finds_what_one_machine_finds(cluster):
    texts = corpus(600, seed=9)
    for row in range(3, 300, 12):
        texts[row] = texts[600 - row]
    words = [f"link{number}" for number in range(40)]
    for number in range(40):
        words[number] = f"changed{number}"
        texts[5 + 14 * number] = " ".join(words)
    texts[1] = ""
    ids = [3 * row for row in range(len(texts))]
    arguments = {"cluster": "connected", "keep": "longest", "threshold": 0.6}
    expected = simgpu.dedup(texts, id=ids, candidates="lsh", **arguments)
    found = dedup(dataset(texts, ids), id="doc", text="body", partitions=2, **arguments)
    names = ("id", "kept_id", "similarity", "lost", "found_by")
    rows, removed = (
        sorted(tuple(row[name] for name in names) for row in table)
        for table in (expected.removed.to_pylist(), found.removed.take_all())
    )
    assert len(rows) > 80 and rows == removed
    kept = [row["doc"] for row in found.kept.take_all()]
    assert sorted(kept) == sorted(set(ids) - {row[0] for row in rows})
    assert found.kept.schema().names == ["doc", "body"]
    assert {name: found.report["counts"][name] for name in expected.counts} == expected.counts
    assert found.report["cluster_sizes"] == expected.report["cluster_sizes"]


@pytest.mark.parametrize(
    "arguments",
    [{"threshold": 0.6}, {"cluster": "connected", "keep": "longest", "threshold": 0.5}],
)
def test_a_reference_is_that_of_one_machine(cluster, arguments):
    texts = corpus(500, seed=8)
    old = [*texts[:200], *texts[5:200:15], ""]
    new = [*texts[200:], *texts[:200:10], *texts[210:300:15]]
    # The same numbers are ids on both sides, and some of them are negative.
    ids = [3 * row - 90 for row in range(len(new))]
    expected = simgpu.dedup(new, against=old, candidates="lsh", **arguments)
    found = dedup(
        dataset(new, ids),
        id="doc",
        text="body",
        against=dataset(old, ids[: len(old)]),
        partitions=2,
        **arguments,
    )
    rows = set()
    for row in expected.removed.to_pylist():
        side = "input" if row["reference"] is None else "reference"
        kept = row["kept"] if row["reference"] is None else row["reference"]
        rows.add((ids[row["row"]], ids[kept], side, row["similarity"], row["lost"], row["found_by"]))
    names = ("id", "kept_id", "kept_in", "similarity", "lost", "found_by")
    removed = [tuple(row[name] for name in names) for row in found.removed.take_all()]
    assert len(removed) == len(rows) > 30 and set(removed) == rows
    assert {side for _, _, side, *_ in rows} == {"input", "reference"}
    kept = [row["doc"] for row in found.kept.take_all()]
    assert sorted(kept) == sorted(set(ids) - {row[0] for row in rows})
    assert {name: found.report["counts"][name] for name in expected.counts} == expected.counts
    assert found.report["cluster_sizes"] == expected.report["cluster_sizes"]


def test_partitions_follow_the_documents(cluster):
    from simgpu.ray import _partitions

    # Two cores.
    assert [_partitions(documents) for documents in (0, 40, 1500, 60_000)] == [1, 1, 2, 3]
    assert [_partitions(documents) for documents in (10**7, 10**8, 2 * 10**8)] == [200, 200, 400]
    texts = corpus(40, seed=6)
    texts[30] = texts[11]
    found = dedup(dataset(texts), id="doc", text="body")
    expected = simgpu.dedup(texts, candidates="lsh")
    assert {row["id"] for row in found.removed.take_all()} == set(expected.removed["row"].tolist())
    assert found.counts == found.report["counts"] and found.counts["kept"] == expected.counts["kept"]


def test_a_reference_that_cannot_be_used_is_refused(cluster):
    new = dataset(["a b", "c d"])
    arguments = {"id": "doc", "text": "body", "partitions": 1}
    for against, message in [
        (new, "against is the dataset itself"),
        (new.select_columns(["doc"]), "no column 'body' of against"),
        (dataset(["a"], ["x"]), "'doc' of against has the type string"),
        (dataset(["a"], [1 << 62]), f"the record of against with doc {1 << 62} has no place"),
    ]:
        with pytest.raises(ParameterError, match=message):
            dedup(new, against=against, **arguments)
    with pytest.raises(InputError, match="several records of against have doc 7"):
        dedup(new, against=dataset(["a", "b"], [7, 7]), **arguments)


def test_bad_records_are_refused(cluster):
    arguments = {"id": "doc", "text": "body", "partitions": 1}
    with pytest.raises(ParameterError, match="whole numbers, or use simgpu.spark"):
        dedup(dataset(["a"], ["x"]), **arguments)
    with pytest.raises(InputError, match="the record with doc 1 has no text"):
        dedup(dataset(["a", None]), **arguments)
    with pytest.raises(InputError, match="several records have doc 7"):
        dedup(dataset(["a", "b"], [7, 7]), **arguments)


def test_fields_of_structs_and_nulls_are_told_apart(cluster):
    texts = corpus(60, seed=5)
    texts[9] = texts[4]
    rows = [
        {"meta": {"id": None if row == 7 else row}, "text": None if row in (3, 5) else text}
        for row, text in enumerate(texts)
    ]
    records = ray.data.from_arrow(pa.table({"doc": rows}))
    arguments = {"id": "doc.meta.id", "text": "doc.text", "partitions": 1}
    found = dedup(records, on_bad_record="skip", **arguments)
    assert [(row["id"], row["kept_id"]) for row in found.removed.take_all()] == [(9, 4)]
    counts = found.report["counts"]
    # As the command, of records without text, and apart from it, of those without an id.
    assert (counts["skipped"], counts["without_place"], counts["kept"]) == (2, 1, 56)
    with pytest.raises(ParameterError, match="no column 'doc.body'"):
        dedup(records, id="doc.meta.id", text="doc.body")
