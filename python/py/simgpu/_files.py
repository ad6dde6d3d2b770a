"""Runs over files, with the options of the command."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Literal

from . import _simgpu
from ._report import Report

Path = str | PathLike[str]
Progress = bool | Callable[[str, int, int], object] | None
Unit = Literal["words", "bytes", "chars", "stopwords", "pieces", "code", "tokens"]
Format = Literal["auto", "jsonl", "json", "csv", "tsv", "parquet", "arrow", "text"]
Backend = Literal["auto", "scalar", "simd", "gpu", "hybrid"]
Isa = Literal["portable", "avx2", "avx512", "neon"]
Verification = Literal["exact", "signature", "none"]
Candidates = Literal["lsh", "join", "auto"]
Distance = Literal["hamming", "l1"]

_INPUT = """
    inputs: A path, or several: files, folders or globs of JSON Lines, JSON arrays, CSV, TSV,
        Parquet, Arrow or text, also compressed by gzip, zstd, xz or bzip2."""

_OPTIONS = """
    format: Format of the inputs; ``"auto"`` decides by the ending of each name.
    delimiter: Character between two fields of CSV or TSV; by default a comma or a tab.
    quote: Character around fields of CSV or TSV that hold a delimiter or a line break, or
        ``"none"``; by default ``"`` in CSV and none in TSV.
    hidden: Include files and folders whose names start with a dot.
    text_field: Field with the text, or several fields to join by line breaks. ``a.b`` is the field
        ``b`` of the object ``a``.
    tokens_field: Field with the list of tokens; needs ``unit="tokens"``. By default ``tokens``.
    weights_field: Field with the weights of the tokens, a list of as many numbers.
    weight_scale: Copies that stand for a weight of 1, a power of two; by default 16.
    id_field: Field with the id, which every record must have. By default ``id`` where every record
        has one, else all ids are ``FILE:ROW``.
    unique_ids: Fail if an id is missing or occurs twice.
    on_bad_record: ``"fail"``, or ``"skip"`` to omit, count and list records that cannot be read.
    limit: Read only this many records.
    include, exclude: Glob, or several: read only matching files of folders and globs; leave out
        matching ones.
    unit: What texts are split into; by default words, or the scheme's.
    size: Units per shingle; by default 5 words, pieces or units of code, 9 bytes or characters, 1
        token, or the scheme's.
    stop_words: For ``unit="stopwords"``: the path of a file of words, or an iterable of them other
        than a ``str``.
    lowercase, strip_punctuation, keep_whitespace: Normalise texts before they are split.
    count: Count how often a shingle occurs: compare bags instead of sets.
    hash: Base hash of shingles.
    shingling: A ``Shingling``, in place of the eight options above.
    scheme: Name of a scheme or preset, or a ``Scheme``.
    num_perm: Number of permutations; by default 128, or the scheme's.
    seed: Seed of the permutations; by default 1, or the scheme's.
    backend: Where signatures are computed; changes no result.
    isa: Instruction set of ``"simd"``; by default the fastest.
    device: Number of the device of ``"gpu"`` and ``"hybrid"``, as in ``devices()``.
    threads: Number of threads; by default ``SIMGPU_NUM_THREADS``, else one per core.
    batch_mib: Most MiB of text that wait for earlier text, beside one MiB per thread; changes no result.
    overwrite: Replace the results of an earlier run.
    progress: ``True`` draws a bar; or a function of ``(stage, done, total)``, which stops the run
        if it returns ``False``."""

_WEIGHTS = """
    weights: ``"rarity"`` weighs each shingle by log2(n / d), if d of n distinct documents have it.
        The inputs are read once more, to count."""

_SEARCH = """
    threshold: Least Jaccard similarity of near-duplicates, above 0 and up to 1.
    bands, rows: Number of bands, and slots per band; by default chosen for the threshold, or the
        scheme's."""

_CANDIDATES = """
    candidates: How candidate pairs are found: ``"lsh"`` misses some similar pairs, ``"join"`` misses
        none, and ``"auto"`` joins lists of tokens where that costs about as much as LSH. By default
        ``"auto"``, or ``"lsh"`` if an option of signatures or bands is not at its default.
    join_mib: Most MiB of memory for the shingles of an exact join, and for the counts of
        ``weights="rarity"``. Above it, a join goes on on disk."""

_WRITING = """
    memory: Memory for what grows with the number of documents: bytes, or a size such as ``"4GiB"``;
        a run that needs more goes on on disk. By default 60 % of what this process may use. Never
        changes a result.
    temp_dir: Folder for temporary files; by default beside the results.
    resume: Whether to go on from the last checkpoint of a run with the same output that was
        stopped; otherwise what it did is discarded.
    hold_mib: Most MiB of decompressed input held in memory; larger input is read twice.
    compression_level: Level of compressed outputs: 1 to 22 for zstd, 0 to 9 for gzip and xz, 1 to
        9 for bzip2.
    dry_run: Write no file."""

_RAISES = """

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


def dedup_files(
    inputs: Path | Iterable[Path],
    output: Path | None = None,
    *,
    format: Format = "auto",
    delimiter: str | None = None,
    quote: str | None = None,
    hidden: bool = False,
    text_field: str | Iterable[str] = "text",
    tokens_field: str | None = None,
    weights_field: str | None = None,
    weights: Literal["rarity"] | None = None,
    weight_scale: float | None = None,
    id_field: str | None = None,
    unique_ids: bool = False,
    on_bad_record: Literal["fail", "skip"] = "fail",
    limit: int | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    unit: Unit | None = None,
    size: int | None = None,
    stop_words: Path | Iterable[str] | None = None,
    lowercase: bool = False,
    strip_punctuation: bool = False,
    keep_whitespace: bool = False,
    count: bool = False,
    hash: str | None = None,
    shingling: Any = None,
    scheme: Any = "affine32",
    num_perm: int | None = None,
    seed: int | None = None,
    backend: Backend = "auto",
    isa: Isa | None = None,
    device: int | None = None,
    threads: int | None = None,
    batch_mib: int = 16,
    threshold: float = 0.8,
    bands: int | None = None,
    rows: int | None = None,
    verify: Verification = "exact",
    candidates: Candidates | None = None,
    join_mib: int = 2048,
    cluster: Literal["greedy", "connected"] = "greedy",
    keep: Literal["first", "longest"] = "first",
    keep_by: str | None = None,
    prefer_source: str | Iterable[str] = (),
    max_bucket: int = 4096,
    memory: int | str | None = None,
    temp_dir: Path | None = None,
    resume: bool = True,
    hold_mib: int = 128,
    removed_format: Literal["jsonl", "parquet"] = "jsonl",
    compression_level: int | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress = None,
) -> Report:
    return _simgpu.dedup_files(locals())


dedup_files.__doc__ = f"""Keeps one document of each group of near-duplicates.

Writes into the folder ``output``: ``kept/``, ``removed.jsonl``, ``clusters.parquet``,
``report.json``, ``run.json``.

Args:{_INPUT}
    output: Folder for the results; ``None`` only with ``dry_run``.{_OPTIONS}{_WEIGHTS}{_SEARCH}
    verify: How candidate pairs are verified.{_CANDIDATES}
    cluster: ``"greedy"`` removes a document only if it is similar to a kept one; ``"connected"``
        keeps one document of each set that chains of similar pairs connect.
    keep: Which document of a cluster is kept.
    keep_by: Keep the document with the largest value of this field, or the smallest with
        ``FIELD:asc``.
    prefer_source: Glob, or several: keep documents of files that match the first rather than the
        second, and so on.
    max_bucket: Most documents of one LSH bucket to compare a further document with.
    removed_format: Format of the file of removed documents.{_WRITING}{_RAISES}"""


def pairs_files(
    inputs: Path | Iterable[Path],
    output: Path | None = None,
    *,
    format: Format = "auto",
    delimiter: str | None = None,
    quote: str | None = None,
    hidden: bool = False,
    text_field: str | Iterable[str] = "text",
    tokens_field: str | None = None,
    weights_field: str | None = None,
    weights: Literal["rarity"] | None = None,
    weight_scale: float | None = None,
    id_field: str | None = None,
    unique_ids: bool = False,
    on_bad_record: Literal["fail", "skip"] = "fail",
    limit: int | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    unit: Unit | None = None,
    size: int | None = None,
    stop_words: Path | Iterable[str] | None = None,
    lowercase: bool = False,
    strip_punctuation: bool = False,
    keep_whitespace: bool = False,
    count: bool = False,
    hash: str | None = None,
    shingling: Any = None,
    scheme: Any = "affine32",
    num_perm: int | None = None,
    seed: int | None = None,
    backend: Backend = "auto",
    isa: Isa | None = None,
    device: int | None = None,
    threads: int | None = None,
    batch_mib: int = 16,
    threshold: float = 0.8,
    bands: int | None = None,
    rows: int | None = None,
    verify: Verification = "exact",
    candidates: Candidates | None = None,
    join_mib: int = 2048,
    distance: Distance | None = None,
    within: int | None = None,
    identical: Literal["all", "star"] = "all",
    max_pairs: int = 1_000_000_000,
    memory: int | str | None = None,
    temp_dir: Path | None = None,
    resume: bool = True,
    hold_mib: int = 128,
    compression_level: int | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress = None,
) -> Report:
    return _simgpu.pairs_files(locals())


_DISTANCE = """
    distance: Search by distance instead of similarity, with ``unit="tokens"``: ``"hamming"``, the
        number of places at which two lists of equal length differ, or ``"l1"``, the sum of the
        differences between counts. The search is an exact join, and pairs have a field
        ``distance`` in place of ``similarity``.
    within: Greatest distance of a pair."""

_PAIRS = """
    identical: ``"all"`` pairs of identical documents; or ``"star"``: each with the first of them,
        and only this first one has other partners.
    max_pairs: Stop after this many pairs. The report then says ``complete`` is false, and a
        warning tells so."""

_PAIRS_OUTPUT = """
    output: File for the pairs; its ending selects the format: ``.jsonl``, ``.csv`` or
        ``.parquet``. ``.jsonl`` and ``.csv`` can be compressed: ``.jsonl.zst``, ``.csv.gz``.
        ``None`` only with ``dry_run``."""

pairs_files.__doc__ = f"""Finds all pairs of near-duplicates, with their similarity.

Writes one record per pair, in the order of the inputs: ``id_a``, ``id_b``, ``similarity``,
``file_a``, ``row_a``, ``file_b``, ``row_b``.

Args:{_INPUT}{_PAIRS_OUTPUT}{_OPTIONS}{_WEIGHTS}{_SEARCH}
    verify: How candidate pairs are verified.{_CANDIDATES}{_DISTANCE}{_PAIRS}{_WRITING}{_RAISES}"""


def pairs_signatures(
    signatures: Path,
    output: Path | None = None,
    *,
    threshold: float = 0.8,
    bands: int | None = None,
    rows: int | None = None,
    verify: Literal["signature", "none"] = "signature",
    identical: Literal["all", "star"] = "all",
    max_pairs: int = 1_000_000_000,
    compression_level: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress = None,
) -> Report:
    return _simgpu.pairs_signatures(locals())


pairs_signatures.__doc__ = f"""Finds all pairs of near-duplicates in a file of ``sign_files``.

Documents with equal signatures count as identical.

Args:
    signatures: A ``.parquet`` file, or a ``.npy`` file with its
        ``.npy.json``.{_PAIRS_OUTPUT}{_SEARCH}
    verify: How candidate pairs are verified.{_PAIRS}
    compression_level: Level of compressed outputs.
    threads, overwrite, dry_run, progress: As for ``pairs_files``.{_RAISES}"""


def sign_files(
    inputs: Path | Iterable[Path],
    output: Path,
    *,
    format: Format = "auto",
    delimiter: str | None = None,
    quote: str | None = None,
    hidden: bool = False,
    text_field: str | Iterable[str] = "text",
    tokens_field: str | None = None,
    weights_field: str | None = None,
    weight_scale: float | None = None,
    id_field: str | None = None,
    unique_ids: bool = False,
    on_bad_record: Literal["fail", "skip"] = "fail",
    limit: int | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    unit: Unit | None = None,
    size: int | None = None,
    stop_words: Path | Iterable[str] | None = None,
    lowercase: bool = False,
    strip_punctuation: bool = False,
    keep_whitespace: bool = False,
    count: bool = False,
    hash: str | None = None,
    shingling: Any = None,
    scheme: Any = "affine32",
    num_perm: int | None = None,
    seed: int | None = None,
    backend: Backend = "auto",
    isa: Isa | None = None,
    device: int | None = None,
    threads: int | None = None,
    batch_mib: int = 16,
    overwrite: bool = False,
    progress: Progress = None,
) -> Report:
    return _simgpu.sign_files(locals())


sign_files.__doc__ = f"""Computes the MinHash signature of every document.

Args:{_INPUT}
    output: File for the signatures, one row per document, in the order of the inputs. Its ending
        selects the format: ``.parquet``, a table of ids and signatures; ``.npy``, a matrix of
        shape (documents, num_perm) without ids, with its parameters in
        ``.npy.json``.{_OPTIONS}{_RAISES}"""


def link_files(
    a: Path,
    b: Path | None = None,
    output: Path | None = None,
    *,
    fields: str | Iterable[str],
    format: Format = "auto",
    delimiter: str | None = None,
    quote: str | None = None,
    id_field: str | None = None,
    unique_ids: bool = False,
    on_bad_record: Literal["fail", "skip"] = "fail",
    score: Literal["text", "points", "textbook"] = "text",
    match: Literal["one-to-one", "many-to-one", "many-to-many"] | None = None,
    threshold: float | None = None,
    share: float | None = None,
    equivalents: Path | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress = None,
) -> Report:
    return _simgpu.link_files(locals())


link_files.__doc__ = f"""Links the records of two files, or of one, that describe the same thing.

Writes into the folder ``output``: ``links.jsonl``; with one input, ``entities.jsonl``;
``report.html``, the report for people; ``report.json``; ``run.json``. ``link`` takes data frames.

Args:
    a: The path of a file of records: JSON Lines, a JSON array, CSV, TSV, Parquet or Arrow, also
        compressed; or of a folder or a glob of such files.
    b: The path of records to link those of ``a`` to; without it, records of ``a`` are linked to
        each other.
    output: Folder for the results; ``None`` only with ``dry_run``.
    fields: Fields to compare, one or several. ``a.b`` is the field ``b`` of the object ``a``.
    format: Format of the inputs; ``"auto"`` decides by the ending of each name.
    delimiter: Character between two fields of CSV or TSV; by default a comma or a tab.
    quote: Character around fields of CSV or TSV that hold a delimiter or a line break, or
        ``"none"``; by default ``"`` in CSV and none in TSV.
    id_field: Field with the id, which every record must have. By default ``id`` where every record
        has one, else all ids are ``FILE:ROW``.
    unique_ids: Fail if an id is missing, or occurs twice in one input.
    on_bad_record: ``"fail"``, or ``"skip"`` to omit, count and list records that cannot be read.
    score: How a pair is scored: ``"text"``, the cosine of the words of all fields, from 0 to 1;
        ``"points"``, learned for each field: one more doubles the odds; or ``"textbook"``, 100
        points per field, less the square of the number of letters to insert and to delete.
    match: With two inputs, how many partners a record may have: ``"one-to-one"``, the default;
        ``"many-to-one"``, one for each record of ``a``; or ``"many-to-many"``, every pair that
        reaches the threshold.
    threshold: Least score of a link; by default what the runners-up suggest.
    share: With two inputs, share of the records of the smaller one that have a partner, above 0
        and up to 1; by default estimated.
    equivalents: File of equal names: one set per line, separated by commas.
    threads, overwrite, dry_run, progress: As for ``dedup_files``.{_RAISES}"""
