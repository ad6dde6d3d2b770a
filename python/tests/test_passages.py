"""Passages are those that brute force finds, and files give what the command gives."""

import json
import pickle
import random
import re
import subprocess
import sys

import pytest
import simgpu


def texts_of(seed, count=40):
    """Texts of parts of each other, with an accent so that bytes are not characters."""
    chosen = random.Random(seed)
    texts = []
    for _ in range(count):
        words = []
        for _ in range(chosen.randrange(4)):
            if texts and chosen.random() < 0.6:
                other = chosen.choice(texts).split()
                start = chosen.randrange(len(other) + 1)
                words += other[start : start + chosen.randrange(12)]
            words += [chosen.choice(["é", "b,", "c.", "d"]) for _ in range(chosen.randrange(5))]
        texts.append(" ".join(words))
    return texts


def covered(texts, length):
    """The words in windows that stand before, by comparing each with all."""
    seen, of_texts = set(), []
    for text in texts:
        words = re.findall(r"[a-zé]+", text)
        marks = [False] * len(words)
        for start in range(len(words) - length + 1):
            window = tuple(words[start : start + length])
            if window in seen:
                marks[start : start + length] = [True] * length
            seen.add(window)
        of_texts.append(marks)
    return of_texts


@pytest.mark.parametrize("length", [1, 3, 7])
def test_passages_are_those_of_brute_force(length):
    texts = texts_of(length)
    found = simgpu.passages(texts, min_length=length, threads=2)
    marks = covered(texts, length)
    ours = [[False] * len(of_text) for of_text in marks]
    for piece in found:
        part = texts[piece["row"]].encode()[piece["start"] : piece["end"]].decode()
        source = texts[piece["source_row"]].encode()
        source = source[piece["source_start"] : piece["source_end"]].decode()
        words = re.findall(r"[a-zé]+", part)
        assert words == re.findall(r"[a-zé]+", source)
        assert (len(words), part == source) == (piece["length"], piece["exact"])
        first = len(re.findall(r"[a-zé]+", texts[piece["row"]].encode()[: piece["start"]].decode()))
        ours[piece["row"]][first : first + len(words)] = [True] * len(words)
    assert ours == marks
    assert found["exact"].dtype == bool
    assert pickle.loads(pickle.dumps(found.table)).to_pylist() == found.to_pylist()
    assert repr(found) == f"<PassagesFound: {len(found)} pieces>"


def test_options_act_and_contradictions_are_refused():
    texts = ["One two  THREE 1", None, "one two three 2", "One two  THREE 1"]
    assert [row["row"] for row in simgpu.passages(texts, min_length=4)] == [3]
    found = simgpu.passages(texts, min_length=4, lowercase=True, mask_digits=True)
    assert [(row["row"], row["exact"]) for row in found] == [(2, False), (3, True)]
    found = simgpu.passages(texts, min_length=4, occurrences="all")
    assert found["row"].tolist() == [0, 3]
    lines = simgpu.passages({"t": ["a b\nc", "a  b"]}, "t", unit="lines", min_length=2, merge_whitespace=True)
    assert lines["source_row"].tolist() == [0]
    for options, message in [
        ({"merge_whitespace": True}, "unit=\"lines\""),
        ({"bytes_equal": True, "lowercase": True}, "lowercase"),
        ({"snap": "lines"}, "cut"),
        ({"only_against": True}, "against"),
        ({"min_length": 0}, "min_length"),
    ]:
        with pytest.raises(simgpu.ParameterError, match=message):
            simgpu.passages(texts, **options)
    with pytest.raises(TypeError):
        simgpu.passages([1, 2])


def test_texts_without_their_passages_are_given_back():
    texts = texts_of(3, 60)
    old = texts_of(4, 20)
    found = simgpu.passages(texts, min_length=3, cut=True, against=old, id=[f"t{row}" for row in range(60)])
    assert len(found.texts) == 60 and found.texts != texts
    in_old = {tuple(words[at : at + 3]) for words in (re.findall(r"[a-zé]+", text) for text in old) for at in range(len(words))}
    for row, text in enumerate(found.texts):
        words = re.findall(r"[a-zé]+", text)
        # What is left is a part of the text, in order, and the words are whole.
        whole = iter(re.findall(r"[a-zé]+", texts[row]))
        assert all(word in whole for word in words)
        # Without a cut nothing changes.
        assert text == texts[row] or row in found["row"]
    for piece in found:
        assert piece["id"] == f"t{piece['row']}"
        assert (piece["reference"] is None) == (piece["source_row"] is not None)
        other = old[piece["reference"]] if piece["source_row"] is None else texts[piece["source_row"]]
        source = other.encode()[piece["source_start"] : piece["source_end"]].decode()
        part = texts[piece["row"]].encode()[piece["start"] : piece["end"]].decode()
        assert re.findall(r"[a-zé]+", part) == re.findall(r"[a-zé]+", source)
        expected = None if piece["source_row"] is None else f"t{piece['source_row']}"
        assert piece["source_id"] == expected
    only = simgpu.passages(texts, min_length=3, against=old, only_against=True)
    assert len(only) > 0 and all(piece["source_row"] is None for piece in only)
    for piece in only:
        part = texts[piece["row"]].encode()[piece["start"] : piece["end"]].decode()
        assert tuple(re.findall(r"[a-zé]+", part)[:3]) in in_old
    assert simgpu.passages(texts).texts is None


def test_tokens_are_lists_in_memory():
    lists = [[7, 1, 2, 3], None, [9, 1, 2, 3, 1, 2], ["1", "2"]]
    found = simgpu.passages([row for row in lists if row is not None], unit="tokens", min_length=2)
    places = [(piece["row"], piece["start"], piece["end"], piece["source_row"]) for piece in found]
    assert places == [(1, 1, 4, 0), (1, 4, 6, 0), (2, 0, 2, 0)]
    with pytest.raises(simgpu.ParameterError, match="not cut"):
        simgpu.passages([[1, 2]], unit="tokens", cut=True)
    with pytest.raises(TypeError):
        simgpu.passages(["a b"], unit="tokens")


def test_files_give_what_the_command_gives(tmp_path):
    lines = [json.dumps({"id": row, "text": text}) for row, text in enumerate(texts_of(5))]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "old.jsonl").write_text("\n".join(lines[:9]) + "\n")
    report = simgpu.passages_files(
        tmp_path / "in.jsonl", tmp_path / "ours", min_length=3, action="cut", against=tmp_path / "old.jsonl"
    )
    flags = "--min-length 3 --action cut --against old.jsonl -o theirs --quiet".split()
    run = subprocess.run(
        [sys.executable, "-m", "simgpu", "passages", "in.jsonl", *flags], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    for name in ["passages.jsonl", "cuts.jsonl", "removed.jsonl", "report.json", "kept/in.jsonl"]:
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes(), name
    assert report["counts"] == json.loads((tmp_path / "ours/report.json").read_text())["counts"]
    assert report["counts"]["from_reference"] > 0
    with pytest.raises(simgpu.ParameterError, match="only_against"):
        simgpu.passages_files(tmp_path / "in.jsonl", tmp_path / "new", only_against=True)
