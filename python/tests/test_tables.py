"""Tables of results: rows, columns, and data frames of other packages."""

import numpy as np
import pytest

import simgpu

TEXTS = ["a rose is a rose is a rose"] * 3 + ["by any other name", "by any other name"]
PEOPLE = {"name": ["Ann Lee Stone", "Bob Marsh Hill", "Ann Lee Stone", "Cyd Vale Moor"]}


def tables():
    yield simgpu.dedup(TEXTS, id=list("abcde")).removed
    yield simgpu.dedup(["one two three", "four five six"]).removed
    yield simgpu.pairs(TEXTS)
    yield simgpu.pairs(TEXTS, verify="none")
    yield simgpu.link(PEOPLE, fields="name", threshold=0.5)
    ratings = {"user": [1, 2, 1, 2], "item": ["x", "x", "y", "y"], "rating": [5, 5, 5, 4]}
    yield simgpu.neighbours(ratings, min_support=1)


def test_rows_come_by_number_and_in_order():
    for table in tables():
        rows = table.to_pylist()
        assert list(table) == rows and len(table) == len(rows)
        for number in range(-len(rows), len(rows)):
            assert table[number] == table[np.int64(number)] == rows[number]
        for number in (len(rows), -len(rows) - 1):
            with pytest.raises(IndexError, match="out of range"):
                table[number]


@pytest.mark.parametrize(
    "index", [slice(1, 3), slice(None), slice(None, None, -1), slice(-2, None), slice(9, 2), slice(0, 9, 2)]
)
def test_slices_are_tables(index):
    for table in tables():
        part = table[index]
        assert isinstance(part, simgpu.Table)
        assert part.to_pylist() == table.to_pylist()[index]
        assert part.column_names == table.column_names


def test_columns_come_by_name():
    table = simgpu.pairs(TEXTS)
    assert table["left"].tolist() == [row["left"] for row in table]
    with pytest.raises(KeyError, match="left, right, similarity"):
        table["nothing"]
    with pytest.raises(TypeError, match="index is 1.5; give the name of a column, a row number or a slice"):
        table[1.5]


def test_tables_become_frames_of_pandas():
    pd = pytest.importorskip("pandas")
    for table in tables():
        frame = table.to_pandas()
        assert list(frame.columns) == table.column_names and len(frame) == len(table)
        for name in table.column_names:
            values = [None if pd.isna(value) is True else value for value in frame[name]]
            assert values == [row[name] for row in table]
        made = pd.DataFrame(table)
        assert len(made) == len(table)
        if len(table):
            assert list(made.columns) == table.column_names
            assert made[table.column_names[0]].tolist() == frame[table.column_names[0]].tolist()


def test_tables_become_frames_of_polars():
    pl = pytest.importorskip("polars")
    for table in tables():
        frame = table.to_polars()
        assert isinstance(frame, pl.DataFrame)
        assert frame.columns == table.column_names and frame.to_dicts() == table.to_pylist()


def test_many_rows_are_iterated_over():
    found = simgpu.pairs(["a b c d e f"] * 80)
    assert len(found) == 3160
    assert [row["right"] for row in found] == found["right"].tolist()


def test_all_results_have_counts_and_a_report(tmp_path):
    texts = ["a rose is a rose is a rose, and so on until the end of the day", "by any other name", "by any other name"]
    questions = [{"question": "How many roses are there in the garden of the old house by the river?"}]
    people = {"name": ["Ann Lee Stone", "Ann Lee Stone"]}
    with simgpu.Index.create(tmp_path / "index") as index:
        index.add("by any other name", 7)
        checked = index.check_or_add_many(texts, id=[7, 8, 9], on_known_id="skip")
    asked = simgpu.Contain(questions).scan(["x", questions[0]["question"], f"So: {questions[0]['question']}"])
    found = {
        "dedup": simgpu.dedup(texts),
        "pairs": simgpu.pairs(texts),
        "link": simgpu.link(people, fields="name", threshold=0.5),
        "ratings": simgpu.neighbours(([1, 1], [2, 3], [5, 5])),
        "passages": simgpu.passages([" ".join("abcdefgh")] * 2, min_length=5),
        "contain": asked,
        "index add": checked,
    }
    for command, result in found.items():
        assert result.report["counts"] is result.counts, command
        assert len(result.counts) > 2
        if command not in ("link", "ratings"):
            assert result.report["command"] == command
    assert found["passages"].counts == {
        "records": 2, "covered_documents": 1, "pieces": 1, "within_document": 0, "inexact": 0
    }
    assert found["passages"].report["parameters"]["min_length"] == 5
    assert (asked.counts["records"], asked.counts["items"], asked.counts["near_misses"]) == (3, 1, 0)
    by_class = {"contaminated": 2, "passage": 0, "short": 0, "template": 0}
    assert (asked.counts["hits"], asked.counts["documents"]) == (by_class, by_class)
    assert asked.counts["found_items"] == {**by_class, "contaminated": 1}
    assert checked.counts == {"documents": 3, "added": 0, "known_ids": 1, "seen": 2, "hits": 2}


def test_counts_are_those_of_the_command(tmp_path):
    import json

    from corpora import corpus, run_command

    texts = corpus(60, seed=3)
    texts += [f"{texts[20]} and {texts[30]}", texts[40]]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(texts)), encoding="utf-8")
    run_command("passages", path, "-o", tmp_path / "p", "--min-length", "8", "--quiet")
    expected = json.loads((tmp_path / "p" / "report.json").read_text())["counts"]
    counts = simgpu.passages(texts, min_length=8).counts
    assert counts["pieces"] >= 5 and counts == {name: expected[name] for name in counts}
    long = [row for row in range(60) if len(texts[row].split()) > 15]
    items = [{"id": row, "question": texts[row]} for row in long[:12]]
    against = tmp_path / "items.jsonl"
    against.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    run_command("contain", path, "--against", against, "-o", tmp_path / "c", "--quiet")
    expected = json.loads((tmp_path / "c" / "report.json").read_text())["counts"]
    counts = simgpu.Contain(items).scan(texts).counts
    assert sum(counts["hits"].values()) > 3
    assert counts == {name: expected[name] for name in counts}


def test_pages_are_written_by_one_spelling(tmp_path):
    linked = simgpu.link({"name": ["Ann Lee Stone", "Ann Lee Stone"]}, fields="name", threshold=0.5)
    linked.page(tmp_path / "links.html")
    # The page itself is its text, too.
    assert (tmp_path / "links.html").read_text("utf-8") == linked.page != ""
    assert isinstance(linked.page, str) and "<html" in linked.page
    texts = ["a rose is a rose", "a rose is a rose"]
    simgpu.dedup(texts).page(texts, tmp_path / "removed.html")
    assert "<html" in (tmp_path / "removed.html").read_text("utf-8")
