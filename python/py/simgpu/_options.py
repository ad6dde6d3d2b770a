"""The options of functions: of each its type, its default and what it means, once.

A group of options is a ``TypedDict``, which type checkers and editors read where a function takes
``**options: Unpack[Group]``. :func:`takes` does the rest at run time: it refuses other names, fills in defaults, and lists
the options in the signature and in the help of the function.
"""

# Without `from __future__ import annotations`: `takes` reads the annotations of groups.

import difflib
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, TypeVar, get_type_hints

from ._simgpu import Scheme, Shingling

Path = str | PathLike[str]
Progress = bool | Callable[[str, int, int], object] | None
Unit = Literal["words", "bytes", "chars", "stopwords", "pieces", "code", "tokens"]
Format = Literal["auto", "jsonl", "json", "csv", "tsv", "parquet", "arrow", "text"]
Backend = Literal["auto", "scalar", "simd", "gpu", "hybrid"]
Isa = Literal["portable", "avx2", "avx512", "avx512vnni", "neon"]
Verification = Literal["exact", "signature", "none"]
Candidates = Literal["lsh", "join", "auto"]
Distance = Literal["hamming", "l1"]


class Option(NamedTuple):
    """What an option is unless it is given, and what it means."""

    default: Any
    meaning: str


# Signatures


class SchemeOptions(TypedDict, total=False):
    """The scheme."""

    scheme: Annotated[Scheme | str, Option("affine32", "A ``Scheme``, or the name of a scheme or preset.")]
    num_perm: Annotated[int | None, Option(None, "Number of permutations; by default 128, or the scheme's.")]
    seed: Annotated[int | None, Option(None, "Seed of the permutations; by default 1, or the scheme's.")]


class SignOptions(SchemeOptions, total=False):
    """How texts become signatures."""

    shingling: Annotated[
        Shingling | Unit | None,
        Option(None, "A ``Shingling`` or the name of its unit; by default the scheme's."),
    ]
    backend: Annotated[Backend, Option("auto", "Where signatures are computed; never changes a result.")]


class ShingleOptions(TypedDict, total=False):
    """How files and single texts become shingles."""

    unit: Annotated[
        Unit | None, Option(None, "What texts are split into; by default words, or the scheme's.")
    ]
    size: Annotated[
        int | None,
        Option(
            None,
            "Units per shingle; by default 5 words, pieces or units of code, 9 bytes or characters, 1 token, or the scheme's.",
        ),
    ]
    stop_words: Annotated[
        Path | Iterable[str] | None,
        Option(
            None,
            'For ``unit="stopwords"``: the path of a file of words, or an iterable of them other than a ``str``.',
        ),
    ]
    lowercase: Annotated[bool, Option(False, "Lowercase texts before they are split.")]
    strip_punctuation: Annotated[bool, Option(False, "Delete punctuation before texts are split.")]
    keep_whitespace: Annotated[bool, Option(False, "Keep runs of white space.")]
    count: Annotated[
        bool, Option(False, "Count how often a shingle occurs: compare bags instead of sets.")
    ]
    hash: Annotated[str | None, Option(None, "Base hash of shingles.")]
    shingling: Annotated[Any, Option(None, "A ``Shingling``, in place of the eight options above.")]


class DeviceOptions(TypedDict, total=False):
    """What computes signatures."""

    backend: Annotated[Backend, Option("auto", "Where signatures are computed; changes no result.")]
    isa: Annotated[
        Isa | None, Option(None, 'Instruction set of ``"simd"``; by default the fastest.')
    ]
    device: Annotated[
        int | None,
        Option(None, 'Number of the device of ``"gpu"`` and ``"hybrid"``, as in ``devices()``.'),
    ]


# Search


class BandingOptions(TypedDict, total=False):
    """Which pairs become candidates."""

    threshold: Annotated[
        float, Option(0.8, "Least similarity of near-duplicates, above 0 and up to 1.")
    ]
    bands: Annotated[
        int | None,
        Option(None, "Number of bands, with ``rows``; by default chosen for the threshold, or the scheme's."),
    ]
    rows: Annotated[int | None, Option(None, "Slots per band, with ``bands``.")]


class JoinOptions(TypedDict, total=False):
    """How similar two documents are, and how candidate pairs are found."""

    measure: Annotated[
        Literal["jaccard", "contained"],
        Option(
            "jaccard",
            'How similar two documents are: ``"jaccard"``; or ``"contained"``: the share of the shingles of the smaller '
            "document that the larger has. Then the document with the most shingles is kept, and a threshold of 1 removes "
            "only what is contained whole.",
        ),
    ]
    candidates: Annotated[
        Candidates | None,
        Option(
            None,
            'How candidate pairs are found: ``"lsh"`` misses some similar pairs, ``"join"`` misses none, and '
            '``"auto"`` joins lists of tokens where that takes about as long as LSH, or half a second more at most; it '
            'searches others, and texts, through LSH. By default ``"auto"``, or ``"lsh"`` if an option of signatures or '
            "bands is not at its default.",
        ),
    ]
    join_mib: Annotated[
        int,
        Option(
            2048,
            "Most MiB of memory for the shingles of an exact join, and for the counts of "
            '``weights="rarity"``. Above it, a join of files spills to disk.',
        ),
    ]


class RarityOptions(TypedDict, total=False):
    """What shingles weigh."""

    weights: Annotated[
        Literal["rarity"] | None,
        Option(
            None,
            '``"rarity"`` weighs each shingle by log2(n / d), if d of n distinct documents have it. The '
            "documents are read once more, to count.",
        ),
    ]


class ClusterOptions(TypedDict, total=False):
    """How similar documents form clusters, and which of each to keep."""

    cluster: Annotated[
        Literal["greedy", "connected"],
        Option(
            "greedy",
            '``"greedy"`` removes a document only if it is similar to a kept one; ``"connected"`` keeps one '
            "document of each set that chains of similar pairs connect.",
        ),
    ]
    keep: Annotated[
        Literal["first", "longest"],
        Option("first", 'Which document of a cluster is kept: the ``"first"`` or the ``"longest"``.'),
    ]
    max_bucket: Annotated[
        int, Option(4096, "Most documents of one LSH bucket to compare a further document with.")
    ]


class ShortOptions(TypedDict, total=False):
    """What happens to documents of few shingles."""

    min_shingles: Annotated[
        int | None,
        Option(
            None,
            "Compare only documents with at least this many distinct shingles; keep those with fewer, even copies.",
        ),
    ]
    drop_short: Annotated[bool, Option(False, "Remove documents with fewer shingles than ``min_shingles``.")]
    drop_empty: Annotated[bool, Option(False, "Remove documents without shingles.")]


class PairOptions(TypedDict, total=False):
    """Which pairs are returned."""

    identical: Annotated[
        Literal["all", "star"],
        Option(
            "all",
            '``"all"`` pairs of identical documents; or ``"star"``: each with the first of them, and only '
            "this first one has other partners.",
        ),
    ]
    max_pairs: Annotated[
        int,
        Option(
            1_000_000_000,
            "Stop after this many pairs, with a warning; the result then says that it is incomplete. In memory, each "
            "takes 24 bytes.",
        ),
    ]


class DistanceOptions(TypedDict, total=False):
    """A search by distance."""

    distance: Annotated[
        Distance | None,
        Option(
            None,
            'Search by distance instead of similarity, among lists of tokens: ``"hamming"``, the number of places '
            'at which two lists of equal length differ, or ``"l1"``, the sum of the differences between counts. The '
            "search is an exact join, and pairs have a ``distance`` in place of ``similarity``.",
        ),
    ]
    within: Annotated[int | None, Option(None, "Greatest distance of a pair.")]


# What calls have in common


class CallOptions(TypedDict, total=False):
    """How a call runs."""

    threads: Annotated[
        int | None,
        Option(
            None,
            "Number of threads; by default ``SIMGPU_NUM_THREADS``, or one per core that this process may use.",
        ),
    ]
    progress: Annotated[
        Progress,
        Option(
            None,
            "``True`` draws a bar; or a function of ``(stage, done, total)``, which stops the work if it returns "
            "``False``.",
        ),
    ]


class MemorySearchOptions(
    BandingOptions, SignOptions, RarityOptions, JoinOptions, CallOptions, total=False
):
    """A search in memory."""

    against: Annotated[
        Any,
        Option(
            None,
            "Other documents to compare with, the reference, as ``data`` are given. None is removed, and no two of them "
            "are compared. For Signatures: Signatures, or the path of a file of them.",
        ),
    ]
    id: Annotated[
        Any,
        Option(
            None,
            "Ids of the documents: a column of ``data``, or a sequence of int or str. They are in the result.",
        ),
    ]
    verify: Annotated[
        Verification | None,
        Option(
            None,
            'How candidate pairs are verified: ``"exact"``, ``"signature"`` or ``"none"``. By default ``"exact"``, '
            'or ``"signature"`` for Signatures.',
        ),
    ]


class DedupOptions(MemorySearchOptions, ClusterOptions, ShortOptions, total=False):
    """The options of ``dedup``."""

    keep_by: Annotated[
        Any,
        Option(
            None,
            "Keep the document with the largest value: of this column of ``data``, or the smallest with "
            '``"COLUMN:asc"``; or of a sequence with one value per document. Numbers, dates and strings are compared '
            "as such; a missing value comes last, and among equal ones the first document is kept.",
        ),
    ]


class PairsOptions(MemorySearchOptions, DistanceOptions, PairOptions, total=False):
    """The options of ``pairs``."""


# Files


class FormatOptions(TypedDict, total=False):
    """How files are read."""

    format: Annotated[
        Format, Option("auto", 'Format of the inputs; ``"auto"`` decides by the ending of each name.')
    ]
    delimiter: Annotated[
        str | None,
        Option(None, "Character between two fields of CSV or TSV; by default a comma or a tab."),
    ]
    quote: Annotated[
        str | None,
        Option(
            None,
            "Character around fields of CSV or TSV that hold a delimiter or a line break, or ``\"none\"``; by "
            'default ``"`` in CSV and none in TSV.',
        ),
    ]


class IdOptions(TypedDict, total=False):
    """The ids of the records of files, and what is wrong with records."""

    id_field: Annotated[
        str | None,
        Option(
            None,
            "Field with the id, which every record must have. By default ``id`` where every record has one, else all "
            "ids are ``FILE:ROW``.",
        ),
    ]
    unique_ids: Annotated[
        bool, Option(False, "Fail if an id is missing, or occurs twice in one input.")
    ]
    on_bad_record: Annotated[
        Literal["fail", "skip"],
        Option(
            "fail",
            '``"fail"``, or ``"skip"`` to omit, count and list records that cannot be read.',
        ),
    ]


class TextOptions(TypedDict, total=False):
    """Which files and fields hold texts."""

    hidden: Annotated[
        bool, Option(False, "Include files and folders whose names start with a dot.")
    ]
    text_field: Annotated[
        str | Iterable[str],
        Option(
            "text",
            "Field with the text, or several fields to join by line breaks. ``a.b`` is the field ``b`` of the object "
            "``a``.",
        ),
    ]
    limit: Annotated[int | None, Option(None, "Read only this many records.")]
    include: Annotated[
        str | Iterable[str],
        Option((), "Glob, or several: read only matching files of folders and globs."),
    ]
    exclude: Annotated[
        str | Iterable[str],
        Option((), "Glob, or several: leave out matching files of folders and globs."),
    ]


class DocumentOptions(TextOptions, total=False):
    """Which files and fields hold documents."""

    tokens_field: Annotated[
        str | None,
        Option(None, 'Field with the list of tokens; needs ``unit="tokens"``. By default ``tokens``.'),
    ]


class FieldOptions(DocumentOptions, total=False):
    """Which files and fields hold documents, and their weights."""

    weights_field: Annotated[
        str | None,
        Option(None, "Field with the weights of the tokens, a list of as many numbers."),
    ]
    weight_scale: Annotated[
        float | None,
        Option(None, "Copies that stand for a weight of 1, a power of two; by default 16."),
    ]


class AgainstOptions(TypedDict, total=False):
    """What files are compared with."""

    against: Annotated[
        Path | Iterable[Path],
        Option(
            (),
            "File, folder or glob to compare the inputs with, or several. None of its documents is removed or written, "
            "and no two of them are compared. For ``dedup_files``, also the folder of an index.",
        ),
    ]
    against_text_field: Annotated[
        str | Iterable[str],
        Option((), "Field with the text in ``against``, or several; by default that of the inputs."),
    ]
    against_id_field: Annotated[
        str | None,
        Option(None, "Field with the id in ``against``; by default that of the inputs."),
    ]


class OverwriteOptions(TypedDict, total=False):
    """What is replaced."""

    overwrite: Annotated[bool, Option(False, "Replace the results of an earlier run.")]


class DryRunOptions(TypedDict, total=False):
    """Whether files are written."""

    dry_run: Annotated[bool, Option(False, "Write no file.")]


class LevelOptions(TypedDict, total=False):
    """How outputs are compressed."""

    compression_level: Annotated[
        int | None,
        Option(
            None,
            "Level of compressed outputs: 1 to 22 for zstd, 0 to 9 for gzip and xz, 1 to 9 for bzip2.",
        ),
    ]


class RecordMemoryOptions(TypedDict, total=False):
    """The longest record."""

    memory: Annotated[
        int | str | None,
        Option(
            None,
            'Memory for the record that is read: bytes, or a size such as ``"4GiB"``; a record that takes more than a '
            "quarter is an error. By default 60 % of what this process may use. Never changes a result.",
        ),
    ]


class SignFilesOptions(
    FormatOptions,
    FieldOptions,
    IdOptions,
    ShingleOptions,
    SchemeOptions,
    DeviceOptions,
    CallOptions,
    OverwriteOptions,
    RecordMemoryOptions,
    total=False,
):
    """The options of ``sign_files``."""

    batch_mib: Annotated[
        int,
        Option(
            16,
            "Most MiB of text that wait for earlier text, beside one MiB per thread; changes no result.",
        ),
    ]


class FileSearchOptions(
    SignFilesOptions,
    AgainstOptions,
    RarityOptions,
    BandingOptions,
    JoinOptions,
    LevelOptions,
    DryRunOptions,
    total=False,
):
    """A search in files."""

    verify: Annotated[
        Verification,
        Option("exact", 'How candidate pairs are verified: ``"exact"``, ``"signature"`` or ``"none"``.'),
    ]
    memory: Annotated[
        int | str | None,
        Option(
            None,
            'Memory for what grows with the number of documents: bytes, or a size such as ``"4GiB"``; a run that '
            "needs more spills to disk. By default 60 % of what this process may use. Never changes a result.",
        ),
    ]
    temp_dir: Annotated[
        Path | None, Option(None, "Folder for temporary files; by default next to the results.")
    ]
    resume: Annotated[
        bool,
        Option(
            True,
            "Whether to go on from the last checkpoint of a run with the same output that was stopped; otherwise "
            "what it did is discarded.",
        ),
    ]
    hold_mib: Annotated[
        int,
        Option(128, "Most MiB of decompressed input held in memory; larger input is read twice."),
    ]


class DedupFilesOptions(FileSearchOptions, ClusterOptions, ShortOptions, total=False):
    """The options of ``dedup_files``."""

    keep_by: Annotated[
        str | None,
        Option(
            None,
            "Keep the document with the largest value of this field, or the smallest with ``FIELD:asc``.",
        ),
    ]
    prefer_source: Annotated[
        str | Iterable[str],
        Option(
            (),
            "Glob, or several: keep documents of files that match the first rather than the second, and so on.",
        ),
    ]
    removed_format: Annotated[
        Literal["jsonl", "jsonl.zst", "parquet"],
        Option("jsonl", "Format of the file of removed documents."),
    ]
    action: Annotated[
        Literal["drop", "report"],
        Option(
            "drop",
            'What to do with the documents to remove: ``"drop"``, or ``"report"``, which only lists them and writes no '
            "``kept/``.",
        ),
    ]
    no_samples: Annotated[
        bool,
        Option(False, "Write no texts: neither ``samples.jsonl`` nor the texts on the page, ``report.html``."),
    ]
    add: Annotated[
        bool,
        Option(
            False,
            "Add the kept documents to the index of ``against`` once the results are complete: ids must be unique, and none "
            "of theirs may be in the index.",
        ),
    ]
    from_pairs: Annotated[
        Path | None,
        Option(
            None,
            "File of pairs that ``pairs_files`` wrote for the same inputs, with its report beside it: documents are removed by "
            "these, and no shingles and no signatures are computed.",
        ),
    ]
    source_field: Annotated[
        str | None,
        Option(None, "Field whose value is the source of a document, for the counts by source; default the input file."),
    ]


class PairsFilesOptions(FileSearchOptions, DistanceOptions, PairOptions, total=False):
    """The options of ``pairs_files``."""

    page: Annotated[
        bool,
        Option(
            False,
            "Write a page that shows the pairs, with texts of some, beside their file: its name ends in ``.report.html``.",
        ),
    ]
    no_samples: Annotated[bool, Option(False, "Show no texts on the page.")]


class PairsSignaturesOptions(
    BandingOptions, PairOptions, LevelOptions, CallOptions, OverwriteOptions, DryRunOptions, total=False
):
    """The options of ``pairs_signatures``."""

    verify: Annotated[
        Literal["signature", "none"],
        Option("signature", 'How candidate pairs are verified: ``"signature"`` or ``"none"``.'),
    ]


class CompareOptions(BandingOptions, ShingleOptions, SchemeOptions, DeviceOptions, total=False):
    """The options of ``compare``."""


# Clusters of machines


class DividedSearchOptions(BandingOptions, SignOptions, total=False):
    """A search that is divided among machines."""

    verify: Annotated[
        Verification,
        Option(
            "exact",
            'How candidate pairs are verified: ``"exact"`` compares texts, ``"signature"`` 8 bits per permutation; '
            '``"none"`` accepts them all.',
        ),
    ]
    on_bad_record: Annotated[
        Literal["fail", "skip"],
        Option(
            "fail",
            'A record without text or without its place in the order: ``"fail"`` or ``"skip"``. The count '
            "``skipped`` is that of the command, which are records without text; ``without_place`` counts the others.",
        ),
    ]
    component_mib: Annotated[
        int,
        Option(
            256,
            "Memory of a task for documents that buckets connect, in MiB. Greedy clustering takes larger sets of them in "
            "blocks.",
        ),
    ]


class SparkSearchOptions(DividedSearchOptions, total=False):
    """A search on Spark."""

    checkpoint_dir: Annotated[
        str | None,
        Option(
            None,
            "A folder that all machines of the cluster share; it must be given. Each stage writes its table there; the "
            "same call with the same folder goes on after the last complete stage, and refuses other texts. The "
            "result reads from it. Remove it afterwards.",
        ),
    ]
    order: Annotated[
        str | None,
        Option(
            None,
            "The column whose ascending order is that of the documents; by default ``id``. Its values are unique.",
        ),
    ]
    partitions: Annotated[
        int | None,
        Option(
            None,
            "Parts of shuffled tables; by default ``spark.sql.shuffle.partitions``, or one for each 500,000 documents, "
            "and 200 at least, where that is ``auto``.",
        ),
    ]
    bands_per_pass: Annotated[
        int | None,
        Option(
            None,
            "Bands whose buckets are shuffled at a time; by default all. Less disk, more passes.",
        ),
    ]
    edges_in_one_task: Annotated[
        int,
        Option(
            20_000_000,
            "Up to so many edges are joined to components by one task, in some 100 bytes each; more by rounds of joins.",
        ),
    ]


class DividedReferenceOptions(TypedDict, total=False):
    """What a search that is divided among machines compares with."""

    against: Annotated[
        Any,
        Option(
            None,
            "Other documents to compare with, the reference, in columns of the same names and types. None is removed or "
            "written, and no two of them are compared. An id may be in both.",
        ),
    ]


class SparkDedupOptions(
    SparkSearchOptions, DividedReferenceOptions, ClusterOptions, total=False
):
    """The options of ``spark.dedup``."""


class SparkPairsOptions(SparkSearchOptions, DividedReferenceOptions, total=False):
    """The options of ``spark.pairs``."""

    identical: Annotated[
        Literal["all", "star"],
        Option(
            "all",
            'Which pairs of identical documents are returned: ``"all"``, or those with the first of them '
            '(``"star"``).',
        ),
    ]


class DividedBandOptions(BandingOptions, SignOptions, total=False):
    """The options of ``spark.band_keys``."""


class RayResources(TypedDict, total=False):
    """The best known of what ``Dataset.map_batches`` takes."""

    num_cpus: float
    num_gpus: float
    memory: float
    concurrency: Any
    resources: dict[str, float]
    accelerator_type: str


class RaySignOptions(SignOptions, RayResources, total=False):
    """The options of ``ray.sign``."""


class RayDedupOptions(
    DividedSearchOptions, DividedReferenceOptions, ClusterOptions, RayResources, total=False
):
    """The options of ``ray.dedup``."""

    partitions: Annotated[
        int | None,
        Option(
            None,
            "Parts of shuffled tables; by default one for each 20,000 documents, but not fewer than cores, and 200 at "
            "most up to 100 million documents; then one for each 500,000.",
        ),
    ]
    edges_in_one_task: Annotated[
        int,
        Option(
            20_000_000,
            "The most edges that one task joins to components, in some 100 bytes each.",
        ),
    ]


# Passages


class PassageOptions(TypedDict, total=False):
    """What passages are."""

    unit: Annotated[
        Literal["words", "code", "chars", "bytes", "tokens", "lines", "paragraphs"],
        Option(
            "words",
            'What passages are made of: ``"words"``, ``"code"`` (words, numbers and signs of programs), ``"chars"``, '
            '``"bytes"``, ``"tokens"`` (lists), ``"lines"`` or ``"paragraphs"``.',
        ),
    ]
    min_length: Annotated[
        int | None,
        Option(
            None,
            "Least length of a passage in units; by default 50 words, tokens or tokens of code, 200 characters or bytes, 20 "
            "characters of a line or paragraph.",
        ),
    ]
    occurrences: Annotated[
        Literal["later", "all"],
        Option("later", 'Which occurrences count: ``"later"``, all but the first, or ``"all"``.'),
    ]
    min_count: Annotated[
        int, Option(2, "Only passages that occur at least this often, all occurrences counted.")
    ]
    same_document: Annotated[
        Literal["cut", "keep"],
        Option("cut", 'Passages that occur in one document alone: ``"cut"``, as others, or ``"keep"``.'),
    ]
    bytes_equal: Annotated[
        bool, Option(False, "Only passages all of whose bytes are equal, also between the units.")
    ]
    lowercase: Annotated[bool, Option(False, "Units that differ in case alone are equal.")]
    strip_punctuation: Annotated[
        bool,
        Option(False, "Ignore punctuation and symbols in lines and paragraphs, also ``+ = < > ~ |``."),
    ]
    merge_whitespace: Annotated[
        bool,
        Option(False, "Lines or paragraphs are equal if they differ in how much white space is between two words alone."),
    ]
    mask_digits: Annotated[
        bool, Option(False, "Units that differ in their digits alone, each counted as 0, are equal.")
    ]


class PassagesOptions(PassageOptions, CallOptions, total=False):
    """The options of ``passages``."""

    id: Annotated[
        Any,
        Option(
            None,
            "Ids of the texts: a column of ``data``, or a sequence of int or str. They are in the result.",
        ),
    ]
    against: Annotated[
        Any,
        Option(
            None,
            "Other texts, the reference, as ``data`` are given. What occurs there is a passage; they have none themselves.",
        ),
    ]
    only_against: Annotated[bool, Option(False, "Only passages that occur in ``against``.")]
    cut: Annotated[bool, Option(False, "Whether the result has the texts without their passages, too.")]
    snap: Annotated[
        Literal["words", "lines", "none"],
        Option("words", 'With ``cut``, what a cut is shrunk to: whole ``"words"``, whole ``"lines"``, or ``"none"``.'),
    ]


class PassagesFilesOptions(
    FormatOptions,
    DocumentOptions,
    IdOptions,
    AgainstOptions,
    PassageOptions,
    LevelOptions,
    CallOptions,
    OverwriteOptions,
    DryRunOptions,
    total=False,
):
    """The options of ``passages_files``."""

    prefer_source: Annotated[
        str | Iterable[str],
        Option(
            (),
            "Glob, or several: read files that match the first before others, so that they are the sources of passages, "
            "then those that match the second, and so on.",
        ),
    ]
    only_against: Annotated[
        bool, Option(False, "Only passages that occur in the files of ``against``.")
    ]
    action: Annotated[
        Literal["report", "cut", "mark", "drop"],
        Option(
            "report",
            'What to do with passages: ``"report"`` lists them; ``"cut"`` writes the records without them; ``"mark"`` '
            'writes records with a field of their places; ``"drop"`` leaves out documents that are mostly passages.',
        ),
    ]
    mark_field: Annotated[
        str, Option("passages", 'With ``action="mark"``, the name of the field.')
    ]
    max_covered: Annotated[
        float,
        Option(0.8, 'With ``action="drop"``, the largest share of a document\'s bytes that may be passages.'),
    ]
    snap: Annotated[
        Literal["words", "lines", "none"],
        Option("words", 'With ``action="cut"``, what a cut is shrunk to: whole ``"words"``, whole ``"lines"``, or ``"none"``.'),
    ]
    min_left: Annotated[
        int | None,
        Option(None, "Remove documents with passages of which fewer than this many units would be left."),
    ]
    passages_format: Annotated[
        Literal["jsonl", "parquet"],
        Option("jsonl", 'Format of the list of passages: ``"jsonl"`` or ``"parquet"``.'),
    ]
    no_samples: Annotated[
        bool,
        Option(False, "Show no texts on the page, ``report.html``, which then names documents alone."),
    ]
    memory: Annotated[
        int | str | None,
        Option(
            None,
            'Memory for the texts and the search: bytes, or a size such as ``"4GiB"``; a run that needs more goes on '
            "on disk, with the same results. By default 60 % of what this process may use.",
        ),
    ]
    temp_dir: Annotated[
        Path | None, Option(None, "Folder for temporary files; by default next to the results.")
    ]
    resume: Annotated[
        bool,
        Option(
            True,
            "Whether to go on from the last checkpoint of a run with the same output that was stopped; otherwise "
            "what it did is discarded.",
        ),
    ]


# Links and ratings


class ItemOptions(TypedDict, total=False):
    """What the items of benchmarks are, and what decides whether they are in a text."""

    item_fields: Annotated[
        str,
        Option(
            "question,passage,options,answer",
            "Fields of an item's question, passage, options and answer, in this order; leave out the last ones, or one "
            "between two commas, to read fewer parts.",
        ),
    ]
    item_id_field: Annotated[
        str | None,
        Option(
            None,
            "Field with the id of an item; records with one id are one item. By default ``eval_key`` and "
            "``eval_instance_index``, or else ``id``.",
        ),
    ]
    benchmark_field: Annotated[
        str | None,
        Option(None, "Field with the name of the benchmark; by default ``eval_key``, or else the name of the file."),
    ]
    rule: Annotated[
        Literal["simgpu", "gpt3", "datatrove", "s1"],
        Option(
            "simgpu",
            "Whose rule decides: ``simgpu``, the question is asked. By the others, any n-gram in common makes a text "
            "contaminated: ``gpt3``, 13 words of a question or passage; ``datatrove``, 12 words of an answer, or of a "
            "question and its answer behind it; ``s1``, 8 words of a question. They take neither ``threshold``, "
            "``min_ngrams`` nor ``phrases``.",
        ),
    ]
    size: Annotated[int | None, Option(None, "Words of an n-gram, from 2 to 32; by default that of the rule, 5.")]
    threshold: Annotated[
        float,
        Option(
            0.7,
            "Least share of a question's words, without those that many items share, that a contaminated text has.",
        ),
    ]
    min_ngrams: Annotated[
        int,
        Option(2, "Fewest n-grams that at most two questions have, which a contaminated text has."),
    ]
    phrases: Annotated[
        Path | None,
        Option(
            None,
            "The file ``phrases.parquet`` of a run over a corpus with these items: public phrases that it counted are no "
            "contamination. Without it, no hit is excused because its words are frequent.",
        ),
    ]


class ContainOptions(ItemOptions, total=False):
    """The options of ``Contain``."""

    ignore: Annotated[
        Path | Iterable[str] | None,
        Option(
            None,
            "Phrases that are no evidence: an iterable of them other than a ``str``, or the path of a file with one a "
            "line, where lines that begin with ``#`` are notes.",
        ),
    ]


class ContainFilesOptions(
    FormatOptions,
    TextOptions,
    IdOptions,
    ItemOptions,
    LevelOptions,
    CallOptions,
    OverwriteOptions,
    DryRunOptions,
    RecordMemoryOptions,
    total=False,
):
    """The options of ``contain_files``."""

    ignore: Annotated[
        Path | None,
        Option(
            None,
            "File of phrases that are no evidence, one a line; lines that begin with ``#`` are notes.",
        ),
    ]
    action: Annotated[
        Literal["report", "drop", "cut", "mark"],
        Option(
            "report",
            'What to do with documents that hold items: ``"report"`` lists them; ``"drop"`` leaves them out; ``"cut"`` '
            'writes the records without what was found; ``"mark"`` writes records with a field of its places.',
        ),
    ]
    classes: Annotated[
        str | Iterable[str],
        Option(
            "contaminated",
            'With ``action`` ``"drop"``, ``"cut"`` or ``"mark"``, the class of the hits that are left out, cut or marked, or '
            'several: ``"contaminated"``, ``"passage"``, ``"template"``, and to mark ``"short"``.',
        ),
    ]
    mark_field: Annotated[
        str, Option("contained", 'With ``action="mark"``, the name of the field.')
    ]
    hits_format: Annotated[
        Literal["jsonl", "parquet"],
        Option("jsonl", 'Format of the list of hits: ``"jsonl"`` or ``"parquet"``.'),
    ]
    no_samples: Annotated[
        bool, Option(False, "Leave the texts found out of the hits and the page.")
    ]
    suggest_ignore: Annotated[
        bool,
        Option(
            False,
            "Write ``ignore.txt``: the phrases that many documents have without the item, for ``ignore``.",
        ),
    ]
    temp_dir: Annotated[
        Path | None, Option(None, "Folder for temporary files; by default next to the results.")
    ]


class ScanOptions(CallOptions, total=False):
    """The options of ``Contain.scan``."""

    id: Annotated[
        Any,
        Option(
            None,
            "Ids of the texts: a column of ``data``, or a sequence of int or str. They are in the result.",
        ),
    ]


class RowOptions(TypedDict, total=False):
    """Rows that cannot be used."""

    on_bad_record: Annotated[
        Literal["fail", "skip"],
        Option("fail", '``"fail"``, or ``"skip"`` to leave out, count and report rows that cannot be used.'),
    ]


class ScoreOptions(TypedDict, total=False):
    """Which records are linked."""

    score: Annotated[
        Literal["auto", "evidence", "text", "points", "textbook"],
        Option(
            "auto",
            'How a pair is scored. ``"auto"``: with one input ``"evidence"``, where the fields give enough of it, else '
            '``"text"``. ``"evidence"``: the bits of evidence that all fields together give, chance and households weighed '
            'against it; with one input only. ``"text"``: the cosine of the words of all fields together, from 0 to 1. '
            '``"points"``: the sum over the fields of log2(m / u), learned from the records: one point more doubles the '
            'odds. ``"textbook"``: 100 points per field, less the square of the number of letters to insert and to '
            "delete.",
        ),
    ]
    match: Annotated[
        Literal["one-to-one", "many-to-one", "many-to-many"] | None,
        Option(
            None,
            'With two inputs, how many partners a record may have: ``"one-to-one"``, the default; ``"many-to-one"``, '
            'one for each record of ``a``; or ``"many-to-many"``, every pair that reaches the threshold.',
        ),
    ]
    threshold: Annotated[
        float | None,
        Option(
            None,
            'Least score of a link, from 0 to 1 for ``"text"`` and up to 100 per field for ``"textbook"``; by default '
            "what the runners-up suggest.",
        ),
    ]
    share: Annotated[
        float | None,
        Option(
            None,
            "With two inputs, the share of the records of the smaller one that have a partner, above 0 and up to 1; by "
            "default estimated.",
        ),
    ]


class LinkOptions(ScoreOptions, RowOptions, CallOptions, total=False):
    """The options of ``link``."""

    id: Annotated[
        str | None,
        Option(
            None,
            'Column of ids, which every record must have, integers or strings; ``"key=id"`` is key in ``a`` and id in '
            '``b``. By default ``"id"`` where every record of a table has one; without ids, ``row_a`` and ``row_b`` say '
            "which records are linked.",
        ),
    ]
    unique_ids: Annotated[
        bool, Option(False, "Fail if an id is missing, or occurs twice in one table.")
    ]
    equivalents: Annotated[
        Path | Iterable[Iterable[str]] | None,
        Option(
            None,
            'Equal names, such as ``[["William", "Bill", "Will"], ["Robert", "Bob"]]``, or the path of a file with one '
            "set per line, separated by commas. Each is replaced by the first of its set.",
        ),
    ]


class LinkFilesOptions(
    FormatOptions,
    IdOptions,
    ScoreOptions,
    CallOptions,
    OverwriteOptions,
    DryRunOptions,
    RecordMemoryOptions,
    total=False,
):
    """The options of ``link_files``: ``id_field="key=id"`` is the field key of ``a`` and id of ``b``."""

    equivalents: Annotated[
        Path | None,
        Option(None, "File of equal names: one set per line, separated by commas."),
    ]


class EvaluateOptions(FormatOptions, CallOptions, total=False):
    """The options of ``evaluate``."""

    truth_fields: Annotated[
        str | Iterable[str],
        Option(
            (),
            "Both fields of a pair of ids, that of the first input first. By default ``id_a`` and ``id_b``, or ``id`` "
            "and ``kept_id``, or else the first two.",
        ),
    ]
    entity_field: Annotated[
        str | None,
        Option(
            None,
            "Field with the entity, if the truth holds records and no pairs; those without a value do not count.",
        ),
    ]
    id_field: Annotated[
        str | None,
        Option(
            None,
            "Field with the id of a record, beside its entity. By default ``id``; if there is none, all ids are "
            "``FILE:ROW``.",
        ),
    ]
    examples: Annotated[
        int, Option(5, "Most wrong pairs, and most missed ones, in the report, from 0 on.")
    ]


class NeighbourOptions(RowOptions, CallOptions, total=False):
    """The options of ``neighbours``."""

    by: Annotated[
        Literal["item", "user"], Option("item", 'What is compared: ``"item"`` or ``"user"``.')
    ]
    as_: Annotated[
        Literal["seen", "liked", "liked-hated", "stars"],
        Option(
            "liked",
            'What is in a set: ``"seen"``, everything rated; ``"liked"``; ``"liked-hated"``, two elements for each; or '
            '``"stars"``, as many copies as stars, which makes bags.',
        ),
    ]
    top: Annotated[
        int, Option(10, "Most results: neighbours of each, or recommendations per user.")
    ]
    min_support: Annotated[
        int, Option(5, "Fewest elements in common: of items, users who rated both.")
    ]
    liked_from: Annotated[float, Option(4.0, "Liked from this number of stars on.")]
    hated_to: Annotated[
        float, Option(2.5, 'Hated up to this number of stars, for ``as_="liked-hated"``.')
    ]
    user_field: Annotated[str, Option("user", "Column of users, integers or strings.")]
    item_field: Annotated[str, Option("item", "Column of items, integers or strings.")]
    rating_field: Annotated[
        str, Option("rating", 'Column of stars, numbers. ``as_="seen"`` needs none.')
    ]
    time_field: Annotated[
        str | None,
        Option(
            None,
            "Column of times, numbers or dates: of several ratings of an item by a user, the latest counts. By default "
            '``"timestamp"``, if there is one; without it, the last counts.',
        ),
    ]
    names: Annotated[
        Any,
        Option(
            None,
            "Names of items, a table as ``ratings``; they stand beside their ids in the result.",
        ),
    ]
    name_id_field: Annotated[str, Option("id", "Column of ``names`` with the ids of items.")]
    name_field: Annotated[str, Option("name", "Column of ``names`` with their names.")]


class RecommendOptions(NeighbourOptions, total=False):
    """The options of ``recommend`` and ``hold_out``."""

    neighbours: Annotated[int, Option(50, "Most neighbours of each item or user that vote.")]


Function = TypeVar("Function", bound=Callable[..., Any])


def defaults(group: type) -> dict[str, Any]:
    """The defaults of the options of a group, by name."""
    return {name: option.default for name, (_, option) in _options(group).items()}


class _OptionParameter(inspect.Parameter):
    """A parameter that is an option of a group."""

    __slots__ = ()


class _Signature(inspect.Signature):
    """A signature with all options, whose text has ``**options`` in place of them: their list follows in the help."""

    __slots__ = ()

    def _shortened(self) -> inspect.Signature:
        own = [it for it in self.parameters.values() if not isinstance(it, _OptionParameter)]
        own = [it.replace(annotation=it.empty) for it in own if it.kind is not it.VAR_KEYWORD]
        own.append(inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD))
        return inspect.Signature(own)

    def __str__(self) -> str:
        return str(self._shortened())

    def format(self, **_layout: Any) -> str:
        """The text, which Python 3.13 and later ask for by this name."""
        return str(self)


def takes(group: type, *, others: str | None = None) -> Callable[[Function], Function]:
    """Decorates a function that takes the options of a group: it gets all of them, with their defaults.

    The line ``**options`` of its documentation becomes the list of the options.

    Args:
        others: What other keywords are called in the signature, which the function gets, too; without it, they are refused.
    """
    options = _options(group)

    def decorate(function: Function) -> Function:
        own = inspect.signature(function)
        parameters = [it for it in own.parameters.values() if it.kind is not it.VAR_KEYWORD]
        keywords = [it for it in parameters if it.kind is it.KEYWORD_ONLY]
        parameters += [
            _OptionParameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=kind)
            for name, (kind, option) in options.items()
        ]
        known = [parameter.name for parameter in parameters]
        of_group = defaults(group)

        @functools.wraps(function)
        def call(*arguments: Any, **given: Any) -> Any:
            if others is None:
                for name in given:
                    if name not in known:
                        called = function.__qualname__.removesuffix(".__init__")
                        raise TypeError(_unknown(called, name, known))
            return function(*arguments, **{**of_group, **given})

        if others is not None:
            parameters.append(inspect.Parameter(others, inspect.Parameter.VAR_KEYWORD, annotation=Any))
        call.__doc__ = _documented(function.__doc__ or "", options)
        call.__kwdefaults__ = {it.name: it.default for it in keywords if it.default is not it.empty} | of_group
        call.__signature__ = _Signature(parameters, return_annotation=own.return_annotation)  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def parameters_of(options: Mapping[str, Any], group: type) -> dict[str, Any]:
    """The options of a group that are given or have a default, for a report."""
    return {name: options[name] for name in _options(group) if options.get(name) is not None}


@functools.cache
def _options(group: type) -> dict[str, tuple[Any, Option]]:
    """The type of each option of a group, and the option."""
    hints = get_type_hints(group, include_extras=True).items()
    return {name: (hint.__origin__, hint.__metadata__[0]) for name, hint in hints if hasattr(hint, "__metadata__")}


def _unknown(function: str, name: str, known: list[str]) -> str:
    """What is wrong with a call that gives an option that the function has not."""
    near = difflib.get_close_matches(name, known, n=1)
    remedy = f"did you mean {near[0]!r}?" if near else f"help({function}) lists its options"
    return f"{function}() got an unexpected keyword argument {name!r}; {remedy}"


def _documented(text: str, options: dict[str, tuple[Any, Option]]) -> str:
    """The documentation of a function, with the options in place of the line ``**options``."""
    entries = (
        textwrap.fill(
            f"{name}: {option.meaning}",
            width=100,
            initial_indent=" " * 4,
            subsequent_indent=" " * 8,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, (_, option) in options.items()
    )
    listed = "\n".join(entries)
    # Lines that are indented further belong to it.
    return re.sub(r"^    \*\*options:.*(\n {5,}.*)*", lambda _: listed, inspect.cleandoc(text), flags=re.M)
