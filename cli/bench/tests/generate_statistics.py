"""Writes statistics.json beside this file: what scipy and numpy make of fixed numbers.

    pip install numpy scipy
    python cli/bench/tests/generate_statistics.py

Running it again with the same versions writes the same bytes.
"""

import json
import random
from pathlib import Path

import numpy
from scipy import stats

HERE = Path(__file__).parent
SHARES = [0.0, 0.05, 0.25, 0.6, 1.0]


def sample(size, seed):
    generator = random.Random(seed)
    return [round(generator.lognormvariate(0, 0.5), 3) for _ in range(size)]


def samples():
    cases = []
    for size in (1, 2, 5, 6, 9, 20, 101):
        values = sample(size, size)
        cases.append({
            "values": values,
            "median": float(numpy.median(values)),
            "median_absolute_deviation": float(stats.median_abs_deviation(values)),
            "mean": float(numpy.mean(values)),
            "quantiles": [float(q) for q in numpy.quantile(values, SHARES)],
            "variance": float(numpy.var(values, ddof=1)) if size > 1 else None,
            "standard_error": float(stats.sem(values)) if size > 1 else None,
        })
    return cases


def binomials():
    cases = []
    for trials, probability in ((1, 0.5), (16, 0.1), (128, 0.5), (128, 0.95), (1024, 1 / 3), (2000, 0.947), (2000, 1e-5)):
        binomial = stats.binom(trials, probability)
        at = sorted({0, trials // 3, round(trials * probability), trials})
        cases.append({
            "trials": trials,
            "probability": probability,
            "at": at,
            "probabilities": [float(binomial.pmf(k)) for k in at],
            "band": [int(binomial.ppf(0.025)), int(binomial.ppf(0.975))],
        })
    return cases


def intervals():
    cases = []
    for trials in (1, 16, 128, 1024):
        for successes in sorted({0, 1, trials // 2, round(0.95 * trials), trials}):
            low, high = stats.binomtest(successes, trials).proportion_ci(0.95, method="exact")
            cases.append({"successes": successes, "trials": trials, "low": float(low), "high": float(high)})
    return cases


def chi_square_tails():
    pairs = [(0.5, 1), (3.84, 1), (20.0, 7), (20.0, 12.5), (150.0, 40), (960.0, 1000.3)]
    return [{"statistic": x, "degrees": d, "p": float(stats.chi2.sf(x, d))} for x, d in pairs]


def student_tails():
    pairs = [(0.0, 5), (2.0, 9), (-3.5, 199), (4.7, 999), (8.0, 399)]
    return [{"t": t, "degrees": d, "p": float(2 * stats.t.sf(abs(t), d))} for t, d in pairs]


def goodness_of_fit():
    """Bins that expect 5 or more, so that nothing is pooled, and the same torn into pieces that must be."""
    observed, expected = [12, 25, 30, 21, 12], [10.0, 24.0, 32.0, 24.0, 10.0]
    p = float(stats.chisquare(observed, expected).pvalue)
    torn_observed = [2, 10, 20, 5, 30, 21, 10, 1, 1]
    torn_expected = [4.0, 6.0, 4.5, 19.5, 32.0, 24.0, 7.0, 2.0, 1.0]
    return [
        {"observed": observed, "expected": expected, "p": p},
        {"observed": torn_observed, "expected": torn_expected, "p": p},
    ]


def lines(golden):
    """JSON with a case on each line."""
    lists = []
    for name, cases in golden.items():
        cases = ",\n".join(f"  {json.dumps(case)}" for case in cases)
        lists.append(f" {json.dumps(name)}: [\n{cases}\n ]")
    return "{\n" + ",\n".join(lists) + "\n}\n"


def main():
    parts = [samples, binomials, intervals, chi_square_tails, student_tails, goodness_of_fit]
    golden = {part.__name__: part() for part in parts}
    (HERE / "statistics.json").write_text(lines(golden), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
