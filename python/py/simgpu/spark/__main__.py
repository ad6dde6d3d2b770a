"""Deduplicates files on Spark: ``spark-submit`` runs this file, or ``python -m simgpu.spark`` does."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import simgpu
from simgpu._divided import REFERENCE
from simgpu.errors import Error, ParameterError
from simgpu.spark import dedup
from simgpu.spark._checkpoints import is_missing
from simgpu.spark._tables import Columns, checked_columns, column

#: Options for the parameters that errors name.
_OPTIONS = {
    'on_bad_record="skip"': "--on-bad-record skip",
    "column as order": "column as --order-field",
    "checkpoint_dir": "--checkpoint-dir",
    "component_mib": "--component-mib",
    "edges_in_one_task": "--edges-in-one-task",
    "bands_per_pass": "--bands-per-pass",
}

#: Options that make a Shingling, beside the unit.
_OF_SHINGLING = ("size", "lowercase", "strip_punctuation", "keep_whitespace", "count", "hash")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m simgpu.spark",
        description="Deduplicate Parquet or JSON Lines on Spark. Options are those of `simgpu dedup`, and of Spark.",
    )
    add = parser.add_argument
    add("input", nargs="+", help="files, folders or globs of one format")
    add("-o", "--output", required=True, metavar="DIR", help="folder for kept, removed, clusters and report.json")
    add("--overwrite", action="store_true", help="replace the results of an earlier run")
    add("--checkpoint-dir", metavar="DIR", help="folder for tables between stages [default: OUTPUT/.checkpoint]")
    formats = ["auto", "jsonl", "parquet"]
    add("--format", default="auto", choices=formats, help="auto: JSON Lines if named .json or .jsonl, else Parquet")
    add("--id-field", default="id", metavar="FIELD", help="column of ids [default: id]")
    add("--text-field", default="text", metavar="FIELD", help="column of texts [default: text]")
    add("--against", action="append", metavar="PATH", help="compare with these files, too, which stay as they are; repeatable")
    add("--against-id-field", metavar="FIELD", help="column of ids of --against [default: --id-field]")
    add("--against-text-field", metavar="FIELD", help="column of texts of --against [default: --text-field]")
    add("--order-field", metavar="FIELD", help="column that documents are in the order of [default: the ids]")
    add("--on-bad-record", default="fail", choices=["fail", "skip"], help="a record without text or order [default: fail]")
    add("-t", "--threshold", type=float, default=0.8, metavar="S", help="least Jaccard similarity [default: 0.8]")
    add("--keep", default="first", choices=["first", "longest"], help="which document to keep [default: first]")
    add("--cluster", default="greedy", choices=["greedy", "connected"], help="how to form clusters [default: greedy]")
    add("--verify", default="exact", choices=["exact", "signature", "none"], help="of candidate pairs [default: exact]")
    add("--bands", type=int, metavar="B", help="needs --rows [default: chosen for the threshold]")
    add("--rows", type=int, metavar="R", help="slots per band; needs --bands")
    add("--max-bucket", type=int, default=4096, metavar="N", help="most documents of a bucket to compare with [default: 4096]")
    add("--unit", help="unit of shingles [default: words, or the scheme's]")
    add("--size", type=int, metavar="N", help="units per shingle [default: words 5, or the scheme's]")
    add("--lowercase", action="store_true", help="lowercase texts before shingling")
    add("--strip-punctuation", action="store_true", help="delete punctuation before shingling")
    add("--keep-whitespace", action="store_true", help="keep runs of whitespace")
    add("--count", action="store_true", help="compare bags of shingles instead of sets")
    add("--hash", metavar="NAME", help="base hash of shingles")
    add("--scheme", default="affine32", metavar="NAME", help="signature scheme [default: affine32]")
    add("--num-perm", type=int, metavar="K", help="slots per signature [default: 128, or the scheme's]")
    add("--seed", type=int, metavar="N", help="seed of the permutations [default: 1, or the scheme's]")
    add("--backend", default="auto", metavar="NAME", help="where to compute signatures; never changes a result")
    add("--partitions", type=int, metavar="N", help="parts of shuffled tables [default: spark.sql.shuffle.partitions]")
    add("--bands-per-pass", type=int, metavar="N", help="bands whose buckets are shuffled at a time [default: all]")
    add("--component-mib", type=int, default=256, metavar="N", help="memory of a task for connected documents [default: 256]")
    edges = "most edges that one task joins, 100 bytes each [default: 20000000]"
    add("--edges-in-one-task", type=int, default=20_000_000, metavar="N", help=edges)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit code."""
    options = vars(_parser().parse_args(arguments))
    inputs, kind, overwrite = (options.pop(name) for name in ("input", "format", "overwrite"))
    output = options.pop("output").rstrip("/")
    columns = {name: options.pop(f"{name}_field") for name in ("id", "text", "order")}
    against = options.pop("against")
    of_against = {name: options.pop(f"against_{name}_field") for name in ("id", "text")}
    checkpoint_dir = options.pop("checkpoint_dir") or f"{output}/.checkpoint"
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        # Without spark-submit, Spark takes the first python3 on PATH, which need not have simgpu.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.appName("simgpu dedup").getOrCreate()
    try:
        shingling = _shingling(options)
        if not overwrite and _has_results(session, output):
            raise ParameterError(f"{output} holds results; pass --overwrite to replace them, or give another --output")
        df = _read(session, inputs, kind)
        reference = None
        if against:
            reference = _read(session, against, kind)
            _check_apart(df, reference)
            reference = _renamed(reference, columns, of_against)
        options |= {"shingling": shingling, "checkpoint_dir": checkpoint_dir}
        found = dedup(df, **columns, **options, against=reference)
        tables = {"kept": found.kept, "removed": found.removed, "clusters": found.clusters}
        for name, table in tables.items():
            table.write.mode("overwrite").parquet(f"{output}/{name}")
        report = session.range(1).select(F.lit(json.dumps(found.report)).alias("value"))
        report.coalesce(1).write.mode("overwrite").text(f"{output}/report.json")
    except Error as error:
        message = str(error)
        for parameter, option in _OPTIONS.items():
            message = message.replace(parameter, option)
        print(f"error: {message}", file=sys.stderr)
        return 1
    except AnalysisException as error:
        print(f"error: {str(error).splitlines()[0]}", file=sys.stderr)
        return 1
    finally:
        session.stop()
    counts = found.report["counts"]
    print(f"kept {counts['kept']:,} of {counts['documents']:,} documents; {checkpoint_dir} may be removed")
    return 0


def _shingling(options: dict[str, Any]) -> simgpu.Shingling | None:
    """The shingling that options describe; ``None`` for the scheme's."""
    unit = options.pop("unit")
    values = {name: options.pop(name) for name in _OF_SHINGLING}
    given = {name: value for name, value in values.items() if value not in (None, False)}
    if unit is None and not given:
        return None
    return simgpu.Shingling(unit or simgpu.Signer(scheme=options["scheme"]).shingling.unit, **given)


def _read(session: SparkSession, inputs: list[str], kind: str) -> DataFrame:
    if kind == "auto":
        endings = (re.sub(r"/$|\.(gz|bz2|zst)$", "", path).rpartition(".")[2] for path in inputs)
        is_lines = [ending in ("json", "jsonl", "jsonlines", "ndjson") for ending in endings]
        if any(is_lines) and not all(is_lines):
            raise ParameterError("inputs are of two formats; give Parquet or JSON Lines, or pass --format")
        kind = "jsonl" if all(is_lines) else "parquet"
    try:
        return session.read.json(inputs) if kind == "jsonl" else session.read.parquet(*inputs)
    except Exception as error:
        if "CANNOT_READ_FILE_FOOTER" not in str(error):
            raise
        raise ParameterError("inputs are not Parquet; pass --format jsonl if they are JSON Lines") from error


def _check_apart(df: DataFrame, reference: DataFrame) -> None:
    """Refuses a file that is on both sides: none of its documents would be left."""
    both = sorted(set(df.inputFiles()) & set(reference.inputFiles()))
    if both:
        raise ParameterError(f"{both[0]} is an input and in --against; give it on one side")


def _renamed(
    reference: DataFrame, columns: dict[str, str | None], fields: dict[str, str | None]
) -> DataFrame:
    """The columns of a reference, under the names that those of the input have."""
    if not any(fields.values()):
        return reference
    named = {name: fields.get(name) or own for name, own in columns.items() if own is not None}
    checked_columns(reference, Columns(**named), REFERENCE)
    # The order may be that of the ids.
    field_of = {columns[name]: field for name, field in reversed(named.items())}
    return reference.select(*(column(reference, field).alias(own) for own, field in field_of.items()))


def _has_results(session: SparkSession, output: str) -> bool:
    results = f"{output}/{{kept,removed,clusters,report.json}}"
    try:
        # Of a single path that is missing, Spark logs a stack trace.
        return bool(session.read.text([results, results]).schema)
    except Exception as error:
        if is_missing(error):
            return False
        raise


if __name__ == "__main__":
    sys.exit(main())
