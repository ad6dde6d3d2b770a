"""Deduplicates files on Spark: ``spark-submit`` runs this file, or ``python -m simgpu.spark`` does."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import simgpu
from simgpu.errors import Error
from simgpu.spark import dedup


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="simgpu.spark",
        description="Deduplicate Parquet or JSON Lines on Spark; options are those of `simgpu dedup`.",
    )
    parser.add_argument("input", nargs="+", help="files or folders: Parquet, or JSON Lines if named .json or .jsonl")
    parser.add_argument("-o", "--output", required=True, help="folder for kept, removed, clusters and report.json")
    parser.add_argument("--checkpoint-dir", help="folder for tables between stages [default: OUTPUT/.checkpoint]")
    parser.add_argument("--id-field", default="id", help="column of ids")
    parser.add_argument("--text-field", default="text", help="column of texts")
    parser.add_argument("--order-field", help="column that documents are in the order of [default: the ids]")
    parser.add_argument("-t", "--threshold", type=float, default=0.8)
    parser.add_argument("--scheme", default="affine32")
    parser.add_argument("--num-perm", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--unit", help="unit of shingles [default: the scheme's]")
    parser.add_argument("--size", type=int, help="units per shingle, with --unit")
    parser.add_argument("--bands", type=int)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--verify", default="exact", choices=["exact", "signature", "none"])
    parser.add_argument("--cluster", default="greedy", choices=["greedy", "connected"])
    parser.add_argument("--keep", default="first", choices=["first", "longest"])
    parser.add_argument("--max-bucket", type=int, default=4096)
    parser.add_argument("--on-bad-record", default="fail", choices=["fail", "skip"])
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--partitions", type=int, help="parts of shuffled tables")
    parser.add_argument("--bands-per-pass", type=int, help="bands whose buckets are shuffled at a time")
    parser.add_argument("--component-mib", type=int, default=256, help="memory of a task for linked documents")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit code."""
    options = vars(_parser().parse_args(arguments))
    inputs, output = options.pop("input"), options.pop("output").rstrip("/")
    columns = {name: options.pop(f"{name}_field") for name in ("id", "text", "order")}
    checkpoint_dir = options.pop("checkpoint_dir") or f"{output}/.checkpoint"
    unit, size = options.pop("unit"), options.pop("size")
    session = SparkSession.builder.appName("simgpu dedup").getOrCreate()
    try:
        if size is not None and unit is None:
            raise simgpu.ParameterError("--size needs --unit; pass both, or omit --size")
        shingling = simgpu.Shingling(unit, size=size) if size is not None else unit
        lines = [path.rstrip("/").endswith((".json", ".jsonl")) for path in inputs]
        if any(lines) and not all(lines):
            raise simgpu.ParameterError("inputs are of two formats; give Parquet or JSON Lines")
        df = session.read.json(inputs) if all(lines) else session.read.parquet(*inputs)
        found = dedup(df, **columns, **options, shingling=shingling, checkpoint_dir=checkpoint_dir)
        tables = {"kept": found.kept, "removed": found.removed, "clusters": found.clusters}
        for name, table in tables.items():
            table.write.mode("overwrite").parquet(f"{output}/{name}")
        report = session.range(1).select(F.lit(json.dumps(found.report)).alias("value"))
        report.coalesce(1).write.mode("overwrite").text(f"{output}/report.json")
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        session.stop()
    counts = found.report["counts"]
    print(f"kept {counts['kept']:,} of {counts['documents']:,} documents")
    return 0


if __name__ == "__main__":
    sys.exit(main())
