#!/usr/bin/env python3
"""Compares simgpu on Spark, Sail and Ray with the command, kills parts of the cluster meanwhile, and measures.

The cluster has two executor processes on this machine (`local-cluster[2,1,1024]`). Needs pyspark, pandas < 3, pyarrow,
Java, the wheel, and the command (`--command`). What the subcommands print goes to results/ by hand.

    spark-check.py equal --work DIR [--corpora DIR]            keep-list, removed pairs and counts of 20,000 documents
    spark-check.py equal --work DIR --engine sail              the same on Sail, or on Ray
    spark-check.py kill --work DIR                             one executor killed in the middle of each stage
    spark-check.py resume --work DIR                           the driver killed in each stage, and started again
    spark-check.py scale --work DIR --documents 1000000        CPU seconds per stage, shuffled bytes per document
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

import numpy as np
import pyarrow as pa
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


#: Where marks of complete stages are, below a folder of checkpoints.
MARKS = "simgpu-tables/done"

#: Servers of Sail, which run as long as they are held.
SERVERS = []


def open_session(arguments: argparse.Namespace, **options: str):
    """A session on two executor processes, or on Sail; of Ray, its module."""
    if arguments.engine == "ray":
        import ray

        os.environ["RAY_AUTH_MODE"] = "disabled"
        ray.init(num_cpus=2, include_dashboard=False, object_store_memory=500 << 20, log_to_driver=False)
        return ray
    if arguments.engine == "sail":
        from pysail.spark import SparkConnectServer
        from pyspark.sql import SparkSession

        server = SparkConnectServer()
        server.start()
        SERVERS.append(server)
        _, port = server.listening_address
        return SparkSession.builder.remote(f"sc://localhost:{port}").getOrCreate()
    if arguments.check != "scale":
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
            lines = stream.read().decode().split("\n", count)[:count]
        texts.extend(json.loads(line)["text"] for line in lines)
    return texts


def many_texts(documents: int) -> list[str]:
    """Texts of 30 to 180 words, a third of them in groups of up to five edited copies, in random order."""
    rng = np.random.default_rng(1)
    letters = rng.integers(97, 123, (50_000, 9), np.uint8)
    words = [bytes(row[: 3 + number % 7]).decode() for number, row in enumerate(letters)]
    texts: list[str] = []
    while len(texts) < documents:
        base = rng.integers(0, len(words), rng.integers(30, 181))
        copies = rng.integers(1, 5) if rng.random() < 0.13 else 0
        texts.append(" ".join(words[word] for word in base))
        for edits in rng.integers(0, 6, copies):
            copy = base.copy()
            copy[rng.integers(0, len(copy), edits)] = rng.integers(0, len(words), edits)
            texts.append(" ".join(words[word] for word in copy))
    order = rng.permutation(documents)
    return [texts[row] for row in order]


def write_corpus(texts: list[str], folder: Path, files: int = 4) -> Path:
    """Parquet files whose ids ascend in the order of the files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    size = -(-len(texts) // files)
    for part, start in enumerate(range(0, len(texts), size)):
        rows = texts[start : start + size]
        table = pa.table({"id": pa.array([3 * row for row in range(start, start + len(rows))]), "text": rows})
        pq.write_table(table, folder / f"part-{part}.parquet", row_group_size=20_000)
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
        names = ("kept_id", "similarity", "lost", "found_by", "via_id", "via_similarity")
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


def run_ray(ray, corpus: Path, search: dict):
    """The removed documents by id, the kept ids, and the report; signatures are compared with those of one machine."""
    import simgpu
    from simgpu.ray import dedup, sign

    dataset = ray.data.read_parquet(str(corpus))
    signed = {row["id"]: row["signature"] for row in sign(dataset, id="id", text="text").take_all()}
    table = pq.read_table(corpus)
    slots = simgpu.Signer().sign(table["text"]).slots.astype("<u4")
    expected = {id: row.tobytes() for id, row in zip(table["id"].to_pylist(), slots, strict=True)}
    if signed != expected:
        sys.exit("signatures differ")
    found = dedup(dataset, id="id", text="text", partitions=4, **search)
    names = ("kept_id", "similarity", "lost", "found_by", "via_id", "via_similarity")
    removed = {row["id"]: tuple(row[name] for name in names) for row in found.removed.take_all()}
    kept = {row["id"] for row in found.kept.select_columns(["id"]).take_all()}
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
            if arguments.engine == "ray":
                found = run_ray(session, corpus, search)
            else:
                found = run_spark(session, corpus, checkpoints, search)
            wrong = difference(expected, found)
            failed += bool(wrong)
            counts = expected[1]["counts"]
            print(
                f"{name} {search}: {wrong or 'equal'}; {counts['documents']} documents, {counts['removed']} removed, "
                f"largest cluster {counts['largest_cluster']}, {counts['omitted_pairs']} pairs omitted; "
                f"{time.monotonic() - start:.1f} s, command {expected[1]['elapsed_s']:.1f} s",
                flush=True,
            )
    session.shutdown() if arguments.engine == "ray" else session.stop()
    return failed


STAGES = ["signed", "documents", "edges", "components", "removals", "removed"]


def executors() -> dict[str, int]:
    """The process ids of the executors of this process's cluster, by the names that Spark gives them."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and _is_ours(int(process.name)):
            found[words[words.index("--executor-id") + 1]] = int(process.name)
    return found


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


def status_of(session, what: str) -> list[dict]:
    """What the status interface of the driver says of the application."""
    context = session.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/{what}"
    with urllib.request.urlopen(address) as reply:
        return json.load(reply)


def kill(arguments: argparse.Namespace) -> int:
    """Kills one executor while each stage runs."""
    corpus = write_corpus(made_corpus(arguments.documents), arguments.work / "made")
    search = {"cluster": "greedy", "verify": "exact"}
    expected = run_command(arguments, corpus, search)
    session = open_session(arguments)
    checkpoints = arguments.work / "checkpoints-kill"
    shutil.rmtree(checkpoints, ignore_errors=True)
    killed: dict[str, int] = {}

    def is_complete(stage: str) -> bool:
        return (checkpoints / MARKS / stage / "_SUCCESS").exists()

    def busy() -> list[int]:
        """The executors that run a task."""
        known = executors()
        tasks = {executor["id"]: executor["activeTasks"] for executor in status_of(session, "executors")}
        return [known[name] for name in known if tasks.get(name, 0) > 0] if len(known) == 2 else []

    def watch() -> None:
        """Kills an executor that has run a task of the stage for some time."""
        for stage, before in zip(STAGES, ["run", *STAGES], strict=False):
            while not is_complete(before):
                time.sleep(0.02)
            while not is_complete(stage):
                victims = busy()
                time.sleep(arguments.after if victims else 0.02)
                victims = [process for process in busy() if process in victims]
                if victims and not is_complete(stage):
                    os.kill(victims[0], signal.SIGKILL)
                    killed[stage] = victims[0]
                    break

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    wrong = difference(expected, run_spark(session, corpus, checkpoints, search))
    lost = sum(stage["numFailedTasks"] for stage in status_of(session, "stages"))
    print(f"killed executors: {killed}; {lost} tasks lost; {wrong or 'equal'}")
    session.stop()
    return bool(wrong) + (set(killed) != set(STAGES))


def resume(arguments: argparse.Namespace) -> int:
    """Kills the driver, with its executors, in each stage, and starts it again."""
    corpus = write_corpus(made_corpus(arguments.documents), arguments.work / "made")
    search = {"cluster": "connected", "verify": "signature"}
    expected = run_command(arguments, corpus, search)
    checkpoints = arguments.work / "checkpoints-resume"
    shutil.rmtree(checkpoints, ignore_errors=True)

    def complete() -> dict[str, float]:
        return {mark.parent.name: mark.stat().st_mtime for mark in (checkpoints / MARKS).glob("*/_SUCCESS")}

    for stage in STAGES:
        command = [sys.executable, __file__, "once", "--work", arguments.work, "--command", arguments.command]
        driver = subprocess.Popen([*map(str, command)], start_new_session=True)
        while driver.poll() is None and not (checkpoints / MARKS).parent.joinpath(stage).exists():
            time.sleep(0.02)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        before = complete()
        print(f"killed the driver while {stage} was written; complete: {', '.join(before)}", flush=True)
    session = open_session(arguments)
    wrong = difference(expected, run_spark(session, corpus, checkpoints, search))
    anew = [name for name, time_s in complete().items() if before.get(name) != time_s]
    print(f"after {len(STAGES)} kills: written by the last run: {', '.join(anew)}; {wrong or 'equal'}")
    session.stop()
    return bool(wrong)


def once(arguments: argparse.Namespace) -> int:
    """One run of `resume`, to be killed."""
    session = open_session(arguments)
    search = {"cluster": "connected", "verify": "signature"}
    run_spark(session, arguments.work / "made", arguments.work / "checkpoints-resume", search)
    return 0


class CpuSeconds:
    """CPU seconds of the processes below this one, up to the mark of each stage: of Java, and of Python workers.

    Also the most memory that one process of each kind had.
    """

    def __init__(self, checkpoints: Path) -> None:
        self.up_to: dict[str, tuple[float, float]] = {}
        self.most_mb = {"Java": 0.0, "Python": 0.0}
        self._checkpoints = checkpoints
        self._of_process: dict[tuple[int, str], tuple[float, bool]] = {}
        self._stop = threading.Event()
        self._sample()
        #: CPU seconds before the first stage.
        self.before = self._total()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self.up_to["rest"] = self._total()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            self._sample()
            for mark in self._checkpoints.glob(f"{MARKS}/*/_SUCCESS"):
                self.up_to.setdefault(mark.parent.name, self._total())

    def _sample(self) -> None:
        tick = os.sysconf("SC_CLK_TCK")
        for process in Path("/proc").glob("[0-9]*"):
            try:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                is_java = (process / "comm").read_text().startswith("java")
            except OSError:
                continue
            if int(process.name) != os.getpid() and _is_ours(int(process.name)):
                cpu_s = (int(fields[11]) + int(fields[12])) / tick
                self._of_process[int(process.name), fields[19]] = (cpu_s, is_java)
                kind = "Java" if is_java else "Python"
                resident = int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6
                self.most_mb[kind] = max(self.most_mb[kind], resident)

    def _total(self) -> tuple[float, float]:
        java = sum(cpu_s for cpu_s, is_java in self._of_process.values() if is_java)
        return java, sum(cpu_s for cpu_s, is_java in self._of_process.values() if not is_java)


def scale(arguments: argparse.Namespace) -> int:
    """Measures each stage on many documents, beside the wheel and the command on the same ones."""
    import simgpu
    from simgpu import _divided

    corpus = arguments.work / "large"
    if not corpus.exists():
        write_corpus(many_texts(arguments.documents), corpus, files=8)
    sample = pq.read_table(corpus / "part-0.parquet", columns=["id", "text"]).combine_chunks()
    sample = sample.to_batches(max_chunksize=10_000)
    plan = _divided.Plan(_divided.settings_of({"verify": "signature"}))
    for name, stage in {
        "Signer.sign": lambda batch: simgpu.Signer(threads=1).sign(batch.column("text")),
        "the stage `signed`": lambda batch: list(_divided.Sign(plan)([batch.rename_columns(["place", "text"])])),
    }.items():
        start = time.process_time()
        for batch in sample:
            stage(batch)
        cpu_s = time.process_time() - start
        print(f"the wheel alone, {name}: {1e6 * cpu_s / sum(map(len, sample)):.2f} CPU us per document")
    session = open_session(arguments, **{"spark.sql.shuffle.partitions": "16"})
    session.range(0, 1000, 1, 2).mapInArrow(lambda batches: batches, "id bigint").collect()
    for search in ({"verify": "signature"}, {"verify": "exact"}):
        checkpoints = arguments.work / f"checkpoints-scale-{search['verify']}"
        shutil.rmtree(checkpoints, ignore_errors=True)
        before = stages_of(session)
        cpu = CpuSeconds(checkpoints)
        start = time.monotonic()
        removed, kept, report = run_spark(session, corpus, checkpoints, search)
        elapsed = time.monotonic() - start
        cpu.stop()
        documents = report["counts"]["documents"]
        print(f"{search}: {documents:,} documents in {elapsed:.0f} s, {len(kept):,} kept")
        print("| stage | elapsed s | CPU s, Java | CPU s, Python |\n|---|---|---|---|")
        earlier = cpu.before
        for name, total in sorted(cpu.up_to.items(), key=lambda row: sum(row[1])):
            java, python = (now - then for now, then in zip(total, earlier, strict=True))
            seconds = f"{report['stages'][name]:.1f}" if name in report["stages"] else ""
            print(f"| {name} | {seconds} | {java:.1f} | {python:.1f} |")
            earlier = total
        print(f"  most memory of one process, MB: {cpu.most_mb}")
        for stage in stages_of(session)[len(before) :]:
            shuffled = stage["shuffleWriteBytes"] / documents
            if shuffled >= 1:
                print(f"  job stage {stage['stageId']}: {shuffled:.1f} bytes shuffled per document")
        expected = run_command(arguments, corpus, search)
        wrong = difference(expected, (removed, kept, report))
        print(f"  {wrong or 'equal'}; command {expected[1]['elapsed_s']:.1f} s", flush=True)
    session.stop()
    return 0


def stages_of(session) -> list[dict]:
    """The complete stages of all jobs so far."""
    return sorted(status_of(session, "stages?status=complete"), key=lambda stage: stage["stageId"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=["equal", "kill", "resume", "once", "scale"])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--command", default="simgpu")
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--after", type=float, default=0.3, help="seconds into a stage at which an executor is killed")
    parser.add_argument("--engine", default="spark", choices=["spark", "sail", "ray"])
    arguments = parser.parse_args()
    arguments.work = arguments.work.resolve()
    arguments.work.mkdir(parents=True, exist_ok=True)
    return globals()[arguments.check](arguments)


if __name__ == "__main__":
    sys.exit(main())
