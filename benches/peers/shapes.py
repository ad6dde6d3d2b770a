#!/usr/bin/env python3
"""Compares whole runs of simgpu and of its peers on corpora in the shapes of the field.

    python3 benches/peers/shapes.py --texts FILE... [--fastdedup PROGRAM] [--duplodocus PROGRAM] [--results DIR]

Makes each corpus (generate_shapes.py), runs each tool on it, and compares what it keeps with an exact join. Adds rows to
shapes.csv in the folder of results, and writes shapes.md from all of them. Rows that are there are not measured again.
README.md describes the measurements.
"""

import sys

sys.dont_write_bytecode = True  # write no .pyc files next to the sources

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import run

# Documents per shape: those that all tools get, one after another, and those that simgpu alone gets.
SIZES = {
    "web": ([5_000, 50_000], [1_500_000]),
    "short": ([100_000, 1_000_000], [3_000_000, 10_000_000]),
    "code": ([2_500, 25_000], [500_000]),
    "baskets": ([100_000, 1_000_000], []),
}
TOOLS = ["simgpu", "simgpu (defaults)", "simgpu (256 MiB)", "fastdedup", "duplodocus", "rensa", "text-dedup", "datatrove"]
MORE_TOOLS = ["FastSketchLSH", "datasketch"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", action="append", default=[], help="JSON Lines with real texts, for web and short; may be repeated")
    parser.add_argument("--crates", default="~/.cargo/registry/src", help="folder of crates, for code")
    parser.add_argument("--shape", action="append", choices=SIZES, help="only this shape; may be repeated")
    parser.add_argument("--only", action="append", choices=TOOLS + MORE_TOOLS, help="only this tool; may be repeated")
    parser.add_argument("--documents", type=run.numbers, help="numbers of documents, separated by commas, in ascending order")
    parser.add_argument("--full", action="store_true", help="also the full sizes, with simgpu alone")
    parser.add_argument("--again", action="store_true", help="measure rows that are there once more, and replace them")
    parser.add_argument("--render", action="store_true", help="only write shapes.md again")
    parser.add_argument("--limit", type=float, default=60, help="longest run in seconds: a tool that would take longer is left out")
    judge = "most documents of which the kept ones are compared with an exact join"
    parser.add_argument("--judge", type=int, default=1_000_000, help=judge)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simgpu", help="program of simgpu [built here]")
    parser.add_argument("--fastdedup", help="program of https://github.com/wapplewhite4/fastdedup, in its checkout")
    parser.add_argument("--duplodocus", help="program of https://github.com/allenai/duplodocus, in its checkout")
    parser.add_argument("--venv", default=str(run.ROOT / "target" / "peers-venv"), help="folder of the virtual environment")
    parser.add_argument("--work", default=tempfile.gettempdir(), help="folder for corpora and outputs, in a folder of its own")
    parser.add_argument("--results", help="folder of results [results/<date>-<machine>-peers]")
    parser.add_argument("--prepared", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.shape = arguments.shape or list(SIZES)
    if not arguments.texts and not arguments.render and {"web", "short"} & set(arguments.shape):
        parser.error("name files of real texts with --texts; web and short are made of them")
    return arguments


def main():
    arguments = parse()
    if arguments.prepared is not None:
        import whole_runs

        whole_runs.measure(arguments, json.loads(arguments.prepared))
        return
    wanted = arguments.only or TOOLS
    # With datatrove come the libraries that split texts into the words of duplodocus.
    python, absent = run.installed(arguments.venv, dict.fromkeys(["datatrove", *wanted]))
    program = arguments.simgpu or ("" if arguments.render else run.build()["program"])
    prepared = {"wanted": wanted, "absent": absent, "program": program}
    command = [str(python), str(pathlib.Path(__file__).resolve()), *sys.argv[1:], "--prepared", json.dumps(prepared)]
    raise SystemExit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
