"""Errors of estimates: rows of errors.csv from pairs of signatures."""

import functools

import numpy as np
from scipy import stats

from tables import ErrorCell

# Quantile of the normal distribution at the end of a 95 % interval.
Z = float(stats.norm.ppf(0.975))


def cell(tool, signed, set_size, similarity):
    """A row for signatures of pairs (rows 2i and 2i + 1). `similarity` is the exact one, for all pairs or for each; `tool`
    has name, scheme and properties of the scheme."""
    num_perm = signed.shape[1]
    matches = (signed[::2] == signed[1::2]).sum(axis=1)
    similarity = np.broadcast_to(similarity, matches.shape)
    errors = matches / num_perm - similarity
    ideal = float(np.mean(similarity * (1 - similarity))) / num_perm
    squares = errors**2
    mean_square, count = float(squares.mean()), len(squares)
    deviation = float(squares.std(ddof=1)) / count**0.5
    low, high = intervals(num_perm)
    held = (low[matches] <= similarity) & (similarity <= high[matches])
    return ErrorCell(
        tool=tool.name,
        backend="",
        hardware="",
        scheme=tool.scheme,
        has_independent_slots=tool.has_independent_slots,
        is_mixed=tool.is_mixed,
        slot_bits=tool.slot_bits,
        num_perm=num_perm,
        input="random",
        varied="data",
        set_size=set_size,
        similarity=float(similarity.mean()),
        trials=count,
        bias=float(errors.mean()),
        bias_standard_error=float(errors.std(ddof=1)) / count**0.5,
        root_mean_square_error=mean_square**0.5,
        error_ratio=(mean_square / ideal) ** 0.5,
        error_ratio_low=(max(0.0, mean_square - Z * deviation) / ideal) ** 0.5,
        error_ratio_high=((mean_square + Z * deviation) / ideal) ** 0.5,
        coverage=float(held.mean()),
        coverage_expected=float(np.mean([expected_coverage(num_perm, s) for s in similarity.tolist()])),
        dispersion=float(errors.var(ddof=1)) / ideal,
    )


@functools.cache
def intervals(num_perm):
    """Ends of the 95 % Clopper-Pearson intervals, by number of matches."""
    matches = np.arange(num_perm + 1)
    low = np.zeros(num_perm + 1)
    high = np.ones(num_perm + 1)
    low[1:] = stats.beta.ppf(0.025, matches[1:], num_perm - matches[1:] + 1)
    high[:-1] = stats.beta.ppf(0.975, matches[:-1] + 1, num_perm - matches[:-1])
    return low, high


@functools.cache
def expected_coverage(num_perm, similarity):
    """Probability that the interval for binomial matches contains the similarity."""
    low, high = intervals(num_perm)
    probabilities = stats.binom.pmf(np.arange(num_perm + 1), num_perm, similarity)
    return float(probabilities[(low <= similarity) & (similarity <= high)].sum())
