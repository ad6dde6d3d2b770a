"""The tables of results/gpu-model/README.md."""

import itertools

from fit import fit, predictions
from measure import CORPORA
from model import Work, on_machine, without_device_gb_s

# The corpora with the longest and with the shortest documents; the other two are predicted.
FITTED = ["terms-of-service", "arxiv-abstracts"]
# What the comparison is held to.
TOLERANCE = 0.25
PREDICTED_BYTES = 100e9


def table(header, rows):
    """A table of Markdown; columns whose header begins with `>` are aligned to the right."""
    rule = ["---:" if name.startswith(">") else "---" for name in header]
    lines = [[name.removeprefix(">") for name in header], rule, *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def percent(share):
    return f"{100 * share:+.0f} %"


def fitted_rates(runs):
    """What the fit says of lavapipe and of the host."""
    host, software = fit(runs, FITTED)
    rows = [
        ("start of a run", host.start * 1e3, "ms"),
        ("host, per byte of input", host.byte * 1e9, "ns"),
        ("host, per document", host.document * 1e6, "µs"),
        ("copies, per byte of text", software.text_byte * 1e9, "ns"),
        ("kernel, per update", software.update * 1e12, "ps"),
        ("kernel, per shingle", software.shingle * 1e9, "ns"),
        ("kernel, per document", software.document * 1e6, "µs"),
    ]
    cells = [[name, f"{value:.3g}", unit] for name, value, unit in rows]
    return table(["seconds of a core", ">fitted", "unit"], cells)


def comparison(runs, rates):
    """Every configuration, measured and predicted."""
    rows = []
    for found in predictions(runs, FITTED, rates):
        run = found.run
        cells = [run.corpus, str(run.num_perm), f"{run.documents:,}", str(run.cores)]
        cells.append("fitted" if run.corpus in FITTED and run.cores == 1 else "predicted")
        cells += [f"{run.cpu_s:.2f}", f"{found.predicted_cpu_s:.2f}", percent(found.cpu_error)]
        quiet = found.elapsed_s is not None
        cells.append(f"{found.elapsed_s:.2f}" if quiet else "disturbed")
        cells.append(f"{found.predicted_elapsed_s:.2f}")
        rows.append([*cells, percent(found.elapsed_error) if quiet else ""])
    header = ["corpus", ">K", ">documents", ">cores", "runs are", ">CPU s", ">modelled", ">error"]
    return table([*header, ">elapsed s", ">modelled", ">error"], rows)


def largest_errors(runs, rates, fitted):
    """The largest errors of processor and of elapsed time of the corpora that were not fitted."""
    found = [one for one in predictions(runs, fitted, rates) if one.run.corpus not in fitted]
    of_elapsed = [one.elapsed_error for one in found if one.elapsed_s is not None]
    return max((one.cpu_error for one in found), key=abs), max(of_elapsed, key=abs, default=None)


def choices(runs, rates):
    """The largest error for every choice of two corpora to fit."""
    pairs = itertools.combinations(CORPORA, 2)
    rows = [[*pair, percent(largest_errors(runs, rates, pair)[0])] for pair in pairs]
    return table(["fitted", "and", ">largest error of CPU s of the other two"], rows)


def work_of(runs, corpus, compression, num_perm=128):
    """The work of a corpus at any number of permutations, with bands of as many rows."""
    whole = [run for run in runs if (run.corpus, run.num_perm, run.cores) == (corpus, 128, 1)]
    work = Work.of_run(max(whole, key=lambda run: run.documents))
    work.compressed_bytes = work.bytes / compression[corpus]
    work.bands = work.bands * num_perm // work.num_perm
    work.num_perm = num_perm
    return work.scaled(PREDICTED_BYTES)


def limits_gb_s(prediction, work):
    """What each resource allows, if it alone were the limit."""
    return {
        resource: work.bytes / 1e9 / prediction.busy_s(resource)
        for resource in prediction.capacity
        if prediction.busy_s(resource) > 0
    }


def of_corpora(runs, rates, machine, kernel, compression):
    """Work and prediction of each corpus on one machine."""
    host, _ = fit(runs, FITTED)
    works = [work_of(runs, corpus, compression) for corpus in CORPORA]
    return [(work, on_machine(work, host, machine, kernel, rates)) for work in works]


def speeds(*of_machine):
    """GB/s of each corpus on one machine."""
    return [work.bytes / 1e9 / found.elapsed_s for work, found in of_corpora(*of_machine)]


def expectations(runs, rates, machines, kernels, compression):
    """GB/s that are expected of each GPU, and of its device or cores alone."""
    host, _ = fit(runs, FITTED)
    rows = []
    for name, machine in machines.items():
        of_machine = (runs, rates, machine, kernels[name], compression)
        found = of_corpora(*of_machine)
        bottlenecks = sorted({prediction.bottleneck for _, prediction in found})
        device = [limits_gb_s(prediction, work)["device"] for work, prediction in found]
        alone = [without_device_gb_s(work, host, machine, rates) for work, _ in found]
        cells = [machine["name"], f"{machine['cores']:g}"]
        cells += [f"{speed:.1f}" for speed in speeds(*of_machine)]
        rows.append([*cells, " and ".join(bottlenecks), spread(device), spread(alone)])
    names = [f">{corpus}, GB/s" for corpus in CORPORA]
    header = ["GPU", ">cores", *names, "bottleneck", ">device alone, GB/s", ">without GPU, GB/s"]
    return table(header, rows)


def spread(values):
    return f"{min(values):.1f} to {max(values):.1f}"


def stages(prediction, work):
    """Seconds of each stage for a gigabyte, if it had its resource alone."""
    rows = []
    for stage in prediction.stages:
        of_one = stage.seconds / prediction.capacity[stage.resource] / (work.bytes / 1e9)
        rows.append([stage.name, stage.resource, f"{of_one:.4f}"])
    for resource, speed in limits_gb_s(prediction, work).items():
        is_least = " **(bottleneck)**" if resource == prediction.bottleneck else ""
        rows.append([f"all of {resource}{is_least}", "", f"{1 / speed:.4f}"])
    return table(["stage", "resource", ">s/GB"], rows)


def seconds_of_stages(runs, rates, machines, kernels, compression):
    """Seconds of each stage and machine for a gigabyte of one corpus."""
    host, _ = fit(runs, FITTED)
    work = work_of(runs, "driver-docs", compression)
    found = {
        name: on_machine(work, host, machine, kernels[name], rates)
        for name, machine in machines.items()
    }
    rows = []
    for at, stage in enumerate(next(iter(found.values())).stages):
        row = [stage.name, stage.resource]
        for one in found.values():
            seconds = one.stages[at].seconds / one.capacity[stage.resource]
            row.append(f"{seconds / (work.bytes / 1e9):.4f}")
        rows.append(row)
    names = [">" + machine["name"].split(",")[0] for machine in machines.values()]
    return table(["stage", "resource", *names], rows)
