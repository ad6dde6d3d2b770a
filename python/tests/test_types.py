"""The type annotations: the stubs agree with the module, and two checkers accept a program that uses them."""

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import numpy as np
    import simgpu
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
    index = MinHashLSH(threshold=0.5, num_perm=64)
    index.insert("key", sketch)
    keys = index.query(sketch)
    liked: simgpu.RatingsFound = simgpu.neighbours({"user": [1], "item": [2], "rating": [5]}, top=3)
    similar: np.ndarray = liked["similarity"]
    people = {"name": ["Ann", "Bob"]}
    linked: simgpu.LinksFound = simgpu.link(people, people, fields="name", threshold=0.5)
    entities: simgpu.Table | None = linked.entities
    precision: float | None = linked.expected_precision
    counts: dict[str, int] = simgpu.recommend(([1], [2], [5]), users=1).counts
    try:
        simgpu.dedup_files(["in.jsonl"], "out")
    except (simgpu.InputError, OSError) as error:
        print(error)
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
    run("mypy", "--strict", program, cwd=tmp_path)


WRONG = {
    "keep": "last",
    "verify": "maybe",
    "cluster": "star",
    "backend": "tpu",
    "candidates": "all",
    "weights": "frequency",
    "shingling": "lines",
}


def test_mypy_knows_the_names_of_choices(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "wrong.py"
    lines = [f'simgpu.dedup(["a"], {name}="{value}")' for name, value in WRONG.items()]
    program.write_text("\n".join(["import simgpu", *lines]) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    for line, name in enumerate(WRONG, start=2):
        assert f'wrong.py:{line}: error: Argument "{name}"' in done.stdout, done.stdout


def test_stubs_agree_with_the_module(tmp_path):
    pytest.importorskip("mypy")
    run("mypy.stubtest", "simgpu._simgpu", cwd=tmp_path)


def test_pyright_accepts_a_program(program, tmp_path):
    pytest.importorskip("pyright")
    run("pyright", "--pythonpath", sys.executable, program, cwd=tmp_path)
