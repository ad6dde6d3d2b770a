"""Runs over files, with the options of the command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from . import _simgpu
from ._options import (
    ContainFilesOptions,
    DedupFilesOptions,
    EvaluateOptions,
    LinkFilesOptions,
    PairsFilesOptions,
    PairsSignaturesOptions,
    PassagesFilesOptions,
    Path,
    SignFilesOptions,
    takes,
)
from ._report import Report


@takes(DedupFilesOptions)
def dedup_files(
    inputs: Path | Iterable[Path], output: Path | None = None, **options: Unpack[DedupFilesOptions]
) -> Report:
    """Keeps one document of each group of near-duplicates.

    Writes into the folder ``output``: ``kept/``, ``removed.jsonl``, ``clusters.parquet``,
    ``report.json``, ``run.json``.

    Args:
        inputs: A path, or several: files, folders or globs of JSON Lines, JSON arrays, CSV, TSV, Parquet, Arrow or text,
            also compressed by gzip, zstd, xz or bzip2.
        output: Folder for the results; ``None`` only with ``dry_run``.
        **options: Those of the command ``simgpu dedup``; ``help(simgpu.dedup_files)`` lists them.

    Returns:
        The report: counts, parameters, and how long it took.

    Raises:
        ParameterError: An argument is out of range, unknown, or contradicts another one.
        InputError: A file or record cannot be used.
        OutputError: The output cannot be written.
        OSError: The system refused to read or write a file; ``FileNotFoundError`` and others.
        UnsupportedError: This machine or this build lacks the backend.
        StoppedError: ``progress`` returned ``False``.
        KeyboardInterrupt: Ctrl-C. As after every error, no new result has a final name, and earlier
            ones are unchanged.
    """
    return _simgpu.dedup_files({"inputs": inputs, "output": output, **options})


@takes(PairsFilesOptions)
def pairs_files(
    inputs: Path | Iterable[Path], output: Path | None = None, **options: Unpack[PairsFilesOptions]
) -> Report:
    """Finds all pairs of near-duplicates, with their similarity.

    Writes one record per pair, in the order of the inputs: ``id_a``, ``id_b``, ``similarity``,
    ``file_a``, ``row_a``, ``file_b``, ``row_b``.

    Args:
        inputs: As for ``dedup_files``.
        output: File for the pairs; its ending selects the format: ``.jsonl``, ``.csv`` or ``.parquet``. ``.jsonl`` and
            ``.csv`` can be compressed: ``.jsonl.zst``, ``.csv.gz``. ``None`` only with ``dry_run``.
        **options: Those of the command ``simgpu pairs``; ``help(simgpu.pairs_files)`` lists them.

    The report, and the errors, are those of ``dedup_files``.
    """
    return _simgpu.pairs_files({"inputs": inputs, "output": output, **options})


@takes(PairsSignaturesOptions)
def pairs_signatures(
    signatures: Path, output: Path | None = None, **options: Unpack[PairsSignaturesOptions]
) -> Report:
    """Finds all pairs of near-duplicates in a file of ``sign_files``.

    Documents with equal signatures count as identical.

    Args:
        signatures: A ``.parquet`` file, or a ``.npy`` file with its ``.npy.json``.
        output: As for ``pairs_files``.
        **options: Which pairs to find; ``help(simgpu.pairs_signatures)`` lists them.

    The report, and the errors, are those of ``dedup_files``.
    """
    return _simgpu.pairs_signatures({"signatures": signatures, "output": output, **options})


@takes(SignFilesOptions)
def sign_files(inputs: Path | Iterable[Path], output: Path, **options: Unpack[SignFilesOptions]) -> Report:
    """Computes the MinHash signature of every document.

    Args:
        inputs: As for ``dedup_files``.
        output: File for the signatures, one row per document, in the order of the inputs. Its ending selects the format:
            ``.parquet``, a table of ids and signatures; ``.npy``, a matrix of shape (documents, num_perm) without ids,
            with its parameters in ``.npy.json``.
        **options: Those of the command ``simgpu sign``; ``help(simgpu.sign_files)`` lists them.

    The report, and the errors, are those of ``dedup_files``.
    """
    return _simgpu.sign_files({"inputs": inputs, "output": output, **options})


@takes(LinkFilesOptions)
def link_files(
    a: Path,
    b: Path | None = None,
    output: Path | None = None,
    *,
    fields: str | Iterable[str],
    **options: Unpack[LinkFilesOptions],
) -> Report:
    """Links the records of two files, or of one, that describe the same thing.

    Writes into the folder ``output``: ``links.jsonl``; with one input, ``entities.jsonl``;
    ``report.html``, the report for people; ``report.json``; ``run.json``. ``link`` takes data frames.

    Args:
        a: The path of a file of records: JSON Lines, a JSON array, CSV, TSV, Parquet or Arrow, also compressed; or of a
            folder or a glob of such files.
        b: The path of records to link those of ``a`` to; without it, records of ``a`` are linked to each other.
        output: Folder for the results; ``None`` only with ``dry_run``.
        fields: Fields to compare, one or several. ``a.b`` is the field ``b`` of the object ``a``, ``"title=name"`` the field
            title of ``a`` and name of ``b``, and ``"first+last=name"`` the fields first and last of ``a``, joined by a blank.
        **options: Those of the command ``simgpu link``; ``help(simgpu.link_files)`` lists them.

    The report, and the errors, are those of ``dedup_files``.
    """
    return _simgpu.link_files({"a": a, "b": b, "output": output, "fields": fields, **options})


@takes(PassagesFilesOptions)
def passages_files(
    inputs: Path | Iterable[Path], output: Path | None = None, **options: Unpack[PassagesFilesOptions]
) -> Report:
    """Finds the passages that repeat in documents, and cuts them out, marks them, or drops documents of them.

    Writes into the folder ``output``: ``passages.jsonl``, ``report.html``, ``report.json``, ``run.json``; unless
    ``action`` is ``"report"``, ``kept/``; with ``"cut"`` and ``"drop"``, ``cuts.jsonl`` and ``removed.jsonl``. ``passages`` takes texts in memory.

    Args:
        inputs: As for ``dedup_files``.
        output: Folder for the results; ``None`` only with ``dry_run``.
        **options: Those of the command ``simgpu passages``; ``help(simgpu.passages_files)`` lists them.

    The report, and the errors, are those of ``dedup_files``.
    """
    return _simgpu.passages_files({"inputs": inputs, "output": output, **options})


@takes(ContainFilesOptions)
def contain_files(
    inputs: Path | Iterable[Path],
    output: Path | None = None,
    *,
    against: Path | Iterable[Path],
    **options: Unpack[ContainFilesOptions],
) -> Report:
    """Finds the items of benchmarks that documents ask, and leaves such documents out, cuts the items out, or marks them.

    Writes into the folder ``output``: ``hits.jsonl`` or ``hits.parquet``, ``items.jsonl``, ``phrases.parquet``,
    ``report.html``, ``report.json``, ``run.json``; unless ``action`` is ``"report"``, ``kept/``; with ``"drop"``
    ``removed.jsonl``, with ``"cut"`` ``cuts.jsonl``. :class:`simgpu.Contain` takes texts in memory.

    Args:
        inputs: As for ``dedup_files``.
        output: Folder for the results; ``None`` only with ``dry_run``.
        against: The path of a file, folder or glob of records with the items, or several, in any format but text.
        **options: Those of the command ``simgpu contain``; ``help(simgpu.contain_files)`` lists them.

    The report, and the errors, are those of ``dedup_files``.
    """
    return _simgpu.contain_files({"inputs": inputs, "output": output, "against": against, **options})


@takes(EvaluateOptions)
def evaluate(
    result: Path, truth: Path | Iterable[Path], **options: Unpack[EvaluateOptions]
) -> Report:
    """Measures how far a result of ``link_files``, ``dedup_files`` or ``pairs_files`` is right.

    Compares the result with a truth: pairs of ids that are the same thing, or records with the entity that each is of. Of one
    input, true pairs are closed: if a and b are the same, and b and c, then a and c are, too. Writes no file.

    Args:
        result: The path of a folder of ``link_files`` or ``dedup_files``, or of a file of ``pairs_files``; also that of
            ``links.jsonl``, ``entities.jsonl``, ``clusters.parquet`` or ``removed.jsonl`` alone.
        truth: The path of a file of what is true, in any format of the inputs; it may be the input itself, if it has a field
            with the entity. Two paths are the entities of ``a`` and of ``b``, if these were linked.
        **options: Those of the command ``simgpu evaluate``; ``help(simgpu.evaluate)`` lists them.

    Returns:
        The report: ``pairs``, ``entities`` and ``b_cubed`` have precision, recall and F1; ``wrong`` and ``missed``, examples.

    The errors are those of ``dedup_files``.
    """
    return _simgpu.evaluate({"result": result, "truth": truth, **options})
