#!/usr/bin/env python3
"""Runs the Spark script of text-dedup, datatrove's four steps and simgpu on the same generated documents.

    spark_peers.py --work DIR --command SIMGPU --script minhash_spark.py --documents 100000 --cap 900

Needs pyspark with Java, datatrove, simgpu and pyarrow. Each tool has 16 bands of 8 rows, shingles of five words and two
threads, and is stopped after `--cap` seconds. The exact join of `simgpu pairs` tells which documents are similar. The
documents are of plain lowercase words, which all tools split alike.

The script of text-dedup 0.4.0 (text_dedup/minhash_spark.py in its wheel) runs as it is, and as a copy with 8 partitions
in place of its 8,192, 4,096 and 256. It needs GraphFrames, whose jar is not on PyPI: connected components come from
SciPy, in the driver, instead.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from processes import judged, measured

HERE = Path(__file__).resolve().parent

GRAPH_FRAMES = '''
class GraphFrame:
    """Connected components as GraphFrames labels them: by the least id."""

    def __init__(self, vertices, edges):
        self.vertices, self.edges = vertices, edges

    def connectedComponents(self):
        import pandas
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        ids = self.vertices.toPandas()["id"].sort_values().to_numpy()
        edges = self.edges.toPandas()
        a, b = (ids.searchsorted(edges[name].to_numpy()) for name in ("src", "dst"))
        graph = coo_array(([1] * len(a), (a, b)), shape=(len(ids), len(ids)))
        _, labels = connected_components(graph, directed=False)
        found = pandas.DataFrame({"id": ids, "label": labels})
        found["component"] = found.groupby("label")["id"].transform("min")
        return self.edges.sparkSession.createDataFrame(found[["id", "component"]])
'''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--command", default="simgpu")
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--cap", type=float, default=900)
    parser.add_argument("--only", action="append")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)

    spec = importlib.util.spec_from_file_location("spark_check", HERE.parent.parent / "scripts" / "spark-check.py")
    spark_check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(spark_check)
    texts = spark_check.many_texts(arguments.documents)
    parquet, lines = work / "parquet", work / "jsonl"
    # Ids are three times the row.
    spark_check.write_corpus(texts, parquet)
    lines.mkdir(exist_ok=True)
    for part in range(2):
        rows = range(part, len(texts), 2)
        documents = (json.dumps({"id": str(3 * row), "text": texts[row]}) + "\n" for row in rows)
        (lines / f"{part}.jsonl").write_text("".join(documents))

    pairs = work / "pairs.parquet"
    found = [arguments.command, "pairs", parquet, "-o", pairs, "--candidates=join", "--quiet", "--overwrite"]
    subprocess.run([*map(str, found)], check=True)
    table = pq.read_table(pairs)
    pairs = np.stack([table[name].to_numpy().astype(int) // 3 for name in ("id_a", "id_b")], axis=1)
    print(f"{len(texts):,} documents, {sum(map(len, texts)) / len(texts):.0f} bytes each, {len(pairs):,} true pairs")

    shim = work / "shim"
    shim.mkdir(exist_ok=True)
    (shim / "graphframes.py").write_text(GRAPH_FRAMES)
    script = re.sub(r'"8192"', '"8"', arguments.script.read_text())
    script = script.replace("repartition(4096)", "repartition(8)").replace("max(256, ", "max(8, ")
    (work / "few_partitions.py").write_text(script)
    spark = {"PYTHONPATH": str(shim), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    submit = [Path(sys.executable).with_name("spark-submit"), "--master", "local[2]", "--driver-memory", "4g"]
    submit += ["--conf", "spark.driver.host=127.0.0.1", "--conf", f"spark.local.dir={work / 'local'}"]
    options = ["--input", parquet, "--column", "text", "--num_perm", 128, "--b", 16, "--r", 8, "--threshold", 0.8]
    options += ["--checkpoint_dir", work / "checkpoints", "--output"]
    output = work / "output"
    own = [*submit, Path(importlib.util.find_spec("simgpu").origin).parent / "spark" / "__main__.py", parquet, "--partitions", 8]
    tools = {
        "simgpu dedup": [arguments.command, "dedup", parquet, "-o", output, "--quiet", "--candidates=lsh"],
        "simgpu.spark": [*own, "-o", output],
        "simgpu.spark, connected, none verified": [*own, "-o", output, "--cluster=connected", "--verify=none"],
        "text-dedup, 8 partitions": [*submit, work / "few_partitions.py", *options, output],
        "datatrove": [sys.executable, "-B", HERE / "pipelines.py", "datatrove", lines, output, 2, 5],
        "text-dedup": [*submit, arguments.script, *options, output],
    }
    print("| tool | elapsed s | CPU s | kept | removed without a similar kept one | similar pairs left |\n|---|---|---|---|---|---|")
    for tool, command in tools.items():
        if arguments.only and tool not in arguments.only:
            continue
        for folder in (output, Path(f"{output}-steps")):
            shutil.rmtree(folder, ignore_errors=True)
        log = work / f"{tool.replace(' ', '-')}.log"
        cost = measured(command, arguments.cap, log, **spark)
        row = f"{cost.ended} | | "
        if not cost.ended:
            folder = output / "kept" if (output / "kept").is_dir() else output
            files = [*folder.rglob("*.parquet")]
            if files:
                ids = np.concatenate([pq.ParquetFile(file).read(["id"])["id"].to_numpy() for file in files])
            else:
                ids = np.array([int(json.loads(line)["id"]) for file in folder.rglob("*.jsonl") for line in open(file)])
            verdict = judged(ids // 3, pairs, len(texts))
            row = f"{verdict.kept:,} | {verdict.removed_unlinked:,} | {verdict.pairs_left:,}"
        print(f"| {tool} | {cost.elapsed_s:.0f} | {cost.cpu_s:.0f} | {row} |", flush=True)


if __name__ == "__main__":
    main()
