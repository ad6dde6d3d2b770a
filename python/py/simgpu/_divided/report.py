"""The report of a divided search, and the account of its documents."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .._simgpu import DividedSearch
from .._caller import warn
from ..errors import DefectError, SimgpuWarning


def added_counts(counts: Iterable[str]) -> tuple[dict[str, int], list[int]]:
    """The sums of the counts of tasks, and the numbers of compared candidates by equal slots."""
    names = ("candidate_pairs", "similar_pairs", "large_buckets", "omitted_pairs")
    sums = dict.fromkeys(names, 0)
    by_matches: list[int] = []
    for of_task in map(json.loads, counts):
        for name in names:
            sums[name] += of_task[name]
        matches = of_task["by_matches"]
        by_matches = [a + b for a, b in zip(by_matches or [0] * len(matches), matches, strict=True)]
    return sums, by_matches


def report_of(
    search: DividedSearch,
    documents: int,
    signed: tuple[int, int, int, int, int],
    identical: int,
    equal_shingles: int | None,
    of_tasks: Iterable[str],
    pairs: tuple[int, int] = (0, 1),
) -> dict[str, Any]:
    """Counts and parameters, as in ``report.json``, without the documents that are kept and removed.

    Warns if many documents have at most one shingle.

    Args:
        signed: How many records have no text, how many others have no place, how many documents have no shingles, how
            many at most one without being blank, and the bytes of all texts.
        equal_shingles: Removed documents, or pairs, with equal shingles that are not identical; ``None`` if pairs are not
            verified exactly.
        of_tasks: The counts of each task of the search.
        pairs: How many pairs are of identical documents, and how many there are.
    """
    skipped, without_place, without_shingles, few_shingles, bytes_of_texts = signed
    warning = search.few_shingles_warning(few_shingles, documents - skipped - without_place)
    if warning is not None:
        warn(warning, SimgpuWarning)
    sums, by_matches = added_counts(of_tasks)
    counts = {
        "documents": documents,
        "kept": 0,
        "removed": 0,
        "skipped": skipped,
        # The command reads such a record, so that it has no such count.
        **({"without_place": without_place} if without_place else {}),
        "identical": identical,
        "equal_shingles": equal_shingles,
        "without_shingles": without_shingles,
        "few_shingles": few_shingles,
        **sums,
        "clusters": 0,
        "largest_cluster": 0,
        "bytes": bytes_of_texts,
    }
    report: dict[str, Any] = {"command": "", "counts": counts, "parameters": search.parameters}
    precision = search.expected_precision(by_matches, *pairs)
    if precision is not None:
        report["expected_precision"] = precision
    return report


def skipped_of(counts: dict[str, int]) -> int:
    """How many records were skipped, for whatever they lack."""
    return counts["skipped"] + counts.get("without_place", 0)


def add_losses(report: dict[str, Any], losses: Iterable[int]) -> None:
    """Adds what removals lose to the counts of a report.

    Args:
        losses: The shingles that are lost, all shingles of the removed documents that were compared exactly, and how many
            others are not identical to their kept ones.
    """
    names = ("lost_shingles", "removed_shingles", "unknown_losses")
    report["counts"] |= dict(zip(names, losses, strict=True))


def add_reference(
    report: dict[str, Any],
    signed: tuple[int, int, int, int],
    removed_for_reference: int | None = None,
) -> None:
    """Adds what is known of a reference to the counts of a report.

    Args:
        signed: How many records of the reference have a text and a place, how many have no text, how many others have no
            place, and the bytes of all texts.
        removed_for_reference: How many documents are removed for them; ``None`` if pairs were found.
    """
    reference, skipped, without_place, bytes_of_texts = signed
    counts = report["counts"]
    counts["reference"] = reference
    if removed_for_reference is not None:
        counts["removed_for_reference"] = removed_for_reference
    if skipped + without_place:
        counts["reference_skipped"] = skipped + without_place
    counts["bytes"] += bytes_of_texts


def add_clusters(
    report: dict[str, Any],
    kept: int,
    removed: int,
    removed_of_cluster: Iterable[tuple[int, int]],
    of_reference: int = 0,
) -> None:
    """Adds the documents that are kept and removed to a report, and the sizes of clusters.

    Args:
        removed_of_cluster: How many documents are removed of a cluster, and of how many clusters so many.
        of_reference: How many clusters are of a document of a reference.

    Raises:
        DefectError: A document is neither kept nor removed nor skipped.
    """
    counts = report["counts"]
    counts |= {"kept": kept, "removed": removed}
    skipped = skipped_of(counts)
    if kept + removed + skipped != counts["documents"]:
        raise DefectError(
            f"{counts['documents']} records came, but {kept} are kept, {removed} removed and "
            f"{skipped} skipped; run again with an input that does not change, and report it if this remains"
        )
    by_size = {size + 1: clusters for size, clusters in removed_of_cluster}
    counts["clusters"] = sum(by_size.values())
    counts["largest_cluster"] = max(by_size, default=0)
    with_others = counts["clusters"] - of_reference
    alone = {1: kept - with_others} if kept > with_others else {}
    report["cluster_sizes"] = dict(sorted((alone | by_size).items()))
