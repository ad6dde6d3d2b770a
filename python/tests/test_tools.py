"""Tune, compare, devices and selftest give the figures of the command."""

import json
import subprocess
import sys

import pytest
import simgpu


def command(*arguments):
    run = subprocess.run(
        [sys.executable, "-m", "simgpu", *arguments], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_tune_follows_the_formula_and_prints_the_page():
    tuning = simgpu.tune(0.7, num_perm=256, bands=20, rows=5)
    assert (tuning.threshold, tuning.num_perm) == (0.7, 256)
    requested = tuning.requested
    assert (requested["bands"], requested["rows"], requested["bytes_per_document"]) == (20, 5, 160)
    for similarity, probability in zip(tuning.similarities, requested["candidates"], strict=True):
        assert probability == pytest.approx(1 - (1 - similarity**5) ** 20)
    assert requested["recall"]["exact"] == pytest.approx(1 - (1 - 0.7**5) ** 20)
    assert requested["recall"]["signature"] < requested["recall"]["exact"]
    page = command(*"tune --threshold 0.7 --num-perm 256 --bands 20 --rows 5".split())
    assert repr(tuning) == page.rstrip("\n")
    assert simgpu.tune().requested is None


def test_tune_surveys_a_sample(tmp_path):
    texts = ["a b c d e f", "a b c d e g", "a b c x y z", "h i j k l"]
    path = tmp_path / "sample.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    tuning = simgpu.tune(sample=path, documents=1000)
    sample = tuning.sample
    assert (sample["documents"], sample["pairs"], sample["documents_to_search"]) == (4, 6, 1000)
    assert sample["default_size"] == 5
    assert [size["size"] for size in sample["sizes"]] == list(range(1, 13))
    for size in sample["sizes"][:5]:
        words, length = [text.split() for text in texts], size["size"]
        sets = [
            {tuple(text[i : i + length]) for i in range(len(text) - length + 1)} for text in words
        ]
        similarities = [
            len(a & b) / len(a | b) for i, a in enumerate(sets) for b in sets[:i]
        ]
        assert size["mean_shingles"] == sum(map(len, sets)) / 4
        assert size["distinct_shingles"] == len(set().union(*sets))
        assert size["mean_similarity"] == pytest.approx(sum(similarities) / 6)
        assert size["high_similarity"] == max(similarities)
        candidates = [1 - (1 - similarity**8) ** 16 for similarity in similarities]
        assert size["candidate_share"] == pytest.approx(sum(candidates) / 6)
    assert sample["size"] == next(
        size["size"] for size in sample["sizes"] if size["high_similarity"] <= 0.05
    )
    page = command("tune", "--sample", str(path), "--documents", "1000")
    assert repr(tuning) == page.rstrip("\n")
    assert simgpu.tune().sample is None
    with pytest.raises(ValueError, match="unit needs a sample; pass sample"):
        simgpu.tune(unit="chars")
    with pytest.raises(FileNotFoundError):
        simgpu.tune(sample=tmp_path / "absent.jsonl")


def test_compare_gives_the_figures_of_the_command(tmp_path):
    a, b = "the plane was ready for touch down", "the plane was ready for take off"
    (tmp_path / "a.txt").write_text(a)
    (tmp_path / "b.txt").write_text(b)
    compared = simgpu.compare(a, b, seed=3)
    theirs = json.loads(
        command(
            "compare", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), "--seed", "3", "--json"
        )
    )
    del theirs["a"], theirs["b"]
    assert dict(compared) == theirs
    # Three windows of five words each, of which one is in both.
    assert (compared.shared, compared.union, compared.jaccard) == (1, 5, 0.2)
    assert "0.2000" in repr(compared)
    # They differ in "ouch down" and "ake off", which share a blank and an o after it.
    assert compared.edit_distance == compared.length_a + compared.length_b - 2 * compared.lcs == 12
    assert compared.hamming is None
    assert (compared.containment_a, compared.bag_similarity, compared.l1) == (1 / 3, 1 / 6, 4)
    assert simgpu.compare("", "").jaccard is None
    with pytest.raises(ValueError, match="choose another unit"):
        simgpu.compare(a, b, unit="tokens")
    with pytest.raises(TypeError, match="a is 3; give a text"):
        simgpu.compare(3, b)


def test_devices_are_listed_in_order():
    devices = simgpu.devices()
    assert [device.number for device in devices] == list(range(len(devices)))
    page = command("devices")
    assert "".join(f"{device!r}\n" for device in devices) == page or not devices
    assert all("affine32" in device.schemes for device in devices)


def test_selftest_passes():
    result = simgpu.selftest(backend="simd")
    assert {check["outcome"] for check in result.checks} <= {"passed", "unsupported"}
    assert sum(check["compared"] for check in result.checks) > 100
    assert "checks passed on: simd" in repr(result)
    with pytest.raises(ValueError, match='unknown backend "cuda"'):
        simgpu.selftest(backend="cuda")
