#!/usr/bin/env python3
"""Measures simgpu beside its peers: the same documents, one pinned thread, the same run.

    python3 benches/peers/run.py [--only NAME]... [--quick] [--results DIR]

It makes a virtual environment with the versions of requirements.txt, builds simgpu's part of the
measurement, and writes a folder of results. README.md says how to read it.
"""

import sys

sys.dont_write_bytecode = True  # no leftovers among the sources

import argparse
import importlib
import json
import os
import pathlib
import subprocess
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOLS = ["simgpu", "rensa", "FastSketchLSH", "datasketch", "numpy", "stringzillas"]
PACKAGES = {"stringzillas": ["stringzilla", "stringzillas-cpus"]}

SIZES = [30, 100, 300, 1000, 5000, 50000]
WIDTHS = [64, 128, 256, 1024]
ERROR_SIZES = [30, 100, 300, 1000, 5000]
ERROR_WIDTH = 128
SCHEMES = ["fast", "rensa", "affine32", "mersenne61"]

# Bounds of what one pass signs: hashes, and bytes of signatures (of 64-bit slots), so that a tool's
# memory is that of its last pass, and not new from the system each time.
MAX_SHINGLES = 2_000_000
MAX_SLOT_BYTES = 16 << 20


def main():
    arguments = parse()
    if arguments.prepared is None:
        prepare(arguments)
    else:
        measure(arguments, json.loads(arguments.prepared))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=TOOLS, help="only this tool; may be repeated")
    parser.add_argument("--quick", action="store_true", help="one size, to see that all of it works")
    parser.add_argument("--sizes", type=numbers, default=None, help="shingles of a document, with commas between")
    parser.add_argument("--num-perms", type=numbers, default=None, help="slots of a signature, likewise")
    parser.add_argument("--repeats", type=int, default=None, help="measurements of each tool in a cell [7]")
    parser.add_argument("--seconds", type=float, default=None, help="about how long one of them takes [0.15]")
    parser.add_argument("--core", type=int, default=None, help="the core to run on [the last one]")
    parser.add_argument("--isa", help="instructions that simgpu is to use")
    parser.add_argument("--runner", help="simgpu's part, already built")
    parser.add_argument("--venv", default=str(ROOT / "target" / "peers-venv"), help="folder for the environment")
    parser.add_argument("--results", help="folder for the results [results/<date>-<machine>-peers]")
    parser.add_argument("--prepared", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    quick = arguments.quick
    arguments.sizes = arguments.sizes or ([300] if quick else SIZES)
    arguments.num_perms = arguments.num_perms or ([128] if quick else WIDTHS)
    arguments.repeats = arguments.repeats or (3 if quick else 7)
    arguments.seconds = arguments.seconds or (0.05 if quick else 0.15)
    return arguments


def numbers(text):
    return [int(number) for number in text.split(",")]


# Preparation, by whatever Python starts this.


def prepare(arguments):
    """Installs and builds what is measured and goes on in the virtual environment."""
    wanted = arguments.only or TOOLS
    python = pathlib.Path(arguments.venv) / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        print(f"making {arguments.venv}")
        venv.create(arguments.venv, with_pip=True)
    absent = {}
    for tool in ["numpy", *(tool for tool in wanted if tool not in ("numpy", "simgpu"))]:
        why = install(python, tool)
        if why and tool == "numpy":
            raise SystemExit(f"numpy {why}; without it nothing is measured")
        if why:
            print(f"{tool} {why}")
            absent[tool] = why
    runner = None
    if "simgpu" in wanted:
        runner = arguments.runner or build()
    prepared = json.dumps({"wanted": wanted, "absent": absent, "runner": runner and os.path.abspath(runner)})
    one = {name: "1" for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [str(python), str(HERE / "run.py"), *sys.argv[1:], "--prepared", prepared]
    raise SystemExit(subprocess.run(command, env={**os.environ, **one}).returncode)


def install(python, tool):
    """Installs a tool in its pinned version; says why not, if it cannot be used here."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    packages = pinned(PACKAGES.get(tool, [tool]))
    ran = subprocess.run([*pip, "--constraint", str(HERE / "requirements.txt"), *packages], capture_output=True, text=True)
    if ran.returncode != 0:
        errors = [line for line in ran.stderr.splitlines() if line.startswith("ERROR: ")]
        why = errors[0].removeprefix("ERROR: ").split(" (from ")[0] if errors else "pip failed"
        return f"cannot be installed: {why}"
    # In a process of its own: a library for another CPU may kill it.
    ran = subprocess.run([str(python), "-c", f"import {tool}"], capture_output=True, text=True)
    if ran.returncode != 0:
        return "cannot be imported: " + (ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"])[-1]
    return None


def pinned(packages):
    lines = (HERE / "requirements.txt").read_text().splitlines()
    versions = dict(line.split("==") for line in lines if "==" in line)
    return [f"{package}=={versions[package]}" for package in packages]


def build():
    """Builds simgpu's part and returns its path."""
    command = ["cargo", "bench", "--bench", "peers", "--no-run", "--message-format=json"]
    print(" ".join(command))
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        raise SystemExit("simgpu's part cannot be built; see above, or leave it out with --only")
    for line in ran.stdout.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("executable") and message["target"]["name"] == "peers":
            return message["executable"]
    raise SystemExit("cargo built no program named peers")


# Measurement, in the virtual environment.


def measure(arguments, prepared):
    import results
    import tools

    core = pin(arguments.core)
    usable = [tool for tool in prepared["wanted"] if tool not in prepared["absent"]]
    peers = [peer for peer in tools.PEERS if peer.module in usable]
    schemes = []
    if prepared["runner"]:
        schemes = [tools.Simgpu(prepared["runner"], scheme, arguments.isa) for scheme in SCHEMES]
    versions = {peer.package: peer.version() for peer in peers}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        backend = backend_of(schemes, folder)
        environment = results.environment(core, backend, {**versions, **prepared["absent"]})
        taken = results.Results(arguments.results, environment, peers, schemes)
        taken.absent.update(prepared["absent"])
        bench = Bench(arguments, peers, schemes, taken, folder)
        bench.speeds()
        bench.errors()
    print(f"\n{taken.summary()}\nwritten to {taken.folder}")


def backend_of(schemes, folder):
    """How simgpu signs here; tried with no document, so that what cannot run is known at once."""
    import documents
    import tools

    if not schemes:
        return None
    documents.of_size(1, 0).write(folder / "none")
    known = []
    for scheme in schemes:
        try:
            known.append(scheme.run(folder / "none", 0, 1)["backend"])
        except tools.Refused as refused:
            print(f"{scheme.name}: {refused}")
    if not known:
        raise SystemExit("simgpu signs with none of the schemes")
    return ", ".join(dict.fromkeys(known))


def pin(core):
    """Pins this process, and those that it starts, to one core, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0)) if core is None else core
    os.sched_setaffinity(0, {core})
    return core


class Bench:
    """All cells, of which each is measured by all tools in turn."""

    def __init__(self, arguments, peers, schemes, results, folder):
        self.documents_module = importlib.import_module("documents")
        self.tools = importlib.import_module("tools")
        self.results_module = importlib.import_module("results")
        self.arguments, self.peers, self.schemes = arguments, peers, schemes
        self.results, self.folder = results, folder

    def speeds(self):
        for shingles in self.arguments.sizes:
            documents = self.documents_module.of_size(shingles, max(1, MAX_SHINGLES // shingles))
            file = self.folder / "hashes"
            documents.write(file)
            for num_perm in self.arguments.num_perms:
                self.cell(shingles, num_perm, documents, file)
                self.compare(num_perm, documents, file, max(1, 20_000 // shingles))
                self.results.write()

    def cell(self, shingles, num_perm, documents, file):
        """Measures all tools with documents of one size and signatures of one length."""
        most = max(1, min(len(documents), MAX_SLOT_BYTES // (8 * num_perm)))
        turns = []
        for tool in self.in_turn():
            passes = self.passes_of(tool, documents, file, num_perm)
            try:
                turns.append((tool.name, passes, *self.calibrate(passes, shingles, most)))
            except self.tools.Refused as refused:
                self.results.absent[tool.name] = str(refused)
        for repeat in range(self.arguments.repeats):
            # Another one begins each time.
            begin = repeat % max(1, len(turns))
            for name, passes, count, times in turns[begin:] + turns[:begin]:
                elapsed_s = sum(passes(count, times))
                speed = count * times / elapsed_s
                run = (name, shingles, num_perm, count, times, repeat + 1, f"{elapsed_s:.6f}", speed)
                self.results.runs.append(self.results_module.Run(*run))
        print(f"{shingles} shingles, K = {num_perm}: {len(turns)} tools", flush=True)

    def in_turn(self):
        return [*self.schemes, *(peer for peer in self.peers if peer.is_timed)]

    def passes_of(self, tool, documents, file, num_perm):
        """A function: documents, passes -> seconds of each pass."""
        if isinstance(tool, self.tools.Simgpu):
            return lambda count, times: tool.passes(file, count, num_perm, times)

        def passes(count, times):
            prefix = documents.prefix(count)
            return tool.passes(prefix.texts if tool.from_text else prefix, num_perm, times)

        return passes

    def calibrate(self, passes, shingles, most):
        """How many documents, and how often, make a measurement of the length asked for."""
        target_s = self.arguments.seconds
        count = max(1, min(most, 3000 // shingles))
        for _ in range(2):
            elapsed_s = min(passes(count, 1))
            count = max(1, min(most, int(count * target_s / elapsed_s)))
        elapsed_s = min(passes(count, 1))
        return count, max(1, round(target_s / elapsed_s))

    def compare(self, num_perm, documents, file, count):
        """Whether signatures are those of the scheme of simgpu that is said to be equal."""
        program = self.schemes[0].program if self.schemes else None
        for peer in self.peers:
            if not (peer.equals and program):
                continue
            scheme = self.tools.Simgpu(program, peer.equals, self.arguments.isa)
            try:
                ours = scheme.sha1(file, count, num_perm)
            except self.tools.Refused as refused:
                self.results.absent[f"whether {peer.name} equals {scheme.name}"] = str(refused)
                continue
            theirs = self.tools.sha1(peer.signed(documents.prefix(count), num_perm))
            compared = self.results.equal[peer.name, peer.equals]
            compared[0] += 1
            compared[1] += ours != theirs

    def errors(self):
        sizes = [300] if self.arguments.quick else ERROR_SIZES
        for shingles in sizes:
            count = 200 if self.arguments.quick else max(1, min(2000, MAX_SHINGLES // shingles))
            documents, similarity = self.documents_module.pairs(shingles, count)
            file = self.folder / "pairs"
            documents.write(file)
            for scheme in self.schemes:
                try:
                    signed = scheme.signed(file, 2 * count, ERROR_WIDTH, self.folder)
                except self.tools.Refused as refused:
                    self.results.absent[scheme.name] = str(refused)
                    continue
                self.error(scheme.name, shingles, signed, similarity)
            for peer in self.peers:
                if peer.from_text:
                    texts, exact = self.documents_module.text_pairs(shingles, count)
                    self.error(peer.name, shingles, peer.signed(texts, ERROR_WIDTH), exact)
                else:
                    self.error(peer.name, shingles, peer.signed(documents, ERROR_WIDTH), similarity)
            self.results.write()
            print(f"squared errors at {shingles} shingles", flush=True)

    def error(self, name, shingles, signed, similarity):
        """Notes how far estimates are from the exact similarity of rows 2i and 2i + 1."""
        import numpy as np

        estimates = (signed[::2] == signed[1::2]).mean(axis=1)
        errors = estimates - similarity
        ideal = np.mean(similarity * (1 - similarity)) / signed.shape[1]
        squares = errors**2
        ratio = float(squares.mean() / ideal)
        deviation = float(squares.std() / ideal / len(squares) ** 0.5)
        row = [float(np.mean(similarity)), float(errors.mean()), float(squares.mean()), ratio, deviation]
        row = [float(f"{value:.6g}") for value in row]
        self.results.errors.append(self.results_module.Error(name, shingles, signed.shape[1], len(squares), *row))


if __name__ == "__main__":
    main()
