"""The type annotations: the stubs agree with the module, and two checkers accept a program that uses them."""

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import numpy as np
    import simgpu
    import simgpu.datasketch.lsh
    from simgpu.datasketch import MinHash, MinHashLSH

    signer = simgpu.Signer("affine32", num_perm=64, shingling=simgpu.Shingling("words", 3))
    signatures: simgpu.Signatures = signer.sign(["a rose is a rose"])
    slots: np.ndarray = signatures.slots
    estimate: float = signatures.estimate(0, 0)
    found: simgpu.Deduplicated = simgpu.dedup(["a", "b"], threshold=0.9)
    kept: np.ndarray = found.keep
    for row in found.removed:
        similarity: float = row["similarity"]
    first: simgpu.Table = found.removed[:1]
    of_frame = simgpu.dedup({"text": ["a"], "id": [1]}, "text", id="id", keep="longest", cluster="connected")
    of_signatures = simgpu.pairs(simgpu.Signatures.concat([signatures, signatures]), verify="signature")
    lefts: np.ndarray = of_signatures["left"]
    sketch: MinHash = MinHash(num_perm=64)
    sketch.update(b"a")
    index: MinHashLSH = MinHashLSH(threshold=0.5, num_perm=64)
    index.insert("key", sketch)
    keys: list[object] = index.query(sketch)
    other: simgpu.datasketch.lsh.MinHashLSH = MinHashLSH.from_datasketch(index)
    longest = simgpu.dedup([[17, 4], [17, 5]], shingling="tokens", keep="longest", cluster="connected")
    liked: simgpu.RatingsFound = simgpu.neighbours({"user": [1], "item": [2], "rating": [5]}, top=3)
    similar: np.ndarray = liked["similarity"]
    people = {"name": ["Ann", "Bob"]}
    linked: simgpu.LinksFound = simgpu.link(people, people, fields="name", threshold=0.5)
    entities: simgpu.Table | None = linked.entities
    precision: float | None = linked.expected_precision
    counts: dict[str, int] = simgpu.recommend(([1], [2], [5]), users=1).counts
    with simgpu.Index.create("seen", kind="exact", measure="contained", durability="sync") as seen:
        hits: list[simgpu.Hit] = seen.check_or_add("a rose", "r")
        share: float | None = hits[0].query_share
        known: bool = 3 in seen
        checked: simgpu.Checked = seen.check_or_add_many(["a"], id=["x"], on_known_id="skip")
        added: np.ndarray = checked.added
        table: simgpu.Table = seen.check_many({"t": ["a"]}, "t", limit=3)
    contain = simgpu.Contain([{"question": "Why?"}], phrases=None, size=4)
    items: simgpu.ItemsFound = contain.scan(["a"], id=[1], threads=2)
    try:
        simgpu.dedup_files(["in.jsonl"], "out")
    except (simgpu.InputError, OSError) as error:
        print(error)
"""


# Each line has an error that a checker must see.
WRONG = """
    import simgpu
    from simgpu.datasketch import MinHashLSH, MinHashLSHEnsemble, MinHashLSHForest

    MinHashLSH(threshold="high")
    MinHashLSH().unheard_of
    MinHashLSH().query()
    MinHashLSHForest(trees=4)
    MinHashLSHEnsemble(num_part="many")
    simgpu.dedup(["a"], keep="last")
    simgpu.dedup(["a"], verify="exactly")
    simgpu.dedup(["a"], cluster="greedily")
    simgpu.dedup(["a"], backend="cuda")
    simgpu.dedup(["a"], candidates="all")
    simgpu.dedup(["a"], weights="frequency")
    simgpu.dedup(["a"], shingling="lines")
    simgpu.pairs(["a"], identical="none")
    simgpu.link({"a": ["b"]}, {"a": ["b"]}, fields="a", score="words")
    simgpu.neighbours(([1], [2], [5]), by="rating")
    simgpu.Index("seen", durability="never")
    simgpu.Index.create("seen", kind="forest")
    simgpu.Index("seen").add("a", 1.5)
    simgpu.Index("seen").check_or_add_many(["a"], id=[1], on_known_id="replace")
    simgpu.Contain([], size="five")
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    return path


def run(*arguments, cwd):
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_accepts_a_program(program, tmp_path):
    pytest.importorskip("mypy")
    # Its arrays have no default for their type.
    pytest.importorskip("numpy", minversion="2.0")
    run("mypy", "--strict", program, cwd=tmp_path)


def test_mypy_sees_each_wrong_argument(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "wrong.py"
    path.write_text(textwrap.dedent(WRONG), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    seen = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    lines = path.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line and "import" not in line}
    assert seen == wrong, done.stdout


def test_stubs_agree_with_the_module(tmp_path):
    pytest.importorskip("mypy")
    run("mypy.stubtest", "simgpu._simgpu", cwd=tmp_path)


def test_stubs_name_what_the_package_exports():
    import ast
    import pathlib

    from simgpu import datasketch

    stub = pathlib.Path(datasketch.__file__).with_suffix(".pyi")
    names = set()
    for each in ast.parse(stub.read_text(encoding="utf-8")).body:
        match each:
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.ImportFrom(names=imported):
                names |= {alias.asname or alias.name for alias in imported}
    assert set(datasketch.__all__) <= names


def test_pyright_accepts_a_program(program, tmp_path):
    pytest.importorskip("pyright")
    run("pyright", "--pythonpath", sys.executable, program, cwd=tmp_path)
