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


def plan_of(component_mib=64, record="place", skips=False, against=False, **arguments):
    settings = _divided.settings_of({"verify": "exact", **arguments})
    return _divided.Plan(
        settings, component_mib=component_mib, record=record, skips=skips, against=against
    )


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
    members = _divided.Members(bands, 0, bands, plan.against)
    edges = mapped(
        mapped(distinct.select(members.columns), members, members.schema),
        _divided.connect,
        _divided.EDGES,
        by=["band", "key"],
        sort=members.order,
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
    if plan.against:
        columns["input"] = pa.array([row["input"] for row in firsts], pa.int32())
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
        if plan.against and place < 0:
            continue
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


def sides_of(texts, seed):
    """A reference and an input: parts of the texts, with copies in each and across."""
    rng = random.Random(seed)
    is_old = [rng.random() < 0.5 for _ in texts]
    old = [text for text, there in zip(texts, is_old) if there]
    new = [text for text, there in zip(texts, is_old) if not there]
    return [*old, *old[::11]], [*new[:40], *old[::9], *new[40:], *new[::13]]


def removed_against(old, new, plan):
    """The removed rows of an input: row to (side and row of the kept one), similarity, lost and found_by."""
    places = [3 * row - 3 * len(old) for row in range(len(old))] + [5 * row for row in range(len(new))]
    side_of = {place: ("old", row) for row, place in enumerate(places[: len(old)])}
    side_of |= {place: ("new", row) for row, place in enumerate(places[len(old) :])}
    removed, counts = removed_by_stages([*old, *new], plan, places)
    rows = {}
    for place, (kept, *found) in removed.items():
        side, row = side_of[place]
        assert side == "new"
        rows[row] = (side_of[kept], *found)
    return rows, counts


def in_memory_against(old, new, **arguments):
    expected = simgpu.dedup(new, against=old, candidates="lsh", **arguments)
    rows = {}
    for row in expected.removed.to_pylist():
        kept = ("new", row["kept"]) if row["reference"] is None else ("old", row["reference"])
        rows[row["row"]] = (kept, row["similarity"], row["lost"], row["found_by"])
    return rows, expected


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("arguments", CASES)
def test_a_reference_is_that_of_one_machine(arguments, seed):
    old, new = sides_of(TEXTS, seed)
    rows, expected = in_memory_against(old, new, **arguments)
    plan = plan_of(against=True, **arguments)
    removed, (counts, by_matches) = removed_against(old, new, plan)
    assert removed == rows
    assert {side for (side, _), *_ in rows.values()} == {"old", "new"}
    assert counts == {name: expected.counts[name] for name in counts}
    assert plan.search().expected_precision(by_matches) == expected.expected_precision


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("max_bucket", [3, 4096])
def test_large_components_of_a_reference_are_searched_in_blocks(keep, max_bucket):
    arguments = {"bands": 64, "rows": 1, "threshold": 0.6, "keep": keep, "max_bucket": max_bucket}
    old, new = sides_of(TEXTS, 7)
    rows, expected = in_memory_against(old, new, **arguments)
    plan = plan_of(component_mib=0, against=True, **arguments)
    removed, (counts, _) = removed_against(old, new, plan)
    assert removed == rows
    assert counts == {name: expected.counts[name] for name in counts}
    assert (counts["omitted_pairs"] > 0) == (max_bucket == 3)


@pytest.mark.parametrize("cluster", ["greedy", "connected"])
def test_a_reference_alone_connects_nothing(cluster):
    def texts_of(name):
        return [" ".join(f"{name}{row}x{at}" for at in range(30)) for row in range(20)]

    def edited(texts):
        return [f"{text} more" for text in texts]

    # Near-copies that only the reference has, and others that the input has.
    alone, shared = texts_of("a"), texts_of("s")
    old = [*alone, *edited(alone), *shared]
    # A copy of a document of the reference stands for it, where chains are followed.
    new = [*edited(shared), alone[0]]
    plan = plan_of(against=True, cluster=cluster)
    places = [row - len(old) for row in range(len(old))] + list(range(len(new)))
    _, table = connected([*old, *new], plan, places)
    found = {}
    for row in table.to_pylist():
        found.setdefault(row["component"], set()).add((row["compared"], row["place"] < 0, row["input"]))
    expected = [{(a, True, 0), (b, False, 1)} for a, b in zip(shared, edited(shared))]
    if cluster == "connected":
        expected.append({(alone[0], True, 1), (f"{alone[0]} more", True, 0)})
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, expected))


def families(seed):
    """Texts of 4 to 9 words in families; some have equal words in another order, some are equal, some have no words."""
    rng = random.Random(seed)
    texts = ["", "???", "", "???"]
    while len(texts) < 140:
        base = [f"w{rng.randrange(300)}" for _ in range(rng.randrange(4, 10))]
        for _ in range(rng.randrange(1, 6)):
            member = list(base)
            for _ in range(rng.randrange(3)):
                member[rng.randrange(len(member))] = f"w{rng.randrange(300)}"
            if rng.random() < 0.2:
                rng.shuffle(member)
            texts.append(" ".join(member))
    rng.shuffle(texts)
    return texts


def similarity(a, b):
    a, b = ({word for word in text.split() if word != "???"} for text in (a, b))
    return len(a & b) / len(a | b) if a and b else 0.0


def greedy_by_definition(old, new, order, threshold):
    """The kept document of each removed one: ("old" or "new", row)."""
    text_of = {("old", row): text for row, text in enumerate(old)}
    text_of |= {("new", row): text for row, text in enumerate(new)}
    kept, removed = [("old", row) for row in range(len(old)) if old[row] not in old[:row]], {}
    groups = {}
    for row in sorted(range(len(new)), key=order):
        if new[row]:
            groups.setdefault(new[row], []).append(row)
    for text, rows in groups.items():
        equal = [other for other in kept if other[0] == "old" and text_of[other] == text]
        best = max(kept, key=lambda other: similarity(text_of[other], text), default=None)
        if not equal and (best is None or similarity(text_of[best], text) < threshold):
            best = ("new", rows.pop(0))
            kept.append(best)
        removed |= {row: equal[0] if equal else best for row in rows}
    return removed


def chains_by_definition(old, new, order, threshold):
    """The same of documents that chains of similar pairs connect, of which no pair is of the reference alone."""
    documents = [("old", row) for row in range(len(old))] + [("new", row) for row in range(len(new))]
    text_of = dict(zip(documents, [*old, *new]))
    component = {document: {document} for document in documents}
    for a in documents:
        for b in documents:
            x, y = text_of[a], text_of[b]
            is_similar = (x == y and x) or similarity(x, y) >= threshold
            if is_similar and (a[0], b[0]) != ("old", "old") and component[a] is not component[b]:
                component[a] |= component[b]
                for other in component[b]:
                    component[other] = component[a]
    removed = {}
    for row in range(len(new)):
        members = component["new", row]
        kept = min(members, key=lambda it: (it[0] == "new", order(it[1]) if it[0] == "new" else (it[1],)))
        if kept != ("new", row):
            removed[row] = kept
    return removed


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("cluster", ["greedy", "connected"])
def test_removals_are_those_of_their_definition(cluster, keep, seed):
    old, new = sides_of(families(seed), seed)
    by_definition = {"greedy": greedy_by_definition, "connected": chains_by_definition}[cluster]

    def order(row):
        return (-len(new[row]) if keep == "longest" else 0, row)

    expected = by_definition(old, new, order, 0.5)
    # One slot per band misses a pair of this similarity with a probability of 2^-128.
    search = {"bands": 128, "rows": 1, "threshold": 0.5, "shingling": simgpu.Shingling(size=1)}
    plan = plan_of(against=True, cluster=cluster, keep=keep, **search)
    removed, _ = removed_against(old, new, plan)
    assert {row: kept for row, (kept, *_) in removed.items()} == expected
    assert {side for side, _ in expected.values()} == {"old", "new"}
    texts = {"old": old, "new": new}
    for row, ((side, kept), found, lost, found_by) in removed.items():
        a, b = new[row], texts[side][kept]
        assert (found_by == "identical") == (a == b)
        assert found == (1 if a == b else similarity(a, b))
        assert lost == (0 if a == b else len(set(a.split()) - set(b.split())) / len(set(a.split())))


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
@pytest.mark.parametrize("cluster", ["greedy", "connected"])
def test_identical_documents_of_a_reference_do_not_depend_on_batches(cluster, rows):
    rng = random.Random(rows)
    plan = plan_of(keep="longest", cluster=cluster, against=True)
    schema = _divided.schema_of(_divided.SIGNED)
    records = [
        (rng.randrange(14).to_bytes(16, "little"), place, rng.randrange(4)) for place in range(-25, 25)
    ]
    columns = [(place, digest, length, 2, digest, b"", 0) for digest, place, length in sorted(records)]
    table = pa.Table.from_pylist(
        [dict(zip(schema.names, row, strict=True)) for row in columns], schema
    )
    found = collected(_divided.Identical(plan), batches_of(table, rows), _divided.DOCUMENTS)
    found = {row["place"]: row for row in found.to_pylist()}
    groups = {}
    for digest, place, length in records:
        groups.setdefault(digest, []).append((place, length))
    expected = set()
    for group in groups.values():
        first = min(group)[0]
        inputs = {place for place, _ in group if place >= 0}
        expected |= {first} | inputs
        keeper = first if first < 0 else min(group, key=lambda it: (-it[1], it[0]))[0]
        assert (found[first]["first"], found[first]["keeper"]) == (first, keeper)
        stands = first >= 0 or (cluster == "connected" and len(inputs) > 0)
        assert found[first]["input"] == stands
        for place in inputs - {first}:
            assert (found[place]["first"], found[place]["keeper"]) == (first, None)
    assert set(found) == expected


def test_places_of_a_reference_are_below_zero():
    keys = pa.array([-(1 << 62), -5, 0, 7, (1 << 62) - 1])
    for side, is_below in [(_divided.INPUT, False), (_divided.REFERENCE, True)]:
        places = side.places(keys, "doc")
        assert [place < 0 for place in places.to_pylist()] == [is_below] * 5
        assert places.to_pylist() == sorted(places.to_pylist())
        assert _divided.keys_at(places) == keys
        for beyond in (-(1 << 62) - 1, 1 << 62):
            with pytest.raises(ParameterError, match=f"with doc {beyond} has no place beside a reference"):
                side.places(pa.array([1, beyond, None]), "doc")
    assert _divided.ALONE.places(pa.array([1 << 62]), "doc").to_pylist() == [1 << 62]


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
    batch = pa.RecordBatch.from_pydict({"place": pa.array([4, None, 6]), "text": pa.array(["a b", "c", None])})
    with pytest.raises(InputError, match=r'has no doc; correct it, or pass on_bad_record="skip"'):
        list(_divided.Sign(plan_of(record="doc"))([batch]))
    with pytest.raises(InputError, match="the record with doc 6 has no text"):
        list(_divided.Sign(plan_of(record="doc"))([batch.slice(2)]))
    moved = pa.RecordBatch.from_pydict({"place": pa.array([6 - _divided.REACH]), "text": pa.array([None], pa.string())})
    with pytest.raises(InputError, match="the record of against with doc 6 has no text"):
        list(_divided.Sign(plan_of(record="doc"), _divided.REFERENCE)([moved]))
    skipping = _divided.Sign(plan_of(skips=True))
    signed = collected(skipping, [batch, batch.slice(2)], _divided.SIGNED)
    places, lengths = signed["place"].to_pylist(), signed["length"].to_pylist()
    # Two records have no text, and another one no place.
    assert list(zip(places, lengths)).count((None, None)) == 2
    assert list(zip(places, lengths)).count((None, 1)) == 1
    assert [place for place in places if place is not None] == [4]
    [batch] = pa.Table.from_batches([batch]).append_column("hash", pa.array([7, 8, 9])).to_batches()
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
    table = pa.RecordBatch.from_pydict(
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
    keys = pa.RecordBatch.from_pydict({"place": pa.array([1]), "keys": pa.array([b"12345678"])})
    with pytest.raises(InputError, match="same version"):
        list(_divided.Members(16, 0, 16)([keys]))


def test_signatures_alone_are_those_of_a_signer():
    batch = pa.RecordBatch.from_pydict({"id": pa.array(["a", "b"]), "text": pa.array(["a b c d e f", None])})
    options = {"scheme": "mersenne61", "num_perm": 16, "backend": "auto", "threads": 1}
    [signed] = _divided.SignAlone(options)([batch])
    expected = np.asarray(simgpu.Signer("mersenne61", num_perm=16).sign(["a b c d e f", ""]))
    assert signed["signature"].to_pylist() == [row.tobytes() for row in expected]
