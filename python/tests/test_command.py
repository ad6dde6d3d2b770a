"""The command inside of the package."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

SIMGPU = [sys.executable, "-m", "simgpu"]


def run(*arguments, **options):
    return subprocess.run(
        [*SIMGPU, *arguments], capture_output=True, text=True, timeout=60, **options
    )


def test_exit_codes_and_streams_are_those_of_the_command(tmp_path):
    version = run("--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout.startswith("simgpu 0.")
    unknown = run("dedup", "--colour")
    assert (unknown.returncode, unknown.stdout) == (2, "") and "--colour" in unknown.stderr
    usage = run("compare", "a", "b", "--unit", "tokens")
    assert usage.returncode == 2
    assert usage.stderr.startswith(
        "simgpu: compare reads texts, not tokens; choose another --unit\n"
    )
    failure = run("dedup", "missing.jsonl", "--output", "out", cwd=tmp_path)
    assert failure.returncode == 1
    assert failure.stderr.endswith("missing.jsonl: no such file or folder; check the name\n")
    (tmp_path / "same.jsonl").write_text('{"text": "a b c d e f"}\n' * 4)
    incomplete = run("pairs", "same.jsonl", "-o", "p.csv", "--max-pairs", "2", cwd=tmp_path)
    assert incomplete.returncode == 3
    assert "raise --max-pairs, raise --threshold, or pass --identical star" in incomplete.stderr


def test_stdin_and_stdout_are_those_of_the_process(tmp_path):
    other = '{"text": "other words that are long enough for two shingles"}\n'
    lines = '{"text": "a b c d e f g"}\n{"text": "a b c d e f g"}\n' + other
    kept = run("dedup", "-", "--output", "-", "--quiet", input=lines)
    assert (kept.returncode, kept.stderr) == (0, "")
    assert kept.stdout == '{"text": "a b c d e f g"}\n' + other


def test_the_run_record_names_the_command(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "a b c d e f"}\n')
    assert run("dedup", "in.jsonl", "--output", "out", "-q", cwd=tmp_path).returncode == 0
    record = json.loads((tmp_path / "out/run.json").read_text())
    assert record["command"] == ["simgpu", "dedup", "in.jsonl", "--output", "out", "-q"]


def test_the_script_is_the_module(tmp_path):
    code = "import sys; from simgpu.__main__ import main; sys.exit(main())"
    script = subprocess.run(
        [sys.executable, "-c", code, "--version"], capture_output=True, text=True, timeout=60
    )
    assert script.stdout == run("--version").stdout


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
@pytest.mark.parametrize("number, code, word", [(2, 130, "Ctrl-C"), (15, 143, "SIGTERM")])
def test_a_signal_stops_the_command_with_one_line(tmp_path, number, code, word):
    process = subprocess.Popen(
        [*SIMGPU, "dedup", "-", "--output", "out", "--quiet"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1.5)
    start = time.monotonic()
    process.send_signal(signal.Signals(number))
    process.wait(timeout=30)
    assert time.monotonic() - start < 1
    assert process.returncode == code
    assert process.stderr.read() == f"simgpu: stopped by {word} before the run was complete\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_an_interrupt_before_any_run_ends_the_process():
    """Commands that do not listen die of the signal, as every program does."""
    process = subprocess.Popen(
        [*SIMGPU, "compare", "-", "x"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == -signal.SIGINT
    assert process.stderr.read() == b""


def test_a_closed_pipe_is_no_error(tmp_path):
    (tmp_path / "same.jsonl").write_text('{"text": "a b c d e f"}\n' * 2000)
    process = subprocess.Popen(
        [*SIMGPU, "pairs", "same.jsonl", "--output", "-", "--quiet"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == b""
