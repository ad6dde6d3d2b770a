"""Items are found in memory as by the command, with spans that are the words found."""

import importlib
import json
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import simgpu

QUESTIONS = [
    "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?",
    "Which planet of the solar system has the largest number of known moons that orbit it in one year?",
    "What is the name of the river that flows through the old capital of the northern kingdom into the sea?",
    "How many litres of water does the gardener need for nine rows of beans if each row takes four and a half?",
]


def items():
    """Records of questions, of which one has options, one a passage, and two are one item."""
    records = [{"id": f"q{row}", "question": text} for row, text in enumerate(QUESTIONS)]
    records[1] |= {"options": ["Saturn", "Jupiter", "Mars"], "answer": "A"}
    records[2]["passage"] = "The old capital lies on the Sorve, which rises in the hills of the east and is navigable for months."
    records.append({"id": "q0b", "question": QUESTIONS[0].upper(), "answer": "3"})
    return records


def texts(seed=1, count=60):
    chosen = random.Random(seed)
    words = [f"wörd{number}" for number in range(300)]
    filler = lambda: " ".join(chosen.choice(words) for _ in range(chosen.randrange(4, 60)))
    made = []
    for row in range(count):
        question = QUESTIONS[row % 4]
        match row % 5:
            case 0:
                made.append(f"{filler()}. {question} {filler()}")
            case 1:
                made.append(f"{filler()}\n\n{question.lower()}\nSaturn Jupiter Mars\n")
            case 2:
                made.append(question[: len(question) // 2] + " " + filler())
            case 3:
                made.append(filler())
            case _:
                made.append(items()[2]["passage"] + " " + filler())
    return made


def evidence(hit):
    names = ("item", "benchmark", "class", "score", "parts", "start", "end", "item_start", "item_end", "found", "ngrams")
    return tuple(hit[name] for name in names)


def command(tmp_path, *flags):
    run = subprocess.run(
        [sys.executable, "-m", "simgpu", "contain", "in.jsonl", *flags, "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@pytest.fixture
def files(tmp_path):
    with open(tmp_path / "in.jsonl", "w") as file:
        for row, text in enumerate(texts()):
            file.write(json.dumps({"id": row, "text": text}) + "\n")
    with open(tmp_path / "items.jsonl", "w") as file:
        for record in items():
            file.write(json.dumps(record) + "\n")
    return tmp_path


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("options", [{}, {"size": 4, "threshold": 0.9, "min_ngrams": 5}])
def test_hits_are_those_of_the_command(files, options):
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    command(files, "--against", "items.jsonl", "-o", "out", *flags)
    theirs = lines_of(files / "out/hits.jsonl")
    assert {line["class"] for line in theirs} >= {"contaminated", "passage"}
    for given in (files / "items.jsonl", [str(files / "items.jsonl")], items()):
        found = simgpu.Contain(given, **options).scan(texts(), id=range(100, 160), threads=2)
        ours = [(hit["row"], *evidence(hit)) for hit in found]
        assert ours == [(line["id"], *evidence(line)) for line in theirs]
        assert found["id"].tolist() == [row + 100 for row in found["row"]]


def test_spans_are_the_words_that_were_found():
    contain = simgpu.Contain(items())
    assert [len(contain), *contain.items["item"]] == [4, "q0", "q1", "q2", "q3"]
    assert contain.items[0]["ids"] == ["q0", "q0b"]
    made = texts()
    found = contain.scan(made)
    whole = [hit for hit in found if hit["class"] == "contaminated"]
    assert len(whole) > 15
    for hit in whole:
        part = made[hit["row"]].encode()[hit["start"] : hit["end"]].decode().lower()
        question = contain.items[int(hit["item"][1:])]["question"]
        of_item = question.encode()[hit["item_start"] : hit["item_end"]].decode().lower()
        assert part.startswith(of_item[:-1]) and hit["found"] <= hit["ngrams"]
    assert repr(found) == f"<ItemsFound: {len(found)} items in texts>"


def test_records_of_all_kinds_are_items():
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    expected = simgpu.Contain(items()).scan(texts()).to_pylist()
    columns = {name: [record.get(name) for record in items()] for name in ("id", "question", "passage", "options", "answer")}
    for given in (columns, pa.table(columns), pd.DataFrame(columns), (record for record in items())):
        assert simgpu.Contain(given).scan(texts()).to_pylist() == expected
    named = [{"q": text, "n": row, "set": "mine"} for row, text in enumerate(QUESTIONS)]
    contain = simgpu.Contain(named, item_fields="q", item_id_field="n", benchmark_field="set")
    assert set(contain.items["benchmark"]) == {"mine"} and contain.items["item"].tolist() == ["0", "1", "2", "3"]
    assert simgpu.Contain([{"question": QUESTIONS[0]}]).items["item"].tolist() == ["0"]


def test_streams_and_lazy_frames_are_items():
    pa = pytest.importorskip("pyarrow")
    expected = simgpu.Contain(items()).scan(texts()).to_pylist()
    columns = {name: [record.get(name) for record in items()] for name in ("id", "question", "passage", "options", "answer")}
    table = pa.table(columns)
    given = {"pyarrow": [table, Stream(table)]}
    if polars := optional("polars"):
        given["polars"] = [polars.DataFrame(columns).lazy(), polars.DataFrame(columns)]
    if duckdb := optional("duckdb"):
        given["duckdb"] = [duckdb.from_arrow(table)]
    for package, tables in given.items():
        for each in tables:
            assert simgpu.Contain(each).scan(texts()).to_pylist() == expected, package


class Stream:
    """Arrow data with nothing but the interface."""

    def __init__(self, table):
        self.__arrow_c_stream__ = table.__arrow_c_stream__


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def test_tables_of_texts_go_in():
    pa = pytest.importorskip("pyarrow")
    contain = simgpu.Contain(items())
    made = texts()
    table = pa.table({"body": pa.chunked_array([made[:7], made[7:]]), "name": [f"t{row}" for row in range(60)]})
    found = contain.scan(table, "body", id="name")
    assert pa.table(found)["id"].to_pylist() == [f"t{row}" for row in found["row"]]
    assert len(contain.scan([None, ""])) == 0
    assert [hit["row"] for hit in contain.scan([None, made[0]])] == [1]


def test_it_is_pickled_and_shared_by_threads():
    contain = simgpu.Contain(items())
    expected = contain.scan(texts()).to_pylist()
    assert pickle.loads(pickle.dumps(contain)).scan(texts()).to_pylist() == expected
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: contain.scan(texts(), threads=1).to_pylist(), range(8)):
            assert found == expected


def test_what_is_wrong_is_told(tmp_path):
    for given, error, message in [
        ([], simgpu.ParameterError, "at least one record"),
        ([{"question": "a"}, {"q": "b"}], simgpu.InputError, "item 1: there is no field \"question\""),
        ([1], TypeError, "item 0 is of type int"),
        (5, TypeError, "items are of type int"),
        (b"x", TypeError, "items are of type bytes"),
        ({"question": "Why?"}, TypeError, "list of dicts"),
        ({"question": ["Why?"], "id": []}, simgpu.ParameterError, "different lengths"),
        (tmp_path / "no.jsonl", FileNotFoundError, "no.jsonl"),
    ]:
        with pytest.raises(error, match=message):
            simgpu.Contain(given)
    with pytest.raises(simgpu.InputError) as caught:
        simgpu.Contain([{"question": "a"}, {"q": "b"}])
    assert caught.value.row == 1
    for options, message in [
        ({"size": 1}, "size"),
        ({"threshold": 1.5}, "threshold"),
        ({"item_fields": ""}, "item_fields"),
        ({"item_fields": "a,b,c,d,e"}, "item_fields"),
    ]:
        with pytest.raises(simgpu.ParameterError, match=message):
            simgpu.Contain(items(), **options)
    with pytest.raises(TypeError, match=r"Contain\(\) got .*'sizes'; did you mean 'size'"):
        simgpu.Contain(items(), sizes=4)
    with pytest.raises(FileNotFoundError):
        simgpu.Contain(items(), phrases=tmp_path / "no.parquet")
    (tmp_path / "odd.parquet").write_bytes(b"odd")
    with pytest.raises(simgpu.InputError, match="odd.parquet"):
        simgpu.Contain(items(), phrases=tmp_path / "odd.parquet")
    contain = simgpu.Contain(items())
    with pytest.raises(TypeError, match="text"):
        contain.scan("a text")
    # Progress is told every 50 ms: a scan of 550 MB takes several times as long.
    with pytest.raises(simgpu.StoppedError):
        contain.scan(["some words " * 500_000] * 100, progress=lambda *_: False)


SPEECH = "Four score and seven years ago our fathers brought forth upon this continent a new nation conceived in liberty"


@pytest.fixture
def spread(tmp_path):
    """A speech in 40 documents of four sources, and a question that quotes it, asked in two of them."""
    question = f"{SPEECH}: in which town did the president say so, and what did the newspapers write of it?"
    chosen = random.Random(4)
    for source in range(4):
        with open(tmp_path / f"source{source}.jsonl", "w") as file:
            for row in range(12):
                after = " ".join(chosen.choice(["said", "crowd", "field", "war", "hope", "then"]) + str(chosen.randrange(90)) for _ in range(25))
                text = f"He began: {SPEECH}, {after}." if row < 10 else f"Quiz. {question} Write it down."
                file.write(json.dumps({"id": f"{source}-{row}", "text": text}) + "\n")
    (tmp_path / "items.jsonl").write_text(json.dumps({"id": "speech", "question": question}) + "\n")
    return tmp_path


def test_files_and_phrases_give_what_the_command_gives(spread):
    inputs = [f"source{source}.jsonl" for source in range(4)]
    report = simgpu.contain_files(
        [spread / name for name in inputs], spread / "ours", against=spread / "items.jsonl", action="mark", classes=["contaminated", "passage"]
    )
    run = [sys.executable, "-m", "simgpu", "contain", *inputs, "--against", "items.jsonl", "--quiet"]
    flags = ["-o", "theirs", "--action", "mark", "--classes", "contaminated,passage"]
    subprocess.run([*run, *flags], cwd=spread, check=True)
    names = ["hits.jsonl", "items.jsonl", "phrases.parquet", "report.json", "report.html", *(f"kept/{name}" for name in inputs)]
    for name in names:
        assert (spread / "ours" / name).read_bytes() == (spread / "theirs" / name).read_bytes(), name
    assert report["counts"]["documents"]["contaminated"] >= 8
    # The phrases of that run are given to the command, to files and to texts in memory.
    subprocess.run([*run, "--phrases", "theirs/phrases.parquet", "-o", "excused"], cwd=spread, check=True)
    lines = lines_of(spread / "excused/hits.jsonl")
    classes = {line["id"]: line["class"] for line in lines}
    assert [classes[f"{source}-10"] for source in range(4)] == ["contaminated"] * 4
    records = [json.loads(line) for name in inputs for line in (spread / name).read_text().splitlines()]
    contain = simgpu.Contain(spread / "items.jsonl", phrases=spread / "ours/phrases.parquet")
    (spread / "ours/phrases.parquet").unlink()
    for each in (contain, pickle.loads(pickle.dumps(contain))):
        found = each.scan([record["text"] for record in records], id=[record["id"] for record in records])
        assert {hit["id"]: hit["class"] for hit in found} == classes
        for hit, line in zip(found, lines, strict=True):
            assert evidence(hit) == evidence(line)
            assert [hit[name] for name in ("content", "own", "lacks")] == [line[name] for name in ("content", "own", "lacks")]


def test_phrases_are_ignored(spread):
    (spread / "ignore.txt").write_text(f"# of a speech\n{SPEECH}\n")
    records = [json.loads(line) for line in (spread / "source0.jsonl").read_text().splitlines()]
    texts = [record["text"] for record in records]
    assert len(simgpu.Contain(spread / "items.jsonl").scan(texts)) == 12
    for ignore in ([SPEECH], (SPEECH for _ in range(1)), spread / "ignore.txt", str(spread / "ignore.txt")):
        contain = simgpu.Contain(spread / "items.jsonl", ignore=ignore)
        assert contain.scan(texts)["row"].tolist() == pickle.loads(pickle.dumps(contain)).scan(texts)["row"].tolist() == [10, 11]
    with pytest.raises(simgpu.ParameterError, match="at least 5 words"):
        simgpu.Contain(spread / "items.jsonl", ignore=["two words"])
    simgpu.contain_files(spread / "source0.jsonl", spread / "out", against=spread / "items.jsonl", ignore=spread / "ignore.txt")
    assert [line["id"] for line in lines_of(spread / "out/hits.jsonl")] == ["0-10", "0-11"]
