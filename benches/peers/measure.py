"""All measurements, run in the virtual environment."""

import dataclasses
import os
import pathlib
import subprocess
import tempfile
from typing import Callable

import dedup
import documents
import environment
import errors
import texts
import tools
from shingling import WORDS
from tables import BESIDE, PipelineResult, ResultsFolder, TimedRun

# Schemes of simgpu to compare with peers, from hashes and from texts.
SCHEMES = ["affine32", "datasketch-legacy", "datatrove", "fast", "rensa"]
TEXT_SCHEMES = ["affine32", "text-dedup", "datatrove", "fast", "rensa"]
CORPUS = environment.ROOT / "examples" / "driver-docs.jsonl.zst"

# Bounds of one pass: hashes, and bytes of signatures (of 64-bit slots), so that allocators reuse the memory of the
# previous pass.
MAX_SHINGLES = 2_000_000
MAX_SLOT_BYTES = 16 << 20
# Shingles of the documents whose signatures are compared, few enough for every tool.
COMPARED_SHINGLES = 20_000

ERROR_SIZES = [32, 128, 1000, 10000]
ERROR_WIDTH = 128
# Shingles in all pairs of one size: hashed, and as texts, which are slow to split.
ERROR_SHINGLES = 2_000_000
ERROR_TEXT_SHINGLES = 250_000
# Every TEXT_STEP-th document is signed from its text.
TEXT_STEP = 16
TEXT_WIDTH = 128


def measure(arguments, prepared):
    everywhere = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    core = pin(arguments.core)
    bench = Bench(arguments, prepared, core)
    parts = {"sign": bench.sign, "sign-texts": bench.sign_texts, "errors": bench.errors, "dedup": bench.dedup}
    try:
        for part, run in parts.items():
            if part == "dedup" and everywhere:
                os.sched_setaffinity(0, everywhere)
            if part in arguments.part:
                run()
    finally:
        render(prepared["program"], bench.folder.path)
        print(f"written to {bench.folder.path}")


def pin(core):
    """Pins this process and its children to one core, if the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0)) if core is None else core
    os.sched_setaffinity(0, {core})
    return core


def render(program, folder):
    """Renders summary and report from the tables."""
    ran = subprocess.run([program, "bench", "--help"], capture_output=True, text=True)
    if ran.returncode == 0 and "render" in ran.stdout:
        subprocess.run([program, "bench", "render", str(folder)])


@dataclasses.dataclass
class Case:
    """What all runs of one tool in one cell have in common."""

    # Columns of runs.csv.
    columns: dict
    # (documents, passes) -> seconds of each pass
    passes: Callable
    # Documents per pass, and passes per run; 0 before calibration.
    documents: int = 0
    times: int = 0

    def calibrate(self, first, most, target_s):
        """Sets documents and passes for a run of `target_s`, starting from `first` documents, at most `most`."""
        self.documents = max(1, min(first, most))
        for is_last in (False, False, True):
            elapsed_s = min(self.passes(self.documents, 1))
            count = max(1, min(most, int(self.documents * target_s / elapsed_s)))
            if is_last or first >= most or count == self.documents:
                break
            self.documents = count
        self.times = max(1, round(target_s / elapsed_s))


class Bench:
    """All cells; the tools of a cell take turns."""

    def __init__(self, arguments, prepared, core):
        self.arguments, self.prepared = arguments, prepared
        wanted = prepared["wanted"]
        self.is_own_wanted = "simgpu" in wanted
        self.peers, self.word_peers, self.byte_peers = (
            [peer for peer in peers if peer.tool in wanted]
            for peers in (tools.HASHED, texts.WORDS_OF, texts.BYTES_OF)
        )
        names = {peer.tool: peer.name for peer in self.word_peers}
        self.pipelines = dedup.of_peers(names)
        machine = environment.environment(core, self.calls())
        folder = arguments.results or environment.ROOT / "results" / environment.folder_name(machine)
        self.folder = ResultsFolder(folder, machine)
        for tool, why in prepared["absent"].items():
            self.folder.absent(tool, why)
        self.hardware = ""

    def calls(self):
        """The calls of all peers, for readers of the results."""
        stages = {
            "sign": self.peers,
            "sign-texts": [*self.word_peers, *self.byte_peers],
            "dedup": self.pipelines,
        }
        return [
            {"tool": peer.name, "stage": stage, "scheme": peer.scheme, "api": peer.api}
            for stage, peers in stages.items()
            for peer in peers
        ]

    # Signing.

    def sign(self):
        """Signing from hashes."""
        for shingles in self.arguments.sizes:
            hashed = documents.of_size(shingles, max(1, MAX_SHINGLES // shingles))
            with tempfile.TemporaryDirectory() as scratch:
                file = pathlib.Path(scratch) / "hashes"
                hashed.write(file)
                for num_perm in self.arguments.num_perms:
                    self.sign_cell(shingles, num_perm, hashed, file)

    def sign_cell(self, shingles, num_perm, hashed, file):
        most = max(1, min(len(hashed), MAX_SLOT_BYTES // (8 * num_perm)))
        compared = hashed.prefix(max(1, min(most, COMPARED_SHINGLES // shingles)))
        columns = {"stage": "sign", "input": f"random hashes{BESIDE}", "shingles": shingles, "num_perm": num_perm}
        cases = []
        for tool in self.own(SCHEMES):
            signed = self.own_signed(tool, file, len(compared), num_perm)
            if signed:
                row = self.columns(tool, columns, signed["sha1"])
                cases.append(Case(row, own_passes(tool, file, num_perm)))
        for peer in self.peers:
            signed = self.signed(peer, compared, num_perm) if peer.is_timed else None
            if signed is not None:
                row = self.columns(peer, columns, self.checksum(peer, signed, columns, cases))
                cases.append(Case(row, peer_passes(peer, hashed.prefix, num_perm)))
        for case in cases:
            case.calibrate(3000 // shingles, most, self.arguments.seconds)
            computes_each = case.columns["scheme"] not in ("fast", "rensa")
            case.columns["updates"] = case.documents * shingles * num_perm if computes_each else 0
        self.take_turns(cases, f"signed: {shingles} shingles, K = {num_perm}")

    def sign_texts(self):
        """Signing from texts: shingles of words, and windows of bytes."""
        corpus = documents.Corpus.read(CORPUS).every(TEXT_STEP * (4 if self.arguments.quick else 1))
        with tempfile.TemporaryDirectory() as scratch:
            file = pathlib.Path(scratch) / "texts.jsonl"
            corpus.write(file)
            words = f"words {WORDS} of {corpus.name}{BESIDE}"
            own = self.own(TEXT_SCHEMES, ("--texts",))
            self.texts_cell(words, own, self.word_peers, corpus, file)
            windows = f"bytes {documents.WINDOW_BYTES} of {corpus.name}{BESIDE}"
            own = self.own(["affine32"], ("--texts", "--unit", "bytes"))
            self.texts_cell(windows, own, self.byte_peers, corpus, file)

    def texts_cell(self, what, own, peers, corpus, file):
        columns = {"stage": "sign-texts", "input": what, "shingles": 0, "num_perm": TEXT_WIDTH}
        columns["text_bytes"] = corpus.text_bytes
        cases = []
        for tool in own:
            signed = self.own_signed(tool, file, len(corpus), TEXT_WIDTH)
            if signed:
                # Shingles of the first scheme, which has the default unit of simgpu.
                columns["shingles"] = columns["shingles"] or round(signed["shingles"] / len(corpus))
                row = self.columns(tool, columns, signed["sha1"])
                cases.append(Case(row, own_passes(tool, file, TEXT_WIDTH)))
        for peer in peers:
            signed = self.signed(peer, corpus.texts, TEXT_WIDTH)
            if signed is not None:
                row = self.columns(peer, columns, self.checksum(peer, signed, columns, cases))
                cases.append(Case(row, peer_passes(peer, lambda count: corpus.texts, TEXT_WIDTH)))
        for case in cases:
            case.calibrate(len(corpus), len(corpus), self.arguments.seconds)
        self.take_turns(cases, f"signed: {what}")

    def own(self, schemes, options=()):
        """simgpu with each of `schemes`, unless it is excluded, and the build of before, if there is one."""
        if not self.is_own_wanted:
            return []
        builds = {"simgpu": self.prepared["runner"], "simgpu before": self.arguments.before}
        return [
            tools.Simgpu(runner, scheme, self.arguments.isa, options, name)
            for name, runner in builds.items()
            for scheme in schemes
            if runner
        ]

    def own_signed(self, tool, file, count, num_perm):
        """Output of simgpu for its signatures; None if it fails, which is noted."""
        try:
            signed = tool.run(file, count, num_perm, "--repeats", "0")
        except tools.Refused as refused:
            self.folder.absent(f"simgpu {tool.scheme}, K = {num_perm}", str(refused))
            return None
        self.hardware = signed["isa"]
        return signed

    def columns(self, tool, columns, checksum=""):
        is_own = isinstance(tool, tools.Simgpu)
        place = {"backend": "simd", "hardware": self.hardware} if is_own else {"backend": "", "hardware": ""}
        base = {"threads": 1, "updates": 0, "text_bytes": 0}
        return {**base, **columns, **place, "tool": tool.name, "scheme": tool.scheme, "checksum": checksum}

    def signed(self, peer, documents, num_perm):
        """Signatures of a peer; None if it fails, which is noted."""
        try:
            return peer.signed(documents, num_perm)
        except Exception as error:
            self.folder.absent(f"{peer.name}, {peer.scheme}, K = {num_perm}", f"fails: {error!r}")
            return None

    def checksum(self, peer, signed, columns, cases):
        """Checksum of signatures that should equal those of simgpu; differences are noted."""
        if not peer.is_equal:
            return ""
        checksum = tools.sha1(signed)
        for case in cases:
            own = case.columns
            if own["tool"] == "simgpu" and own["scheme"] == peer.scheme and own["checksum"] != checksum:
                self.folder.absent(
                    f"equality of {peer.name} and simgpu, {peer.scheme}, {columns['input']}",
                    f"signatures differ at {columns['shingles']} shingles, K = {columns['num_perm']}: "
                    "do not compare their speeds before you know why",
                )
        return checksum

    def take_turns(self, cases, label):
        for turn in range(self.arguments.rounds):
            # Each round begins with another case.
            begin = turn % max(1, len(cases))
            for case in cases[begin:] + cases[:begin]:
                elapsed_s = sum(case.passes(case.documents, case.times))
                run = {"documents": case.documents, "round": turn + 1, "passes": case.times, "elapsed_s": elapsed_s}
                self.folder.add(TimedRun(**case.columns, **run))
        if cases:
            print(f"{label}: {len(cases)} cases", flush=True)

    # Errors.

    def errors(self):
        """Errors of estimates at a similarity of one half."""
        for size in [128] if self.arguments.quick else ERROR_SIZES:
            count = 200 if self.arguments.quick else min(2000, ERROR_SHINGLES // size)
            hashed, similarity = documents.pairs(size, count)
            with tempfile.TemporaryDirectory() as scratch:
                scratch = pathlib.Path(scratch)
                hashed.write(scratch / "pairs")
                # Errors measured by simgpu bench have more cells.
                for tool in [] if self.folder.has_own_errors else self.own(SCHEMES):
                    try:
                        signed = tool.signed(scratch / "pairs", 2 * count, ERROR_WIDTH, scratch)
                    except tools.Refused as refused:
                        self.folder.absent(f"errors of simgpu {tool.scheme}", str(refused))
                        continue
                    self.folder.add(errors.cell(tool, signed, size, similarity))
            for peer in self.peers:
                self.error(peer, hashed, similarity, size)
            few = max(10, min(count, ERROR_TEXT_SHINGLES // size))
            known = [peer.scheme for peer in self.peers]
            for peers, make in ((self.word_peers, documents.text_pairs), (self.byte_peers, documents.letter_pairs)):
                for peer in peers:
                    if peer.scheme not in known:
                        self.error(peer, *make(size, few), size)
            print(f"errors at {size} shingles", flush=True)

    def error(self, peer, pairs, similarity, size):
        signed = self.signed(peer, pairs, ERROR_WIDTH)
        if signed is not None:
            self.folder.add(errors.cell(peer, signed, size, similarity))

    # Files to files.

    def dedup(self):
        corpus = documents.Corpus.read(CORPUS)
        if self.arguments.quick:
            corpus = corpus.every(TEXT_STEP)
        threads = self.arguments.threads or os.cpu_count() or 1
        own = [dedup.simgpu(self.prepared["program"], self.arguments.isa)] if self.is_own_wanted else []
        pipelines = [*own, *self.pipelines]
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            corpus.write_files(scratch / "input", threads)
            truth = self.truth(corpus, pipelines, scratch)
            for turn in range(1 if self.arguments.quick else 3):
                begin = turn % max(1, len(pipelines))
                for pipeline in pipelines[begin:] + pipelines[:begin]:
                    output = scratch / f"{pipeline.scheme}-of-{pipeline.tool}-{turn}"
                    self.dedup_once(pipeline, corpus, output, threads, turn, truth)

    def truth(self, corpus, pipelines, scratch):
        """Number of documents kept by exact search, for each way to split words."""
        kept = {None: None}
        for words in dict.fromkeys(pipeline.words for pipeline in pipelines if pipeline.words):
            try:
                kept[words] = dedup.kept_by_truth(self.prepared["program"], corpus, words, scratch)
            except dedup.Failed as failed:
                self.folder.absent(f"exact search in {corpus.name}, {words}", str(failed))
                kept[words] = None
        return kept

    def dedup_once(self, pipeline, corpus, output, threads, turn, truth):
        try:
            elapsed_s = pipeline.run(output.with_name("input"), output, threads)
            kept = dedup.kept(output)
        except dedup.Failed as failed:
            if turn == 0:
                self.folder.absent(f"{pipeline.name} from files to files", str(failed))
            return
        columns = {
            "stage": "dedup",
            "input": f"words {WORDS} of {corpus.name}{BESIDE}",
            "shingles": 0,
            "num_perm": dedup.NUM_PERM,
            "threads": threads,
            "text_bytes": corpus.input_bytes,
            "documents": len(corpus),
        }
        row = self.columns(pipeline, columns)
        self.folder.add(TimedRun(**row, round=turn + 1, passes=1, elapsed_s=elapsed_s))
        print(f"{pipeline.name}: {corpus.input_bytes / 1e6 / elapsed_s:.2f} MB/s, keeps {kept}", flush=True)
        if turn == 0:
            self.folder.add(
                PipelineResult(
                    tool=pipeline.name,
                    corpus=corpus.name,
                    scheme=pipeline.scheme,
                    num_perm=dedup.NUM_PERM,
                    bands=dedup.BANDS,
                    rows=dedup.ROWS,
                    verification=pipeline.verification,
                    threshold=dedup.THRESHOLD,
                    seed=pipeline.seed,
                    documents=len(corpus),
                    true_pairs=0,
                    true_found=0,
                    false_found=0,
                    expected_recall=0.0,
                    kept=kept,
                    kept_by_truth=truth[pipeline.words],
                    elapsed_s=None,
                )
            )


def own_passes(tool, file, num_perm):
    return lambda count, times: tool.passes(file, count, num_perm, times)


def peer_passes(peer, prefix, num_perm):
    return lambda count, times: peer.passes(prefix(count), num_perm, times)
