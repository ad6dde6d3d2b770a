"""The generated corpora of benches/peers have what they state, and what tools keep is judged as brute force does."""

import json
import random
import shutil
import sys
import types
from collections import Counter

import numpy as np
import pytest
from conftest import REPOSITORY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork, by which corpora are written")
WORDS = [f"word{number}" for number in range(400)]


@pytest.fixture(scope="module", autouse=True)
def peers():
    sys.path.insert(0, str(REPOSITORY / "benches" / "peers"))
    yield
    sys.path.pop(0)


def sources(folder):
    """Real texts and crates in small."""
    rng = random.Random(1)

    def line():
        # White space of several bytes, too, which a text does not end with.
        return "".join(word + rng.choice([" ", " ", "\u00a0", "\t"]) for word in rng.choices(WORDS, k=rng.randrange(15, 40)))

    texts = folder / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": f"{line()}\nshort\n{line()}"}) + "\n" for _ in range(60)))
    crates = folder / "crates" / "anyhow-1"
    crates.mkdir(parents=True)
    body = "\n\n".join(f"fn {name}() {{\n    let x = {name}(\"é\\n\");\n}}" for name in WORDS)
    (crates / "lib.rs").write_text(body)
    return texts, crates.parent


def generated(folder, shape, documents, *more):
    import generate_shapes

    texts, crates = folder / "texts.jsonl", folder / "crates"
    if not texts.exists():
        sources(folder)
    output = folder / "out"
    shutil.rmtree(output, ignore_errors=True)
    arguments = [shape, str(output), "--documents", str(documents), "--texts", str(texts), "--crates", str(crates)]
    generate_shapes.generate(generate_shapes.parse([*arguments, *more]))
    return [line for path in sorted(output.iterdir()) for line in path.read_bytes().splitlines()]


@pytest.fixture
def few_crates(monkeypatch):
    """As if Cargo.lock named the crate of the test alone."""
    import generate_shapes

    locked = {"package": [{"name": "anyhow", "version": "1"}]}
    monkeypatch.setattr(generate_shapes, "tomllib", types.SimpleNamespace(loads=lambda _: locked))


@pytest.mark.parametrize("shape", ["web", "short", "code", "baskets"])
def test_fewer_documents_are_the_first_of_more(shape, tmp_path, few_crates):
    many = generated(tmp_path, shape, 2500, "--files", "2")
    assert generated(tmp_path, shape, 2100) == many[:2100]
    assert generated(tmp_path, shape, 100, "--seed", "2") != many[:100]
    documents = [json.loads(line) for line in many]
    assert [document["id"] for document in documents] == [str(number) for number in range(2500)]
    copies = [document for document in documents if "copy_of" in document]
    assert [int(copy["id"]) for copy in copies] == list(range(9, 2500, 10))
    values = [document.get("text", document.get("tokens")) for document in documents]
    assert all("copy_of" not in documents[int(copy["copy_of"])] for copy in copies)
    same = Counter(values[int(copy["id"])] == values[int(copy["copy_of"])] for copy in copies)
    # One kind of edit in three to five is none, and some have no effect.
    assert 0.15 < same[True] / len(copies) < 0.5
    if shape == "short":
        assert {len(text.split()) for text in values} <= set(range(4, 17))
    if shape != "baskets":
        assert all(text and text == text.rstrip() for text in values)


def test_baskets_as_texts_have_the_same_items(tmp_path):
    tokens = generated(tmp_path, "baskets", 300)
    texts = generated(tmp_path, "baskets", 300, "--as-text")
    for line, other in zip(tokens, texts):
        assert json.loads(line)["tokens"] == json.loads(other)["text"].split()


def test_edits_of_copies_are_as_large_as_stated(tmp_path):
    documents = [json.loads(line) for line in generated(tmp_path, "web", 1000)]
    texts = [document["text"].split() for document in documents]
    for copy in (document for document in documents if "copy_of" in document):
        a, b = (Counter(texts[int(copy[name])]) for name in ("id", "copy_of"))
        larger = max(a.total(), b.total())
        assert (a & b).total() >= 0.8 * larger - 2, copy["id"]


def test_what_is_kept_is_judged_as_by_brute_force():
    from processes import judged, kept_in_order

    rng = random.Random(3)
    for _ in range(200):
        documents = rng.randrange(2, 12)
        pairs = {tuple(rng.sample(range(documents), 2)) for _ in range(rng.randrange(12))}
        pairs = {(max(pair), min(pair)) if rng.random() < 0.5 else (min(pair), max(pair)) for pair in pairs}
        pairs = list({frozenset(pair): pair for pair in pairs}.values())
        kept = {number for number in range(documents) if rng.random() < 0.6}
        partners = {n: {sum(pair) - n for pair in pairs if n in pair} for n in range(documents)}
        verdict = judged(np.array(sorted(kept), np.int64), np.array(pairs, np.int64).reshape(-1, 2), documents)
        removed = set(range(documents)) - kept
        assert verdict.kept == len(kept)
        assert verdict.pairs_left == sum(set(pair) <= kept for pair in pairs)
        assert verdict.removed_alone == sum(not partners[n] for n in removed)
        assert verdict.removed_unlinked == sum(not partners[n] & kept for n in removed)
        stays = []
        for n in range(documents):
            if not partners[n] & set(stays):
                stays.append(n)
        assert kept_in_order(np.array(pairs, np.int64).reshape(-1, 2), documents) == len(stays)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are sampled in /proc, which Linux has")
def test_cost_counts_processes_memory_and_files(tmp_path):
    from processes import measured

    (tmp_path / "output").mkdir()
    program = (
        "import sys, time; open('output/kept', 'wb').write(bytes(10**6)); open('more', 'wb').write(bytes(10**5))\n"
        "held = bytearray(b'x') * 10**8\n"
        "until = time.process_time() + 0.2\n"
        "while time.process_time() < until: pass\n"
        "time.sleep(0.3); print('done')"
    )
    program = f"import os; os.chdir({str(tmp_path)!r})\n{program}"
    log = tmp_path / "log"
    cost = measured([sys.executable, "-c", program], 60, log, tmp_path, tmp_path / "output")
    assert (cost.ended, log.read_text()) == ("", "done\n")
    assert cost.cpu_s >= 0.2 and cost.elapsed_s >= 0.5
    assert 10**8 < cost.peak_bytes < 3 * 10**8
    assert 10**5 <= cost.temporary_bytes < 2 * 10**5
    assert measured([sys.executable, "-c", "raise SystemExit(3)"], 60, log).ended == "exit status 3"
    assert measured([sys.executable, "-c", "while True: pass"], 0.5, log).ended == "stopped after 0 s"
