"""Measures `simgpu index` with many generated documents, and MinHashLSH of datasketch in memory beside it.

    cargo build --profile dist --workspace --all-features --bin simgpu --bench index
    python3 benches/peers/index_on_disk.py --simgpu PROGRAM --bench PROGRAM [--documents N] [--kind KIND] [--folder DIR]
    python3 benches/peers/index_on_disk.py --peers [--documents N] [--bench PROGRAM]

Makes N texts with the bench, signs them, builds an index of them, and lets the bench ask it and add to it. Of each command it prints
seconds by the clock and on processors, and the most memory. What a build takes beyond signing is the difference of the
two commands. Needs 1.3 kB of disk per document, which are free again at the end. With --peers, datasketch 2.0.0 must be in the running Python;
it needs 6 kB of memory per document.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

COMMON = ["--threshold", "0.8", "--quiet"]


def measured(name, command, documents, output=None):
    """Runs a command and prints what it took. Returns seconds by the clock and on processors."""
    start = time.perf_counter()
    with open(output or os.devnull, "wb") as target:
        child = subprocess.Popen([str(part) for part in command], stdout=target)
        _, status, usage = os.wait4(child.pid, 0)
    wall_s, cpu_s = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    if status != 0:
        raise SystemExit(f"{name} ended with status {status}")
    each = f"{wall_s * 1e6 / documents:.2f} µs each, {cpu_s * 1e6 / documents:.2f} µs on processors"
    print(f"{name:<16}{wall_s:.1f} s, {each}, {usage.ru_maxrss // 1024} MiB at most; load {os.getloadavg()[0]:.1f}", flush=True)
    return wall_s, cpu_s


def folder_bytes(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure_simgpu(arguments, folder):
    documents, kind, simgpu = arguments.documents, arguments.kind, arguments.simgpu
    texts, index = folder / "texts.jsonl", folder / "index"
    measured("texts", [arguments.bench, "texts", documents], documents, texts)
    build = [simgpu, "index", "build", texts, "--index", index, "--kind", kind, *COMMON]
    if kind == "lsh":
        signatures = folder / "signatures.parquet"
        sign = measured("sign", [simgpu, "sign", texts, "--output", signatures, "--quiet"], documents)
        signatures.unlink()
        built = measured("build", build, documents)
        beyond = [(of_build - of_sign) * 1e6 / documents for of_build, of_sign in zip(built, sign)]
        print(f"beyond signing  {beyond[0]:.2f} µs each, {beyond[1]:.2f} µs on processors")
    else:
        measured("build", build, documents)
    texts.unlink()
    print(f"folder          {folder_bytes(index) / documents:.1f} bytes a document", flush=True)
    measured("stats", [simgpu, "index", "stats", "--index", index], documents)
    measured("verify", [simgpu, "index", "verify", "--index", index, "--quiet"], documents)
    subprocess.run([arguments.bench, kind, str(documents), index], check=True)


def measure_datasketch(documents, texts):
    """Inserts into MinHashLSH in memory, and asks it."""
    from datasketch import MinHash, MinHashLSH

    def minhash(text):
        words = text.split()
        made = MinHash(num_perm=128)
        made.update_batch([" ".join(words[at : at + 5]).encode() for at in range(len(words) - 4)])
        return made

    def resident_bytes():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def median_us(calls):
        times = []
        for call in calls:
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return sorted(times)[len(times) // 2] * 1e6

    lsh, before, inserted_s = MinHashLSH(threshold=0.8, num_perm=128), resident_bytes(), 0
    known, new = [], []
    for number, line in enumerate(texts):
        record = json.loads(line)
        made = minhash(record["text"])
        if number >= documents:
            new.append(made)
            continue
        if number % max(documents // 2000, 1) == 0:
            known.append(made)
        start = time.process_time()
        lsh.insert(record["id"], made)
        inserted_s += time.process_time() - start
    print(f"datasketch      {documents} documents, {lsh.b} bands of {lsh.r} rows; load {os.getloadavg()[0]:.1f}")
    print(f"memory          {(resident_bytes() - before) / documents:.0f} bytes a document")
    print(f"insert          {inserted_s * 1e6 / documents:.1f} µs each on a processor, beyond signing")
    for name, asked in [("absent", new), ("present", known)]:
        print(f"query, {name:<9}{median_us([lambda made=made: lsh.query(made) for made in asked]):.1f} µs at the median")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simgpu", type=pathlib.Path, help="the program")
    parser.add_argument("--bench", type=pathlib.Path, required=True, help="the bench, target/dist/deps/index-*")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--kind", choices=["lsh", "exact"], default="lsh")
    parser.add_argument("--folder", type=pathlib.Path, help="where temporary files go")
    parser.add_argument("--peers", action="store_true", help="measure datasketch instead")
    arguments = parser.parse_args()
    if arguments.peers:
        texts = subprocess.Popen([arguments.bench, "texts", str(arguments.documents + 2000)], stdout=subprocess.PIPE)
        measure_datasketch(arguments.documents, texts.stdout)
        return
    if arguments.simgpu is None:
        parser.error("--simgpu names the program to measure")
    folder = pathlib.Path(tempfile.mkdtemp(dir=arguments.folder))
    try:
        measure_simgpu(arguments, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
