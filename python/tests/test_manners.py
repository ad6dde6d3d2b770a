"""Signals, progress, threads, fork and memory: how long calls behave inside of a Python program."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import simgpu
from interrupts import seconds_until_interrupted

posix = pytest.mark.skipif(os.name != "posix", reason="signals and fork are those of Unix")

# So costly that a signal that comes some 0.1 s late still finds the call at work.
COSTLY = "num_perm=2048, unit='bytes', size=9"
CALLS = {
    "dedup": f"simgpu.dedup_files({{docs!r}}, {{out!r}}, verify='exact', hold_mib=0, {COSTLY})",
    "pairs": "simgpu.pairs_files({docs!r}, {out!r} + '.csv', threshold=0.5)",
    "sign": f"simgpu.sign_files({{docs!r}}, {{out!r}} + '.npy', batch_mib=4, {COSTLY})",
}


def python(code, timeout=60, **options):
    """Runs code in an interpreter of its own, which must end within the time limit."""
    # Without a desktop, Mesa's device selection writes to stderr.
    options["env"] = {"NODEVICE_SELECT": "1", **options.get("env", os.environ)}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        **options,
    )


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    """40 MB in 8,000 documents: seconds of work."""
    folder = tmp_path_factory.mktemp("docs")
    words = [f"word{number}" for number in range(5000)]
    with open(folder / "docs.jsonl", "w") as file:
        for number in range(8_000):
            start = number * 37 % 4000
            file.write(json.dumps({"text": " ".join(words[start : start + 500]) + f" {number}"}))
            file.write("\n")
    return str(folder / "docs.jsonl")


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.jsonl"
    lines = [json.dumps({"text": f"a b c d e f {number}"}) for number in range(50)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@posix
@pytest.mark.parametrize("call", CALLS)
def test_an_interrupt_ends_a_call_within_half_a_second(call, docs, tmp_path):
    out = str(tmp_path / "out")
    code = f"""
        import time, simgpu
        def began(stage, done, total):
            if done: print("began", flush=True)
        start = time.monotonic()
        try:
            {CALLS[call].format(docs=docs, out=out).replace(")", ", progress=began)")}
        except KeyboardInterrupt:
            print("interrupted", time.monotonic(), flush=True)
        else:
            print("ended", flush=True)
    """
    assert seconds_until_interrupted(code, timeout=30) < 0.5
    left = [name for _, _, names in os.walk(tmp_path) for name in names]
    assert left == []


@posix
def test_an_interrupt_waits_for_no_batch_of_costly_signatures(docs, tmp_path):
    code = f"""
        import time, simgpu
        print("began", flush=True)
        try:
            simgpu.dedup_files({docs!r}, {str(tmp_path / "out")!r}, num_perm=4096, unit="bytes", size=9)
        except KeyboardInterrupt:
            print(time.monotonic(), flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "began\n"
    # By now, whole batches of 16 MiB are read, and take seconds each.
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    rest, _ = process.communicate(timeout=60)
    assert float(rest) - sent < 0.5 + 1.5  # one piece of 1 MiB per thread


class RaisingBar:
    """Raises in every stage but the first, and notes that it was closed."""

    is_closed = False

    def __call__(self, stage, done, total):
        if stage != "read":
            raise ZeroDivisionError

    def close(self):
        self.is_closed = True


def test_an_exception_closes_the_bar_and_keeps_warnings(small, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    bar = RaisingBar()
    with pytest.warns(simgpu.SimgpuWarning, match="no records"), pytest.raises(ZeroDivisionError):
        simgpu.dedup_files([small, tmp_path / "empty.jsonl"], tmp_path / "out", progress=bar)
    assert bar.is_closed


def test_a_progress_function_sees_the_stages_and_stops_the_run(docs, tmp_path):
    calls = []
    simgpu.sign_files(
        docs, tmp_path / "s.npy", limit=2000, progress=lambda *call: calls.append(call)
    )
    assert calls and all(0 <= done <= total for _, done, total in calls)
    assert "read" in {stage for stage, _, _ in calls}
    with pytest.raises(simgpu.StoppedError):
        simgpu.sign_files(docs, tmp_path / "t.npy", num_perm=2048, progress=lambda *_: False)
    with pytest.raises(ZeroDivisionError):
        simgpu.sign_files(docs, tmp_path / "t.npy", num_perm=2048, progress=lambda *_: 1 / 0)
    assert sorted(os.listdir(tmp_path)) == ["s.npy", "s.npy.json"]


@pytest.mark.parametrize("has_tqdm", [False, True])
def test_progress_is_drawn_on_stderr(docs, tmp_path, has_tqdm):
    if has_tqdm:
        pytest.importorskip("tqdm")
    run = python(f"""
        import sys
        if not {has_tqdm}:
            sys.modules["tqdm"] = sys.modules["tqdm.autonotebook"] = None
        import simgpu
        simgpu.sign_files({docs!r}, {str(tmp_path / "s.npy")!r}, limit=3000, num_perm=512, progress=True)
    """)
    assert (run.returncode, run.stdout) == (0, "")
    assert "read" in run.stderr and "%" in run.stderr


def test_a_bar_in_a_notebook_warns_of_nothing(docs, tmp_path):
    pytest.importorskip("tqdm")
    run = python(f"""
        import sys, types
        kernel = types.SimpleNamespace(config={{"IPKernelApp": {{}}}})
        sys.modules["ipykernel.zmqshell"] = types.ModuleType("zmqshell")
        sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: kernel)
        import simgpu
        simgpu.sign_files({docs!r}, {str(tmp_path / "s.npy")!r}, limit=1000, progress=True)
    """)
    assert run.returncode == 0 and "%" in run.stderr, run.stderr
    assert "Warning" not in run.stderr


@pytest.mark.parametrize("call", ["dedup", "devices", "dedup_files"])
def test_the_default_backend_prints_nothing(call, docs, tmp_path):
    code = {
        "dedup": "simgpu.dedup(['some words ' * 200_000 + str(n) for n in range(10)], num_perm=8, bands=2, rows=4)",
        "devices": "simgpu.devices()",
        "dedup_files": f"simgpu.dedup_files({docs!r}, {str(tmp_path / 'out')!r}, num_perm=8, bands=2, rows=4)",
    }[call]
    desktop = {"NODEVICE_SELECT", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"}
    without = {name: value for name, value in os.environ.items() if name not in desktop}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"import simgpu; {code}"],
        capture_output=True,
        text=True,
        timeout=120,
        env=without,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.parametrize("value", ["", "0", "many", "100000"])
def test_an_unfit_number_of_threads_warns_once(value, small, tmp_path):
    run = python(
        f"""
        import warnings, simgpu
        warnings.simplefilter("always")
        for number in range(3):
            simgpu.dedup(["a b c d e f g", "h i j k l m n"])
            simgpu.dedup_files({small!r}, {str(tmp_path)!r} + f"/{{number}}")
        """,
        env=os.environ | {"SIMGPU_NUM_THREADS": value},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("SimgpuWarning") == 1
    assert f"SIMGPU_NUM_THREADS is \"{value}\"; using " in run.stderr
    assert "give a number from 1 to " in run.stderr


def test_other_threads_run_meanwhile(docs, tmp_path):
    count, done = 0, threading.Event()

    def sign():
        simgpu.sign_files(docs, tmp_path / "s.npy", num_perm=1024, limit=4000)
        done.set()

    thread = threading.Thread(target=sign)
    thread.start()
    while not done.is_set() and thread.is_alive():
        count += 1
        time.sleep(0.001)
    thread.join()
    assert done.is_set() and count > 20


@pytest.mark.parametrize("threads", ["1", "2"])
def test_eight_threads_at_once(small, tmp_path, threads):
    run = python(
        f"""
        import concurrent.futures, simgpu
        def work(number):
            out = {str(tmp_path)!r} + f"/{{number}}"
            simgpu.dedup_files({small!r}, out)
            return open(out + "/report.json").read()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            reports = set(pool.map(work, range(40)))
        print(len(reports))
        """,
        env=os.environ | {"SIMGPU_NUM_THREADS": threads},
    )
    assert run.stdout == "1\n", run.stderr


@posix
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_work_after_use_in_the_parent(small, tmp_path, method):
    script = tmp_path / "work.py"
    script.write_text(
        textwrap.dedent(f"""
        import multiprocessing, simgpu
        def work(number):
            out = {str(tmp_path)!r} + f"/{{number}}.npy"
            return simgpu.sign_files({small!r}, out).counts["documents"]
        if __name__ == "__main__":
            print(work("parent"))
            with multiprocessing.get_context({method!r}).Pool(2) as pool:
                print(sum(pool.map(work, range(6))))
            print(work("again"))
        """)
    )
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert run.stdout == "50\n300\n50\n", run.stderr


@posix
def test_a_forked_child_of_a_busy_parent_works(docs, small, tmp_path):
    run = python(f"""
        import os, threading, time, simgpu
        busy = threading.Thread(target=lambda: simgpu.sign_files(
            {docs!r}, {str(tmp_path / "s.npy")!r}, num_perm=1024, limit=4000))
        busy.start()
        time.sleep(0.3)
        child = os.fork()
        if child == 0:
            report = simgpu.dedup_files({small!r}, {str(tmp_path / "out")!r})
            os._exit(report.counts["documents"])
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        busy.join()
    """)
    assert run.stdout == "50\n", run.stderr


@posix
def test_the_gpu_is_refused_in_a_forked_child(small, tmp_path):
    run = python(f"""
        import os, simgpu
        simgpu.devices()
        child = os.fork()
        if child == 0:
            assert simgpu.sign_files({small!r}, {str(tmp_path / "s.npy")!r}).counts["documents"] == 50
            assert simgpu.compare("a b c d e f", "a b c d e f").jaccard == 1
            for call in [simgpu.devices, lambda: simgpu.compare("a", "b", backend="gpu")]:
                try:
                    call()
                except simgpu.UnsupportedError as error:
                    print(str(error), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    """)
    assert run.stdout.count("spawn") == 2, run.stderr


def test_the_interpreter_exits_during_a_run(docs, tmp_path):
    run = python(f"""
        import threading, time, simgpu
        work = lambda: simgpu.sign_files({docs!r}, {str(tmp_path / "s.npy")!r}, num_perm=16384)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
    """)
    assert (run.returncode, run.stderr) == (0, "")
    assert not (tmp_path / "s.npy").exists()


@posix
def test_ten_thousand_calls_leak_nothing():
    run = python("""
        import gc, resource, tracemalloc, simgpu
        def call():
            try:
                simgpu.tune(0.8, num_perm=8, bands=3)
            except ValueError:
                pass
            try:
                simgpu.dedup_files("in.jsonl", "out", text_field=["a", "b"], limit=-1)
            except ValueError:
                pass
        def rss():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        simgpu.tune(0.8)
        for _ in range(500):
            call()
        gc.collect()
        tracemalloc.start()
        before, blocks = rss(), tracemalloc.get_traced_memory()[0]
        for _ in range(5_000):
            call()
        gc.collect()
        print(tracemalloc.get_traced_memory()[0] - blocks < 100_000, rss() - before < 20_000)
    """)
    assert run.stdout == "True True\n", run.stderr


def test_many_runs_leak_no_thread_and_no_file(small, tmp_path):
    run = python(f"""
        import os, simgpu
        def held():
            return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
        def work():
            simgpu.dedup_files({small!r}, {str(tmp_path / "out")!r}, overwrite=True, dry_run=True)
            simgpu.compare("a b", "b c")
        work()
        before = held()
        for _ in range(60):
            work()
        print(held()[0] <= before[0] and held()[1] <= before[1], before, held())
    """)
    assert run.stdout.startswith("True"), run.stdout + run.stderr


def test_importing_imports_no_numpy():
    run = python("""
        import sys, simgpu
        print([name for name in ("numpy", "tqdm", "pandas", "pyarrow") if name in sys.modules])
    """)
    assert run.stdout == "[]\n", run.stderr


def test_the_bar_ends_where_the_run_did(capsys):
    from simgpu._progress import Bar

    bar = Bar()
    bar._tqdm = None
    for state in [("read", 3, 10), ("write", 1, 4), ("write", 2, 4)]:
        bar(*state)
    bar.complete()
    bar.close()
    lines = [line.split("\r")[-1] for line in capsys.readouterr().err.split("\n")[:-1]]
    assert lines == ["read 100 %", "write 100 %"]
    bar("read", 3, 10)
    bar("read", 5, 10)
    bar.close()
    assert capsys.readouterr().err.endswith("\rread  50 %\n")


def test_a_bar_of_tqdm_is_complete_after_a_success(tmp_path):
    tqdm = pytest.importorskip("tqdm.auto").tqdm
    from simgpu._progress import Bar

    class Kept(tqdm):
        ended = []

        def close(self):
            if not self.disable:
                Kept.ended.append((self.desc, self.n, self.total))
            super().close()

    docs = tmp_path / "in.jsonl"
    docs.write_text("".join(f'{{"id": {i}, "text": "a text of number {i}"}}\n' for i in range(100)))
    bar = Bar()
    bar._tqdm = Kept
    simgpu.dedup_files([docs], tmp_path / "out", progress=bar)
    assert Kept.ended and all(total in (None, n) for _, n, total in Kept.ended), Kept.ended
