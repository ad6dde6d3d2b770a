#!/usr/bin/env python3
"""Compares simgpu on Spark with the command, kills parts of the cluster meanwhile, and measures.

The cluster has two executor processes on this machine (`local-cluster[2,1,1024]`). Needs pyspark, pandas < 3, pyarrow,
Java, the wheel, and the command (`--command`). What the subcommands print goes to results/ by hand.

    spark-check.py equal --work DIR [--corpora DIR] [--sail]   keep-list, removed pairs and counts of 20,000 documents
    spark-check.py kill --work DIR                             one executor killed in the middle of each stage
    spark-check.py resume --work DIR                           the driver killed in each stage, and started again
    spark-check.py scale --work DIR --documents-file FILE     CPU seconds per stage, shuffled bytes per document
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"

#: The searches that are compared: options of `simgpu.spark.dedup`, which the command spells as flags.
SEARCHES = [
    {"cluster": "greedy", "verify": "exact"},
    {"cluster": "greedy", "verify": "signature", "keep": "longest"},
    {"cluster": "connected", "verify": "exact", "keep": "longest"},
    {"cluster": "connected", "verify": "signature"},
    {"cluster": "greedy", "verify": "exact", "bands": 32, "rows": 2, "max_bucket": 50},
]


def open_session(arguments: argparse.Namespace, **options: str):
    """A session on two executor processes, or on Sail."""
    if getattr(arguments, "sail", False):
        from pysail.spark import SparkConnectServer
        from pyspark.sql import SparkSession

        server = SparkConnectServer()
        server.start()
        _, port = server.listening_address
        return SparkSession.builder.remote(f"sc://localhost:{port}").getOrCreate()
    os.environ.setdefault("JAVA_TOOL_OPTIONS", FLAGS)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_DIRS"] = str(arguments.work / "local")
    os.environ["SPARK_WORKER_DIR"] = str(arguments.work / "workers")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("simgpu")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.port": "4440",
        **options,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def made_corpus(documents: int) -> list[str]:
    """Texts with a bucket of 5 %, a chain of 500 drifting copies, repeats, and pairs of near-duplicates."""
    rng = random.Random(1)
    words = [f"word{number}" for number in range(20_000)]

    def text(length: int) -> list[str]:
        return rng.choices(words, k=length)

    def edited(base: list[str], edits: int) -> list[str]:
        copy = list(base)
        for _ in range(edits):
            copy[rng.randrange(len(copy))] = rng.choice(words)
        return copy

    boilerplate = text(80)
    texts = [edited(boilerplate, 1) for _ in range(documents // 20)]
    link = text(120)
    for _ in range(500):
        texts.append(link)
        link = edited(link, 1)
    while len(texts) < documents:
        base = text(rng.randrange(20, 120))
        texts.append(base)
        if rng.random() < 0.2:
            texts.append(edited(base, rng.randrange(3)))
        if rng.random() < 0.05:
            texts.append([*base, "", ""])
    texts = texts[:documents]
    rng.shuffle(texts)
    return [*map(" ".join, texts[:-2]), "", "short"]


def real_corpus(folder: Path) -> list[str]:
    """20,000 documents of three corpora."""
    texts: list[str] = []
    for name, count in [("arxiv-abstracts", 14_000), ("driver-docs", 5_000), ("licenses", 1_000)]:
        with pa.CompressedInputStream(folder / f"{name}.jsonl.zst", "zstd") as stream:
            lines = stream.read().decode().splitlines()[:count]
        texts.extend(json.loads(line)["text"] for line in lines)
    return texts


def write_corpus(texts: list[str], folder: Path) -> Path:
    """Four Parquet files whose ids ascend in the order of the files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    size = -(-len(texts) // 4)
    for part, start in enumerate(range(0, len(texts), size)):
        rows = texts[start : start + size]
        table = pa.table({"id": pa.array([3 * row for row in range(start, start + len(rows))]), "text": rows})
        pq.write_table(table, folder / f"part-{part}.parquet", row_group_size=1000)
    return folder


def run_command(arguments: argparse.Namespace, corpus: Path, search: dict) -> tuple[dict, dict]:
    """The removed documents by id, and the report of the command."""
    output = arguments.work / "command"
    shutil.rmtree(output, ignore_errors=True)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in search.items()]
    files = sorted(map(str, corpus.glob("*.parquet")))
    command = [arguments.command, "dedup", *files, "-o", output, "--candidates=lsh", "--quiet", *flags]
    start = time.monotonic()
    subprocess.run([*map(str, command)], check=True)
    report = json.loads((output / "report.json").read_text())
    report["elapsed_s"] = time.monotonic() - start
    removed = {}
    for line in (output / "removed.jsonl").read_text().splitlines():
        row = json.loads(line)
        names = ("kept_id", "similarity", "found_by", "via_id", "via_similarity")
        removed[row["id"]] = tuple(row.get(name) for name in names)
    return removed, report


def run_spark(session, corpus: Path, checkpoints: Path, search: dict):
    """The removed documents by id, the kept ids, and the result."""
    from simgpu.spark import dedup

    df = session.read.parquet(str(corpus))
    found = dedup(df, id="id", text="text", checkpoint_dir=str(checkpoints), **search)
    removed = {row[0]: tuple(row)[1:] for row in found.removed.collect()}
    kept = {row[0] for row in found.kept.select("id").collect()}
    return removed, kept, found.report


def difference(expected: tuple[dict, dict], got: tuple[dict, set, dict]) -> str:
    """What differs; empty if nothing does."""
    removed, report = expected
    found, kept, own = got
    if found != removed:
        wrong = {id for id in found.keys() | removed.keys() if found.get(id) != removed.get(id)}
        some = [(id, removed.get(id), found.get(id)) for id in sorted(wrong)[:3]]
        return f"{len(wrong)} removed documents differ, as {some}"
    if kept & removed.keys() or len(kept) + len(removed) != report["counts"]["documents"]:
        return f"{len(kept)} kept and {len(removed)} removed of {report['counts']['documents']}"
    # The command counts the bytes of its files, which Spark does not read.
    names = [name for name in own["counts"] if name != "bytes"]
    different = {name: (report["counts"][name], own["counts"][name]) for name in names}
    different |= {name: (report["parameters"].get(name), value) for name, value in own["parameters"].items()}
    sizes = {int(size): clusters for size, clusters in report["cluster_sizes"].items()}
    different["cluster_sizes"] = (sizes, own["cluster_sizes"])
    name = "expected_precision"
    different[name] = (report.get(name), own.get(name))
    return "; ".join(f"{name}: {a} and {b}" for name, (a, b) in different.items() if a != b)


def equal(arguments: argparse.Namespace) -> int:
    """Compares the results with those of the command."""
    corpora = {"made": made_corpus(arguments.documents)}
    if arguments.corpora:
        corpora["real"] = real_corpus(arguments.corpora)[: arguments.documents]
    session = open_session(arguments)
    failed = 0
    for name, texts in corpora.items():
        corpus = write_corpus(texts, arguments.work / name)
        for number, search in enumerate(SEARCHES):
            expected = run_command(arguments, corpus, search)
            checkpoints = arguments.work / f"checkpoints-{name}-{number}"
            shutil.rmtree(checkpoints, ignore_errors=True)
            start = time.monotonic()
            wrong = difference(expected, run_spark(session, corpus, checkpoints, search))
            failed += bool(wrong)
            counts = expected[1]["counts"]
            print(
                f"{name} {search}: {wrong or 'equal'}; {counts['documents']} documents, {counts['removed']} removed, "
                f"largest cluster {counts['largest_cluster']}, {counts['omitted_pairs']} pairs omitted; "
                f"{time.monotonic() - start:.1f} s, command {expected[1]['elapsed_s']:.1f} s",
                flush=True,
            )
    session.stop()
    return failed


STAGES = ["signed", "documents", "links", "components", "removals", "removed"]


def executors() -> list[int]:
    """The process ids of the executors of this process's cluster."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and _is_ours(int(process.name)):
            found.append(int(process.name))
    return sorted(found)


def _is_ours(process: int) -> bool:
    while process > 1:
        if process == os.getpid():
            return True
        try:
            status = Path(f"/proc/{process}/stat").read_text()
        except OSError:
            return False
        process = int(status.rpartition(")")[2].split()[1])
    return False


def kill(arguments: argparse.Namespace) -> int:
    """Kills one executor while each stage runs."""
    corpus = write_corpus(made_corpus(arguments.documents), arguments.work / "made")
    search = {"cluster": "greedy", "verify": "exact"}
    expected = run_command(arguments, corpus, search)
    session = open_session(arguments)
    failed = 0
    checkpoints = arguments.work / "checkpoints-kill"
    shutil.rmtree(checkpoints, ignore_errors=True)
    killed: dict[str, int] = {}

    def watch() -> None:
        """Kills an executor shortly after a stage has begun to run tasks."""
        for stage in STAGES:
            before = STAGES[: STAGES.index(stage)]
            while not all((checkpoints / "done" / name / "_SUCCESS").exists() for name in before):
                time.sleep(0.02)
            while len(executors()) < 2 or not session.sparkContext.statusTracker().getActiveStageIds():
                time.sleep(0.02)
            time.sleep(arguments.after)
            if (checkpoints / "done" / stage).exists():
                continue
            victim = executors()[0]
            os.kill(victim, signal.SIGKILL)
            killed[stage] = victim

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    wrong = difference(expected, run_spark(session, corpus, checkpoints, search))
    print(f"killed executors: {killed}; {wrong or 'equal'}")
    failed += bool(wrong) + (set(killed) != set(STAGES))
    session.stop()
    return failed


def resume(arguments: argparse.Namespace) -> int:
    """Kills the driver, with its executors, in each stage, and starts it again."""
    corpus = write_corpus(made_corpus(arguments.documents), arguments.work / "made")
    search = {"cluster": "connected", "verify": "signature"}
    expected = run_command(arguments, corpus, search)
    checkpoints = arguments.work / "checkpoints-resume"
    shutil.rmtree(checkpoints, ignore_errors=True)
    for stage in STAGES:
        command = [sys.executable, __file__, "once", "--work", arguments.work, "--command", arguments.command]
        driver = subprocess.Popen([*map(str, command)], start_new_session=True)
        while driver.poll() is None and not (checkpoints / stage).exists():
            time.sleep(0.05)
        done = sorted(path.name for path in (checkpoints / "done").glob("*"))
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        print(f"killed the driver while {stage} was written; complete: {', '.join(done)}", flush=True)
    session = open_session(arguments)
    found = run_spark(session, corpus, checkpoints, search)
    wrong = difference(expected, found)
    print(f"after {len(STAGES)} kills: {wrong or 'equal'}")
    session.stop()
    return bool(wrong)


def once(arguments: argparse.Namespace) -> int:
    """One run of `resume`, to be killed."""
    session = open_session(arguments)
    search = {"cluster": "connected", "verify": "signature"}
    run_spark(session, arguments.work / "made", arguments.work / "checkpoints-resume", search)
    return 0


def scale(arguments: argparse.Namespace) -> int:
    """Measures each stage on many documents, beside the wheel and the command on the same ones."""
    import simgpu

    corpus = arguments.work / "large"
    if not corpus.exists():
        corpus.mkdir(parents=True)
        options = pyarrow.json.ReadOptions(block_size=16 << 20)
        table = pyarrow.json.read_json(arguments.documents_file, read_options=options)
        table = table.append_column("name", table["id"]).set_column(0, "id", pa.array(range(len(table))))
        size = -(-len(table) // 8)
        for part in range(8):
            rows = table.slice(part * size, size)
            pq.write_table(rows, corpus / f"part-{part}.parquet", row_group_size=20_000)
    texts = pq.read_table(corpus, columns=["text"])["text"]
    start = time.process_time()
    for batch in texts.chunks[:4]:
        simgpu.Signer(threads=1).sign(batch)
    cpu_s, signed = time.process_time() - start, sum(map(len, texts.chunks[:4]))
    print(f"the wheel signs {signed / cpu_s:,.0f} documents per CPU second")
    session = open_session(arguments, **{"spark.sql.shuffle.partitions": "16"})
    for search in ({"verify": "signature"}, {"verify": "exact"}):
        checkpoints = arguments.work / f"checkpoints-scale-{search['verify']}"
        shutil.rmtree(checkpoints, ignore_errors=True)
        start = time.monotonic()
        before = stages_of(session)
        removed, kept, report = run_spark(session, corpus, checkpoints, search)
        elapsed = time.monotonic() - start
        documents = report["counts"]["documents"]
        print(f"{search}: {documents:,} documents in {elapsed:.0f} s, {len(kept):,} kept")
        for name, seconds in report["stages"].items():
            print(f"  {name}: {seconds:.1f} s")
        for stage in stages_of(session)[len(before) :]:
            print(
                f"  job stage {stage['stageId']}: {stage['executorRunTime'] / 1000:.1f} s of tasks, "
                f"{stage['executorCpuTime'] / 1e9:.1f} CPU s of the JVM, "
                f"{stage['shuffleWriteBytes'] / documents:.1f} bytes shuffled per document: {stage['name']}"
            )
        expected = run_command(arguments, corpus, search)
        print(f"  {difference(expected, (removed, kept, report)) or 'equal'}; command {expected[1]['elapsed_s']:.1f} s")
    session.stop()
    return 0


def stages_of(session) -> list[dict]:
    """The stages of all jobs so far, from the status interface of the driver."""
    context = session.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"
    with urllib.request.urlopen(address) as reply:
        return sorted(json.load(reply), key=lambda stage: stage["stageId"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=["equal", "kill", "resume", "once", "scale"])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--command", default="simgpu")
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--documents-file", type=Path)
    parser.add_argument("--after", type=float, default=0.3, help="seconds into a stage at which an executor is killed")
    parser.add_argument("--sail", action="store_true")
    arguments = parser.parse_args()
    arguments.work = arguments.work.resolve()
    arguments.work.mkdir(parents=True, exist_ok=True)
    return globals()[arguments.check](arguments)


if __name__ == "__main__":
    sys.exit(main())
