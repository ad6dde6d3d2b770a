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
