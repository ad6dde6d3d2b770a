"""A model of the way of texts through a GPU. scripts/gpu-model.sh says how it is called."""

import argparse
import csv
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import tables
from fit import fit
from measure import CORPORA, measure, read_runs
from model import on_machine

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results/gpu-model"
RUNS = RESULTS / "runs.csv"
KERNELS = ROOT / "results/gpu-isa/kernels.csv"
KERNEL = "affine32.u32.text"


@dataclass
class Kernel:
    """What a compiler made of a kernel, from results/gpu-isa: per update, and per staged quad."""

    instructions: float
    cycles: float | None
    staging: float


def kernel_of(name, target):
    with open(KERNELS, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["kernel"], row["target"]) == (name, target):
                if not row["staging"]:
                    raise SystemExit(f"{name} has no count of what staging takes; see {KERNELS}")
                cycles = float(row["cycles"]) if row["cycles"] else None
                return Kernel(float(row["instructions"]), cycles, float(row["staging"]))
    raise SystemExit(f"{KERNELS} has no kernel {name} for {target}")


def values(entries):
    """Rates without their sources."""
    return {name: entry[0] if isinstance(entry, list) else entry for name, entry in entries.items()}


@dataclass
class Inputs:
    """What the model is made from: runs on lavapipe, and rates with their sources."""

    runs: list
    sourced: dict

    @property
    def rates(self):
        return values(self.sourced["way"])

    @property
    def machines(self):
        return {name: values(entries) for name, entries in self.sourced["machines"].items()}

    @property
    def compression(self):
        return values(self.sourced["compression"])


def computed(inputs):
    """The tables by their headings."""
    machines = inputs.machines
    kernels = {name: kernel_of(KERNEL, machine["target"]) for name, machine in machines.items()}
    gpus = (inputs.runs, inputs.rates, machines, kernels, inputs.compression)
    return {
        "Expectations, modelled": tables.expectations(*gpus),
        "Stages, modelled": tables.seconds_of_stages(*gpus),
        "Fitted rates": tables.fitted_rates(inputs.runs),
        "Measured and predicted runs on lavapipe": tables.comparison(inputs.runs, inputs.rates),
        "Other choices of two corpora": tables.choices(inputs.runs, inputs.rates),
    }


def with_tables(page, found):
    """The page with the first table below each heading replaced."""
    for heading, lines in found.items():
        pattern = rf"(^## {re.escape(heading)}\n(?:(?!## |\|).*\n)*)(?:\|.*\n)+"
        new = "\n".join(lines)
        page, times = re.subn(pattern, lambda match: f"{match[1]}{new}\n", page, flags=re.M)
        if times != 1:
            raise SystemExit(f"{RESULTS}/README.md has no table under {heading!r}")
    return page


def with_expectation(page, inputs):
    """The README with the range of GB/s that an H100 is expected to do."""
    machine = inputs.machines["h100"]
    kernel = kernel_of(KERNEL, machine["target"])
    speeds = tables.speeds(inputs.runs, inputs.rates, machine, kernel, inputs.compression)
    # A line may end anywhere in between.
    pattern = r"(expects\s+)[\d.]+(\s+to\s+)[\d.]+(\s+GB/s)"
    new = rf"\g<1>{min(speeds):.1f}\g<2>{max(speeds):.1f}\g<3>"
    page, times = re.subn(pattern, new, page)
    if times != 1:
        raise SystemExit("README.md does not say once what a GPU is expected to do")
    return page


def compare_tables(inputs, accept):
    """Compares the pages with what follows from the rates, or writes them again."""
    results, readme = RESULTS / "README.md", ROOT / "README.md"
    pages = {path: path.read_text(encoding="utf-8") for path in (results, readme)}
    written = {
        results: with_tables(pages[results], computed(inputs)),
        readme: with_expectation(pages[readme], inputs),
    }
    different = [path for path in pages if pages[path] != written[path]]
    for path in different:
        if accept:
            path.write_text(written[path], encoding="utf-8", newline="\n")
        else:
            how = "run scripts/gpu-model.sh tables --accept"
            print(f"{path} differs from what the rates give; {how}", file=sys.stderr)
    return int(bool(different) and not accept)


def check(inputs):
    """Prints every run beside its prediction; fails if those not fitted are off by too much."""
    print("\n".join(tables.comparison(inputs.runs, inputs.rates)))
    cpu, elapsed = tables.largest_errors(inputs.runs, inputs.rates, tables.FITTED)
    of_elapsed = "unknown" if elapsed is None else tables.percent(elapsed)
    print("\nlargest errors of the corpora that were not fitted:", end=" ")
    print(f"processor time {tables.percent(cpu)}, elapsed time {of_elapsed}")
    return int(abs(cpu) > tables.TOLERANCE)


def predict(inputs, options):
    """Prints the stages of one machine and corpus, and the bottleneck."""
    machines = inputs.machines
    if options.machine not in machines:
        raise SystemExit(f"no machine {options.machine}; one of {', '.join(machines)}")
    machine, rates = machines[options.machine], inputs.rates
    for setting in options.set:
        name, _, value = setting.partition("=")
        group = machine if name in machine else rates
        if name not in group or isinstance(group[name], (str, bool)):
            raise SystemExit(f"no rate {name}; the rates are in {options.rates}")
        try:
            group[name] = float(value)
        except ValueError:
            raise SystemExit(f"{setting} has no number; write {name}=NUMBER") from None
    work = tables.work_of(inputs.runs, options.corpus, inputs.compression, options.num_perm)
    kernel = kernel_of(options.kernel, machine["target"])
    host, _ = fit(inputs.runs, tables.FITTED)
    found = on_machine(work, host, machine, kernel, rates)
    print(f"{machine['name']}, {options.corpus}, K = {options.num_perm}: modelled, not measured\n")
    print("\n".join(tables.stages(found, work)))
    speed = work.bytes / 1e9 / found.elapsed_s
    print(f"\n{speed:.1f} GB/s of JSON Lines, limited by {found.bottleneck}")


def options_of():
    parser = argparse.ArgumentParser(
        prog="scripts/gpu-model.sh", description="Models the way of texts through a GPU."
    )
    parser.add_argument("--rates", type=Path, default=RESULTS / "rates.toml")
    parser.add_argument("--runs", type=Path, default=RUNS, help="the measured runs on lavapipe")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fit")
    commands.add_parser("check")
    one = commands.add_parser("predict")
    one.add_argument("machine")
    one.add_argument("--corpus", choices=CORPORA, default="driver-docs")
    one.add_argument("--num-perm", type=int, default=128)
    one.add_argument("--kernel", default=KERNEL, help="a kernel of results/gpu-isa/kernels.csv")
    one.add_argument(
        "--set", action="append", default=[], metavar="RATE=VALUE", help="another rate"
    )
    commands.add_parser("tables").add_argument("--accept", action="store_true")
    runs = commands.add_parser("measure")
    runs.add_argument("--simgpu", required=True)
    runs.add_argument("--corpora", required=True, help="folder with the corpora, decompressed")
    runs.add_argument("--times", type=int, default=6)
    runs.add_argument(
        "--patience", type=float, default=2, help="seconds to wait for a quiet machine"
    )
    return parser.parse_args()


def main():
    options = options_of()
    if options.command == "measure":
        return measure(
            options.simgpu, options.corpora, options.times, options.patience, options.runs
        )
    sourced = tomllib.loads(options.rates.read_text(encoding="utf-8"))
    inputs = Inputs(read_runs(options.runs), sourced)
    match options.command:
        case "fit":
            print("\n".join(tables.fitted_rates(inputs.runs)))
        case "check":
            return check(inputs)
        case "predict":
            predict(inputs, options)
        case "tables":
            return compare_tables(inputs, options.accept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
