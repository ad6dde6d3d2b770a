"""Ratings: neighbours, recommendations and held out items, as the command finds them."""

import datetime
import itertools
import json
import pickle
import random
import sys
import threading
import time

import numpy as np
import pytest
import simgpu
from corpora import run_command
from interrupts import seconds_until_interrupted
from simgpu import hold_out, neighbours, recommend


def rated(users=80, items=60, seed=1):
    """Ratings as a dict of columns; some are repeated."""
    rng = random.Random(seed)
    columns = {"user": [], "item": [], "rating": [], "timestamp": []}
    for user in range(users):
        for _ in range(rng.randrange(5, 60)):
            columns["user"].append(user)
            columns["item"].append(rng.randrange(items) * rng.randrange(items) // items)
            columns["rating"].append(rng.choice([1, 2, 2.5, 3, 3.5, 4, 4, 4.5, 5, 5]))
            columns["timestamp"].append(rng.randrange(1000))
    return columns


def write(path, columns):
    """Writes columns as JSON Lines."""
    rows = zip(*columns.values(), strict=True)
    lines = [json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def by_command(tmp_path, columns, *options):
    """The rows and the report of the command."""
    records = write(tmp_path / "ratings.jsonl", columns)
    output, report = tmp_path / "found.jsonl", tmp_path / "found.jsonl.report.json"
    run_command("ratings", records, "-o", output, "--overwrite", "--quiet", *options)
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    described = json.loads(report.read_text(encoding="utf-8"))
    # Those of files, which rows in memory have not.
    del described["digest"], described["output_blake3_128"]
    return rows, described


def check(found, expected):
    """Compares with what the command found."""
    rows, report = expected
    assert found.to_pylist() == rows
    # Rows in memory have no file and no line.
    for bad in report["skipped"]:
        bad["file"] = "ratings"
    for bad in (*report["skipped"], *found.report["skipped"]):
        bad.pop("line", None)
    assert found.report == report
    assert found.counts == report["counts"]


CASES = [
    ({}, []),
    ({"by": "user", "as_": "seen", "top": 3}, ["--by", "user", "--as", "seen", "--top", "3"]),
    ({"as_": "liked-hated", "hated_to": 2}, ["--as", "liked-hated", "--hated-to", "2"]),
    ({"as_": "stars", "min_support": 2}, ["--as", "stars", "--min-support", "2"]),
    ({"liked_from": 3, "threads": 2}, ["--liked-from", "3"]),
]


@pytest.mark.parametrize(("arguments", "options"), CASES)
def test_neighbours_are_those_of_the_command(tmp_path, arguments, options):
    found = neighbours(rated(), **arguments)
    assert len(found) > 50
    check(found, by_command(tmp_path, rated(), *options))


@pytest.mark.parametrize(("arguments", "options"), CASES)
def test_recommendations_are_those_of_the_command(tmp_path, arguments, options):
    options = [*options, "--neighbours", "20", "--recommend"]
    everyone = recommend(rated(), neighbours=20, **arguments)
    assert len(everyone) > 50
    check(everyone, by_command(tmp_path, rated(), *options, "all"))
    user = everyone.to_pylist()[-1]["user"]
    of_user = recommend(rated(), user, neighbours=20, **arguments)
    check(of_user, by_command(tmp_path, rated(), *options, user))
    of_users = recommend(rated(), [user, 0], neighbours=20, **arguments).to_pylist()
    of_zero = [row for row in everyone.to_pylist() if row["user"] == 0]
    assert of_users == of_user.to_pylist() + of_zero


@pytest.mark.parametrize(("arguments", "options"), CASES)
def test_what_is_held_out_is_that_of_the_command(tmp_path, arguments, options):
    found = hold_out(rated(), **arguments)
    assert len(found) > 20
    check(found, by_command(tmp_path, rated(), *options, "--hold-out", "last"))
    assert 0 < found.report["hit_rates"]["hit_rate"] < 1
    assert any(row["rank"] is None for row in found.to_pylist())
    assert any(row["rank"] is not None for row in found.to_pylist())


def test_names_are_those_of_the_command(tmp_path):
    names = {"film": list(range(1, 60)), "title": [f"film {number}" for number in range(1, 60)]}
    fields = {"name_id_field": "film", "name_field": "title"}
    file = write(tmp_path / "names.jsonl", names)
    options = ["--names", file, "--name-id-field", "film", "--name-field", "title"]
    with pytest.warns(simgpu.SimgpuWarning, match="1 of .* items have no name in names"):
        found = neighbours(rated(), names=names, **fields)
    assert found.column_names[:4] == ["id", "name", "neighbour_id", "neighbour_name"]
    check(found, by_command(tmp_path, rated(), *options))
    with pytest.warns(simgpu.SimgpuWarning):
        found = recommend(rated(), names=names, **fields)
    check(found, by_command(tmp_path, rated(), *options, "--recommend", "all"))
    with pytest.warns(simgpu.SimgpuWarning):
        found = hold_out(rated(), names=names, **fields)
    check(found, by_command(tmp_path, rated(), *options, "--hold-out", "last"))


def test_bad_rows_are_skipped_as_by_the_command(tmp_path):
    columns = rated()
    columns["rating"][3] = None
    columns["user"][7] = None
    found = neighbours(columns, on_bad_record="skip")
    assert found.counts["skipped"] == 2
    check(found, by_command(tmp_path, columns, "--on-bad-record", "skip"))


def test_dates_are_ordered_as_by_the_command(tmp_path):
    day = datetime.datetime(2020, 1, 2)
    columns = rated()
    seconds = [datetime.timedelta(seconds=time) for time in columns["timestamp"]]
    dates = {**columns, "timestamp": [(day + time).isoformat() for time in seconds]}
    found = neighbours(dates)
    check(found, by_command(tmp_path, dates))
    assert found.to_pylist() == neighbours(columns).to_pylist()
    pa = pytest.importorskip("pyarrow")
    for unit in ("s", "us", "ns"):
        times = pa.array([day + time for time in seconds], pa.timestamp(unit))
        table = pa.table({**columns, "timestamp": times})
        assert neighbours(table).to_pylist() == found.to_pylist()
    words = {**columns, "timestamp": ["then"] * len(seconds)}
    with pytest.warns(simgpu.SimgpuWarning, match="later records count as later ratings"):
        found = neighbours(words).to_pylist()
    untimed = {name: columns[name] for name in ("user", "item", "rating")}
    assert found == neighbours(untimed).to_pylist()
    with pytest.raises(simgpu.ParameterError, match="time_field"):
        neighbours(words, time_field="timestamp")


class Stream:
    """A table that gives its rows only once, as a reader of record batches does."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        table, self.table = self.table, None
        return table.__arrow_c_stream__(requested_schema)


def frames(columns):
    """The same columns in every kind of table that is installed."""
    tables = {
        "dict": columns,
        "sequences": tuple(columns.values()),
        "arrays": tuple(map(np.array, columns.values())),
    }
    try:
        import pyarrow as pa
    except ImportError:
        return tables
    table = pa.table(columns)
    tables["pyarrow"] = table
    tables["chunked"] = pa.concat_tables([table.slice(0, 100), table.slice(100)])
    tables["stream"] = Stream(table)
    tables["reader"] = table.to_reader()
    tables["batch"] = table.to_batches()[0]
    types = {"user": pa.int16(), "rating": pa.decimal128(4, 1), "timestamp": pa.float64()}
    types["item"] = pa.uint32() if pa.types.is_integer(table["item"].type) else pa.large_string()
    tables["other types"] = table.cast(pa.schema([(name, types[name]) for name in columns]))
    tables["floats"] = table.set_column(0, "user", table["user"].cast(pa.float64()))
    for name in ("pandas", "polars", "duckdb"):
        try:
            __import__(name)
        except ImportError:
            continue
        tables[name] = MAKE[name](table)
    return tables


def to_polars(table):
    import polars

    return polars.DataFrame(table)


def to_duckdb(table):
    import duckdb

    return duckdb.from_arrow(table)


MAKE = {"pandas": lambda table: table.to_pandas(), "polars": to_polars, "duckdb": to_duckdb}


def test_every_kind_of_table_has_the_same_result():
    expected = neighbours(rated())
    for name, table in frames(rated()).items():
        found = neighbours(table)
        assert found.to_pylist() == expected.to_pylist(), name
        assert found.report == expected.report, name


def test_every_kind_of_string_has_the_same_result():
    columns = rated()
    columns["item"] = [f"é{item}" for item in columns["item"]]
    expected = neighbours(columns).to_pylist()
    for name, table in frames(columns).items():
        assert neighbours(table).to_pylist() == expected, name
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(columns).astype({"item": "category"})
    assert neighbours(table).to_pylist() == expected
    table["note"] = [object()] * len(table)  # No Arrow type: a column that is not needed.
    assert neighbours(table).to_pylist() == expected


def test_results_go_to_data_frames():
    pa = pytest.importorskip("pyarrow")
    found = neighbours(rated())
    table = pa.table(found)
    columns = ["id", "neighbour_id", "rank", "similarity", "support", "low", "high"]
    assert table.column_names == found.column_names == columns
    assert table.to_pylist() == found.to_pylist()
    assert table.schema.field("rank").type == pa.int64()
    assert found["similarity"].dtype == "float64"
    assert found["id"].dtype == "int64"
    assert "ratings by 80 users" in repr(found)
    assert "<table>" in found._repr_html_()
    held = pa.table(hold_out(rated()))
    assert held["rank"].null_count > 0


def test_results_are_pickled():
    found = hold_out(rated())
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.to_pylist(), copy.report) == (found.to_pylist(), found.report)


def test_columns_and_ids_have_any_name():
    columns = {
        "who.is\\it": ["ann", "ann", "bob", "bob", "eve"],
        "what": ["A", "B", "A", "B", "B"],
        "stars": [5, 4, 4.5, 5, 1],
    }
    names = {"user_field": "who.is\\it", "item_field": "what", "rating_field": "stars"}
    found = neighbours(columns, min_support=2, **names).to_pylist()
    assert [(row["id"], row["neighbour_id"]) for row in found] == [("A", "B"), ("B", "A")]
    assert (found[0]["similarity"], found[0]["support"]) == (1.0, 2)
    del names["rating_field"]
    found = neighbours(columns, min_support=2, as_="seen", **names).to_pylist()
    assert found[0]["similarity"] == pytest.approx(2 / 3)
    del columns["stars"]
    again = neighbours(columns, min_support=2, as_="seen", **names).to_pylist()
    assert again == found
    again = neighbours(tuple(columns.values()), min_support=2, as_="seen").to_pylist()
    assert again == found


def test_the_latest_rating_counts():
    columns = {"user": [1, 1, 2], "item": [7, 7, 7], "rating": [5, 1, 5]}
    once = {"by": "user", "min_support": 1}
    assert len(neighbours(columns, **once)) == 0
    for times in ([2, 1, 1], [0.5, -0.5, 0.0]):
        assert len(neighbours({**columns, "when": times}, time_field="when", **once)) == 2
        assert len(neighbours({**columns, "timestamp": times}, **once)) == 2


def test_no_rows_have_no_result():
    pa = pytest.importorskip("pyarrow")
    schema = pa.schema([("user", pa.int64()), ("item", pa.string()), ("rating", pa.float64())])
    for empty in (schema.empty_table(), {"user": [], "item": [], "rating": []}):
        for found in (neighbours(empty), recommend(empty)):
            assert len(found) == 0
            assert found.counts["ratings"] == 0
        with pytest.raises(simgpu.ParameterError):
            hold_out(empty, time_field="rating")


def test_bad_arguments_are_refused():
    columns = rated()
    for arguments, phrase in [
        ({"by": "film"}, "item, user"),
        ({"as_": "loved"}, "seen, liked"),
        ({"top": 0}, "top"),
        ({"top": -1}, "top"),
        ({"min_support": 0}, "min_support"),
        ({"hated_to": 4}, 'omit hated_to, or pass as_="liked-hated"'),
        ({"as_": "liked-hated", "hated_to": 4}, "hated_to is 4; give fewer stars"),
        ({"as_": "seen", "liked_from": 3}, 'as_="seen" takes everything rated'),
        ({"as_": "stars", "liked_from": 3}, "omit liked_from, or choose another as_"),
        ({"name_field": "title"}, "add names, or omit name_field"),
        ({"by": "user", "names": {"id": [1], "name": ["a"]}}, "only items have names"),
        ({"liked_from": float("nan")}, "liked_from"),
        ({"threads": 0}, "threads"),
        ({"on_bad_record": "ignore"}, "fail, skip"),
        (
            {"user_field": "nobody"},
            'user_field is "nobody", no column of ratings; give one of user',
        ),
        ({"time_field": "when"}, 'time_field is "when"'),
        ({"names": {"id": [1]}}, 'name_field is "name", no column of names; give one of id'),
    ]:
        with pytest.raises(simgpu.ParameterError, match=phrase):
            neighbours(columns, **arguments)
    for arguments in ({"top": "ten"}, {"user_field": 3}, {"progress": 5}):
        with pytest.raises(TypeError, match=next(iter(arguments))):
            neighbours(columns, **arguments)
    for users in (1000, [0, 1000], "ann", ["ann"]):
        with pytest.raises(simgpu.ParameterError, match="users has (1000|ann), who rated nothing"):
            recommend(columns, users)
    with pytest.raises(simgpu.ParameterError, match="neighbours"):
        recommend(columns, neighbours=0)
    del columns["timestamp"]
    with pytest.raises(simgpu.ParameterError, match='time_field is "timestamp", no column'):
        hold_out(columns)


def test_what_is_no_table_is_refused():
    rows = [(1, 2, 3.0), (1, 3, 4.0)]
    for data in (rows, [1, 2], 5, None, "ratings.csv", {1, 2}, (i for i in rows), np.zeros((3, 3))):
        with pytest.raises(TypeError, match="ratings (are|is) .*; give a data frame"):
            neighbours(data)
    for data in (([1],), ([1],) * 5):
        with pytest.raises(TypeError, match="give two to four sequences"):
            neighbours(data)
    with pytest.raises(simgpu.ParameterError, match="rating_field is"):
        neighbours(([1], [2]))
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="give a data frame"):
        neighbours(pl.LazyFrame({"user": [1]}))
    with pytest.raises(TypeError, match="give a data frame"):
        neighbours(pl.Series([1, 2]))


def test_bad_values_name_row_and_column():
    good = {"user": [1, 2], "item": [7, 8], "rating": [5, 4], "when": [1, 2]}
    for bad, phrase in [
        ({"user": [1, None]}, '"user" is missing'),
        ({"user": [1.0, 1.5]}, '"user" is 1.5, not a string or an integer'),
        ({"item": ["A", ""]}, '"item" is missing'),
        ({"rating": [5, None]}, '"rating" is missing'),
        ({"rating": [5.0, float("nan")]}, '"rating" is missing'),
        ({"rating": [5.0, float("inf")]}, '"rating" is "inf", not a number'),
        ({"rating": ["5", "good"]}, '"rating" is "good", not a number'),
        ({"when": [1, None]}, '"when" is missing'),
    ]:
        with pytest.raises(simgpu.InputError, match=phrase) as raised:
            neighbours({**good, **bad}, time_field="when")
        assert raised.value.row == 1
        assert 'on_bad_record="skip"' in str(raised.value)
    with pytest.raises(simgpu.InputError, match='row 1: field "rating" is -1, not a number of st'):
        neighbours({**good, "rating": [5, -1]}, as_="stars")
    with pytest.raises(TypeError, match='row 1 is of type int; give column "rating" values'):
        neighbours({**good, "rating": ["good", 5]})
    with pytest.raises(simgpu.InputError, match="surrogate"):
        neighbours({**good, "item": ["a", "\ud800"]})
    with pytest.raises(simgpu.ParameterError, match='column "item" 1; give columns of one length'):
        neighbours({**good, "item": [7]})
    with pytest.raises(simgpu.InputError, match="no row is a rating"):
        neighbours({**good, "user": [None, None]}, on_bad_record="skip")


def test_neighbours_are_those_of_a_slow_reference():
    columns = rated()
    rows = list(zip(*columns.values(), strict=True))
    latest = {(user, item): stars for user, item, stars, _ in sorted(rows, key=lambda row: row[3])}
    fans = {}
    for (user, item), stars in latest.items():
        if stars >= 4:
            fans.setdefault(item, set()).add(user)
    expected = {}
    for a, b in itertools.permutations(fans, 2):
        if len(fans[a] & fans[b]) >= 2:
            expected[a, b] = len(fans[a] & fans[b]) / len(fans[a] | fans[b])
    found = neighbours(columns, top=1000, min_support=2).to_pylist()
    similarities = {(row["id"], row["neighbour_id"]): row["similarity"] for row in found}
    assert len(expected) > 500
    assert similarities == pytest.approx(expected, abs=1e-15)


def test_a_function_stops_the_search():
    with pytest.raises(simgpu.StoppedError):
        neighbours(rated(users=40_000, items=5000), progress=lambda stage, done, total: False)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
def test_an_interrupt_ends_a_search():
    code = """
        import random, time, simgpu
        rng = random.Random(1)
        rows = 2_000_000
        users = [rng.randrange(2000) for _ in range(rows)]
        items = [rng.randrange(100_000) for _ in range(rows)]
        def began(stage, done, total):
            if stage == "compare" and done: print("began", flush=True)
        try:
            simgpu.neighbours((users, items), as_="seen", progress=began)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic(), flush=True)
        else:
            print("ended", flush=True)
    """
    assert seconds_until_interrupted(code) < 2


def test_other_threads_run_meanwhile():
    pa = pytest.importorskip("pyarrow")
    columns = pa.table(rated(users=6000, items=3000))
    ended = []

    def search():
        neighbours(columns, as_="seen")
        ended.append(time.monotonic())

    thread = threading.Thread(target=search)
    started = last = time.monotonic()
    longest = 0.0
    thread.start()
    while not ended:
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    thread.join()
    assert longest < (ended[0] - started) / 2
