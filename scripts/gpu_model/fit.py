"""Fits the rates of lavapipe to runs on two corpora, and compares others with what follows.

Seven numbers are fitted, to the processor time of three kinds of threads in runs on one core:

    host    start + byte * bytes + document * documents
    copies  text_byte * text bytes
    kernel  update * updates + shingle * shingles + document * distinct documents

by least squares of relative errors, with no number below zero. Nothing is fitted to runs on two
cores, and nothing to elapsed time.
"""

from collections import defaultdict
from dataclasses import dataclass

from measure import Run
from model import Host, Software, Work, on_software

# Other programs took less than this share of the cores of a run whose elapsed time counts.
QUIET = 0.1


@dataclass
class Compared:
    """The run of least processor time of a configuration, and its times as predicted."""

    run: Run
    # The least of the runs of the configuration that other programs hardly disturbed, if any.
    elapsed_s: float | None
    predicted_cpu_s: float
    predicted_elapsed_s: float

    @property
    def cpu_error(self):
        return self.predicted_cpu_s / self.run.cpu_s - 1

    @property
    def elapsed_error(self):
        return self.elapsed_s and self.predicted_elapsed_s / self.elapsed_s - 1


def least_squares(rows, targets):
    """Coefficients, none negative, of least relative error: by descent along one at a time."""
    rows = [[value / target for value in row] for row, target in zip(rows, targets)]
    scales = [sum(row[at] ** 2 for row in rows) ** 0.5 for at in range(len(rows[0]))]
    rows = [[value / scale for value, scale in zip(row, scales)] for row in rows]
    found = [0.0] * len(scales)
    for _ in range(3000):
        for at in range(len(found)):
            missing = [1 - sum(c * v for c, v in zip(found, row)) for row in rows]
            found[at] += sum(row[at] * of_row for row, of_row in zip(rows, missing))
            found[at] = max(0.0, found[at])
    return [value / scale for value, scale in zip(found, scales)]


def is_quiet(run):
    return run.others_s < QUIET * run.elapsed_s * run.cores


def least(runs):
    """Of each configuration the run of least processor time, and the least elapsed time."""
    groups = defaultdict(list)
    for run in runs:
        groups[run.corpus, run.num_perm, run.documents, run.cores].append(run)
    return [
        (
            min(group, key=lambda run: run.cpu_s),
            min((run.elapsed_s for run in group if is_quiet(run)), default=None),
        )
        for group in groups.values()
    ]


def fit(runs, corpora):
    """The rates of host and lavapipe, from the least runs of these corpora on one core."""
    chosen = [run for run, _ in least(runs) if run.corpus in corpora and run.cores == 1]
    host = least_squares(
        [[1, run.bytes, run.documents] for run in chosen], [run.host_s for run in chosen]
    )
    (copies,) = least_squares([[run.text_bytes] for run in chosen], [run.copy_s for run in chosen])
    works = [Work.of_run(run) for run in chosen]
    kernel = least_squares(
        [[work.updates, work.shingles, work.distinct] for work in works],
        [run.kernel_s for run in chosen],
    )
    return Host(*host), Software(*kernel, copies)


def predictions(runs, corpora, rates):
    """Each configuration beside what a fit to some corpora predicts of it."""
    host, software = fit(runs, corpora)
    for run, elapsed_s in least(runs):
        found = on_software(Work.of_run(run), host, software, run.loads, run.cores, rates)
        on_cores = sum(stage.seconds for stage in found.stages if stage.resource == "cores")
        yield Compared(run, elapsed_s, host.start + on_cores, found.elapsed_s)
