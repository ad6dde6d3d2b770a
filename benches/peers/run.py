#!/usr/bin/env python3
"""Measures simgpu beside its peers: the same documents, the same run, in turn.

    python3 benches/peers/run.py [--only NAME]... [--quick] [--results DIR]

It makes a virtual environment with the versions of requirements.txt, builds simgpu, and adds rows to a folder of
results of `simgpu bench`, or to a new one. README.md says what is measured.
"""

import sys

sys.dont_write_bytecode = True  # no leftovers among the sources

import argparse
import json
import os
import pathlib
import subprocess
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# The name of each tool, which is that of its package, and the module that it is known by.
MODULES = {
    "rensa": "rensa",
    "FastSketchLSH": "FastSketchLSH",
    "datasketch": "datasketch",
    "numpy": "numpy",
    "stringzillas": "stringzillas",
    "text-dedup": "text_dedup.minhash",
    "datatrove": "datatrove.pipeline.dedup.minhash",
}
# What is installed for a tool, if not its package alone: what its paths that are measured ask for.
PACKAGES = {
    "stringzillas": ["stringzilla", "stringzillas-cpus"],
    "datatrove": ["datatrove", "spacy", "nltk", "tokenizers", "xxhash", "orjson", "regex"],
}
# What the measurement itself stands on.
BASE = ["numpy", "scipy", "zstandard"]

SIZES = [30, 100, 300, 1000, 5000, 50000]
WIDTHS = [128, 256, 1024]
PARTS = ["sign", "sign-texts", "errors", "dedup"]


def main():
    arguments = parse()
    if arguments.prepared is None:
        prepare(arguments)
    else:
        import measure

        measure.measure(arguments, json.loads(arguments.prepared))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tools = ["simgpu", *MODULES]
    parser.add_argument("--only", action="append", choices=tools, help="only this tool; may be repeated")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--quick", action="store_true", help="one cell of each part, to see that all of it works")
    parser.add_argument("--sizes", type=numbers, default=None, help="shingles of a hashed document, with commas between")
    parser.add_argument("--num-perms", type=numbers, default=None, help="slots of their signatures, likewise")
    parser.add_argument("--rounds", type=int, default=None, help="runs of each tool in a cell [5]")
    parser.add_argument("--seconds", type=float, default=None, help="about how long one of them takes [0.15]")
    parser.add_argument("--core", type=int, default=None, help="the core to sign on [the last one]")
    parser.add_argument("--threads", type=int, default=None, help="threads from files to files [all]")
    parser.add_argument("--isa", help="instructions that simgpu is to use")
    parser.add_argument("--venv", default=str(ROOT / "target" / "peers-venv"), help="folder for the environment")
    parser.add_argument("--results", help="folder of results [results/<date>-<machine>-peers]")
    parser.add_argument("--prepared", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    quick = arguments.quick
    arguments.part = arguments.part or PARTS
    arguments.sizes = arguments.sizes or ([300] if quick else SIZES)
    arguments.num_perms = arguments.num_perms or ([128] if quick else WIDTHS)
    arguments.rounds = arguments.rounds or (3 if quick else 5)
    arguments.seconds = arguments.seconds or (0.05 if quick else 0.15)
    return arguments


def numbers(text):
    return [int(number) for number in text.split(",")]


def prepare(arguments):
    """Installs and builds what is measured and goes on in the virtual environment."""
    wanted = arguments.only or ["simgpu", *MODULES]
    python = pathlib.Path(arguments.venv) / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        print(f"making {arguments.venv}", flush=True)
        venv.create(arguments.venv, with_pip=True)
    why = install(python, BASE)
    if why:
        raise SystemExit(f"{', '.join(BASE)}: {why}; without them nothing is measured")
    absent = {}
    for tool in wanted:
        if tool == "simgpu":
            continue
        why = install(python, PACKAGES.get(tool, [tool])) or imports(python, MODULES[tool])
        if why:
            print(f"{tool}: {why}", flush=True)
            absent[tool] = why
    # The program is built even if it is not wanted: it knows the exact answer.
    prepared = {"wanted": [tool for tool in wanted if tool not in absent], "absent": absent, **build()}
    one = {name: "1" for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [str(python), str(HERE / "run.py"), *sys.argv[1:], "--prepared", json.dumps(prepared)]
    raise SystemExit(subprocess.run(command, env={**os.environ, **one}).returncode)


def install(python, packages):
    """Installs packages in their pinned versions; says why not, if they cannot be."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    constraint = ["--constraint", str(HERE / "requirements.txt")]
    ran = subprocess.run([*pip, *constraint, *pinned(packages)], capture_output=True, text=True)
    if ran.returncode == 0:
        return None
    errors = [line for line in ran.stderr.splitlines() if line.startswith("ERROR: ")]
    why = errors[0].removeprefix("ERROR: ").split(" (from ")[0] if errors else "pip failed"
    return f"cannot be installed: {why}"


def imports(python, module):
    """Why a module cannot be imported, if it cannot. In a process of its own: a library for another CPU may kill
    it."""
    ran = subprocess.run([str(python), "-c", f"import {module}"], capture_output=True, text=True)
    if ran.returncode == 0:
        return None
    return "cannot be imported: " + (ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"])[-1]


def pinned(packages):
    lines = (HERE / "requirements.txt").read_text().splitlines()
    versions = dict(line.split("==") for line in lines if "==" in line)
    return [f"{package}=={versions[package]}" for package in packages]


def build():
    """Builds simgpu and its part in the comparison, and returns their paths."""
    command = ["cargo", "bench", "--bench", "peers", "--no-run", "--message-format=json"]
    print(" ".join(command), flush=True)
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        raise SystemExit("simgpu cannot be built; see above")
    built = {}
    for line in ran.stdout.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("executable"):
            built[message["target"]["name"]] = message["executable"]
    return {"runner": built["peers"], "program": built["simgpu"]}


if __name__ == "__main__":
    main()
