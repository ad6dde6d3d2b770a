"""Kept tables of other writers: what pyarrow, pandas and datasets tell of them survives."""

import datetime
import decimal
import json
import uuid

import pytest

import simgpu

# Older versions cannot say of a file what these tests ask.
pa = pytest.importorskip("pyarrow", minversion="18")
ipc = pytest.importorskip("pyarrow.ipc")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 40
#: Row 0 is repeated by every third row.
KEPT = [row for row in range(ROWS) if row == 0 or row % 3]
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split()


def text(row):
    row = 0 if row % 3 == 0 else row
    return " ".join(WORDS[(row * k + k * k) % len(WORDS)] + str(row) for k in range(1, 20))


def columns():
    day = datetime.date(2024, 1, 1)
    return {
        "id": list(range(ROWS)),
        "text": [text(row) for row in range(ROWS)],
        "score": [row / 7 for row in range(ROWS)],
        "kind": [["web", "book"][row % 2] for row in range(ROWS)],
        "day": [day + datetime.timedelta(days=row) for row in range(ROWS)],
        "price": [decimal.Decimal(row) / 100 for row in range(ROWS)],
        "tags": [[f"t{k}" for k in range(row % 4)] for row in range(ROWS)],
        "meta": [{"lang": "en", "n": row} if row % 5 else None for row in range(ROWS)],
    }


def table(**metadata):
    rows = pa.table(columns())
    return rows.replace_schema_metadata(metadata or None)


def pyarrow_default(path):
    pq.write_table(table(source="x"), path)


def pyarrow_codecs(path):
    codecs = {"id": "gzip", "text": "zstd", "score": "none", "kind": "lz4", "day": "brotli"}
    rows = table().select(list(codecs))
    pq.write_table(rows, path, compression=codecs, row_group_size=7)


def pyarrow_old(path):
    pq.write_table(table(), path, version="1.0", row_group_size=13, compression="snappy")


def pyarrow_new_pages(path):
    pq.write_table(
        table(), path, version="2.6", data_page_version="2.0", compression="zstd", row_group_size=11
    )


def pyarrow_encodings(path):
    rows = table().select(["id", "text", "score"])
    encodings = {
        "id": "DELTA_BINARY_PACKED",
        "text": "DELTA_BYTE_ARRAY",
        "score": "BYTE_STREAM_SPLIT",
    }
    pq.write_table(rows, path, use_dictionary=False, column_encoding=encodings, row_group_size=9)


def pyarrow_bare(path):
    pq.write_table(
        table(),
        path,
        store_schema=False,
        write_statistics=False,
        use_dictionary=["kind"],
        row_group_size=10,
    )


def pyarrow_index(path):
    sorting = pq.SortingColumn(0)
    pq.write_table(table(), path, write_page_index=True, sorting_columns=[sorting], row_group_size=8)


def pyarrow_dictionary(path):
    rows = table()
    kinds = rows["kind"].dictionary_encode()
    pq.write_table(rows.set_column(3, "kind", kinds), path, row_group_size=6)


def pandas_index(path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(columns()).set_index("id")
    frame["kind"] = frame["kind"].astype("category")
    frame.attrs["note"] = "kept"
    frame.to_parquet(path)


def pandas_times(path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": columns()["text"]})
    days = pd.date_range("2024-01-01", periods=ROWS, tz="Europe/Berlin")
    frame.index = pd.MultiIndex.from_arrays([range(ROWS), days], names=["n", "at"])
    frame.to_parquet(path, compression="gzip")


def datasets_labels(path):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["no", "yes"]),
            "tokens": datasets.Sequence(datasets.Value("int32")),
        }
    )
    rows = {
        "text": columns()["text"],
        "label": [row % 2 for row in range(ROWS)],
        "tokens": [[row, row + 1] for row in range(ROWS)],
    }
    datasets.Dataset.from_dict(rows, features=features).to_parquet(path, batch_size=16)


def polars_file(path):
    pl = pytest.importorskip("polars")
    pl.from_arrow(table()).write_parquet(path, compression="zstd", row_group_size=12)


def duckdb_file(path):
    duckdb = pytest.importorskip("duckdb")
    rows = table()  # noqa: F841 (DuckDB finds it by its name)
    query = "select *, uuid() as key, interval (id) month as span from rows"
    form = "format parquet, compression gzip, row_group_size 2048"
    duckdb.sql(f"copy ({query}) to '{path}' ({form})")


def fastparquet_file(path):
    fastparquet = pytest.importorskip("fastparquet")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({name: columns()[name] for name in ("id", "text", "score")})
    fastparquet.write(str(path), frame, compression="GZIP", row_group_offsets=[0, 15, 30])


WRITERS = [
    pyarrow_default,
    pyarrow_codecs,
    pyarrow_old,
    pyarrow_new_pages,
    pyarrow_encodings,
    pyarrow_bare,
    pyarrow_index,
    pyarrow_dictionary,
    pandas_index,
    pandas_times,
    datasets_labels,
    polars_file,
    duckdb_file,
    fastparquet_file,
]


@pytest.fixture(params=WRITERS, ids=lambda writer: writer.__name__)
def files(request, tmp_path):
    """A file of the writer, and its kept file."""
    path = tmp_path / "in.parquet"
    request.param(path)
    simgpu.dedup_files(path, tmp_path / "out")
    return path, tmp_path / "out" / "kept" / "in.parquet"


def form(column):
    encodings = set(column.encodings) - {"RLE"}
    # The name that version 1 had for it.
    encodings = {name.replace("PLAIN_DICTIONARY", "RLE_DICTIONARY") for name in encodings}
    has_dictionary = column.has_dictionary_page
    if has_dictionary:
        encodings.discard("PLAIN")
    return (
        column.path_in_schema,
        column.physical_type,
        column.compression,
        has_dictionary,
        encodings,
        column.is_stats_set,
        column.has_column_index,
    )


def decoded(rows):
    """The table without dictionaries, whose values are in the order in which they occur first."""
    for i, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            values = field.type.value_type
            rows = rows.set_column(i, field.with_type(values), rows[i].cast(values))
    return rows


def test_form_of_parquet_survives(files):
    before, after = (pq.ParquetFile(path).metadata for path in files)
    assert after.format_version == before.format_version
    assert after.metadata == before.metadata
    assert after.schema.equals(before.schema)
    schemas = [pq.read_schema(path) for path in files]
    assert schemas[1].equals(schemas[0], check_metadata=True)
    start, sizes = 0, []
    for group in range(before.num_row_groups):
        end = start + before.row_group(group).num_rows
        sizes.append(sum(start <= row < end for row in KEPT))
        start = end
    found = [after.row_group(group) for group in range(after.num_row_groups)]
    assert [group.num_rows for group in found] == [size for size in sizes if size]
    groups = [before.row_group(group) for group, size in enumerate(sizes) if size]
    for old, new in zip(groups, found, strict=True):
        columns = [[form(group.column(i)) for i in range(group.num_columns)] for group in (old, new)]
        assert columns[1] == columns[0]
        assert new.sorting_columns == old.sorting_columns


def test_rows_of_parquet_survive(files):
    before, after = (decoded(pq.read_table(path)) for path in files)
    assert after.equals(before.take(KEPT), check_metadata=True)


def test_frames_of_pandas_survive(files):
    pd = pytest.importorskip("pandas")
    before, after = (pd.read_parquet(path) for path in files)
    expected = before.iloc[KEPT]
    if isinstance(before.index, pd.RangeIndex):
        # Its metadata state a range, which the kept rows are not.
        expected = expected.reset_index(drop=True)
    pd.testing.assert_frame_equal(after, expected, check_categorical=False)
    for name in expected.columns[expected.dtypes == "category"]:
        assert set(after[name].cat.categories) == set(expected[name].cat.categories)
        assert list(after[name]) == list(expected[name])
    assert after.attrs == before.attrs


def test_features_of_datasets_survive(files, tmp_path):
    datasets = pytest.importorskip("datasets")
    if b"arrow.uuid" in files[0].read_bytes() or hasattr(pa, "uuid") and pa.uuid() in pq.read_schema(files[0]).types:
        pytest.skip("datasets read no UUIDs")
    cache = str(tmp_path / "cache")
    before, after = (datasets.Dataset.from_parquet(str(path), cache_dir=cache) for path in files)
    assert after.features == before.features
    assert after.to_list() == before.select(KEPT).to_list()


def batches():
    rows = table(source="x", huggingface="{}")
    rows = rows.set_column(3, "kind", rows["kind"].dictionary_encode())
    starts = range(0, ROWS, 9)
    return rows.schema, [rows.slice(start, 9).combine_chunks().to_batches()[0] for start in starts]


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("is_file", [True, False])
def test_form_of_arrow_survives(tmp_path, codec, is_file):
    schema, written = batches()
    path = tmp_path / "in.arrow"
    new, read = (ipc.new_file, ipc.open_file) if is_file else (ipc.new_stream, ipc.open_stream)
    with new(path, schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
        for batch in written:
            writer.write_batch(batch)
    simgpu.dedup_files(path, tmp_path / "out")
    with pa.OSFile(str(tmp_path / "out" / "kept" / "in.arrow")) as source:
        kept = read(source)
        assert kept.schema.equals(schema, check_metadata=True)
        numbers = range(kept.num_record_batches) if is_file else ()
        found = [kept.get_batch(i) for i in numbers] if is_file else list(kept)
    sizes = [sum(start <= row < start + 9 for row in KEPT) for start in range(0, ROWS, 9)]
    assert [batch.num_rows for batch in found] == sizes
    assert pa.Table.from_batches(found).equals(pa.Table.from_batches(written).take(KEPT))


@pytest.mark.parametrize(
    ("ids", "kind", "found"),
    [
        ([1.0, 2.0], pa.float64(), 2.0),
        ([datetime.date(1970, 1, 1), datetime.date(1980, 3, 4)], pa.date32(), "1980-03-04"),
        ([decimal.Decimal("1.00"), decimal.Decimal("1.50")], pa.decimal128(9, 2), "1.50"),
        *(
            # Older versions of pyarrow have no such type.
            [([uuid.UUID(int=1).bytes, uuid.UUID(int=2).bytes], pa.uuid(), str(uuid.UUID(int=2)))]
            if hasattr(pa, "uuid")
            else []
        ),
    ],
)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_ids_are_their_usual_text(tmp_path, ids, kind, found, ending):
    rows = pa.table({"id": pa.array(ids, kind), "text": [text(0)] * 2})
    path = tmp_path / f"in.{ending}"
    if ending == "parquet":
        pq.write_table(rows, path)
    else:
        with ipc.new_file(path, rows.schema) as writer:
            writer.write_table(rows)
    simgpu.dedup_files(path, tmp_path / "out")
    line = (tmp_path / "out" / "removed.jsonl").read_text()
    assert json.loads(line)["id"] == found


def test_uuids_of_duckdb_are_ids(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "in.parquet"
    duckdb.sql(f"copy (select uuid() as id, '{text(0)}' as text from range(2)) to '{path}'")
    simgpu.dedup_files(path, tmp_path / "out")
    second = duckdb.sql(f"select id::varchar from '{path}'").fetchall()[1][0]
    assert f'{{"id":"{second}"' in (tmp_path / "out" / "removed.jsonl").read_text()
