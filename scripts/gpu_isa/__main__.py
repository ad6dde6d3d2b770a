"""What real GPU compilers make of the kernels. scripts/gpu-isa.sh says how it is called."""

import argparse
import datetime
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import fetch
import machine_code
import mesa
import programs
import table
from tools import CompileError

RESULTS = programs.ROOT / "results/gpu-isa"
KERNELS = RESULTS / "kernels.csv"
COMPILERS = RESULTS / "compilers.csv"
ALL_TARGETS = [target for source in fetch.SOURCES for target in source.targets]
# Chips whose drivers wgpu opens on a shim. It does not list NVK's.
DRIVER_TARGETS = ["vega20", "navi21", "navi31", "gfx1201", "m1", "adreno730"]
# Exit statuses beside 0: something is worse; it is so by other compilers than the table's.
WORSE, OTHER_COMPILERS = 1, 3


def options():
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/gpu-isa.sh", description="Shows what real GPU compilers make of the kernels."
    )
    add = parser.add_argument
    add("--accept", action="store_true", help="write the table under results/gpu-isa again")
    add("--drivers", action="store_true", help="check that drivers take every program, and no more")
    add("--fetch", action="store_true", help="bring the compilers to the cache, and no more")
    add("--targets", type=lambda text: text.split(","), help="chips, with commas between")
    add("--only", default="", metavar="TEXT", help="kernels with this in their names")
    add("--cache", type=Path, default=programs.ROOT / "target/gpu-isa", help="keep compilers there")
    add("--tool", type=Path, help="the example gpu_programs, where it is built already")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at a time")
    chosen = parser.parse_args()
    possible = DRIVER_TARGETS if chosen.drivers else ALL_TARGETS
    chosen.targets = chosen.targets or possible
    unknown = [target for target in chosen.targets if target not in possible]
    if unknown:
        parser.error(f"no such targets: {', '.join(unknown)}; there are {', '.join(possible)}")
    chosen.cache = chosen.cache.resolve()
    return chosen


@dataclass
class Failure:
    """Why there is no row for a kernel and a target."""

    reason: str
    # Whether the compiler refused the kernel; else its output was not understood.
    is_refusal: bool


def essence(text):
    """The errors of a compiler's messages, or the end of them."""
    errors = [line.strip() for line in text.splitlines() if "error" in line.lower()]
    return " / ".join(errors[:3]) or text.strip()[-300:]


def measure(compilers, program, target, work):
    """Compiles a program for a target, and counts: a row, or why there is none."""
    stem = work / f"{program.name}.{target}"
    try:
        blocks, numbers = compilers.module.compile_program(compilers, program, target, stem)
        counted = machine_code.count(blocks, program.slot_words, program.thread_permutations)
    except CompileError as error:
        return Failure(f"does not compile: {essence(str(error))}", is_refusal=True)
    # Whatever is not understood of one listing must not end the table.
    except Exception as error:
        return Failure(f"not counted: {type(error).__name__}: {error}", is_refusal=False)
    return table.Row(
        kernel=program.name,
        target=target,
        instructions=round(counted.instructions, 3),
        cycles=round(counted.cycles, 3) if counted.cycles else None,
        registers=numbers["registers"],
        spills=numbers["spills"],
        occupancy=numbers["occupancy"],
        staging=round(counted.staging, 1) if counted.staging is not None else None,
        others=[round(instructions, 2) for instructions in counted.others],
    )


def measure_all(found, kernels, cache, jobs):
    """The rows of all kernels and targets, and by kernel and target why others are missing."""
    work = cache / "out"
    work.mkdir(parents=True, exist_ok=True)
    todo = [
        (compilers, program, target)
        for program in kernels
        for compilers in found
        for target in compilers.targets
    ]
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda task: measure(*task, work), todo))
    rows = [result for result in results if isinstance(result, table.Row)]
    failures = {
        (program.name, target): result
        for (_, program, target), result in zip(todo, results)
        if isinstance(result, Failure)
    }
    return rows, failures


def accept(rows, found, only):
    """Puts the rows into the committed table, in place of those of the same targets and kernels."""
    measured = {target for compilers in found for target in compilers.targets}
    before = table.read_rows(KERNELS).values()
    kept = [row for row in before if row.target not in measured or only not in row.kernel]
    order = {target: at for at, target in enumerate(ALL_TARGETS)}
    all_rows = sorted(kept + rows, key=lambda row: (row.kernel, order[row.target]))
    table.write(KERNELS, table.COLUMNS, [table.cells(row) for row in all_rows])
    versions = table.read_compilers(COMPILERS)
    today = datetime.date.today().isoformat()
    versions.update({compilers.name: (compilers.version, today) for compilers in found})
    lines = [(name, *line) for name, line in versions.items()]
    table.write(COMPILERS, table.COMPILER_COLUMNS, lines)
    print(f"wrote {len(rows)} rows to {KERNELS.relative_to(programs.ROOT)}")


def compare(rows, failures, found, only):
    """Prints the rows beside the committed ones; returns the exit status."""
    before, versions = table.read_rows(KERNELS), table.read_compilers(COMPILERS)
    is_other = {}
    for compilers in found:
        then, date = versions.get(compilers.name, ("none", "never"))
        is_same = then == compilers.version
        instead_of = "" if is_same else f", not {then} of {date}"
        print(f"{compilers.name}: {compilers.version}{instead_of}")
        is_other.update(dict.fromkeys(compilers.targets, not is_same))

    # What is bad in itself, and what may be so because a compiler has changed.
    notes, bad, doubtful = {}, {}, {}
    for key, failure in failures.items():
        (bad if failure.is_refusal else doubtful)[key] = failure.reason
    for row in rows:
        if row.key not in before:
            bad[row.key] = "not in the table; --accept adds it"
            continue
        worse, changed = table.differences(row, before[row.key])
        notes[row.key] = "; ".join([f"WORSE: {words}" for words in worse] + changed)
        if worse:
            doubtful[row.key] = ", ".join(worse)
    there = {row.key for row in rows} | set(failures)
    for kernel, target in before:
        if target in is_other and only in kernel and (kernel, target) not in there:
            bad[kernel, target] = "in the table, and no longer there; --accept removes it"

    table.print_rows(rows, notes)
    for (kernel, target), reason in [*bad.items(), *doubtful.items()]:
        print(f"FAILED: {kernel} on {target}: {reason}")
    if bad or any(not is_other[target] for _, target in doubtful):
        return WORSE
    if doubtful:
        print("all of that is by other compilers than the table's; --accept where it is right")
        return OTHER_COMPILERS
    print(f"compared: {len(rows)} rows of {', '.join(is_other)}; none is worse than the table")
    return 0


def check_drivers(found, tool, cache):
    """Has drivers make every program through wgpu; returns the exit status."""
    status = 0
    for compilers in found:
        for target in compilers.targets:
            failed, output = mesa.on_shim(
                compilers.root, target, [tool, "--drivers"], timeout=300, work=cache
            )
            print(f"{'FAILED: ' if failed else ''}{target}: {output.strip()}", flush=True)
            status = WORSE if failed else status
    return status


def main():
    """Does what the command line asks for."""
    chosen = options()
    chosen.cache.mkdir(parents=True, exist_ok=True)
    if chosen.fetch:
        _, missing = fetch.fetch(chosen.cache, chosen.targets)
        sys.exit("\n".join(missing) or 0)
    try:
        tool = chosen.tool.resolve() if chosen.tool else programs.build_tool()
        kernels = programs.signing_programs(tool, chosen.cache / "programs")
    except programs.BuildError as error:
        sys.exit(f"error: {error}")
    kernels = [program for program in kernels if chosen.only in program.name]
    if not kernels:
        sys.exit(f"error: no kernel has {chosen.only} in its name")
    found, missing = fetch.fetch(chosen.cache, chosen.targets)
    status = 0
    if found and chosen.drivers:
        status = check_drivers(found, tool, chosen.cache)
    elif found:
        rows, failures = measure_all(found, kernels, chosen.cache, chosen.jobs)
        if chosen.accept and failures:
            print("nothing is written: there are kernels without a row")
        elif chosen.accept:
            accept(rows, found, chosen.only)
        status = compare(rows, failures, found, chosen.only)
    for line in missing:
        print(f"{'not checked' if chosen.drivers else 'not compared'}: {line}")
    sys.exit(status)


if __name__ == "__main__":
    main()
