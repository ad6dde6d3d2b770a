"""Links between records: of tables, as the command finds them in files."""

import json
import pickle
import random
import sys

import numpy as np
import pytest
import simgpu
from corpora import run_command
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupts import seconds_until_interrupted
from simgpu import link, link_files

FIELDS = ["name", "place", "born"]


def people(count=150, seed=1):
    """Two tables of people as dicts of columns; three of four in the second are in the first, with changes."""
    rng = random.Random(seed)

    def word(length):
        return "".join(rng.choices("bcdfghklmnprstvz", k=length))

    a = {"id": [], "name": [], "place": [], "born": []}
    b = {name: [] for name in a}
    for number in range(count):
        name = f"{word(6)} {word(8)}"
        place = f"{rng.randrange(300)} {rng.choice(['Main Street', 'Oak Avenue', 'Hill Road'])}"
        born = 1950 + number % 40
        for column, value in zip(a.values(), (number, name, place, born), strict=True):
            column.append(value)
        copy = [f"b{number}", name.replace(name[2], "x", 1), place, None]
        other = [f"b{number}", word(9), f"{rng.randrange(300)} Sea View", born]
        for column, value in zip(b.values(), other if number % 4 == 0 else copy, strict=True):
            column.append(value)
    return a, b


def write(path, columns):
    """Writes columns as JSON Lines."""
    rows = zip(*columns.values(), strict=True)
    lines = [json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_command(tmp_path, tables, *options, fields=FIELDS):
    """The folder that the command writes."""
    inputs = [write(tmp_path / f"{name}.jsonl", table) for name, table in zip("ab", tables, strict=False)]
    output = tmp_path / "out"
    run_command(
        "link", *inputs, "--fields", ",".join(fields), "-o", output, "--overwrite", "-q", *options
    )
    return output


def check(found, output, fields=FIELDS):
    """Compares with what the command found."""
    expected = read_lines(output / "links.jsonl")
    assert len(found) == len(expected)
    for row, line in zip(found.to_pylist(), expected, strict=True):
        for name in ("row_a", "row_b", "score"):
            assert row[name] == line[name]
        for name in ("id_a", "id_b"):
            assert row.get(name, line[name]) == line[name]
        assert row["similarity"] == line["similarity"]
        assert row.get("whole_points") == line.get("whole_points")
        for field in fields:
            assert row[f"similarity_{field}"] == line["similarities"][field]
            assert row.get(f"points_{field}") == line.get("points", {}).get(field)
        shared = zip(row["shared"], row["shared_records"], strict=True)
        assert [{"symbol": text, "records": count} for text, count in shared] == line["shared"]
        other = line["runner_up"] or dict.fromkeys(("id_a", "id_b", "score", "distance"))
        assert (row["runner_up_score"], row["distance"]) == (other["score"], other["distance"])
        assert (row["runner_up_row_a"] is None) == (line["runner_up"] is None)
        for side in "ab":
            if f"id_{side}" in row:
                assert row[f"runner_up_id_{side}"] == other[f"id_{side}"]
    # Tables have no file names, and rows no lines.
    report = (output / "report.json").read_text(encoding="utf-8").replace(".jsonl", "")
    report = json.loads(report)
    for file in report["files"]:
        for bad in file["skipped"]:
            del bad["line"]
    of_tables = json.loads(json.dumps(found.report))
    for file in of_tables["files"]:
        for bad in file["skipped"]:
            bad.pop("line", None)
    assert of_tables == report
    page = (output / "report.html").read_text(encoding="utf-8")
    assert found.page == page.replace("a.jsonl", "a").replace("b.jsonl", "b")
    if found.entities is None:
        assert not (output / "entities.jsonl").exists()
        return
    entities = read_lines(output / "entities.jsonl")
    first_rows = [line["row"] for line in entities]
    assert len(found.entities) == len(entities)
    for row, line in zip(found.entities.to_pylist(), entities, strict=True):
        assert row["row"] == line["row"]
        assert row["entity"] == first_rows[line["entity"]]
        for name in ("id", "entity_id"):
            assert row.get(name, line[name]) == line[name]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({}, []),
        ({"match": "many-to-one", "threads": 2}, ["--match", "many-to-one"]),
        ({"match": "many-to-many", "threshold": 0.3}, ["--match", "many-to-many", "-t", "0.3"]),
        ({"share": 0.75}, ["--share", "0.75"]),
        ({"score": "points"}, ["--score", "points"]),
        ({"score": "textbook"}, ["--score", "textbook"]),
        ({"threshold": 0.2, "id": "id", "unique_ids": True}, ["-t", "0.2", "--unique-ids"]),
    ],
)
def test_links_of_two_tables_are_those_of_the_command(tmp_path, arguments, options):
    found = link(*people(), fields=FIELDS, **arguments)
    assert len(found) > 50
    assert found.entities is None
    check(found, by_command(tmp_path, people(), *options))


def test_entities_of_one_table_are_those_of_the_command(tmp_path):
    tables = people()
    tables[1]["id"] = list(range(1000, 1150))
    both = {name: column + tables[1][name] for name, column in tables[0].items()}
    for arguments, options in [
        ({}, []),
        ({"threshold": 0.6}, ["-t", "0.6"]),
        ({"score": "points"}, ["--score", "points"]),
        ({"score": "textbook"}, ["--score", "textbook"]),
    ]:
        found = link(both, fields=FIELDS[:2], **arguments)
        assert found.counts["entities"] > 80
        check(found, by_command(tmp_path, [both], *options, fields=FIELDS[:2]), FIELDS[:2])


TEXT = st.one_of(st.none(), st.text("abcé 19_<&", max_size=8), st.just("alpha beta"))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_tables_are_linked_as_by_the_command(tmp_path_factory, data):
    def table():
        rows = data.draw(st.integers(1, 12))
        texts = st.lists(TEXT, min_size=rows, max_size=rows)
        return {"name": data.draw(texts), "more": data.draw(texts), "id": list(range(rows))}

    tables = [table() for _ in range(data.draw(st.integers(1, 2)))]
    threshold = data.draw(st.sampled_from([0.1, 0.3, 0.8]))
    fields = ["name", "more"]
    found = quietly(lambda: link(*tables, fields=fields, threshold=threshold))
    output = by_command(
        tmp_path_factory.mktemp("any"), tables, "-t", threshold, fields=fields
    )
    check(found, output, fields)


def quietly(call):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", simgpu.SimgpuWarning)
        return call()


def test_files_are_linked_as_by_the_command(tmp_path):
    output = by_command(tmp_path, people(), "--share", "0.75")
    ours = tmp_path / "ours"
    inputs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    report = link_files(*inputs, ours, fields=FIELDS, share=0.75)
    for name in ("links.jsonl", "report.json", "report.html"):
        assert (ours / name).read_bytes() == (output / name).read_bytes()
    assert report == json.loads((ours / "report.json").read_text(encoding="utf-8"))
    assert "links" in str(report)
    assert [time["stage"] for time in report.timings][0] == "read"
    with pytest.raises(FileExistsError, match="overwrite=True"):
        link_files(*inputs, ours, fields=FIELDS)
    again = link_files(*inputs, ours, fields=FIELDS, overwrite=True, dry_run=True)
    assert again.counts["records_a"] == 150
    for arguments, error, phrase in [
        ({"fields": "title"}, simgpu.InputError, "a.jsonl|no record"),
        ({"fields": []}, simgpu.ParameterError, "fields names no field"),
        ({"fields": ["name", "name"]}, simgpu.ParameterError, 'fields names "name" twice'),
        ({"fields": "name", "share": 2}, simgpu.ParameterError, "share is 2"),
        ({"fields": "name", "match": "best"}, simgpu.ParameterError, "one-to-one, many-to-one"),
        ({"fields": "name", "delimiter": "::"}, simgpu.ParameterError, "delimiter is"),
        ({"fields": "name", "equivalents": tmp_path / "none"}, FileNotFoundError, "none"),
    ]:
        if phrase == "a.jsonl|no record":
            with pytest.warns(simgpu.SimgpuWarning, match='in field "title"; its fields are .*; check fields'):
                link_files(*inputs, tmp_path / "new", **arguments)
            continue
        with pytest.raises(error, match=phrase):
            link_files(*inputs, tmp_path / "other", **arguments)
        assert not (tmp_path / "other" / "report.json").exists()
    with pytest.raises(simgpu.ParameterError, match="output is None"):
        link_files(*inputs, fields="name")
    with pytest.raises(simgpu.ParameterError, match="match is for two inputs"):
        link_files(inputs[0], None, tmp_path / "other", fields="name", match="one-to-one")


class Stream:
    """A table that gives its rows only once, as a reader of record batches does."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        table, self.table = self.table, None
        return table.__arrow_c_stream__(requested_schema)


def frames(columns):
    """The same columns in every kind of table that is installed."""
    tables = {"dict": columns}
    try:
        import pyarrow as pa
    except ImportError:
        return tables
    table = pa.table(columns)
    tables["pyarrow"] = table
    tables["chunked"] = pa.concat_tables([table.slice(0, 10), table.slice(10)])
    tables["stream"] = Stream(table)
    tables["reader"] = table.to_reader()
    tables["batch"] = table.to_batches()[0]
    large = table.set_column(1, "name", table["name"].cast(pa.large_string()))
    tables["large strings"] = large
    tables["categories"] = table.set_column(2, "place", table["place"].dictionary_encode())
    tables["small integers"] = table.set_column(3, "born", table["born"].cast(pa.int16()))
    tables["floats"] = table.set_column(3, "born", table["born"].cast(pa.float64()))
    for name, make in MAKE.items():
        try:
            tables[name] = make(table)
        except ImportError:
            continue
    return tables


def to_pandas(table):
    return table.to_pandas()


def to_objects(table):
    import pandas

    return pandas.DataFrame(table.to_pydict()).astype(object)


def to_polars(table):
    import polars

    return polars.DataFrame(table)


def to_duckdb(table):
    import duckdb

    return duckdb.from_arrow(table)


MAKE = {"pandas": to_pandas, "objects": to_objects, "polars": to_polars, "duckdb": to_duckdb}


def test_every_kind_of_table_has_the_same_result():
    a, b = people()
    expected = link(a, b, fields=FIELDS)
    seconds = frames(b)
    for name, table in frames(a).items():
        found = link(table, seconds[name], fields=FIELDS)
        assert found.to_pylist() == expected.to_pylist(), name
        assert found.report == expected.report, name


def test_results_go_to_data_frames():
    pa = pytest.importorskip("pyarrow")
    found = link(*people(), fields=FIELDS)
    table = pa.table(found)
    assert table.column_names == found.column_names
    assert table.to_pylist() == found.to_pylist()
    assert table.schema.field("row_a").type == pa.int64()
    assert table.schema.field("id_b").type == pa.string()
    assert found["score"].dtype == "float64"
    assert np.isnan(found["similarity_born"]).any()
    assert found["shared"][0] == found.to_pylist()[0]["shared"]
    assert found["shared"].shape == (len(found),)
    assert "links between 150 and 150 records" in repr(found)
    assert "<table>" in found._repr_html_()
    assert found.links is found.table
    assert found.threshold == found.report["estimate"]["threshold"]
    assert found.expected_precision == found.report["estimate"]["expected_precision"]
    one = link(people()[0], fields=FIELDS, threshold=0.5)
    assert pa.table(one.entities).num_rows == 150
    assert "among 150 records" in repr(one)


def test_results_are_pickled():
    for found in (
        link(*people(), fields=FIELDS),
        link(people()[0], fields=FIELDS, threshold=0.1),
        link({"name": ["a"]}, {"name": ["b"]}, fields="name"),
    ):
        copy = pickle.loads(pickle.dumps(found))
        assert (copy.to_pylist(), copy.report) == (found.to_pylist(), found.report)
        assert copy.column_names == found.column_names
        assert copy.page == found.page
        assert (copy.entities is None) == (found.entities is None)


def test_results_do_not_depend_on_threads():
    expected = link(*people(2000), fields=FIELDS, threads=1)
    found = link(*people(2000), fields=FIELDS, threads=5)
    assert found.to_pylist() == expected.to_pylist()
    assert (found.report, found.page) == (expected.report, expected.page)


def test_tables_without_ids_have_rows():
    names = {"name": ["Bob Jones", "Ann Howard", "Zoe Young"]}
    found = link(names, {"name": ["Ann Howard", "Bob Jones"]}, fields="name", threshold=0.5)
    assert [(row["row_a"], row["row_b"]) for row in found.to_pylist()] == [(0, 1), (1, 0)]
    assert not [name for name in found.column_names if "id" in name.split("_")]
    some = {**names, "id": [1, None, 3]}
    found = link(some, some, fields="name", threshold=0.5)
    assert "id_a" not in found.column_names
    with pytest.raises(simgpu.InputError, match='row 1 of a: id field "id" is missing') as raised:
        link(some, some, fields="name", id="id")
    assert raised.value.row == 1
    named = {**names, "key": ["x", "y", "z"]}
    found = link(named, names, fields="name", threshold=0.5)
    assert "id_a" not in found.column_names
    found = link(named, named, fields="name", id="key", threshold=0.5)
    assert sorted(found["id_a"].tolist()) == ["x", "y", "z"]
    found = link(named, fields=["name", "key"], id="key", threshold=0.5)
    assert found.entities.to_pylist()[1]["id"] == "y"


def test_columns_have_any_name():
    name = "who.is\\it, \"now\""
    columns = {name: ["Ann Howard", "Bob Jones"], "id": ["Ann", "Bob"]}
    found = link(columns, columns, fields=[name, "id"], threshold=0.5)
    assert found.to_pylist()[0][f"similarity_{name}"] == 1.0
    assert found.to_pylist()[0]["similarity_id"] == 1.0
    assert found.to_pylist()[0]["id_a"] in ("Ann", "Bob")


def test_parts_and_ids_have_names_in_each_table():
    a = {"key": ["x", "y"], "first": ["Ann", "Bob"], "last": ["Howard", "Jones"]}
    b = {"id": ["p", "q"], "name": ["Bob Jones", "Ann Howard"]}
    found = link(a, b, fields="first+last=name", id="key=id", threshold=0.5)
    rows = found.to_pylist()
    assert sorted((row["id_a"], row["id_b"]) for row in rows) == [("x", "q"), ("y", "p")]
    assert {row["similarity_first+last"] for row in rows} == {1.0}
    parameters = found.report["parameters"]
    assert (parameters["id_field"], parameters["id_field_b"]) == ("key", "id")
    # A column may be a part of several fields.
    found = link(a, fields=["first+last", "last"], id="key", threshold=0.5)
    assert len(found.entities) == 2
    with pytest.raises(simgpu.ParameterError, match="one name with one input"):
        link(a, fields="first=last")


def test_points_add_up_to_the_score():
    found = link(*people(400), fields=FIELDS, score="points")
    assert len(found) > 200
    for row in found.to_pylist():
        points = [row[f"points_{field}"] for field in FIELDS]
        assert sum(points) + row["whole_points"] == pytest.approx(row["score"], abs=1e-5)
    assert "Points of each field" in found.page
    found = link(*people(400), fields=FIELDS, score="textbook")
    assert "whole_points" not in found.column_names
    assert found["points_place"].max() == 100
    one = {"name": ["Ann Howard"]}
    with pytest.raises(simgpu.ParameterError, match='cannot learn points: .*score="text"'):
        link(one, one, fields="name", score="points")


def test_equal_names_replace_each_other(tmp_path):
    a, b = {"name": ["Bill Clark", "Bob Ray"]}, {"name": ["William Clark", "Robert Ray"]}
    sets = [["William", "Bill", "Will"], ("Robert", "Bob")]
    file = tmp_path / "names.txt"
    file.write_text("William, Bill, Will\nRobert, Bob\n", encoding="utf-8")
    for equivalents in (sets, iter(sets), file, str(file)):
        found = link(a, b, fields="name", threshold=0.1, equivalents=equivalents)
        assert found["similarity_name"].tolist() == [1.0, 1.0]
        assert found.report["parameters"]["equivalents"] == 3
    assert link(a, b, fields="name", equivalents=[], threshold=0.1)["similarity_name"].max() < 1
    for equivalents, error, phrase in [
        (["William", "Bill"], TypeError, "equivalents are no sets of equal names"),
        ([[1, 2]], TypeError, "equivalents are no sets"),
        (5, TypeError, "equivalents are no sets"),
        ([["William", "Bill"], ["Billy", "Bill"]], simgpu.ParameterError, 'line 2 has "Bill"'),
        ([["William", "Bill, Will"]], simgpu.ParameterError, "not one word"),
        ([["William", "Big Bill"]], simgpu.ParameterError, "not one word"),
        ([["#", "Bill"]], simgpu.ParameterError, "not one word"),
        (tmp_path / "none.txt", FileNotFoundError, "none.txt"),
    ]:
        with pytest.raises(error, match=phrase):
            link(a, b, fields="name", equivalents=equivalents)


def test_bad_rows_are_skipped_as_by_the_command(tmp_path):
    a, b = people()
    a["id"][3] = None
    b["id"][7] = None
    found = link(a, b, fields=FIELDS, id="id", on_bad_record="skip")
    assert found.counts["skipped"] == 2
    check(found, by_command(tmp_path, (a, b), "--id-field", "id", "--on-bad-record", "skip"))
    with pytest.raises(simgpu.InputError, match="row 3 of a: .* missing, null or empty; correct it, or pass on_b"):
        link(a, b, fields=FIELDS, id="id")
    with pytest.raises(simgpu.InputError, match="row 3: "):
        link(a, fields=FIELDS, id="id")
    a["id"] = [None] * 150
    with pytest.raises(simgpu.InputError, match="no row can be used"):
        link(a, b, fields=FIELDS, id="id", on_bad_record="skip")


def test_no_rows_have_no_links():
    pa = pytest.importorskip("pyarrow")
    empty = pa.schema([("name", pa.string())]).empty_table()
    some = {"name": ["Ann Howard"]}
    for a, b in [(empty, some), (some, empty), (empty, empty), ({"name": []}, None)]:
        with pytest.warns(simgpu.SimgpuWarning, match="no records in (a|b)"):
            found = link(a, b, fields="name")
        assert (len(found), found.counts["links"]) == (0, 0)
        assert "No two records have a word in common" in found.page
        assert pa.table(found).schema.field("shared").type == pa.list_(
            pa.field("item", pa.string(), nullable=False)
        )
    with pytest.warns(simgpu.SimgpuWarning, match='no record of a has a value in field "name"'):
        found = link({"name": [None, None]}, some, fields="name")
    assert found.counts["empty"] == 2


def test_bad_arguments_are_refused():
    a, b = people(20)
    nan = float("nan")
    for arguments, phrase in [
        ({"fields": "title"}, 'fields is "title", no column of a; give one of id, name'),
        ({"fields": []}, "fields names no field; give one"),
        ({"fields": ["name", "name"]}, 'fields names "name" twice; name each field once'),
        ({"fields": [""]}, "fields"),
        ({"id": "key"}, 'id is "key", no column of a; give one of id'),
        ({"threshold": nan}, "threshold is NaN"),
        ({"threshold": float("inf")}, "threshold is inf"),
        ({"share": nan}, "share is NaN; .*a number above 0 and up to 1"),
        ({"share": 0}, "share is 0"),
        ({"share": 1.5}, "share is 1.5"),
        ({"score": "best"}, "text, points, textbook"),
        ({"match": "best"}, "one-to-one, many-to-one, many-to-many"),
        ({"on_bad_record": "ignore"}, "fail, skip"),
        ({"threads": 0}, "threads"),
    ]:
        with pytest.raises(simgpu.ParameterError, match=phrase):
            link(a, b, **{"fields": "name", **arguments})
    for arguments in (
        {"fields": 3},
        {"fields": [3]},
        {"id": 5},
        {"threshold": "high"},
        {"share": "half"},
        {"match": 1},
        {"unique_ids": "yes"},
        {"progress": 5},
    ):
        with pytest.raises(TypeError, match=next(iter(arguments))):
            link(a, b, **{"fields": "name", **arguments})
    with pytest.raises(TypeError, match="fields"):
        link(a, b)
    for arguments in ({"match": "one-to-one"}, {"share": 0.5}):
        with pytest.raises(simgpu.ParameterError, match="two"):
            link(a, fields="name", **arguments)
    a["id"][5] = 0
    with pytest.warns(simgpu.SimgpuWarning, match="1 document repeats an earlier id"):
        link(a, b, fields="name")
    with pytest.raises(simgpu.InputError, match="a, row 0"):
        link(a, b, fields="name", unique_ids=True)
    with pytest.raises(simgpu.ParameterError, match='has 20 rows and column "place" 1; give col'):
        link({**a, "place": ["x"]}, b, fields=["name", "place"])


def test_what_is_no_table_is_refused(tmp_path):
    good = {"name": ["Ann"]}
    for data in ([("Ann",)], [1, 2], 5, {1, 2}, np.zeros((3, 3))):
        with pytest.raises(TypeError, match="a (is|are) .*; give a data frame"):
            link(data, good, fields="name")
        with pytest.raises(TypeError, match="b (is|are) .*; give a data frame"):
            link(good, data, fields="name")
    for path in ("a.csv", tmp_path):
        with pytest.raises(TypeError, match="is a path; for files, call simgpu.link_files"):
            link(path, fields="name")
    with pytest.raises(TypeError, match="a is None; give a data frame"):
        link(None, good, fields="name")
    for column in ([["x"]], [{"x": 1}], ["x", 1], [object()], [b"x"]):
        with pytest.raises(TypeError, match='give column "name" values'):
            link({"name": column}, good, fields="name")
    pa = pytest.importorskip("pyarrow")
    for column in (pa.array([["x"]]), pa.array([{"x": 1}])):
        with pytest.raises(simgpu.InputError, match='row 0 of b: column "name" holds'):
            link(good, pa.table({"name": column}), fields="name")


def test_a_function_stops_the_search():
    with pytest.raises(simgpu.StoppedError):
        link(*people(20_000), fields=FIELDS, progress=lambda stage, done, total: False)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
def test_an_interrupt_ends_a_search():
    code = """
        import random, time, simgpu
        rng = random.Random(1)
        words = [f"w{number}" for number in range(3000)]
        names = lambda: {"name": [" ".join(rng.choices(words, k=12)) for _ in range(60_000)]}
        a, b = names(), names()
        def began(stage, done, total):
            if stage == "compare" and done: print("began", flush=True)
        try:
            simgpu.link(a, b, fields="name", progress=began)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic(), flush=True)
        else:
            print("ended", flush=True)
    """
    assert seconds_until_interrupted(code) < 2
