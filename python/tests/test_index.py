"""The index finds what the search in memory finds, and behaves in threads, forks and after crashes."""

import os
import pickle
import random
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import simgpu
from corpora import corpus

FOX = "the quick brown fox jumps over the lazy dog and runs away from the bear"
posix = pytest.mark.skipif(os.name != "posix", reason="fork is that of Unix")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "seen"


def cross_pairs(old, new, **options):
    """The pairs of a new text and an old one, by the search in memory."""
    found = simgpu.pairs(new, against=old, candidates="lsh", **options)
    return sorted(zip(found["right"].tolist(), found["left"].tolist(), found["similarity"].tolist(), strict=True))


@pytest.mark.parametrize("verify", ["signature", "exact"])
@pytest.mark.parametrize("shingling", [None, "chars"])
def test_a_batch_finds_what_pairs_find(folder, verify, shingling):
    texts = corpus(600, seed=3)
    old, new = texts[:400], texts[400:]
    options = {"threshold": 0.6, "verify": verify, "shingling": shingling}
    with simgpu.Index.create(folder, **options) as index:
        assert index.add_many(old, id=range(400)).all()
    with simgpu.Index(folder, threads=2) as index:
        found = index.check_many(new, threshold=0.6)
        columns = (found[name].tolist() for name in ("row", "hit_id", "similarity"))
        assert sorted(zip(*columns, strict=True)) == cross_pairs(old, new, **options) != []
        for row in (0, 7, 199):
            single = [(hit.id, hit.similarity) for hit in index.check(new[row])]
            ours = [(hit["hit_id"], hit["similarity"]) for hit in found if hit["row"] == row]
            assert single == ours
        some = index.check_many(new, threshold=0.8, limit=1)
        assert len(set(some["row"].tolist())) == len(some)
        assert (some["similarity"] >= 0.8).all()
        assert index.verify()["documents"] == len(index) == 400


def shingles(text):
    words = text.split()
    return {tuple(words[start : start + 2]) for start in range(len(words) - 1)}


@pytest.mark.parametrize(("measure", "threshold"), [("jaccard", 0.3), ("jaccard", 0.7), ("contained", 0.6)])
def test_an_exact_index_misses_nothing(folder, measure, threshold):
    rng = random.Random(3)
    texts = [" ".join(f"w{int(rng.expovariate(0.2))}" for _ in range(rng.randrange(2, 14))) for _ in range(240)]
    sets = [shingles(text) for text in texts]
    expected = []
    for row in range(120, 240):
        for other in range(120):
            shared, sizes = len(sets[row] & sets[other]), (len(sets[row]), len(sets[other]))
            of = len(sets[row] | sets[other]) if measure == "jaccard" else min(sizes)
            if shared / of >= threshold:
                expected.append((row - 120, other, shared / of, shared / sizes[0], shared / sizes[1]))
    options = {"kind": "exact", "measure": measure, "threshold": threshold, "shingling": simgpu.Shingling("words", 2)}
    with simgpu.Index.create(folder, **options) as index:
        index.add_many(texts[:120], id=range(120))
        assert index.kind == "exact" and "bands" not in index.stats()
        found = index.check_many(texts[120:])
        names = ["row", "hit_id", "similarity"]
        if measure == "contained":
            names += ["query_share", "document_share"]
            hit = index.check(texts[120 + found["row"][0]])[0]
            assert (hit.query_share, hit.document_share) == (found["query_share"][0], found["document_share"][0])
        ours = sorted(zip(*(found[name].tolist() for name in names), strict=True))
        assert ours == sorted(pair[: len(names)] for pair in expected) != []
        index.verify()
    with pytest.raises(simgpu.ParameterError, match="bands has no effect"):
        simgpu.Index.create(folder.with_name("b"), bands=4, rows=4, kind="exact")
    with pytest.raises(simgpu.ParameterError, match="measure"):
        simgpu.Index.create(folder.with_name("b"), measure="contained")


def test_adding_the_new_ones_keeps_what_dedup_keeps(folder):
    texts = corpus(500, seed=5)
    options = {"threshold": 0.7, "verify": "exact"}
    kept = simgpu.dedup(texts, candidates="lsh", **options).keep
    with simgpu.Index.create(folder, **options) as index:
        checked = index.check_or_add_many(texts, id=[f"t{row}" for row in range(500)])
        assert (checked.added == kept).all() and not checked.known_id.any()
        assert len(index) == kept.sum() < 500
        assert set(checked["row"].tolist()) == set(np.flatnonzero(~kept).tolist())
    with simgpu.Index.create(folder.with_name("one"), durability="sync", **options) as index:
        added = [index.check_or_add(text, row) == [] for row, text in enumerate(texts)]
        assert added == kept.tolist()


def test_tables_of_all_kinds_go_in(folder):
    pa = pytest.importorskip("pyarrow")
    texts = corpus(60, seed=7)
    table = pa.table({"body": pa.chunked_array([texts[:20], texts[20:]]), "name": [f"n{row}" for row in range(60)]})
    with simgpu.Index.create(folder) as index:
        assert index.add_many(table, "body", id="name").all()
        found = index.check_many({"t": texts, "i": list(range(60))}, "t", id="i")
        assert pa.table(found).column_names == ["row", "hit_id", "similarity", "found_by", "id"]
        assert all(f"n{row['id']}" in index for row in found)
        exported = index.export()
        assert exported["id"].tolist() == [f"n{row}" for row in range(60)]
        assert {len(signature) for signature in exported["signature"]} == {128}
        assert pickle.loads(pickle.dumps(found)).to_pylist() == found.to_pylist()
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"body": texts, "name": range(60)})
        are_blank = [index.check(text) == [] for text in texts]
        assert index.check_or_add_many(frame, "body", id="name").added.tolist() == are_blank
        checked = index.check_or_add_many([], id=[])
        assert len(checked) == len(checked.added) == 0


def test_tokens_are_lists(folder):
    with simgpu.Index.create(folder, shingling="tokens", threshold=0.5, bands=64, rows=2) as index:
        index.add_many([[1, 2, 3, 4], ["a", "b", "c"]], id=["n", "s"])
        assert [hit.id for hit in index.check([4, 3, 2, 1])] == ["n"]
        assert [hit.id for hit in index.check(("a", "b", "c"))] == ["s"]
        with pytest.raises(TypeError):
            index.check("a b c")


def test_ids_are_known_replaced_and_deleted(folder):
    with simgpu.Index.create(folder) as index:
        assert index.add(FOX, 7) and index.add(FOX, "7") and 7 in index and np.int64(7) in index
        assert [(hit.id, hit.found_by) for hit in index.check(FOX)] == [(7, "identical"), ("7", "identical")]
        with pytest.raises(simgpu.ParameterError, match="on_known_id"):
            index.add(FOX, 7)
        assert not index.add("other words", 7, on_known_id="skip")
        assert index.add("some other words that are new here", 7, on_known_id="replace")
        assert [hit.id for hit in index.check(FOX)] == ["7"]
        assert index.add_many([FOX, FOX], id=[8, 7], on_known_id="skip").tolist() == [True, False]
        checked = index.check_or_add_many(["quite new words of another kind"], id=[8], on_known_id="skip")
        assert (checked.added.tolist(), checked.known_id.tolist()) == ([False], [True])
        with pytest.raises(simgpu.ParameterError, match="replace"):
            index.check_or_add_many([FOX], id=[9], on_known_id="replace")
        assert index.delete(["7", 8, "none"]) == 2 and index.delete("7") == 0
        assert index.check(FOX) == [] and len(index) == 1
        before = index.stats()
        index.compact()
        assert before["deleted"] == 3 and index.stats()["deleted"] == 0
        for wrong in (True, 1.5, None, b"x", [1]):
            with pytest.raises(TypeError, match="id is"):
                index.add(FOX, wrong)


def test_a_snapshot_is_an_index_of_its_own(folder, tmp_path):
    copy = tmp_path / "copy"
    with simgpu.Index.create(folder, threshold=0.7, durability="sync") as index:
        index.add(FOX, "fox")
        assert index.snapshot(copy) == 1
        index.delete("fox")
        with pytest.raises(simgpu.OutputError):
            index.snapshot(copy)
        with simgpu.Index(copy) as copied:
            assert "fox" in copied and copied.verify()["documents"] == 1


def test_stats_are_those_of_the_command(folder):
    import json

    with simgpu.Index.create(folder, threshold=0.6, num_perm=64) as index:
        index.add(FOX, "fox")
        ours = index.stats()
    command = [sys.executable, "-m", "simgpu", "index", "stats", "--json", "--index", folder]
    run = subprocess.run(command, capture_output=True, text=True)
    theirs = json.loads(run.stdout)
    assert ours.pop("disk_bytes") <= theirs.pop("disk_bytes")
    assert ours == theirs and ours["documents"] == 1


def test_a_process_may_open_an_index_several_times(folder):
    with simgpu.Index.create(folder) as one, simgpu.Index(os.path.join(folder, "..", "seen"), durability="sync") as other:
        one.add(FOX, 1)
        assert 1 in other and (one.durability, other.durability) == ("call", "sync")
        other.add("something else of some words", 2)
        one.close()
        assert len(other) == 2 and one.closed
    # Closed by the last one.
    with simgpu.Index(folder) as again:
        assert len(again) == 2
        code = f"import simgpu; simgpu.Index({str(folder)!r})"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert f"process {os.getpid()} has the index open" in run.stderr


def test_what_is_wrong_is_told(folder):
    with pytest.raises(FileNotFoundError):
        simgpu.Index(folder)
    folder.mkdir()
    with pytest.raises(simgpu.InputError, match="no index"):
        simgpu.Index(folder)
    (folder / "mine.txt").touch()
    with pytest.raises(simgpu.OutputError, match="mine.txt"):
        simgpu.Index.create(folder)
    (folder / "mine.txt").unlink()
    index = simgpu.Index.create(folder, threshold=0.7)
    with pytest.raises(FileExistsError, match="exist_ok"):
        simgpu.Index.create(folder)
    assert len(simgpu.Index.create(folder, threshold=0.7, exist_ok=True)) == 0
    with pytest.raises(simgpu.InputError, match="seed"):
        simgpu.Index.create(folder, threshold=0.7, seed=5, exist_ok=True)
    with pytest.raises(simgpu.ParameterError, match=r"from 0.7, the threshold of the index"):
        index.check(FOX, threshold=0.5)
    with pytest.raises(TypeError, match="id is missing"):
        index.add_many([FOX])
    with pytest.raises(simgpu.ParameterError, match="2 values for 1 documents"):
        index.add_many([FOX], id=[1, 2])
    for copy in (pickle.dumps, __import__("copy").copy, __import__("copy").deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            copy(index)
    index.close()
    index.close()
    assert repr(index) == f"<Index {folder}, closed>"
    for call in (lambda: index.check(FOX), lambda: len(index), index.stats, index.__enter__):
        with pytest.raises(simgpu.ParameterError, match="closed"):
            call()


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_share_an_index(folder, threads):
    texts = corpus(300, seed=11)
    with simgpu.Index.create(folder, verify="exact", durability="sync", threads=threads) as index:

        def work(number):
            mine = range(number, 300, 6)
            for start in range(0, len(mine), 10):
                rows = mine[start : start + 10]
                index.add_many([texts[row] for row in rows], id=list(rows))
                index.check_many([texts[row] for row in rows])
                index.check_or_add(f"a text of thread {number} and of row {start} alone", f"{number}-{start}")
                index.check(texts[rows[0]])
            return len(index)

        with ThreadPoolExecutor(6) as pool:
            assert max(pool.map(work, range(6), timeout=60)) == len(index)
        assert all(row in index for row in range(300))
        index.verify()


def python(code, timeout=60):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=timeout
    )


@posix
def test_a_forked_child_gets_an_error_and_its_parent_goes_on(folder):
    run = python(f"""
        import os, sys, simgpu
        index = simgpu.Index.create({str(folder)!r})
        index.add_many([{FOX!r}] * 300, id=range(300))
        child = os.fork()
        if child == 0:
            for call in [lambda: index.check("a"), lambda: index.add("a", 1), lambda: len(index), index.compact]:
                try:
                    call()
                except simgpu.UnsupportedError as error:
                    print(error, flush=True)
            index.close()
            del index
            other = simgpu.Index.create({str(folder)!r} + "-child")
            other.check_or_add_many(["a b c d e f g"] * 3, id=[1, 2, 3])
            print(len(other), flush=True)
            sys.exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        index.add("more words of one text", "more")
        index.close()
        print(len(simgpu.Index({str(folder)!r})))
    """)
    lines = run.stdout.splitlines()
    assert [("forked" in line) for line in lines[:4]] == [True] * 4, run.stderr
    assert lines[4:] == ["1", "0", "301"], run.stdout + run.stderr


def test_what_was_acknowledged_survives_a_crash(folder):
    run = python(f"""
        import os, simgpu
        index = simgpu.Index.create({str(folder)!r})
        for number in range(20):
            index.check_or_add(f"text {{number}} " * 9 + f"of number {{number * number}}", number)
        index.delete([3])
        os._exit(1)
    """)
    assert run.returncode == 1, run.stderr
    with simgpu.Index(folder) as index:
        assert [number in index for number in range(20)] == [number != 3 for number in range(20)]
        index.verify()


@posix
def test_an_interrupt_ends_a_batch_between_two_parts(folder):
    from interrupts import seconds_until_interrupted

    words = [f"word{number}" for number in range(3000)]
    random.Random(1).shuffle(words)
    code = f"""
        import time, simgpu
        words = {words!r}
        texts = [" ".join(words[row % 2000 : row % 2000 + 900]) + f" {{row}}" for row in range(6000)]
        def began(stage, done, total):
            if done: print("began", flush=True)
        index = simgpu.Index.create({str(folder)!r}, num_perm=512)
        try:
            index.add_many(texts, id=range(6000), progress=began)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic(), flush=True)
    """
    # How soon depends on the build: what matters is that not all are added.
    seconds_until_interrupted(code)
    with simgpu.Index(folder) as index:
        added = len(index)
        assert 0 < added < 6000
        assert all(row in index for row in range(added))
        index.verify()


def test_a_progress_function_sees_and_stops_the_work(folder):
    texts = ["some words " * 20_000 + str(row) for row in range(30)]
    with simgpu.Index.create(folder, num_perm=16) as index:
        # A minute of work, so that there is a look at it before it ends, however busy the machine is.
        with pytest.raises(simgpu.StoppedError):
            index.add_many(texts * 100, id=range(3000), progress=lambda *_: False)
        seen = []
        index.check_many(texts, progress=lambda *call: seen.append(call))
        assert seen[-1] == ("index", 30, 30)


def test_other_threads_run_while_an_index_works(folder):
    texts = ["word " * 500 + f"and {row} " * 100 for row in range(500)]
    count, done = 0, threading.Event()
    with simgpu.Index.create(folder, num_perm=256) as index:

        def add():
            index.add_many(texts, id=range(500))
            done.set()

        thread = threading.Thread(target=add)
        thread.start()
        while not done.wait(0.001) and thread.is_alive():
            count += 1
        thread.join()
    assert done.is_set() and count > 10


def test_messages_name_methods(folder, tmp_path):
    folder.mkdir()
    with pytest.raises(simgpu.InputError, match=r"build one with Index\.create$"):
        simgpu.Index(folder)
    folder.rmdir()
    simgpu.Index.create(folder).close()
    run = subprocess.run(
        [sys.executable, "-c", f"import simgpu; simgpu.Index({str(folder)!r}); input()"],
        input="", capture_output=True, text=True, timeout=60,
    )
    assert run.returncode != 0  # It had opened the index, and had no input.
    opened = subprocess.Popen(
        [sys.executable, "-c", f"import simgpu; i = simgpu.Index({str(folder)!r}); print('open', flush=True); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    try:
        assert opened.stdout.readline() == "open\n"
        with pytest.raises(simgpu.InputError, match=r"or read a copy, which Index\.snapshot makes meanwhile$"):
            simgpu.Index(folder)
    finally:
        opened.communicate("\n", timeout=60)
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": 1, "text": "a rose is a rose"}\n')
    with pytest.raises(Exception) as raised:
        simgpu.dedup_files(path, tmp_path / "out", against=folder, resume=1)
    assert "`" not in str(raised.value)
