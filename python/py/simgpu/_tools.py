"""Tools: effects of bands and rows, similarity of two texts, devices, self-test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from . import _simgpu
from ._options import Backend, CompareOptions, Isa, Path, Unit, takes
from ._report import Comparison, Device, Selftest, Tuning


def tune(
    threshold: float = 0.8,
    *,
    scheme: Any = "affine32",
    num_perm: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    sample: Path | Iterable[Path] | None = None,
    limit: int = 10_000,
    text_field: str | None = None,
    tokens_field: str | None = None,
    unit: Unit | None = None,
    documents: int | None = None,
) -> Tuning:
    """Computes the effect of bands and rows: missed pairs, false candidates, memory.

    A pair of similarity s becomes a candidate with probability ``1 - (1 - s**rows)**bands``.

    With a sample, also finds what shingles of 1 to 12 units do in documents like those to search,
    and which size to take: the least at which 99 of 100 random pairs of documents have a similarity
    of at most 0.05, or else the least at which their mean is at most 0.05.

    Args:
        threshold: Least Jaccard similarity of near-duplicates, above 0 and up to 1.
        scheme: Name of a scheme or preset, or a ``Scheme``.
        num_perm: Number of permutations; by default 128, or the scheme's.
        bands, rows: A banding to show beside the suggested ones.
        sample: Files, folders or globs of documents, as for ``dedup_files``.
        limit: Number of records of the sample to read; all of them are held in memory.
        text_field, tokens_field: Field with the text, by default ``"text"``, or with the tokens, by
            default ``"tokens"``.
        unit: Unit of shingles; by default words, or the scheme's.
        documents: Number of documents to search; by default those of the sample.

    Raises:
        ParameterError: An argument is out of range, unknown, or needs a sample.
        InputError: A file of the sample has a record that cannot be read.
        OSError: A file of the sample cannot be read; ``FileNotFoundError`` and others.
    """
    return _simgpu.tune(locals())


@takes(CompareOptions)
def compare(a: str, b: str, **options: Unpack[CompareOptions]) -> Comparison:
    """Compares two texts: exact similarity, estimate, shared shingles, distances.

    Args:
        a: One text.
        b: Another text.
        **options: As for ``dedup_files``; ``help(simgpu.compare)`` lists them.

    Raises:
        ParameterError: An argument is out of range, unknown, or contradicts another one.
        UnsupportedError: This machine or this build lacks the backend.
    """
    return _simgpu.compare({"a": a, "b": b, **options})


def devices() -> list[Device]:
    """Lists the devices that the backend ``"gpu"`` can use. All compute the same signatures.

    The list is empty if there are none, or if this build has no GPU backend.

    Raises:
        UnsupportedError: This process was forked from one that had used the GPU.
    """
    return _simgpu.devices()


def selftest(
    *, backend: Backend = "auto", isa: Isa | None = None, device: int | None = None
) -> Selftest:
    """Checks that every backend computes the published values. Takes some seconds.

    Args:
        backend: The backend to check; ``"auto"`` checks the CPU with every instruction set, and
            every hardware device.
        isa: The instruction set to check; by default all that this CPU has.
        device: The device of ``"gpu"`` and ``"hybrid"``.

    Raises:
        DefectError: A check failed: do not use results of this machine, and report it.
        ParameterError: An argument is unknown or contradicts another one.
        UnsupportedError: This machine or this build lacks the backend.
    """
    return _simgpu.selftest(locals())
