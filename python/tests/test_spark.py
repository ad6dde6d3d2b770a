"""simgpu.spark on a cluster of two processes on this machine, against the command and the search in memory."""

import json
import os
import random
import shutil
import sys

import numpy as np
import pytest
from corpora import corpus, run_command

import simgpu
from simgpu.errors import InputError, ParameterError

pytest.importorskip("pyspark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

from simgpu.spark import band_keys, contain, dedup, pairs, sign
from simgpu.spark.__main__ import main

DOCUMENTS = 5_000


def many(documents):
    """Texts, of which 4 % are repeated, 5 % share a bucket, and 60 are a chain of drifting copies."""
    texts = corpus(documents, seed=9)
    for row in range(3, documents // 2, 12):
        texts[row] = texts[documents - row]
    common = " ".join(f"common{number}" for number in range(40))
    for row in range(2, documents, 20):
        texts[row] = f"{common} and, in one of all of these texts, {row}"
    words = [f"link{number}" for number in range(60)]
    for number in range(60):
        words[number] = f"changed{number}"
        texts[5 + documents // 60 * number] = " ".join(words)
    return texts


@pytest.fixture(scope="session")
def session(tmp_path_factory):
    os.environ.setdefault(
        "JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
    )
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = tmp_path_factory.mktemp("spark")
    os.environ["SPARK_WORKER_DIR"] = str(folder / "workers")
    from pyspark.sql import SparkSession

    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("simgpu tests")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def frame(session, texts, ids=None):
    ids = list(range(len(texts))) if ids is None else ids
    kind = "bigint" if isinstance(ids[0], int) else "string"
    rows = list(zip(ids, texts, strict=True))
    return session.createDataFrame(rows, f"doc {kind}, body string").repartition(3)


def as_in_memory(found):
    names = ("id", "kept_id", "similarity", "lost", "found_by")
    return sorted(tuple(row[name] for name in names) for row in found.removed.collect())


def in_memory(texts, ids, **arguments):
    found = simgpu.dedup(texts, id=ids, candidates="lsh", **arguments)
    names = ("id", "kept_id", "similarity", "lost", "found_by")
    return found, sorted(tuple(row[name] for name in names) for row in found.removed.to_pylist())


def check(found, expected, rows, ids):
    assert as_in_memory(found) == rows
    removed = {row[0] for row in rows}
    kept = [row["doc"] for row in found.kept.select("doc").collect()]
    assert sorted(kept) == sorted(set(ids) - removed)
    counts = {name: found.counts[name] for name in expected.counts}
    assert counts == expected.counts
    assert found.report["parameters"] == expected.report["parameters"]
    assert found.report["cluster_sizes"] == expected.report["cluster_sizes"]
    assert found.report.get("expected_precision") == expected.report.get("expected_precision")


def test_a_cluster_finds_what_one_machine_finds(session, tmp_path):
    texts = many(DOCUMENTS)
    ids = list(range(DOCUMENTS))
    df = frame(session, texts, ids)
    expected, rows = in_memory(texts, ids)
    found = dedup(df, id="doc", text="body", checkpoint_dir=str(tmp_path / "a"))
    assert len(rows) > 600 and expected.counts["identical"] > 150
    check(found, expected, rows, ids)
    clusters = found.clusters.groupBy("kept_id").count().count()
    assert clusters == expected.counts["clusters"]
    arguments = {"cluster": "connected", "verify": "signature", "keep": "longest", "threshold": 0.6}
    expected, rows = in_memory(texts, ids, **arguments)
    found = dedup(df, id="doc", text="body", checkpoint_dir=str(tmp_path / "b"), **arguments)
    check(found, expected, rows, ids)


def test_names_passes_and_rounds_change_no_result(session, tmp_path):
    texts = many(1_000)
    ids = [f"name {number:05}" for number in range(1_000)]
    expected, rows = in_memory(texts, ids, keep="longest")
    df = frame(session, texts, ids)
    df = df.selectExpr("doc", "body as `the.body`", "1 as place", "2 as keeper")
    found = dedup(
        df,
        id="doc",
        text="the.body",
        keep="longest",
        checkpoint_dir=str(tmp_path / "rounds"),
        bands_per_pass=7,
        edges_in_one_task=0,
        component_mib=0,
        partitions=3,
    )
    check(found, expected, rows, ids)
    assert "stars-0" in found.report["stages"] and "edges-7" in found.report["stages"]


def halves(seed, documents=500):
    """A reference and an input, with copies in each and across. Their ids are the same numbers."""
    texts, rng = many(documents), random.Random(seed)
    is_old = [rng.random() < 0.5 for _ in texts]
    old = [text for text, there in zip(texts, is_old) if there]
    new = [text for text, there in zip(texts, is_old) if not there]
    return [*old, *old[::20]], [*new, *old[::15], *new[::25]]


def by_command(folder, old, new, ids, arguments):
    """What the command removes and keeps, and its report."""
    for name, texts in [("old", old), ("new", new)]:
        lines = (json.dumps({"id": ids(row), "text": text}) + "\n" for row, text in enumerate(texts))
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    flags = [flag for name, value in arguments.items() for flag in (f"--{name}", value)]
    output = folder / "out"
    inputs = [folder / "new.jsonl", "--against", folder / "old.jsonl"]
    run_command("dedup", *inputs, "-o", output, "--candidates", "lsh", "--quiet", *flags)
    names = ("id", "kept_id", "kept_in", "similarity", "lost", "found_by")
    removed = map(json.loads, (output / "removed.jsonl").read_text().splitlines())
    kept = map(json.loads, (output / "kept" / "new.jsonl").read_text(encoding="utf-8").splitlines())
    report = json.loads((output / "report.json").read_text())
    rows = sorted(tuple(row[name] for name in names) for row in removed)
    return rows, sorted(row["id"] for row in kept), report


@pytest.mark.parametrize(
    ("seed", "ids", "arguments"),
    [
        (1, lambda row: row, {}),
        (2, lambda row: f"id {row:04}", {"cluster": "connected", "threshold": 0.5}),
        # Beyond what numbers beside a reference may be, so that they are numbered.
        (3, lambda row: (1 << 62) + row, {"keep": "longest", "verify": "signature", "threshold": 0.6}),
        (4, lambda row: row, {"keep": "longest", "cluster": "connected", "verify": "none"}),
    ],
)
def test_a_reference_is_that_of_the_command(session, tmp_path, seed, ids, arguments):
    old, new = halves(seed)
    rows, kept, report = by_command(tmp_path, old, new, ids, arguments)
    assert {row[2] for row in rows} == {"input", "reference"} and len(rows) > 60
    df, against = (frame(session, texts, [*map(ids, range(len(texts)))]) for texts in (new, old))
    folder = str(tmp_path / "checkpoints")
    found = dedup(df, id="doc", text="body", against=against, checkpoint_dir=folder, **arguments)
    names = ("id", "kept_id", "kept_in", "similarity", "lost", "found_by")
    assert sorted(tuple(row[name] for name in names) for row in found.removed.collect()) == rows
    assert sorted(row["doc"] for row in found.kept.collect()) == kept
    counts = found.report["counts"]
    of_documents = set(counts) - {"bytes"}
    assert of_documents >= {"reference", "removed_for_reference"}
    assert {name: counts[name] for name in of_documents} == {
        name: report["counts"].get(name) for name in of_documents
    }
    assert counts["reference"] == len(old)
    sizes = {str(size): clusters for size, clusters in found.report["cluster_sizes"].items()}
    assert sizes == report["cluster_sizes"]
    clusters = found.clusters.collect()
    # Documents of the reference are in no table.
    there = [row for row in clusters if row["kept_in"] == "reference"]
    assert len(there) == counts["removed_for_reference"] and not any(row["kept"] for row in there)
    here = {row["kept_id"] for row in clusters if row["kept_in"] == "input"}
    assert {row["id"] for row in clusters if row["kept"]} == here
    # The same call goes on after the last stage.
    again = dedup(df, id="doc", text="body", against=against, checkpoint_dir=folder, **arguments)
    assert again.report["stages"] == found.report["stages"]


def test_a_reference_that_cannot_be_used_is_refused(session, tmp_path):
    df = frame(session, ["a b c d e f", "g h i j k l"])
    arguments = {"id": "doc", "text": "body", "checkpoint_dir": str(tmp_path / "none")}
    for against, message in [
        (df, "against is df itself"),
        (df.select("doc"), "no column 'body' of against; give one of doc, or name a column as in df"),
        (df.selectExpr("doc", "1 as body"), "'body' of against has the type int; give a column of strings"),
        (df.selectExpr("cast(doc as int) doc", "body"), "type bigint in df and int in against; cast one"),
        (["a"], "against is a builtins.list; give a DataFrame"),
    ]:
        with pytest.raises(ParameterError, match=message):
            dedup(df, against=against, **arguments)
    repeated = frame(session, ["a", "b"], [7, 7])
    with pytest.raises(InputError, match="2 records of against have doc 7"):
        dedup(df, against=repeated, **{**arguments, "checkpoint_dir": str(tmp_path / "repeated")})
    rows = [(0, "a b c d e f"), (1, None), (None, "a"), (2, "x")]
    bad = session.createDataFrame(rows, "doc bigint, body string")
    arguments["checkpoint_dir"] = str(tmp_path / "bad")
    with pytest.raises(InputError, match="a record of against has no doc|of against with doc 1 has no text"):
        dedup(df, against=bad, **arguments)
    arguments["on_bad_record"] = "skip"
    arguments["checkpoint_dir"] = str(tmp_path / "skipped")
    found = dedup(df, against=bad, **arguments)
    counts = found.report["counts"]
    names = ("documents", "kept", "removed", "skipped", "reference", "reference_skipped")
    assert [counts[name] for name in names] == [2, 1, 1, 0, 2, 2]
    with pytest.raises(ParameterError, match="another run: documents of against is 4 there and None here"):
        dedup(df, **arguments)
    changed = session.createDataFrame([*rows[:3], (2, "y")], "doc bigint, body string")
    with pytest.raises(ParameterError, match="a run over other texts with the same ids"):
        dedup(df, against=changed, **arguments)


@pytest.mark.parametrize("identical", ["all", "star"])
def test_pairs_are_those_of_one_machine(session, tmp_path, identical):
    texts = many(800) + many(800)[:40]
    expected = simgpu.pairs(texts, identical=identical, candidates="lsh")
    df = frame(session, texts)
    folder = str(tmp_path / "pairs")
    found = pairs(df, id="doc", text="body", identical=identical, checkpoint_dir=folder)
    rows = {(row["left"], row["right"], row["similarity"]) for row in expected.to_pylist()}
    assert {tuple(row) for row in found.table.collect()} == rows
    assert found.counts["similar_pairs"] == len(rows) > 800


@pytest.mark.parametrize(
    ("seed", "arguments"),
    [
        (1, {}),
        (2, {"identical": "star"}),
        (3, {"verify": "signature", "threshold": 0.6}),
        (4, {"verify": "none", "identical": "star", "threshold": 0.5}),
    ],
)
def test_pairs_with_a_reference_are_those_of_the_command(session, tmp_path, seed, arguments):
    old, new = halves(seed)
    # One text that is in both several times, first here or first there.
    old, new = [*old, new[0], new[0], old[1]], [*new, new[0], old[1], old[1]]
    for name, texts in [("old", old), ("new", new)]:
        lines = (json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(texts))
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    flags = [flag for name, value in arguments.items() for flag in (f"--{name}", str(value))]
    inputs = [tmp_path / "new.jsonl", "--against", tmp_path / "old.jsonl"]
    output = tmp_path / "pairs.jsonl"
    run_command("pairs", *inputs, "-o", output, "--candidates", "lsh", "--quiet", *flags)
    rows = map(json.loads, output.read_text().splitlines())
    expected = sorted((row["id_a"], row["id_b"], row["similarity"]) for row in rows)
    report = json.loads((tmp_path / "pairs.jsonl.report.json").read_text())
    df, against = frame(session, new), frame(session, old)
    folder = str(tmp_path / "checkpoints")
    found = pairs(df, id="doc", text="body", against=against, checkpoint_dir=folder, **arguments)
    assert sorted(map(tuple, found.table.collect())) == expected
    assert len(expected) > 60
    counts = found.report["counts"]
    of_documents = set(counts) - {"bytes"}
    assert {name: counts[name] for name in of_documents} == {
        name: report["counts"].get(name) for name in of_documents
    }
    assert counts["reference"] == len(old)
    assert found.report.get("expected_precision") == report.get("expected_precision")


def test_signatures_and_keys_are_those_of_one_machine(session):
    texts = corpus(60)
    df = frame(session, texts)
    signed = {row[0]: bytes(row[1]) for row in sign(df, id="doc", text="body").collect()}
    expected = simgpu.Signer().sign(texts).slots
    assert signed == {row: expected[row].astype("<u4").tobytes() for row in range(60)}
    keys = band_keys(df, id="doc", text="body", bands=4, rows=8).collect()
    shared = {}
    for row, band, key in keys:
        shared.setdefault((band, key), set()).add(row)
    candidates = {(min(rows), max(rows)) for rows in shared.values() if len(rows) == 2}
    slots = np.asarray(expected)
    for a, b in candidates:
        assert any((slots[a, 8 * band :][:8] == slots[b, 8 * band :][:8]).all() for band in range(4))


def test_a_run_resumes_and_refuses_another(session, tmp_path):
    df = frame(session, corpus(100))
    folder = str(tmp_path / "run")
    arguments = {"id": "doc", "text": "body", "checkpoint_dir": folder}
    first = dedup(df, **arguments)
    shutil.rmtree(tmp_path / "run" / "simgpu-tables" / "done" / "removals")
    second = dedup(df, **arguments)
    assert second.report["counts"] == first.report["counts"]
    stages = first.report["stages"], second.report["stages"]
    same = {name for name in stages[0] if stages[0][name] == stages[1][name]}
    assert same == stages[0].keys() - {"removals"}
    with pytest.raises(ParameterError, match="another run: threshold is 0.8 there and 0.7 here"):
        dedup(df, **arguments, threshold=0.7)
    with pytest.raises(ParameterError, match="another run: documents is 100 there and 99 here"):
        dedup(df.where("doc > 0"), **arguments)


def test_bad_records_fail_or_are_counted(session, tmp_path):
    rows = [(0, "a b c d e f"), (1, None), (None, "text"), (3, "a b c d e f")]
    df = session.createDataFrame(rows, "doc int, body string")
    arguments = {"id": "doc", "text": "body"}
    with pytest.raises(InputError, match='on_bad_record="skip"'):
        dedup(df, **arguments, checkpoint_dir=str(tmp_path / "fails"))
    folder = str(tmp_path / "skips")
    found = dedup(df, **arguments, on_bad_record="skip", checkpoint_dir=folder)
    counts = found.report["counts"]
    names = ("documents", "kept", "removed", "skipped", "without_place")
    assert [counts[name] for name in names] == [4, 1, 1, 1, 1]
    assert [row["doc"] for row in found.kept.collect()] == [0]
    for name, repeated in [("int", 7), ("string", "x")]:
        df = session.createDataFrame([(repeated, "a"), (repeated, "b")], f"doc {name}, body string")
        with pytest.raises(InputError, match="records have doc '?(7|x)"):
            dedup(df, **arguments, checkpoint_dir=str(tmp_path / name))


def test_nulls_are_counted_as_the_command_does(session, tmp_path):
    texts = corpus(60)
    ids = [None if row % 7 == 3 else row for row in range(60)]
    rows = [(ids[row], None if row % 5 == 0 else texts[row]) for row in range(60)]
    lines = [json.dumps({"id": key, "text": text}) + "\n" for key, text in rows]
    (tmp_path / "in.jsonl").write_text("".join(lines), encoding="utf-8")
    expected = simgpu.dedup_files(
        tmp_path / "in.jsonl", tmp_path / "out", on_bad_record="skip", candidates="lsh"
    )
    folder = str(tmp_path / "nulls")
    df = session.createDataFrame(rows, "doc bigint, body string")
    found = dedup(df, id="doc", text="body", on_bad_record="skip", checkpoint_dir=folder)
    counts = found.report["counts"]
    assert counts["skipped"] == expected.counts["skipped"] == 12
    # A record without an id has a place where a column gives one.
    assert counts["without_place"] == 7
    df = session.createDataFrame(
        [(place, *row) for place, row in enumerate(rows)], "place int, doc bigint, body string"
    )
    arguments = {"id": "doc", "text": "body", "order": "place", "on_bad_record": "skip"}
    found = dedup(df, **arguments, checkpoint_dir=str(tmp_path / "placed"))
    counts = {name: found.report["counts"][name] for name in ("documents", "kept", "removed", "skipped")}
    assert counts == {name: expected.counts[name] for name in counts}
    assert "without_place" not in found.report["counts"]


def test_other_texts_are_no_run_to_resume(session, tmp_path):
    texts = corpus(100)
    arguments = {"id": "doc", "text": "body", "checkpoint_dir": str(tmp_path / "run")}
    first = dedup(frame(session, texts), **arguments)
    # The same records in another order, and in other parts.
    backwards = frame(session, texts[::-1], list(range(100))[::-1]).repartition(7)
    assert dedup(backwards, **arguments).report["counts"] == first.report["counts"]
    changed = [*texts[:50], texts[50] + " and more", *texts[51:]]
    swapped = [texts[1], texts[0], *texts[2:]]
    for other in (changed, swapped, [*texts[:99], None]):
        with pytest.raises(ParameterError, match="a run over other texts with the same ids; give"):
            dedup(frame(session, other), **arguments, on_bad_record="fail")


@pytest.mark.parametrize("key", ["number", "name"])
def test_fields_of_structs_are_named_by_dots(session, tmp_path, key):
    texts = many(400)
    ids = list(range(400)) if key == "number" else [f"{row:03}" for row in range(400)]
    expected, rows = in_memory(texts, ids)
    nested = frame(session, texts, ids).selectExpr(
        "struct(struct(doc as id) as meta, body as text) as doc", "1 as other"
    )
    found = dedup(nested, id="doc.meta.id", text="doc.text", checkpoint_dir=str(tmp_path / key))
    assert as_in_memory(found) == rows
    kept = {row["doc"]["meta"]["id"] for row in found.kept.collect()}
    assert kept == set(ids) - {row[0] for row in rows}
    assert sign(nested, id="doc.meta.id", text="doc.text").count() == 400
    banded = band_keys(nested, id="doc.meta.id", text="doc.text").select("id").distinct()
    assert banded.count() == 400 - expected.counts["without_shingles"]
    for wrong in ("doc.body", "doc.text.x", "doc.meta"):
        with pytest.raises(ParameterError, match=r"no column 'doc\.|'doc.meta' has the type"):
            dedup(nested, id="doc.meta.id", text=wrong, checkpoint_dir=str(tmp_path / "none"))
    with pytest.raises(ParameterError, match="give one of doc.meta.id, doc.text, other"):
        dedup(nested, id="id", text="doc.text", checkpoint_dir=str(tmp_path / "none"))


def test_automatic_partitions_follow_the_documents():
    from simgpu.spark import _partitions

    class Session:
        def __init__(self, partitions):
            self.conf = {"spark.sql.shuffle.partitions": partitions}

    assert _partitions(Session("17"), 10**9) == 17
    assert _partitions(Session("auto"), 10**9) == 2_000
    assert _partitions(Session("auto"), 5) == 200


def test_bad_arguments_are_refused(session, tmp_path):
    df = session.createDataFrame([(1, "a", 1.5)], "doc int, body string, number double")
    arguments = {"id": "doc", "text": "body", "checkpoint_dir": str(tmp_path / "none")}
    for wrong, message in [
        ({"text": "text"}, "no column 'text'; give one of doc, body, number"),
        ({"text": "number"}, "'number' has the type double; give a column of strings"),
        ({"order": "number"}, "'number' has the type double; give whole numbers, strings or dates"),
        ({"shingling": "tokens"}, "texts are strings, so choose another unit"),
        ({"partitions": 0}, "partitions is 0; give a whole number from 1 on"),
        ({"checkpoint_dir": ""}, "checkpoint_dir is missing; give a new folder"),
        ({"checkpoint_dir": None}, "checkpoint_dir is missing; give a new folder"),
        ({"on_bad_record": "list"}, "choose one of fail, skip"),
    ]:
        with pytest.raises(ParameterError, match=message):
            dedup(df, **{**arguments, **wrong})
    with pytest.raises(ParameterError, match="several columns are named 'body'"):
        dedup(df.selectExpr("*", "body"), **arguments)
    with pytest.raises(ParameterError, match="give a DataFrame of Spark"):
        dedup(df.toPandas(), **arguments)


def test_nothing_remains_of_nothing(session, tmp_path):
    df = session.createDataFrame([], "doc string, body string")
    found = dedup(df, id="doc", text="body", checkpoint_dir=str(tmp_path / "empty"))
    assert found.report["counts"]["documents"] == 0
    assert found.kept.count() == found.removed.count() == found.clusters.count() == 0


def test_the_command_for_spark_writes_all_tables(session, tmp_path, monkeypatch, capsys):
    # The session of the other tests goes on.
    monkeypatch.setattr(type(session), "stop", lambda _: None)
    texts = many(500)
    lines = [json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(texts)]
    (tmp_path / "in.jsonl").write_text("".join(lines), encoding="utf-8")
    output = tmp_path / "out"
    assert main([str(tmp_path / "in.jsonl"), "-o", str(output), "-t", "0.7", "--size", "3"]) == 0
    expected = simgpu.dedup(texts, threshold=0.7, shingling=simgpu.Shingling(size=3))
    kept = {row["id"] for row in session.read.parquet(str(output / "kept")).collect()}
    assert kept == set(np.flatnonzero(expected.keep).tolist())
    report = json.loads(session.read.text(str(output / "report.json")).collect()[0][0])
    assert report["counts"]["removed"] == len(expected.removed)
    # The input has become another, but nothing is computed or replaced.
    (tmp_path / "in.jsonl").write_text(lines[0], encoding="utf-8")
    assert main([str(tmp_path / "in.jsonl"), "-o", str(output)]) == 1
    assert "holds results; pass --overwrite" in capsys.readouterr().err
    other = [str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "other")]
    assert main([*other, "--threshold", "2"]) == 1
    assert main([str(tmp_path / "none.jsonl"), "-o", str(tmp_path / "other")]) == 1
    assert "error: [PATH_NOT_FOUND]" in capsys.readouterr().err


def test_the_command_for_spark_takes_a_reference(session, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(type(session), "stop", lambda _: None)
    old, new = halves(5, documents=400)
    for name, fields, texts in [("old", ("key", "body"), old), ("new", ("id", "text"), new)]:
        rows = (dict(zip(fields, row)) for row in enumerate(texts))
        lines = (json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    inputs = [str(tmp_path / "new.jsonl"), "-o", str(tmp_path / "out"), "--against"]
    fields = ["--against-id-field", "key", "--against-text-field", "body"]
    assert main([*inputs, str(tmp_path / "old.jsonl"), *fields]) == 0
    expected = simgpu.dedup(new, against=old)
    kept = {row["id"] for row in session.read.parquet(str(tmp_path / "out" / "kept")).collect()}
    assert kept == set(np.flatnonzero(expected.keep).tolist())
    removed = session.read.parquet(str(tmp_path / "out" / "removed")).collect()
    there = {row["id"]: row["kept_id"] for row in removed if row["kept_in"] == "reference"}
    assert there == {row: kept for row, kept in enumerate(expected.reference_by.tolist()) if kept >= 0}
    inputs[2] = str(tmp_path / "other")
    assert main([*inputs, str(tmp_path / "old.jsonl"), "--against-id-field", "none"]) == 1
    assert "no column 'none' of against; give one of body, key" in capsys.readouterr().err
    assert main([*inputs, str(tmp_path / "*.jsonl")]) == 1
    assert "new.jsonl is an input and in --against; give it on one side" in capsys.readouterr().err


def test_items_are_found_as_on_one_machine(session):
    questions = [
        "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?",
        "Which planet of the solar system has the largest number of known moons that orbit it in one year?",
    ]
    items = [{"question": question, "id": f"q{row}"} for row, question in enumerate(questions)]
    texts = [f"{text} {questions[row % 2]} So it was." if row % 3 == 0 else text for row, text in enumerate(corpus(90, seed=4))]
    texts[5] = None
    ids = [f"d{row}" for row in range(90)]
    df = frame(session, texts, ids)
    expected = simgpu.Contain(items).scan(texts, id=ids).to_pylist()
    names = [name for name in expected[0] if name not in ("row", "id")]
    expected = sorted((hit["id"], *(hit[name] for name in names)) for hit in expected)
    assert {hit[names.index("class") + 1] for hit in expected} == {"contaminated"} and len(expected) >= 30
    for given in (items, simgpu.Contain(items), session.createDataFrame(items)):
        found = contain(df, given, id="doc", text="body")
        assert found.columns == ["id", *names]
        assert sorted(map(tuple, found.collect())) == expected
    with pytest.raises(ParameterError, match="size is an option of the Contain"):
        contain(df, simgpu.Contain(items), id="doc", text="body", size=4)
    with pytest.raises(ParameterError, match="no column 'text'"):
        contain(df, items, id="doc", text="text")
