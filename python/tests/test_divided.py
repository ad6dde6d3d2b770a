"""The stages of a divided search, on lists that play the engine, against the search on one machine."""

import random
import zlib

import numpy as np
import pyarrow as pa
import pytest
from corpora import corpus

import simgpu
from simgpu import _divided
from simgpu.errors import DefectError, InputError, ParameterError

TEXTS = corpus(300, seed=3) + corpus(40, seed=3) + ["x y z " * 9, "x y  z " * 9]
# Copies without a shingle, equal words between other symbols, and blank texts.
TEXTS += ["???", "?!", "😀😀", "???", "", " ", "", "x, y z? " * 9]
# Boilerplate: many documents that share buckets and are not similar.
TEXTS += [
    " ".join(text.split()[:30]) + " of all the words that these documents have in common there are not few"
    for text in corpus(60, seed=4)
]


def plan_of(component_mib=64, record="place", skips=False, **arguments):
    settings = _divided.settings_of({"verify": "exact", **arguments})
    return _divided.Plan(settings, component_mib=component_mib, record=record, skips=skips)


def batches_of(table, rows=7):
    return table.combine_chunks().to_batches(max_chunksize=rows)


def collected(stage, batches, schema):
    return pa.Table.from_batches(list(stage(batches)), _divided.schema_of(schema))


def mapped(table, stage, schema, by=(), sort=(), partitions=3):
    """Applies a stage to each partition, in any order of rows but that of ``sort``."""
    of_row = [0] * len(table)
    if by:
        keys = zip(*(table[name].to_pylist() for name in by), strict=True)
        of_row = [zlib.crc32(repr(key).encode()) % partitions for key in keys]
    rows = list(range(len(table)))
    random.Random(len(rows)).shuffle(rows)
    table = table.take(rows)
    of_row = np.asarray(of_row)[rows]
    tables = []
    for partition in range(partitions):
        part = table.filter(pa.array(of_row == partition))
        of_part = stage
        if sort:
            # An engine sorts, or the stage itself does.
            sorts = partition == 0
            part = part if sorts else part.sort_by(list(sort))
            of_part = _divided.Ordered(stage, sort, sorts)
        tables.append(collected(of_part, batches_of(part), schema))
    return pa.concat_tables(tables)


def connected(texts, plan, places):
    """Signs documents and finds their components: the tables of documents and of connected ones."""
    records = pa.table({"place": pa.array(places, pa.int64()), "text": pa.array(texts)})
    signed = mapped(records, _divided.Sign(plan), _divided.SIGNED, by=["place"])
    assert len(signed) == len(records)
    documents = mapped(
        signed.filter(signed["digest"].is_valid()),
        _divided.Identical(plan),
        _divided.DOCUMENTS,
        by=["digest"],
        sort=_divided.ascending("digest", "place"),
    )
    distinct = documents.filter(documents["keeper"].is_valid())
    bands = plan.search().bands
    members = _divided.Members(bands, 0, bands)
    members = mapped(distinct.select(["place", "keys"]), members, _divided.MEMBERS)
    edges = mapped(
        members,
        _divided.connect,
        _divided.EDGES,
        by=["band", "key"],
        sort=_divided.ascending("band", "key", "place"),
    )
    shared = edges.filter(edges["band"].is_valid())
    least = edges.filter(edges["band"].is_null()).select(["least", "place"])
    least = mapped(least, _divided.Contract(2), _divided.LEAST, by=["least"])
    components = mapped(least, _divided.Contract(None), _divided.LEAST, partitions=1)
    pairs = [*zip(components["place"].to_pylist(), components["least"].to_pylist(), strict=True)]
    pairs += [(least, least) for least in set(components["least"].to_pylist())]
    schema = _divided.schema_of("place bigint, component bigint, band int, key bigint")
    rows = [*((place, component, None, None) for place, component in pairs)]
    shared = shared.select(["place", "band", "key"]).to_pylist()
    rows += [(row["place"], None, row["band"], row["key"]) for row in shared]
    table = pa.Table.from_pylist(
        [dict(zip(schema.names, row, strict=True)) for row in rows], schema
    )
    found = mapped(table, _divided.gather, _divided.CONNECTED, by=["place"], sort=_divided.ascending("place"))
    by_place = {row["place"]: row for row in distinct.to_pylist()}
    text_of = dict(zip(places, texts, strict=True))
    verify = plan.verify
    columns = {name: found[name] for name in ("component", "place", "buckets")}
    firsts = [by_place[place] for place in found["place"].to_pylist()]
    columns["keeper"] = pa.array([row["keeper"] for row in firsts], pa.int64())
    columns["length"] = pa.array([row["length"] for row in firsts], pa.int64())
    if verify == "exact":
        columns["compared"] = pa.array([text_of[row["place"]] for row in firsts], pa.string())
    elif verify == "signature":
        columns["compared"] = pa.array([row["signature"] for row in firsts], pa.binary())
    return documents, pa.table(columns)


def searched(table, plan, pairs=False):
    search = _divided.Search(plan, pairs)
    schema = _divided.PAIRS if pairs else _divided.REMOVALS
    found = mapped(table, search, schema, by=["component"], sort=search.order)
    counts = _divided.added_counts(found["counts"].drop_null().to_pylist())
    return found.filter(found["counts"].is_null()).drop_columns("counts").to_pylist(), counts


def removed_by_stages(texts, plan, places):
    documents, table = connected(texts, plan, places)
    removals, counts = searched(table, plan)
    by_first = {row["place"]: row for row in removals}
    removed = {}
    keepers = {row["first"]: row["keeper"] for row in documents.to_pylist() if row["keeper"] is not None}
    for row in documents.to_pylist():
        place, first = row["place"], row["first"]
        if first in by_first:
            found = by_first[first]
            shingles = found["shingles"]
            lost = None if shingles is None else found["lost_shingles"] / shingles
            removed[place] = (found["kept"], found["similarity"], lost, plan.verify)
        elif place != keepers[first]:
            removed[place] = (keepers[first], 1.0, 0.0, "identical")
    return removed, counts


CASES = [
    {},
    {"cluster": "connected", "threshold": 0.5},
    {"keep": "longest", "threshold": 0.5, "verify": "signature"},
    {"keep": "longest", "cluster": "connected", "verify": "signature", "threshold": 0.4},
    {"verify": "none", "bands": 20, "rows": 5},
    {"scheme": "datatrove", "threshold": 0.7},
    {"shingling": "chars", "num_perm": 64, "seed": 5, "max_bucket": 2},
    {"bands": 64, "rows": 1, "max_bucket": 3, "threshold": 0.6, "verify": "signature"},
    {"bands": 64, "rows": 1, "max_bucket": 3, "threshold": 0.6, "keep": "longest"},
    {"bands": 64, "rows": 1, "max_bucket": 5, "threshold": 0.3, "cluster": "connected"},
]


@pytest.mark.parametrize("arguments", CASES)
def test_divided_results_equal_those_of_one_machine(arguments):
    expected = simgpu.dedup(TEXTS, candidates="lsh", **arguments)
    # Places need not be consecutive.
    places = [1000 + 7 * row for row in range(len(TEXTS))]
    plan = plan_of(**arguments)
    removed, (counts, by_matches) = removed_by_stages(TEXTS, plan, places)
    rows = expected.removed.to_pylist()
    assert len(rows) > 20
    of_row = lambda row: 1000 + 7 * row  # noqa: E731
    assert removed == {
        of_row(row["row"]): (of_row(row["kept"]), row["similarity"], row["lost"], row["found_by"]) for row in rows
    }
    assert counts == {name: expected.counts[name] for name in counts}
    assert plan.search().expected_precision(by_matches) == expected.expected_precision
    parameters = dict(expected.report["parameters"])
    assert plan.search().parameters == parameters


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("max_bucket", [3, 4096])
def test_large_components_are_searched_in_blocks(keep, max_bucket):
    arguments = {"bands": 64, "rows": 1, "threshold": 0.6, "keep": keep, "max_bucket": max_bucket}
    expected = simgpu.dedup(TEXTS, candidates="lsh", **arguments)
    # Without memory, each document is a block.
    plan = plan_of(component_mib=0, **arguments)
    removed, (counts, _) = removed_by_stages(TEXTS, plan, list(range(len(TEXTS))))
    rows = expected.removed.to_pylist()
    assert removed == {
        row["row"]: (row["kept"], row["similarity"], row["lost"], row["found_by"]) for row in rows
    }
    assert counts == {name: expected.counts[name] for name in counts}
    assert (counts["omitted_pairs"] > 0) == (max_bucket == 3)


def test_a_large_component_is_not_divided_for_chains():
    plan = plan_of(component_mib=0, cluster="connected", threshold=0.5)
    with pytest.raises(ParameterError, match="component_mib.*cluster=\"greedy\""):
        removed_by_stages(TEXTS, plan, list(range(len(TEXTS))))


@pytest.mark.parametrize("verify", ["exact", "signature", "none"])
def test_divided_pairs_equal_those_of_one_machine(verify):
    expected = simgpu.pairs(TEXTS, candidates="lsh", verify=verify, identical="star", threshold=0.5)
    plan = plan_of(verify=verify, threshold=0.5)
    documents, table = connected(TEXTS, plan, list(range(len(TEXTS))))
    pairs, (counts, _) = searched(table, plan, pairs=True)
    found = {(row["a"], row["b"]): row["similarity"] for row in pairs}
    documents = documents.to_pylist()
    same = [row for row in documents if row["keeper"] is None]
    found |= {(row["first"], row["place"]): 1.0 for row in same}
    rows = expected.to_pylist()
    assert len(rows) > 20
    assert found == {(row["left"], row["right"]): row["similarity"] for row in rows}
    assert counts["candidate_pairs"] == expected.counts["candidate_pairs"]


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_identical_documents_do_not_depend_on_batches(rows):
    rng = random.Random(rows)
    plan = plan_of(keep="longest")
    records = []
    for place in range(60):
        digest = rng.randrange(12).to_bytes(16, "little")
        records.append((digest, place, rng.randrange(4)))
    records.sort()
    schema = _divided.schema_of(_divided.SIGNED)
    columns = [(place, digest, length, 2, digest, b"", 0) for digest, place, length in records]
    table = pa.Table.from_pylist(
        [dict(zip(schema.names, row, strict=True)) for row in columns], schema
    )
    found = collected(_divided.Identical(plan), batches_of(table, rows), _divided.DOCUMENTS)
    found = {row["place"]: row for row in found.to_pylist()}
    groups = {}
    for digest, place, length in records:
        groups.setdefault(digest, []).append((-length, place))
    assert len(found) == 60
    for digest, group in groups.items():
        first = min(place for _, place in group)
        length, keeper = min(group)
        for _, place in group:
            assert found[place]["first"] == first
            is_first = place == first
            expected = (keeper, -length, digest) if is_first else (None, None, None)
            row = found[place]
            assert (row["keeper"], row["length"], row["keys"]) == expected


def test_bad_records_are_named_or_counted():
    batch = pa.record_batch({"place": pa.array([4, None, 6]), "text": pa.array(["a b", "c", None])})
    with pytest.raises(InputError, match=r'has no doc; correct it, or pass on_bad_record="skip"'):
        list(_divided.Sign(plan_of(record="doc"))([batch]))
    with pytest.raises(InputError, match="the record with doc 6 has no text"):
        list(_divided.Sign(plan_of(record="doc"))([batch.slice(2)]))
    skipping = _divided.Sign(plan_of(skips=True))
    signed = collected(skipping, [batch, batch.slice(2)], _divided.SIGNED)
    places, lengths = signed["place"].to_pylist(), signed["length"].to_pylist()
    # Two records have no text, and another one no place.
    assert list(zip(places, lengths)).count((None, None)) == 2
    assert list(zip(places, lengths)).count((None, 1)) == 1
    assert [place for place in places if place is not None] == [4]
    batch = batch.append_column("hash", pa.array([7, 8, 9]))
    assert collected(skipping, [batch], _divided.SIGNED)["hash"].to_pylist() == [8, 9, 7]


def test_fields_of_structs_are_columns():
    doc = pa.array([{"text": "a", "in": {"id": 1}}, None])
    table = pa.table({"doc": doc, "x.y": ["b", "c"]})
    names, kinds = table.schema.names, table.schema.types
    for name, values, kind in [
        ("x.y", ["b", "c"], pa.string()),
        ("doc.text", ["a", None], pa.string()),
        ("doc.in.id", [1, None], pa.int64()),
    ]:
        assert _divided.column_named(table, name).to_pylist() == values
        assert _divided.kind_named(names, kinds, name) == kind
    for name in ("x", "doc.id", "doc.text.x", "doc.in.x", ""):
        assert _divided.kind_named(names, kinds, name) is None


@pytest.mark.parametrize("rows", [1, 4])
def test_sorted_keys_are_numbered_once(rows):
    table = pa.table({"key": ["a", "b", "c", "d", "e"]})
    schema = pa.schema([("head", pa.string()), ("key", pa.string()), ("row", pa.int64())])
    numbered = pa.Table.from_batches(_divided.Number("name")(batches_of(table, rows)), schema)
    assert numbered["row"].to_pylist() == [0, 1, 2, 3, 4]
    assert set(numbered["head"].to_pylist()) == {"a"}
    repeated = pa.table({"key": ["a", "b", "b"]})
    with pytest.raises(InputError, match="several records have name 'b'"):
        list(_divided.Number("name")(batches_of(repeated, rows)))


def test_what_cannot_be_divided_is_refused():
    with pytest.raises(ParameterError, match="exact join"):
        plan_of(weights="rarity").search()
    with pytest.raises(ParameterError, match="max_bucket"):
        plan_of(max_bucket=0).search()


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_rows_out_of_order_are_a_defect(rows):
    columns = {"a": [b"x", b"x", b"y", b"y", b"y"], "b": [2, 1, 9, 9, 0]}
    table = pa.table(columns)
    order = (("a", "ascending"), ("b", "descending"))

    def passed(batches):
        return batches

    ordered = _divided.Ordered(passed, order, sorts=False)
    assert pa.Table.from_batches(ordered(batches_of(table, rows))) == table
    for wrong in ([1, 0, 2, 3, 4], [0, 1, 2, 4, 3], [2, 0, 1, 3, 4]):
        with pytest.raises(DefectError, match="not in the order of a, b"):
            list(ordered(batches_of(table.take(wrong), rows)))
        sorts = _divided.Ordered(passed, order, sorts=True)
        found = pa.Table.from_batches(sorts(batches_of(table.take(wrong), rows)))
        assert found.to_pydict() == columns


def test_lost_documents_are_a_defect():
    report = {"counts": {"documents": 5, "skipped": 1}}
    _divided.add_clusters(report, 3, 1, [(1, 1)])
    assert report["cluster_sizes"] == {1: 2, 2: 1}
    with pytest.raises(DefectError, match="5 records came, but 2 are kept, 1 removed and 1 skipped"):
        _divided.add_clusters(report, 2, 1, [(1, 1)])
    report["counts"]["without_place"] = 1
    _divided.add_clusters(report, 2, 1, [(1, 1)])


def test_records_of_other_parameters_are_refused():
    plan = plan_of()
    table = pa.record_batch(
        {
            "component": pa.array([1]),
            "place": pa.array([1]),
            "keeper": pa.array([1]),
            "buckets": pa.array([b"short"]),
            "compared": pa.array(["text"]),
        }
    )
    with pytest.raises(ParameterError, match="same version and parameters"):
        list(_divided.Search(plan)([table]))
    keys = pa.record_batch({"place": pa.array([1]), "keys": pa.array([b"12345678"])})
    with pytest.raises(InputError, match="same version"):
        list(_divided.Members(16, 0, 16)([keys]))


def test_signatures_alone_are_those_of_a_signer():
    batch = pa.record_batch({"id": pa.array(["a", "b"]), "text": pa.array(["a b c d e f", None])})
    options = {"scheme": "mersenne61", "num_perm": 16, "backend": "auto", "threads": 1}
    [signed] = _divided.SignAlone(options)([batch])
    expected = np.asarray(simgpu.Signer("mersenne61", num_perm=16).sign(["a b c d e f", ""]))
    assert signed["signature"].to_pylist() == [row.tobytes() for row in expected]
