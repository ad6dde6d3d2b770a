"""The measurements of shapes.py, run in the virtual environment: corpora, runs, what they keep, and the table."""

import csv
import dataclasses
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Callable

import numpy as np

import dedup
import environment
import shapes
import whole_runs_page
import words_of_tools
from pipelines import BANDS, NUM_PERM, ROWS, SEED, THRESHOLD
from processes import Cost, bytes_in, judged, kept_in_order, measured
from tables import header_of, text, write_row

HERE = pathlib.Path(__file__).resolve().parent
# Words per shingle.
WORDS = {"web": 5, "short": 2, "code": 5, "baskets": 1}
# Copies whose similarity is computed again in Python.
CHECKED = 2_000
ID = re.compile(rb'"id": ?"(\d+)"')


@dataclasses.dataclass(frozen=True)
class WholeRun:
    """A row of shapes.csv."""

    shape: str
    documents: int
    input_bytes: int
    tool: str
    threads: int
    cpu_s: float | None = None
    elapsed_s: float | None = None
    # Of the system over a minute, when the run began.
    load: float | None = None
    peak_bytes: int | None = None
    temporary_bytes: int | None = None
    output_bytes: int | None = None
    kept: int | None = None
    # The kind of words that similar pairs are of (words_of_tools.py), and how many copies confirm them.
    truth: str = ""
    copies_checked: int | None = None
    true_pairs: int | None = None
    kept_by_truth: int | None = None
    pairs_left: int | None = None
    removed_alone: int | None = None
    removed_unlinked: int | None = None
    # Why there is no measurement; empty if there is one.
    why: str = ""


@dataclasses.dataclass(frozen=True)
class Corpus:
    """A generated corpus: a folder with a file per thread, and the same documents in one file."""

    shape: str
    documents: int
    folder: pathlib.Path
    # Baskets as texts of items; other shapes have texts anyway.
    texts: pathlib.Path

    @property
    def words(self):
        return WORDS[self.shape]

    @property
    def whole(self):
        path = self.texts.with_name("whole.jsonl")
        if not path.exists():
            with open(path, "wb") as output:
                for part in sorted(self.texts.glob("*.jsonl")):
                    with open(part, "rb") as source:
                        shutil.copyfileobj(source, output)
        return path


@dataclasses.dataclass(frozen=True)
class Tool:
    """A command that removes near-duplicates."""

    name: str
    # The name with a version.
    label: str
    # (corpus, output folder, threads) -> a command.
    command: Callable
    # How it splits texts into words, in words_of_tools.py.
    kind: str
    # Whether it reads baskets as texts.
    reads_texts: bool = True


def simgpu(program, *options):
    def command(corpus, output, threads):
        unit = ["--unit", "tokens"] if corpus.shape == "baskets" else []
        place = ["--output", output, "--temp-dir", output.with_name("temporary"), "--threads", threads, "--quiet"]
        return [program, "dedup", corpus.folder, *place, *unit, "--size", corpus.words, *options]

    return command


def fastdedup(program):
    def command(corpus, output, threads):
        output.mkdir()
        options = ["--threshold", THRESHOLD, "--field", "text", "--num-hashes", NUM_PERM, "--bands", BANDS]
        options += ["--rows-per-band", ROWS, "--word-shingles", "--shingle-size", corpus.words]
        return [program, "fuzzy-dedup", "--input", corpus.whole, "--output", output / "kept.jsonl", *options]

    return command


def duplodocus(program):
    def command(corpus, output, threads):
        storage = output.with_name("storage")
        storage.mkdir()
        options = ["--num-buckets", BANDS, "--bucket-size", ROWS, "--tokenizer", "uniseg", "--remove-duplicates", "true"]
        options += ["--ngram-size", words_of_tools.size_of("segments", corpus.words)]
        folders = ["--input-dir", corpus.texts, "--storage-dir", storage, "--output-dir", output]
        return [program, "--threads", threads, "minhash-memory", *folders, *options]

    return command


def of_python(name):
    def command(corpus, output, threads):
        if name == "text-dedup":
            return dedup.text_dedup(corpus.texts, output, threads, corpus.words, min_length=1)
        return dedup.pipeline(name, corpus.words)(corpus.texts, output, threads)

    return command


def tools(arguments, prepared):
    """The tools, and why others are absent."""
    found, absent = {}, {}
    own = {
        "simgpu": ["--bands", BANDS, "--rows", ROWS, "--seed", SEED],
        "simgpu (defaults)": [],
        "simgpu (256 MiB)": ["--bands", BANDS, "--rows", ROWS, "--seed", SEED, "--memory", "256MiB"],
    }
    for name, options in own.items():
        found[name] = Tool(name, name, simgpu(prepared["program"], *options), "words", False)
    for name, make, kind in (("fastdedup", fastdedup, "lowered"), ("duplodocus", duplodocus, "segments")):
        program = getattr(arguments, name)
        if program is None:
            absent |= {name: f"no program: build it, and name it with --{name}"} if name in prepared["wanted"] else {}
            continue
        program = pathlib.Path(program).resolve()
        commit = environment.output_of("git", "-C", str(program.parent), "rev-parse", "--short=7", "HEAD")
        found[name] = Tool(name, f"{name} {commit or ''}".strip(), make(program), kind)
    kinds = {"rensa": "split", "text-dedup": "pieces", "datatrove": "simplified", "FastSketchLSH": "split", "datasketch": "split"}
    for name, kind in kinds.items():
        if name in prepared["wanted"] and name in prepared["absent"]:
            absent[name] = prepared["absent"][name]
        elif name in prepared["wanted"]:
            found[name] = Tool(name, f"{name} {importlib.metadata.version(name)}", of_python(name), kind)
    return {name: found[name] for name in prepared["wanted"] if name in found}, absent


class Table:
    """shapes.csv in a folder of results. Rows are written one by one, so that an interrupted run goes on."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "shapes.csv"
        if not self.path.exists():
            write_row(self.path, header_of(WholeRun))
        with open(self.path, newline="") as file:
            self.rows = [parsed(row) for row in csv.DictReader(file)]

    def add(self, row):
        self.rows.append(row)
        write_row(self.path, [text(getattr(row, name)) for name in header_of(WholeRun)])
        print(whole_runs_page.line_of(row), flush=True)

    def of(self, shape, documents, *names):
        """Rows of a tool, by its name or label."""
        return [row for row in self.rows if (row.shape, row.documents) == (shape, documents) and row.tool in names]

    def remove(self, rows):
        self.rows = [row for row in self.rows if row not in rows]
        self.path.unlink()
        write_row(self.path, header_of(WholeRun))
        for row in self.rows:
            write_row(self.path, [text(getattr(row, name)) for name in header_of(WholeRun)])


def parsed(row):
    """A row of the file with its types."""
    types = {field.name: str(field.type) for field in dataclasses.fields(WholeRun)}

    def value(name, written):
        if types[name].startswith("<class 'str") or types[name] == "str":
            return written
        if written == "":
            return None
        return float(written) if "float" in types[name] else int(written)

    return WholeRun(**{name: value(name, written) for name, written in row.items()})


def measure(arguments, prepared):
    chosen, absent = tools(arguments, prepared)
    calls = [{"tool": tool.label, "stage": "whole runs"} for tool in chosen.values()]
    machine = environment.environment(None, calls)
    folder = pathlib.Path(arguments.results or environment.ROOT / "results" / environment.folder_name(machine))
    folder.mkdir(parents=True, exist_ok=True)
    # Rows that are added later are of the same machine.
    described = folder / "environment.json"
    if described.exists():
        machine = json.loads(described.read_text())
    described.write_text(json.dumps(machine, indent=2) + "\n")
    table = Table(folder)
    work = pathlib.Path(tempfile.mkdtemp(prefix="simgpu-shapes-", dir=arguments.work)).resolve()
    bench = Bench(arguments, prepared["program"], chosen, absent, table, work)
    try:
        for shape in [] if arguments.render else arguments.shape:
            bench.shape(shape)
    finally:
        # An interrupted run has a page, too.
        shutil.rmtree(work, ignore_errors=True)
        whole_runs_page.write(table.rows, machine, folder)
    print(f"written to {folder}")


class Bench:
    """All runs, one after another."""

    def __init__(self, arguments, program, chosen, absent, table, work):
        self.arguments, self.program, self.table, self.work = arguments, program, table, work
        self.tools, self.absent = chosen, absent

    def shape(self, shape):
        sizes, full = shapes.SIZES[shape]
        if self.arguments.documents:
            sizes, full = self.arguments.documents, []
        for documents in sizes:
            self.size(shape, documents, self.tools)
        own = {name: tool for name, tool in self.tools.items() if name.startswith("simgpu")}
        for documents in full if self.arguments.full else []:
            self.size(shape, documents, own)

    def size(self, shape, documents, chosen):
        """Runs the tools that have no measurement yet on documents of a shape."""
        wanted = []
        for tool in chosen.values():
            rows = self.table.of(shape, documents, tool.name, tool.label)
            is_measured = any(not row.why for row in rows) and not self.arguments.again
            if not is_measured and not (rows and self.too_long(tool, shape, documents)):
                wanted.append(tool)
                self.table.remove(rows)
        if not wanted:
            return
        corpus = self.generated(shape, documents)
        truths = {}
        for tool in wanted:
            self.run(tool, corpus, truths)
        shutil.rmtree(self.work)
        for name, why in self.absent.items():
            if chosen is self.tools and not self.table.of(shape, documents, name):
                self.table.add(WholeRun(shape, documents, 0, name, self.arguments.threads, why=why))

    def generated(self, shape, documents):
        print(f"making {documents:,} documents: {shape}", flush=True)
        own, as_text = self.work / "corpus", self.work / "texts"
        options = ["--documents", documents, "--files", self.arguments.threads, "--seed", self.arguments.seed]
        options += ["--crates", self.arguments.crates]
        for path in self.arguments.texts:
            options += ["--texts", path]
        self.work.mkdir(exist_ok=True)
        for output, more in [(own, [])] + ([(as_text, ["--as-text"])] if shape == "baskets" else []):
            command = [sys.executable, "-B", HERE / "generate_shapes.py", shape, output, *options, *more]
            subprocess.run([*map(str, command)], check=True)
        return Corpus(shape, documents, own, as_text if shape == "baskets" else own)

    def run(self, tool, corpus, truths):
        folder = corpus.texts if tool.reads_texts else corpus.folder
        base = {"shape": corpus.shape, "documents": corpus.documents, "input_bytes": bytes_in(folder)}
        base |= {"tool": tool.label, "threads": self.arguments.threads}
        why = self.too_long(tool, corpus.shape, corpus.documents)
        if why:
            self.table.add(WholeRun(**base, why=why))
            return
        place = self.work / "run"
        shutil.rmtree(place, ignore_errors=True)
        (place / "temporary").mkdir(parents=True)
        output = place / "output"
        command = tool.command(corpus, output, self.arguments.threads)
        load = os.getloadavg()[0]
        variables = dedup.variables(output, self.arguments.threads) | {"TMPDIR": str(place / "temporary")}
        cap_s = 3600 if tool.name.startswith("simgpu") else 2 * self.arguments.limit
        cost = measured(command, cap_s, place / "log", place, output, **variables)
        if cost.ended:
            why = f"{cost.ended}: {message(place / 'log').replace(str(self.work), '')}"
            self.table.add(WholeRun(**base, load=load, cpu_s=cost.cpu_s, elapsed_s=cost.elapsed_s, why=why))
        else:
            self.table.add(WholeRun(**base, load=load, **spent(cost, output), **self.judged(tool, corpus, output, truths)))
        shutil.rmtree(place, ignore_errors=True)

    def too_long(self, tool, shape, documents):
        """Why a tool is not run, by its largest run on fewer documents; empty if it is run."""
        rows = [row for row in self.table.rows if row.shape == shape and row.tool == tool.label and row.documents < documents]
        last = max(rows, key=lambda row: row.documents, default=None)
        if last is None or tool.name.startswith("simgpu"):
            return ""
        if last.why:
            return f"not run, since {last.documents:,} documents were not finished"
        expected_s = last.elapsed_s * documents / last.documents
        is_long = expected_s > self.arguments.limit
        return f"not run: about {expected_s:,.0f} s, by its run on {last.documents:,} documents" if is_long else ""

    def judged(self, tool, corpus, output, truths):
        """What a tool kept, and how that compares with all similar pairs."""
        kept = kept_ids(output)
        if corpus.documents > self.arguments.judge:
            return {"kept": len(kept)}
        kind = "items" if corpus.shape == "baskets" else tool.kind
        if kind not in truths:
            truths[kind] = self.truth(corpus, kind)
        pairs, copies = truths[kind]
        if pairs is None:
            return {"kept": len(kept)}
        verdict = judged(kept, pairs, corpus.documents)
        found = {"truth": kind, "copies_checked": copies, "true_pairs": len(pairs)}
        return found | dataclasses.asdict(verdict) | {"kept_by_truth": kept_in_order(pairs, corpus.documents)}

    def truth(self, corpus, kind):
        """All similar pairs, and how many copies confirm them; nothing if there are none to be had."""
        copies = None
        try:
            pairs = words_of_tools.similar_pairs(self.program, corpus.folder, kind, corpus.words, self.work / "truth")
            if kind in ("split", "items"):
                lines = list(dedup.kept_lines(corpus.texts))
                copies = words_of_tools.checked(pairs, lines, corpus.words, CHECKED)
        except dedup.Failed as failed:
            print(f"exact join of {kind}: {failed}", flush=True)
            return None, None
        return pairs, copies


def spent(cost: Cost, output):
    columns = {name: getattr(cost, name) for name in ("cpu_s", "elapsed_s", "peak_bytes", "temporary_bytes")}
    return columns | {"output_bytes": bytes_in(output)}


def message(log):
    """The first line that names an error, or the last one."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "panicked" in line]
    return [*errors, *lines[-1:], "no message"][0][:200].replace("|", " ")


def kept_ids(output):
    """Ids of the kept documents."""
    if (output / "state.json").exists():
        import datasets

        return np.array(datasets.load_from_disk(str(output))["id"], np.int64)
    return np.array([int(ID.search(line)[1]) for line in dedup.kept_lines(output)], np.int64)
