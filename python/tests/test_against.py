import json
import random

import numpy as np
import pytest
from corpora import corpus, run_command

import simgpu
from simgpu import Signatures, dedup, pairs
from simgpu.errors import ParameterError

THRESHOLD = 0.5


def token_lists(seed, documents=160):
    """Lists of tokens in families; some are equal, some are empty."""
    rng = random.Random(seed)
    lists = [[], []]
    while len(lists) < documents:
        base = [str(rng.randrange(400)) for _ in range(rng.randrange(4, 10))]
        for _ in range(rng.randrange(1, 6)):
            member = list(base)
            for _ in range(rng.randrange(3)):
                member[rng.randrange(len(member))] = str(rng.randrange(400))
            lists.append(member)
    rng.shuffle(lists)
    return lists[:documents]


def halves(seed):
    lists = token_lists(seed)
    rng = random.Random(seed)
    old = [tokens for tokens in lists if rng.random() < 0.5]
    new = [tokens for tokens in lists if tokens not in old]
    # Some documents are on both sides, some twice on one.
    return old + old[:9], new + old[3:12] + new[:5]


def jaccard(a, b):
    a, b = set(a), set(b)
    return len(a & b) / len(a | b) if a and b else 0.0


def greedy(old, new, order):
    """The kept document of each removed one, by the definition: ("old" or "new", row)."""
    kept = [("old", row) for row in range(len(old)) if old[row] and old[row] not in old[:row]]
    removed = {}
    tokens = {"old": old, "new": new}
    groups = {}
    for row in sorted(range(len(new)), key=order):
        if new[row]:
            groups.setdefault(tuple(new[row]), []).append(row)
    for group, rows in groups.items():
        equal = [place for place in kept if place[0] == "old" and tuple(old[place[1]]) == group]
        best = max(kept, key=lambda place: jaccard(tokens[place[0]][place[1]], group), default=None)
        if equal:
            keeper, others = equal[0], rows
        elif best is not None and jaccard(tokens[best[0]][best[1]], group) >= THRESHOLD:
            keeper, others = best, rows
        else:
            keeper, others = ("new", rows[0]), rows[1:]
            kept.append(keeper)
        removed.update((row, keeper) for row in others)
    return removed


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("keep", ["first", "longest"])
def test_greedy_removes_what_its_definition_says(seed, keep):
    old, new = halves(seed)
    length = {"first": lambda row: 0, "longest": lambda row: -sum(map(len, new[row]))}[keep]
    expected = greedy(old, new, lambda row: (length(row), row))
    found = dedup(
        new, against=old, shingling="tokens", candidates="join", threshold=THRESHOLD, keep=keep
    )
    by = {"new": found.kept_by, "old": found.reference_by}
    for row in range(len(new)):
        side, kept = expected.get(row, ("new", row))
        assert by[side][row] == kept, row
        assert by["old" if side == "new" else "new"][row] == -1
        assert found.keep[row] == (row not in expected)
    assert {side for side, _ in expected.values()} == {"new", "old"}
    counts = found.counts
    assert counts["documents"] == len(new) == counts["kept"] + counts["removed"]
    assert counts["reference"] == len(old)
    assert counts["removed_for_reference"] == (found.reference_by >= 0).sum()
    sizes = found.report["cluster_sizes"]
    kept_there = len(np.unique(found.reference_by[found.reference_by >= 0]))
    assert sum(sizes.values()) == counts["kept"] + kept_there
    assert all((found.kept_by[rows] == rows[0]).all() for rows in found.clusters)
    for row in found.removed:
        assert (row["kept"] is None) != (row["reference"] is None)
        other = new[row["kept"]] if row["reference"] is None else old[row["reference"]]
        assert row["similarity"] == jaccard(new[row["row"]], other)


def test_pairs_are_those_across():
    old, new = halves(7)
    found = pairs(new, against=old, shingling="tokens", candidates="join", threshold=THRESHOLD)
    expected = {
        (left, right): jaccard(a, b)
        for left, a in enumerate(old)
        for right, b in enumerate(new)
        if jaccard(a, b) >= THRESHOLD
    }
    assert {(row["left"], row["right"]): row["similarity"] for row in found} == expected
    assert found.counts["reference"] == len(old)


def test_ids_and_columns_are_those_of_the_data():
    old, new = corpus(40, seed=1), corpus(60, seed=1) + ["something else altogether"]
    ids = [f"d{row}" for row in range(len(new))]
    found = dedup(
        {"text": new, "key": ids}, "text", id="key", against={"text": old, "other": old}
    )
    for row in found.removed:
        assert row["id"] == ids[row["row"]]
        assert row["kept_id"] == (None if row["kept"] is None else ids[row["kept"]])
    assert (found.reference_by[: len(old)] >= 0).sum() > 25
    assert "left_id" not in pairs({"text": new, "key": ids}, "text", id="key", against=old).column_names
    plain = dedup(new, against=old)
    np.testing.assert_array_equal(plain.kept_by, found.kept_by)
    assert plain.apply(new) == [text for text, keeps in zip(new, plain.keep) if keeps]
    assert "right_id" in pairs(new, id=ids, against=old).column_names
    none = dedup(new, against=[])
    np.testing.assert_array_equal(none.kept_by, dedup(new).kept_by)
    assert none.counts["reference"] == 0 and (none.reference_by == -1).all()
    assert dedup(new).reference_by is None


@pytest.mark.parametrize("cluster", ["greedy", "connected"])
def test_signatures_and_files_of_them_are_references(tmp_path, cluster):
    signer = simgpu.Signer()
    old, new = corpus(80, seed=2), corpus(120, seed=2)[40:]
    of_old, of_new = signer.sign(old), signer.sign(new)
    of_old.save(tmp_path / "old.npy")
    expected = dedup(new, against=old, verify="signature", cluster=cluster)
    for against in [of_old, tmp_path / "old.npy"]:
        found = dedup(of_new, against=against, cluster=cluster)
        np.testing.assert_array_equal(found.keep, expected.keep)
        np.testing.assert_array_equal(found.reference_by >= 0, expected.reference_by >= 0)
    both = pairs(of_new, against=of_old)
    assert set(zip(both["left"], both["right"])) >= {(40, 0), (41, 1)} - {
        (row + 40, row) for row in range(2) if not old[row + 40].split()
    }
    with pytest.raises(ParameterError, match="are not"):
        dedup(of_new, against=old)
    with pytest.raises(ParameterError, match="against are Signatures"):
        dedup(new, against=of_old)
    with pytest.raises(ParameterError, match="scheme"):
        dedup(of_new, against=simgpu.Signer(seed=9).sign(old))
    assert isinstance(Signatures.concat([of_old, of_new]), Signatures)


def test_the_command_finds_the_same(tmp_path):
    old, new = corpus(90, seed=4), corpus(150, seed=4)[30:]
    for name, texts in [("old", old), ("new", new)]:
        lines = (json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(texts))
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    inputs, against = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    run_command("dedup", inputs, "--against", against, "-o", tmp_path / "out", "--quiet")
    removed = (tmp_path / "out" / "removed.jsonl").read_text().splitlines()
    found = dedup(new, against=old)
    expected = {}
    for line in map(json.loads, removed):
        expected[line["id"]] = (line["kept_in"], line["kept_id"], line["similarity"])
    for row in found.removed:
        kept = ("input", row["kept"]) if row["reference"] is None else ("reference", row["reference"])
        assert expected.pop(row["row"]) == (*kept, row["similarity"])
    assert not expected
    report = simgpu.dedup_files(inputs, tmp_path / "files", against=against)
    assert report.counts["reference"] == len(old)
    same = (tmp_path / "files" / "removed.jsonl").read_text().splitlines()
    assert same == removed


def tables_of(name, texts, ids):
    """A table of each kind that has columns."""
    yield {"text": texts, "key": ids}
    if name == "pandas":
        pd = pytest.importorskip("pandas")
        yield pd.DataFrame({"text": texts, "key": ids})
        yield pd.DataFrame({"text": texts}, index=pd.Index(ids, name="key"))
        yield pd.DataFrame({"text": texts}, index=pd.MultiIndex.from_arrays([range(len(ids)), ids], names=[None, "key"]))
    if name == "pyarrow":
        pa = pytest.importorskip("pyarrow")
        table = pa.table({"text": texts, "key": ids})
        yield table
        # A stream is read once.
        yield pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
@pytest.mark.parametrize("kind", [int, str])
def test_ids_of_the_reference_are_in_results(package, kind):
    old, new = corpus(40, seed=1), corpus(60, seed=1) + ["something else altogether"]
    old_ids, new_ids = [kind(1000 + row) for row in range(len(old))], [kind(row) for row in range(len(new))]
    expected = dedup(new, against=old)
    for data, against in zip(tables_of(package, new, new_ids), tables_of(package, old, old_ids), strict=True):
        found = dedup(data, "text", id="key", against=against)
        np.testing.assert_array_equal(found.kept_by, expected.kept_by)
        for row in found.removed:
            kept = new_ids[row["kept"]] if row["reference"] is None else old_ids[row["reference"]]
            assert (row["id"], row["kept_id"]) == (new_ids[row["row"]], kept)
        assert found.removed["kept_id"].tolist() != []
    similar = pairs({"text": new, "key": new_ids}, "text", id="key", against={"text": old, "key": old_ids})
    assert len(similar) > 25
    for pair in similar:
        assert (pair["left_id"], pair["right_id"]) == (old_ids[pair["left"]], new_ids[pair["right"]])
    # Ids of two types become strings.
    mixed = dedup({"text": new, "key": new_ids}, "text", id="key", against={"text": old, "key": [f"x{row}" for row in old_ids]})
    assert {row["kept_id"] for row in mixed.removed if row["reference"] is not None} <= {f"x{row}" for row in old_ids}
    assert all(isinstance(row["kept_id"], str) for row in mixed.removed)
    # Without the column there, or with a sequence, they have none.
    for id, against in [("key", {"text": old, "other": old_ids}), (new_ids, {"text": old, "key": old_ids})]:
        without = dedup({"text": new, "key": new_ids}, "text", id=id, against=against)
        assert all((row["kept_id"] is None) == (row["reference"] is not None) for row in without.removed)


def test_marked_frames_have_the_ids_of_the_reference():
    pl = pytest.importorskip("polars")
    import simgpu.polars  # noqa: F401

    old, new = corpus(40, seed=1), corpus(60, seed=1)
    frame = pl.DataFrame({"text": new, "key": [f"n{row}" for row in range(60)]})
    against = pl.DataFrame({"text": old, "key": [f"o{row}" for row in range(40)]})
    marked = frame.simgpu.dedup("text", mark=True, id="key", against=against)
    removed = marked.filter(~pl.col("kept") & (pl.col("kept_by") < 0))
    assert len(removed) > 25 and removed["kept_id"].str.starts_with("o").all()


def test_sources_in_the_reference_have_ids():
    old = ["the quick brown fox jumps over the lazy dog and then sleeps in the sun for a very long time indeed " * 3]
    new = ["unrelated text", f"before {old[0]} after"]
    tables = ({"text": new, "key": ["a", "b"]}, {"text": old, "key": ["o"]})
    found = simgpu.passages(tables[0], "text", id="key", against=tables[1], unit="words", min_length=10, only_against=True)
    assert {(row["id"], row["source_id"]) for row in found} == {("b", "o")}
