import datetime
import json
import random

import pytest
from corpora import run_command

import simgpu
from simgpu import neighbours, recommend


def rated(users=80, items=60, seed=1):
    """Ratings as a dict of columns; some are repeated."""
    rng = random.Random(seed)
    columns = {"user": [], "item": [], "rating": [], "timestamp": []}
    for user in range(users):
        for _ in range(rng.randrange(5, 40)):
            columns["user"].append(user)
            columns["item"].append(rng.randrange(items) * rng.randrange(items) // items)
            columns["rating"].append(rng.randrange(1, 11) / 2)
            columns["timestamp"].append(rng.randrange(1000))
    return columns


def by_command(tmp_path, columns, *options):
    records = tmp_path / "ratings.jsonl"
    rows = zip(*columns.values(), strict=True)
    lines = [json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows]
    records.write_text("".join(lines), encoding="utf-8")
    output = tmp_path / "found.jsonl"
    run_command("ratings", records, "-o", output, "--overwrite", "--quiet", *options)
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


CASES = [
    ({}, []),
    ({"by": "user", "as_": "seen", "top": 3}, ["--by", "user", "--as", "seen", "--top", "3"]),
    ({"as_": "liked-hated", "hated_to": 2}, ["--as", "liked-hated", "--hated-to", "2"]),
    ({"as_": "stars", "min_support": 2}, ["--as", "stars", "--min-support", "2"]),
    ({"liked_from": 3, "threads": 2}, ["--liked-from", "3"]),
]


@pytest.mark.parametrize(("arguments", "options"), CASES)
def test_neighbours_are_those_of_the_command(tmp_path, arguments, options):
    found = neighbours(rated(), time="timestamp", **arguments)
    assert len(found) > 50
    assert found.to_pylist() == by_command(tmp_path, rated(), *options)


@pytest.mark.parametrize(("arguments", "options"), CASES)
def test_recommendations_are_those_of_the_command(tmp_path, arguments, options):
    options = [*options, "--neighbours", "20", "--recommend"]
    found = recommend(rated(), time="timestamp", neighbours=20, **arguments).to_pylist()
    assert len(found) > 50
    assert found == by_command(tmp_path, rated(), *options, "all")
    user = found[-1]["user"]
    expected = [row for row in found if row["user"] == user]
    assert by_command(tmp_path, rated(), *options, user) == expected
    of_user = recommend(rated(), user, time="timestamp", neighbours=20, **arguments)
    assert of_user.to_pylist() == expected
    of_users = recommend(rated(), [user, 0], time="timestamp", neighbours=20, **arguments)
    assert of_users.to_pylist() == expected + [row for row in found if row["user"] == 0]


def frames(columns):
    """The same columns in every kind of table that is installed."""
    tables = {"dict": columns}
    try:
        import pyarrow as pa
    except ImportError:
        return tables
    table = pa.table(columns)
    tables["pyarrow"] = table
    tables["chunked"] = pa.concat_tables([table.slice(0, 100), table.slice(100)])
    try:
        tables["pandas"] = table.to_pandas()
    except ImportError:
        pass
    try:
        import polars
    except ImportError:
        return tables
    tables["polars"] = polars.DataFrame(table)
    return tables


def test_every_kind_of_table_has_the_same_result():
    expected = neighbours(rated(), time="timestamp").to_pylist()
    for name, table in frames(rated()).items():
        assert neighbours(table, time="timestamp").to_pylist() == expected, name


def test_results_go_to_data_frames():
    pa = pytest.importorskip("pyarrow")
    found = neighbours(rated())
    table = pa.table(found)
    assert table.column_names == [
        "id",
        "neighbour_id",
        "rank",
        "similarity",
        "support",
        "low",
        "high",
    ]
    assert table.to_pylist() == found.to_pylist()
    assert found["similarity"].dtype == "float64"


def test_columns_and_ids_have_any_name():
    columns = {
        "who": ["ann", "ann", "bob", "bob", "eve"],
        "what": ["A", "B", "A", "B", "B"],
        "stars": [5, 4, 4.5, 5, 1],
    }
    names = {"user": "who", "item": "what", "rating": "stars", "min_support": 2}
    found = neighbours(columns, **names).to_pylist()
    assert [(row["id"], row["neighbour_id"]) for row in found] == [("A", "B"), ("B", "A")]
    assert (found[0]["similarity"], found[0]["support"]) == (1.0, 2)
    found = neighbours(columns, as_="seen", **names).to_pylist()
    assert found[0]["similarity"] == pytest.approx(2 / 3)


def test_the_latest_rating_counts():
    columns = {"user": [1, 1, 2], "item": [7, 7, 7], "rating": [5, 1, 5]}
    once = {"by": "user", "min_support": 1}
    assert len(neighbours(columns, **once)) == 0
    for time in ([2, 1, 1], [0.5, -0.5, 0.0]):
        assert len(neighbours({**columns, "when": time}, time="when", **once)) == 2


def test_timestamps_are_times():
    pa = pytest.importorskip("pyarrow")
    day = datetime.datetime(2020, 1, 2)
    when = [day, day - datetime.timedelta(microseconds=1), day]
    for unit in ("us", "ns"):
        times = pa.array(when, pa.timestamp(unit))
        columns = {"user": [1, 1, 2], "item": [7, 7, 7], "rating": [5, 1, 5], "when": times}
        found = neighbours(pa.table(columns), time="when", by="user", min_support=1)
        assert len(found) == 2


def test_bad_arguments_are_refused():
    columns = rated()
    for arguments, phrase in [
        ({"by": "film"}, "item, user"),
        ({"as_": "loved"}, "seen, liked"),
        ({"top": 0}, "top"),
        ({"min_support": 0}, "min_support"),
        ({"hated_to": 4}, "hated_to"),
        ({"threads": 0}, "threads"),
        ({"user": "nobody"}, "nobody"),
        ({"time": "when"}, "when"),
    ]:
        with pytest.raises(simgpu.ParameterError, match=phrase):
            neighbours(columns, **arguments)
    with pytest.raises(simgpu.ParameterError, match="user 1000 has no rating"):
        recommend(columns, 1000)
    with pytest.raises(TypeError, match="give int"):
        recommend(columns, "ann")


def test_bad_values_name_their_row():
    good = {"user": [1, 2], "item": [7, 8], "rating": [5, 4], "when": [1, 2]}
    for bad, phrase in [
        ({"user": [1, None]}, "an id that is missing"),
        ({"rating": [5, None]}, "a rating that is missing"),
        ({"rating": [5, float("nan")]}, "a rating that is missing or not finite"),
        ({"when": [1, None]}, "a time that is missing"),
    ]:
        with pytest.raises(simgpu.InputError, match=phrase) as raised:
            neighbours({**good, **bad}, time="when")
        assert raised.value.row == 1
    with pytest.raises(TypeError, match="row 1 is no number"):
        neighbours({**good, "rating": [5, "good"]})
    with pytest.raises(simgpu.ParameterError, match="one length"):
        neighbours({**good, "item": [7]})
    assert len(neighbours({**good, "rating": ["a", None]}, as_="seen")) == 0


def test_a_function_stops_the_search():
    with pytest.raises(simgpu.StoppedError):
        neighbours(rated(users=3000, items=500), progress=lambda stage, done, total: False)
