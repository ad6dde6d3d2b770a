"""Runs over files write what the command writes, and take the same options."""

import functools
import inspect
import json
import os
import re
import subprocess
import sys

import pytest
import simgpu

WORDS = [f"w{number}" for number in range(400)]


def text(start, length=60):
    return " ".join(WORDS[(start + offset) % len(WORDS)] for offset in range(length))


@pytest.fixture
def corpus(tmp_path):
    """300 documents of which every third repeats the one before, with another last word."""
    lines = []
    for number in range(300):
        is_repeat = number % 3 == 2
        body = text((number - 1) * 7) + " changed" if is_repeat else text(number * 7)
        date = f"2026-01-{number % 28 + 1:02}"
        lines.append(json.dumps({"id": number, "text": body, "date": date}))
    path = tmp_path / "docs.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def command(*arguments, cwd):
    run = subprocess.run(
        [sys.executable, "-m", "simgpu", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    return run


def files_below(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "run.json"
    }


@pytest.mark.parametrize(
    "options, flags",
    [
        ({}, []),
        (
            {"unit": "bytes", "size": 7, "lowercase": True, "scheme": "mersenne61", "seed": 5},
            [
                "--unit",
                "bytes",
                "--size",
                "7",
                "--lowercase",
                "--scheme",
                "mersenne61",
                "--seed",
                "5",
            ],
        ),
        (
            {"verify": "signature", "bands": 32, "rows": 4, "cluster": "connected", "limit": 200},
            "--verify signature --bands 32 --rows 4 --cluster connected --limit 200".split(),
        ),
        (
            {"keep_by": "date:asc", "removed_format": "parquet", "max_bucket": 10},
            "--keep-by date:asc --removed-format parquet --max-bucket 10".split(),
        ),
        (
            {"min_shingles": 30, "drop_short": True, "drop_empty": True},
            "--min-shingles 30 --drop-short --drop-empty".split(),
        ),
        (
            {"removed_format": "jsonl.zst", "action": "report", "compression_level": 5},
            "--removed-format jsonl.zst --action report --compression-level 5".split(),
        ),
        (
            {"unit": "stopwords", "stop_words": WORDS[:40], "threshold": 0.6},
            "--unit stopwords --stop-words words.txt --threshold 0.6".split(),
        ),
        # Goes on on disk, and the command does not.
        ({"memory": "4KiB", "temp_dir": ".", "hold_mib": 0}, []),
        ({"memory": 4096, "cluster": "connected"}, ["--cluster", "connected"]),
    ],
)
def test_dedup_writes_what_the_command_writes(corpus, tmp_path, options, flags):
    (tmp_path / "words.txt").write_text(" ".join(WORDS[:40]))
    report = simgpu.dedup_files(corpus, tmp_path / "a", **options)
    command("dedup", corpus.name, "--output", "b", "--quiet", *flags, cwd=tmp_path)
    assert files_below(tmp_path / "a") == files_below(tmp_path / "b")
    assert dict(report) == json.loads((tmp_path / "b/report.json").read_text())
    assert report.counts["removed"] > 0


def test_a_stopped_run_goes_on(tmp_path):
    """A run is stopped by ``progress``; the next one goes on, is refused, or begins anew."""
    corpus = tmp_path / "docs.jsonl"
    lines = [json.dumps({"id": number, "text": text(number % 9_000)}) for number in range(12_000)]
    corpus.write_text("\n".join(lines) + "\n")
    options = {"memory": "4KiB", "hold_mib": 0, "threads": 1, "overwrite": True}
    whole = tmp_path / "whole"
    simgpu.dedup_files(corpus, whole, **options)
    results = files_below(whole)
    resumed, out = 0, tmp_path / "out"
    for last in range(100):
        calls = iter(range(last))
        stop = functools.partial(next, calls, None)
        try:
            simgpu.dedup_files(corpus, out, progress=lambda *_: stop() is not None, **options)
            break
        except simgpu.StoppedError as error:
            if "resumes from its last checkpoint" not in str(error):
                continue
        refusal = "threshold was 0.8, and is 0.7; .*resume=False"
        with pytest.raises(simgpu.OutputError, match=refusal):
            simgpu.dedup_files(corpus, out, threshold=0.7, **options)
        simgpu.dedup_files(corpus, out, resume=last % 2 == 0, **options)
        resumed += json.loads((out / "run.json").read_text())["resumed"]
        assert files_below(out) == results
    assert resumed > 0


def test_pairs_and_signatures_equal_those_of_the_command(corpus, tmp_path):
    simgpu.pairs_files([corpus], tmp_path / "a.csv", threshold=0.7, identical="star")
    command(
        *"pairs docs.jsonl --output b.csv --threshold 0.7 --identical star -q".split(), cwd=tmp_path
    )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    for ending in ["npy", "parquet"]:
        report = simgpu.sign_files(str(corpus), tmp_path / f"a.{ending}", num_perm=64)
        command(*f"sign docs.jsonl --output b.{ending} --num-perm 64 -q".split(), cwd=tmp_path)
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
        assert report.counts["documents"] == 300
        simgpu.pairs_signatures(tmp_path / f"a.{ending}", tmp_path / f"a.{ending}.jsonl")
        command(
            *f"pairs --signatures b.{ending} --output b.{ending}.jsonl -q".split(), cwd=tmp_path
        )
        ours = (tmp_path / f"a.{ending}.jsonl").read_bytes()
        assert ours and ours == (tmp_path / f"b.{ending}.jsonl").read_bytes()


def test_defaults_are_those_of_the_command(tmp_path):
    for function, name in [
        (simgpu.dedup_files, "dedup"),
        (simgpu.pairs_files, "pairs"),
        (simgpu.sign_files, "sign"),
    ]:
        page = command(name, "--help", cwd=tmp_path).stdout
        stated = dict(
            re.findall(
                r"--([a-z-]+)(?: <[^>]*>)?\n(?:(?!\n\n|--[a-z]).)*?\[default: ([^\] ;]+)\]",
                page,
                re.S,
            )
        )
        parameters = inspect.signature(function).parameters
        known = [flag for flag in stated if flag.replace("-", "_") in parameters]
        compared = 0
        for flag in known:
            default = parameters[flag.replace("-", "_")].default
            if default is not None:
                assert str(default) == stated[flag], (name, flag)
                compared += 1
        assert compared >= 3


def test_every_option_of_the_command_has_a_parameter(tmp_path):
    leave_out = {"quiet", "help", "report", "output", "signatures", "version", "lose-device-after"}
    # The reverse of "resume".
    leave_out |= {"restart"}
    for function, name in [
        (simgpu.dedup_files, "dedup"),
        (simgpu.pairs_files, "pairs"),
        (simgpu.sign_files, "sign"),
        (simgpu.link_files, "link"),
        (simgpu.passages_files, "passages"),
        (simgpu.evaluate, "evaluate"),
    ]:
        page = command(name, "--help", cwd=tmp_path).stdout
        flags = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", page, re.M)) - leave_out
        parameters = set(inspect.signature(function).parameters)
        assert len(flags) > 12 or (name == "evaluate" and len(flags) > 7)
        assert {flag.replace("-", "_") for flag in flags} <= parameters


def test_a_report_reads_as_mapping_attributes_and_summary(corpus, tmp_path):
    import copy
    import pickle

    report = simgpu.dedup_files(corpus, tmp_path / "out")
    counts = report["counts"]
    assert counts == report.counts and counts["documents"] == 300
    assert report.elapsed > 0
    stages = [timing["stage"] for timing in report.timings]
    assert "read" in stages[0] and stages[-1] == "other"
    whole = sum(t["elapsed_s"] for t in report.timings if not t["is_part"])
    assert whole == pytest.approx(report.elapsed, rel=0.01, abs=1e-3)
    assert re.search(r"^ +documents  300 in ", repr(report), re.M)
    assert f"written to  {tmp_path / 'out'}" in repr(report)
    assert "<td>300 in " in report._repr_html_()
    with pytest.raises(AttributeError, match="Report has no 'nothing'"):
        report.nothing
    for same in [copy.deepcopy(report), pickle.loads(pickle.dumps(report))]:
        assert same == report and repr(same) == repr(report)


def test_quotes_of_tsv_are_named(tmp_path):
    path = tmp_path / "in.tsv"
    path.write_text('id\ttext\n1\t"one\ntwo"\n2\t"one\ntwo"\n3\tthree\n')
    with pytest.raises(simgpu.InputError, match="pass the quote character as quote"):
        simgpu.dedup_files(path, tmp_path / "out")
    report = simgpu.dedup_files(path, tmp_path / "out", quote='"')
    assert report.counts["kept"] == 2
    report = simgpu.sign_files(path, tmp_path / "s.npy", quote='"')
    assert report.counts["documents"] == 3


def test_dry_run_writes_nothing(corpus, tmp_path):
    report = simgpu.dedup_files(corpus, dry_run=True)
    assert report.counts["removed"] > 0
    assert simgpu.pairs_files(corpus, dry_run=True).counts["similar_pairs"] > 0
    assert os.listdir(tmp_path) == ["docs.jsonl"]


def test_scheme_and_shingling_objects_stand_for_their_attributes(corpus, tmp_path):
    class Scheme:
        name, num_perm, seed = "affine64", 64, 9

    class Shingling:
        unit, size, hash, stop_words = "chars", 6, None, None
        lowercase, strip_punctuation, keep_whitespace, count = True, False, True, True

    simgpu.sign_files(corpus, tmp_path / "a.npy", scheme=Scheme(), shingling=Shingling())
    simgpu.sign_files(
        corpus, tmp_path / "b.npy", scheme="affine64", num_perm=64, seed=9,
        unit="chars", size=6, lowercase=True, keep_whitespace=True, count=True,
    )  # fmt: skip
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    with pytest.raises(ValueError, match="shingling and size are both given"):
        simgpu.sign_files(corpus, tmp_path / "c.npy", shingling=Shingling(), size=5)


REFUSED = [
    ({"unit": "lines"}, ValueError, 'unknown unit "lines"; choose one of bytes, chars'),
    ({"threshold": 1.5}, ValueError, "threshold is 1.5; give "),
    ({"threshold": "high"}, TypeError, "threshold is 'high'; give a number above 0"),
    ({"bands": 4}, ValueError, "bands needs rows; add rows, or omit bands"),
    ({"bands": 64, "rows": 64}, ValueError, "with a product of at most 128, the value of num_perm"),
    (
        {"tokens_field": "t"},
        ValueError,
        'tokens_field needs unit="tokens"; add unit="tokens", or omit',
    ),
    (
        {"unit": "tokens", "text_field": "body"},
        ValueError,
        'which unit="tokens" does not read; pass tokens_field',
    ),
    (
        {"unit": "tokens", "keep_whitespace": True},
        ValueError,
        "tokens stay as they are; omit keep_whitespace=True, or choose another unit",
    ),
    ({"stop_words": ["a"]}, ValueError, 'stop_words needs unit="stopwords"'),
    ({"isa": "portable", "backend": "scalar"}, ValueError, "isa applies to the backend simd"),
    ({"device": 3}, ValueError, 'add backend="gpu", or omit device'),
    ({"threads": 0}, ValueError, "threads is 0; give a number, at least 1"),
    ({"memory": "4 apples"}, ValueError, 'memory is "4 apples"; give a size such as "4GiB"'),
    ({"memory": 0}, (TypeError, ValueError), "memory is 0; give a size"),
    ({"limit": -1}, ValueError, "limit is -1; give a number of records"),
    ({"num_perm": 0}, ValueError, "num_perm is 0; give a number from 1 to 16384"),
    ({"num_perm": 1 << 70}, ValueError, "num_perm is 1180591620717411303424; give"),
    ({"delimiter": "ab"}, ValueError, 'delimiter is "ab"; give one character of ASCII'),
    ({"delimiter": ";"}, ValueError, "delimiter"),
    ({"quote": "ab"}, ValueError, 'quote is "ab"; give one character of ASCII, or none'),
    ({"quote": "'"}, ValueError, "quote is '\\''; give it with CSV or TSV inputs only"),
    ({"scheme": "md5"}, ValueError, 'unknown scheme "md5"; choose one of affine32'),
    ({"scheme": 3}, TypeError, "give a Scheme or its name"),
    ({"text_field": 3}, TypeError, "text_field is 3; give a str, or several"),
    ({"text_field": []}, ValueError, "text_field names no field"),
    ({"keep": "longest", "keep_by": "date"}, ValueError, 'keep="longest" and keep_by both choose'),
    ({"compression_level": 3}, ValueError, "compression_level is 3; give no level"),
    ({"hidden": "yes"}, TypeError, "hidden is 'yes'; give True or False"),
    ({"progress": 3}, TypeError, "progress is neither a bool nor a callable"),
    ({"include": "[", "inputs": "."}, ValueError, "glob"),
    ({"inputs": []}, ValueError, "inputs is empty"),
    ({"inputs": "-"}, ValueError, 'inputs is "-"; give the path of a file'),
    ({"inputs": 3}, TypeError, "inputs is 3; give a path, or several"),
    ({"output": None}, ValueError, "no output; pass output, or dry_run=True"),
    ({"unit": "stopwords", "size": 3}, ValueError, 'unit="stopwords" takes no size'),
    ({"keep_whitespace": True}, ValueError, "hold no white space of the text; omit keep_whitespace=True"),
    ({"join_mib": 5}, ValueError, 'has neither; omit join_mib, or pass candidates="join"'),
    (
        {"candidates": "join", "max_bucket": 5},
        ValueError,
        'compares no buckets; omit max_bucket, or pass candidates="lsh"',
    ),
    ({"candidates": "join", "seed": 5}, ValueError, "computes no signatures; omit seed"),
    ({"isa": "portable", "backend": "gpu"}, ValueError, "isa applies to the backend simd, not gpu"),
    ({"weight_scale": 4}, ValueError, "weight_scale is for weights_field"),
    (
        {"on_bad_record": "ignore"},
        ValueError,
        'unknown on_bad_record "ignore"; choose one of fail, skip',
    ),
]


@pytest.mark.parametrize("options, kind, message", REFUSED)
def test_refusals_name_the_parameter(corpus, tmp_path, options, kind, message):
    arguments = {"inputs": corpus, "output": tmp_path / "out"} | options
    with pytest.raises(kind) as caught:
        simgpu.dedup_files(**arguments)
    shown = str(caught.value)
    assert message in shown
    assert "`" not in shown and "--" not in shown
    assert not (tmp_path / "out").exists()


def test_files_that_fail_raise_the_kinds_of_python(corpus, tmp_path):
    missing = tmp_path / "missing.jsonl"
    with pytest.raises(FileNotFoundError) as caught:
        simgpu.sign_files(missing, tmp_path / "s.npy")
    assert caught.value.errno == 2 and caught.value.filename == str(missing)
    with pytest.raises(FileNotFoundError) as caught:
        simgpu.sign_files(corpus, tmp_path / "s.npy", unit="stopwords", stop_words=missing)
    assert caught.value.filename == str(missing)
    simgpu.dedup_files(corpus, tmp_path / "out")
    with pytest.raises(FileExistsError, match="overwrite=True") as caught:
        simgpu.dedup_files(corpus, tmp_path / "out")
    assert caught.value.filename == str(tmp_path / "out")
    simgpu.dedup_files(corpus, tmp_path / "out", overwrite=True)
    with pytest.raises(simgpu.OutputError):
        simgpu.sign_files(corpus, tmp_path / "no/such/folder/s.npy")
    with pytest.raises(ValueError, match="ends in .parquet or .npy"):
        simgpu.sign_files(corpus, tmp_path / "s.txt")
    with pytest.raises(ValueError, match="call pairs_files"):
        simgpu.pairs_signatures("s.npy", tmp_path / "p.csv", verify="exact")


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of Unix")
def test_a_denied_file_is_a_permission_error(corpus, tmp_path):
    # Root may read any file, so the run drops its rights.
    code = f"""
import os, simgpu
os.chmod({str(tmp_path)!r}, 0o755)
for folder in {[str(path) for path in tmp_path.parents if str(path).startswith("/tmp/")]!r}:
    os.chmod(folder, 0o755)
os.chmod({str(corpus)!r}, 0)
if os.getuid() == 0:
    os.setuid(65534)
try:
    simgpu.sign_files({str(corpus)!r}, {str(tmp_path / "s.npy")!r})
except PermissionError as error:
    print(error.errno)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "13\n", run.stderr


def test_bad_records_say_where_they_are(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a b c d e f"}\nnonsense\n')
    with pytest.raises(simgpu.InputError, match='on_bad_record="skip"') as caught:
        simgpu.sign_files(path, tmp_path / "s.npy")
    assert (caught.value.row, caught.value.line) == (1, 2)
    assert os.fspath(caught.value.path) == str(path)
    report = simgpu.sign_files(path, tmp_path / "s.npy", on_bad_record="skip")
    assert [record["row"] for record in report.skipped] == [1]


def test_warnings_of_the_library_are_python_warnings(tmp_path):
    path = tmp_path / "same.jsonl"
    path.write_text('{"id": 1, "text": "a b c d e f"}\n' * 3)
    with pytest.warns(simgpu.SimgpuWarning, match="repeat an earlier id; .* pass unique_ids=True"):
        simgpu.sign_files(path, tmp_path / "s.npy")
    with pytest.warns(simgpu.SimgpuWarning, match='search ended after 1 pair,.* identical="star"'):
        report = simgpu.pairs_files(path, tmp_path / "p.csv", max_pairs=1)
    assert report.complete is False
