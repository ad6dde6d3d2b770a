#!/usr/bin/env python3
"""Compares simgpu with its peers: the same documents, in turn, in one run.

    python3 benches/peers/run.py [--only NAME]... [--quick] [--results DIR]

Creates a virtual environment with the versions of requirements.txt, builds simgpu, and adds rows to a folder of results
of `simgpu bench`, or to a new one. README.md describes the measurements.
"""

import sys

sys.dont_write_bytecode = True  # write no .pyc files next to the sources

import argparse
import json
import os
import pathlib
import subprocess
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Module of each tool, by the name of its package.
MODULES = {
    "rensa": "rensa",
    "FastSketchLSH": "FastSketchLSH",
    "datasketch": "datasketch",
    "numpy": "numpy",
    "stringzillas": "stringzillas",
    "text-dedup": "text_dedup.minhash",
    "datatrove": "datatrove.pipeline.dedup.minhash",
}
# Packages to install for a tool, if more than its own: what the measured calls need.
PACKAGES = {
    "stringzillas": ["stringzilla", "stringzillas-cpus"],
    "datatrove": ["datatrove", "spacy", "nltk", "tokenizers", "xxhash", "orjson", "regex"],
}
# Packages of the measurement itself.
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
    parser.add_argument("--only", action="append", choices=tools, help="measure only this tool; may be repeated")
    parser.add_argument("--part", action="append", choices=PARTS, help="measure only this part; may be repeated")
    parser.add_argument("--quick", action="store_true", help="measure one cell of each part, as a test")
    parser.add_argument("--sizes", type=numbers, default=None, help="shingles per hashed document, separated by commas")
    parser.add_argument("--num-perms", type=numbers, default=None, help="slots per signature of hashed documents, separated by commas")
    parser.add_argument("--rounds", type=int, default=None, help="runs per tool and cell [5]")
    parser.add_argument("--seconds", type=float, default=None, help="approximate length of a run [0.15]")
    parser.add_argument("--core", type=int, default=None, help="core to sign on [the last one]")
    parser.add_argument("--threads", type=int, default=None, help="threads for files to files [all]")
    parser.add_argument("--isa", help="instruction set of simgpu")
    parser.add_argument("--before", help="bench target `peers` of another build of simgpu, measured beside, as `simgpu before`")
    parser.add_argument("--venv", default=str(ROOT / "target" / "peers-venv"), help="folder of the virtual environment")
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
    """Installs and builds what is measured, and continues in the virtual environment."""
    wanted = arguments.only or ["simgpu", *MODULES]
    python, absent = installed(arguments.venv, wanted)
    # The program is always built, because it runs the exact search.
    prepared = {"wanted": [tool for tool in wanted if tool not in absent], "absent": absent, **build()}
    one = {name: "1" for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [str(python), str(HERE / "run.py"), *sys.argv[1:], "--prepared", json.dumps(prepared)]
    raise SystemExit(subprocess.run(command, env={**os.environ, **one}).returncode)


def installed(folder, wanted):
    """The Python of a virtual environment with these tools, and why some of them are absent."""
    python = pathlib.Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        print(f"creating {folder}", flush=True)
        venv.create(folder, with_pip=True)
    why = install(python, BASE)
    if why:
        raise SystemExit(f"{', '.join(BASE)}: {why}; the measurement needs them")
    absent = {}
    for tool in wanted:
        if tool not in MODULES:
            continue
        why = install(python, PACKAGES.get(tool, [tool])) or imports(python, MODULES[tool])
        if why:
            print(f"{tool}: {why}", flush=True)
            absent[tool] = why
    return python, absent


def install(python, packages):
    """Installs packages in their pinned versions; returns the reason if that fails."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    constraint = ["--constraint", str(HERE / "requirements.txt")]
    ran = subprocess.run([*pip, *constraint, *pinned(packages)], capture_output=True, text=True)
    if ran.returncode == 0:
        return None
    errors = [line for line in ran.stderr.splitlines() if line.startswith("ERROR: ")]
    why = errors[0].removeprefix("ERROR: ").split(" (from ")[0] if errors else "pip failed"
    return f"cannot be installed: {why}"


def imports(python, module):
    """Returns why a module cannot be imported, or None. Uses a separate process, which a library for another CPU may
    kill."""
    ran = subprocess.run([str(python), "-c", f"import {module}"], capture_output=True, text=True)
    if ran.returncode == 0:
        return None
    return "cannot be imported: " + (ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"])[-1]


def pinned(packages):
    lines = (HERE / "requirements.txt").read_text().splitlines()
    versions = dict(line.split("==") for line in lines if "==" in line)
    return [f"{package}=={versions[package]}" for package in packages]


def build():
    """Builds simgpu and the bench target `peers` (cli/benches/peers.rs), and returns their paths."""
    command = ["cargo", "bench", "--bench", "peers", "--no-run", "--message-format=json"]
    print(" ".join(command), flush=True)
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        raise SystemExit("cannot build simgpu; see above")
    built = {}
    for line in ran.stdout.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("executable"):
            built[message["target"]["name"]] = message["executable"]
    return {"runner": built["peers"], "program": built["simgpu"]}


if __name__ == "__main__":
    main()
