"""The tables of a folder of results, with the columns of `simgpu bench`: one row type per table, one field per column.
`cli/bench/src/record.rs` describes the columns."""

import csv
import dataclasses
import json
import pathlib

# Suffix of `input`. It distinguishes runs measured in turn with other tools from runs of `simgpu bench`.
BESIDE = ", beside peers"


@dataclasses.dataclass(frozen=True)
class TimedRun:
    """A row of runs.csv."""

    tool: str
    stage: str
    backend: str
    hardware: str
    scheme: str
    num_perm: int
    input: str
    shingles: int
    documents: int
    threads: int
    updates: int
    text_bytes: int
    round: int
    passes: int
    elapsed_s: float
    reference_s: float | None = None
    ceiling_updates_per_s: float | None = None
    checksum: str = ""


@dataclasses.dataclass(frozen=True)
class ErrorCell:
    """A row of errors.csv."""

    tool: str
    backend: str
    hardware: str
    scheme: str
    has_independent_slots: bool
    is_mixed: bool
    slot_bits: int
    num_perm: int
    input: str
    varied: str
    set_size: int
    similarity: float
    trials: int
    bias: float
    bias_standard_error: float
    root_mean_square_error: float
    error_ratio: float | None
    error_ratio_low: float | None
    error_ratio_high: float | None
    coverage: float
    coverage_expected: float
    dispersion: float | None
    fit_p: float | None = None


@dataclasses.dataclass(frozen=True)
class CandidateCount:
    """A row of candidates.csv. Peers have none."""

    scheme: str
    num_perm: int
    bands: int
    rows: int
    similarity: float
    pairs: int
    candidates: int
    expected_share: float
    low_share: float
    high_share: float


@dataclasses.dataclass(frozen=True)
class PipelineResult:
    """A row of found.csv."""

    tool: str
    corpus: str
    scheme: str
    num_perm: int
    bands: int
    rows: int
    verification: str
    threshold: float
    seed: int
    documents: int
    true_pairs: int
    true_found: int
    false_found: int
    expected_recall: float
    kept: int | None
    kept_by_truth: int | None
    elapsed_s: float | None


@dataclasses.dataclass(frozen=True)
class Absence:
    """A row of absent.csv."""

    what: str
    why: str


TABLES = {
    TimedRun: "runs.csv",
    ErrorCell: "errors.csv",
    CandidateCount: "candidates.csv",
    PipelineResult: "found.csv",
    Absence: "absent.csv",
}


class ResultsFolder:
    """A folder of results, new or written by `simgpu bench`. Rows are written one by one, so that an interrupted run
    keeps them."""

    def __init__(self, path, environment):
        self.path = pathlib.Path(path)
        is_new = not (self.path / "environment.json").exists()
        if is_new:
            self.path.mkdir(parents=True, exist_ok=True)
        else:
            environment = {**json.loads((self.path / "environment.json").read_text()), "peers": environment["peers"]}
        for kind, name in TABLES.items():
            self.open_table(kind, self.path / name)
        # Whether the folder already has errors of simgpu.
        self.has_own_errors = any(row["tool"] == "simgpu" for row in self.rows(ErrorCell))
        if any(row["input"].endswith(BESIDE) for row in self.rows(TimedRun)):
            raise SystemExit(f"{self.path} already holds rows of peers; name another folder with --results")
        (self.path / "environment.json").write_text(json.dumps(environment, indent=2) + "\n")

    def open_table(self, kind, path):
        """Creates a table with its header, or checks the header of an existing one."""
        header = header_of(kind)
        if not path.exists():
            write_row(path, header)
            return
        with open(path, newline="") as file:
            found = next(csv.reader(file), None)
        if found != header:
            raise SystemExit(f"{path} has columns of another version; measure again with simgpu bench")

    def rows(self, kind):
        with open(self.path / TABLES[kind], newline="") as file:
            return list(csv.DictReader(file))

    def add(self, row):
        values = (getattr(row, name) for name in header_of(type(row)))
        write_row(self.path / TABLES[type(row)], [text(value) for value in values])

    def absent(self, what, why):
        print(f"{what}: {why}", flush=True)
        self.add(Absence(what, why))


def header_of(kind):
    return [field.name for field in dataclasses.fields(kind)]


def write_row(path, row):
    with open(path, "a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(row)


def text(value):
    """A value in the format that simgpu reads."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return repr(float(value))
        case _:
            return str(value)
