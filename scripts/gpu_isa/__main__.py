"""What real GPU compilers make of the kernels. scripts/gpu-isa.sh says how it is called."""

import argparse
import datetime
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fetch
import machine_code
import mesa
import programs
import table

RESULTS = programs.ROOT / "results/gpu-isa"
KERNELS = RESULTS / "kernels.csv"
COMPILERS = RESULTS / "compilers.csv"
ALL_TARGETS = [target for _, _, targets in fetch.SOURCES for target in targets]
# One chip of each driver that wgpu lists on its shim. It does not list NVK's.
DRIVER_TARGETS = ["vega20", "navi31", "gfx1201", "m1", "adreno730"]
FAILED, OTHER_COMPILER = 1, 3


def arguments():
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="scripts/gpu-isa.sh", description="What real GPU compilers make of the kernels.")
    parser.add_argument("--accept", action="store_true", help="write the table under results/gpu-isa again")
    parser.add_argument("--drivers", action="store_true", help="check instead that real drivers take every program")
    parser.add_argument("--targets", default=",".join(ALL_TARGETS), help="chips, with commas between")
    parser.add_argument("--only", default="", metavar="TEXT", help="kernels with this in their names")
    parser.add_argument("--cache", type=Path, default=programs.ROOT / "target/gpu-isa", help="where compilers are kept")
    parser.add_argument("--tool", type=Path, help="the example gpu_programs, if it is built already")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at a time")
    options = parser.parse_args()
    options.targets = options.targets.split(",")
    unknown = [target for target in options.targets if target not in ALL_TARGETS]
    if unknown:
        parser.error(f"no such targets: {', '.join(unknown)}; there are {', '.join(ALL_TARGETS)}")
    return options


def measure(compilers, program, target, work):
    """Compiles a program for a target, and counts: a row, or in words why there is none."""
    stem = work / f"{program.name}.{target}"
    # Whatever goes wrong in one row is said there, and must not end the table.
    try:
        blocks, numbers = compilers.module.compile_program(compilers, program, target, stem)
        counted = machine_code.count(blocks, program.slot_words, program.thread_permutations)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {essence(str(error))}"
    return table.Row(
        kernel=program.name,
        target=target,
        instructions=round(counted.instructions, 3),
        cycles=round(counted.cycles, 3) if counted.cycles else None,
        registers=numbers["registers"],
        spills=numbers["spills"],
        occupancy=numbers["occupancy"],
        staging=round(counted.staging, 1) if counted.staging is not None else None,
    )


def essence(text):
    """The errors of a compiler's messages, or their end."""
    errors = [line.strip() for line in text.splitlines() if "error" in line.lower()]
    return " / ".join(errors[:3]) or text.strip()[-300:]


def measure_all(found, kernels, cache, jobs):
    """The rows of all kernels and targets, and what failed, both by kernel and target."""
    work = cache / "out"
    work.mkdir(parents=True, exist_ok=True)
    todo = [(compilers, program, target) for program in kernels for compilers in found for target in compilers.targets]
    with ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda task: measure(*task, work), todo)
    rows, failures = [], {}
    for (_, program, target), result in zip(todo, results):
        if isinstance(result, table.Row):
            rows.append(result)
        else:
            failures[program.name, target] = result
    return rows, failures


def accepted_versions():
    """The versions of the compilers with which the table was made."""
    if not COMPILERS.exists():
        return {}
    with COMPILERS.open(newline="") as file:
        return {line["compiler"]: line["version"] for line in table.csv.DictReader(file)}


def compare(rows, failures, kernels, found, only):
    """Prints the rows beside the committed ones; returns the exit status."""
    before = table.read(KERNELS)
    versions = accepted_versions()
    has_changed = {}
    for compilers in found:
        then = versions.get(compilers.name)
        print(f"{compilers.name}: {compilers.version}" + (f" (the table: {then})" if then != compilers.version else ""))
        for target in compilers.targets:
            has_changed[target] = then != compilers.version
    notes, bad = {}, dict(failures)
    for row in rows:
        if row.key not in before:
            notes[row.key] = "not in the table"
            bad[row.key] = "not in the table; --accept adds it"
            continue
        worse, changed = table.differences(row, before[row.key])
        notes[row.key] = "; ".join([f"WORSE: {words}" for words in worse] + changed)
        if worse:
            bad[row.key] = ", ".join(worse)
    measured = {row.key for row in rows} | set(failures)
    for kernel, target in before:
        if target in has_changed and only in kernel and (kernel, target) not in measured:
            bad[kernel, target] = "in the table, but no longer there; --accept removes it"
    table.print_table(rows, notes)
    for (kernel, target), reason in bad.items():
        print(f"FAILED {kernel} on {target}: {reason}")
    if not bad:
        print(f"{len(rows)} rows, none worse than the table")
        return 0
    compiles = not any(reason.startswith("CompileError") for reason in failures.values())
    if compiles and all(has_changed[target] for _, target in bad):
        print("all of these are of compilers that are not the table's; --accept if the new numbers are right")
        return OTHER_COMPILER
    return FAILED


def accept(rows, found, only):
    """Puts the rows into the committed table."""
    before = table.read(KERNELS)
    replaced = {target for compilers in found for target in compilers.targets}
    kept = [row for row in before.values() if row.target not in replaced or only not in row.kernel]
    order = {target: at for at, target in enumerate(ALL_TARGETS)}
    all_rows = sorted(kept + rows, key=lambda row: (row.kernel, order[row.target]))
    table.write(KERNELS, table.COLUMNS, [table.cells(row) for row in all_rows])
    today = datetime.date.today().isoformat()
    lines = {}
    if COMPILERS.exists():
        with COMPILERS.open(newline="") as file:
            lines = {line["compiler"]: list(line.values()) for line in table.csv.DictReader(file)}
    for compilers in found:
        lines[compilers.name] = [compilers.name, compilers.version, today]
    table.write(COMPILERS, ["compiler", "version", "date"], lines.values())
    print(f"wrote {len(rows)} rows to {KERNELS.relative_to(programs.ROOT)}")


def check_drivers(found, tool, cache):
    """Has real drivers make every program through wgpu; returns the exit status."""
    status = 0
    for compilers in found:
        for target in compilers.targets:
            failed, output = mesa.on_shim(compilers.root, target, [tool, "--drivers"], 300, cache)
            print(f"{target}: {output.strip()}", flush=True)
            status |= FAILED if failed else 0
    return status


def main():
    """Runs what the command line asks for."""
    options = arguments()
    targets = options.targets
    if options.drivers:
        targets = [target for target in targets if target in DRIVER_TARGETS]
    options.cache = options.cache.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    try:
        tool = options.tool.resolve() if options.tool else programs.build_tool()
        kernels = programs.signing_programs(tool, options.cache / "programs")
    except programs.BuildError as error:
        sys.exit(str(error))
    kernels = [program for program in kernels if options.only in program.name]
    found, missing = fetch.fetch(options.cache, targets)
    if options.drivers:
        status = check_drivers(found, tool, options.cache)
    else:
        rows, failures = measure_all(found, kernels, options.cache, options.jobs)
        if options.accept and not failures:
            accept(rows, found, options.only)
        status = compare(rows, failures, kernels, found, options.only)
    for name, wanted, reason in missing:
        print(f"not compared: {', '.join(wanted)}: {name} cannot be fetched: {reason}")
    sys.exit(status)


if __name__ == "__main__":
    main()
