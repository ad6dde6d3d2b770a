"""How far a result is right, as the command says it."""

import itertools
import json
import random

import pytest
import simgpu
from corpora import run_command


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def pairs_of(entities):
    """All pairs of ids of one entity, by brute force."""
    ids = sorted(entities)
    return {pair for pair in itertools.combinations(ids, 2) if entities[pair[0]] == entities[pair[1]]}


@pytest.fixture
def made_up(tmp_path):
    """A result as link writes it, and the truth, of 300 records with up to 90 entities each."""
    rng = random.Random(5)
    found = {record: rng.randrange(90) for record in range(300)}
    true = {record: found[record] if rng.random() < 0.8 else rng.randrange(90) for record in found}
    result = write(
        tmp_path / "entities.jsonl", ({"id": id, "entity": it} for id, it in found.items())
    )
    truth = write(tmp_path / "truth.jsonl", ({"id": id, "person": it} for id, it in true.items()))
    return result, truth, pairs_of(found), pairs_of(true)


def test_measures_are_those_of_brute_force(made_up):
    result, truth, found, true = made_up
    report = simgpu.evaluate(result, truth, entity_field="person", examples=3)
    pairs = report["pairs"]
    right = found & true
    assert (pairs["found"], pairs["true"], pairs["right"]) == (len(found), len(true), len(right))
    assert pairs["precision"]["share"] == pytest.approx(len(right) / len(found))
    assert pairs["recall"]["share"] == pytest.approx(len(right) / len(true))
    low, high = pairs["f1"]["interval"]
    f1 = pairs["f1"]["share"]
    assert f1 == pytest.approx(2 * len(right) / (len(found) + len(true)))
    assert low < f1 < high
    examples = report["wrong"]
    assert len(examples) == 3
    for example in examples:
        assert tuple(sorted(int(example[id]) for id in ("id_a", "id_b"))) in found - true
    assert "B-cubed" in repr(report) and report.elapsed > 0


def test_the_report_is_that_of_the_command(made_up, tmp_path):
    result, truth, _, true = made_up
    listed = write(tmp_path / "pairs.jsonl", ({"left": a, "right": b} for a, b in sorted(true)))
    for options, flags in [
        ({"truth": truth, "entity_field": "person"}, ["--truth", truth, "--entity-field", "person"]),
        ({"truth": [listed]}, ["--truth", listed]),
        (
            {"truth": str(listed), "truth_fields": ["left", "right"], "examples": 0, "threads": 1},
            ["--truth", listed, "--truth-fields", "left,right", "--examples", 0],
        ),
    ]:
        ran = run_command("evaluate", result, *flags, "--report", "json", "-q")
        assert simgpu.evaluate(result, **options) == json.loads(ran.stdout)


def test_a_run_of_files_is_evaluated(tmp_path):
    rows = [{"id": i, "text": f"{'a rose is a rose' if i < 3 else 'nothing'} {i // 3 * 977}"} for i in range(9)]
    simgpu.dedup_files(write(tmp_path / "in.jsonl", rows), tmp_path / "out", unit="chars", size=3)
    truth = write(tmp_path / "truth.jsonl", ({"id": i, "group": i // 3} for i in range(9)))
    report = simgpu.evaluate(tmp_path / "out", truth, entity_field="group")
    assert report["result"]["command"] == "dedup"
    assert (report["pairs"]["right"], report["pairs"]["true"]) == (9, 9)


def test_what_contradicts_is_refused(made_up):
    result, truth, _, _ = made_up
    with pytest.raises(ValueError, match="entity_field names the entity"):
        simgpu.evaluate(result, truth, entity_field="person", truth_fields=["id", "person"])
    with pytest.raises(ValueError, match="truth_fields names 1 field, and a pair has two"):
        simgpu.evaluate(result, truth, truth_fields="id")
    with pytest.raises(ValueError, match="two files|one, since all records"):
        simgpu.evaluate(result, [truth, truth], entity_field="person")
    with pytest.raises(FileNotFoundError):
        simgpu.evaluate(result.parent / "none.jsonl", truth)
    with pytest.raises(ValueError, match="result is None; give"):
        simgpu.evaluate(None, truth)
