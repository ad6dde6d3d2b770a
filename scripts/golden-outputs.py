#!/usr/bin/env python3
"""Runs the `simgpu` program in every mode and prints the SHA-256 of each file it writes.

    scripts/golden-outputs.py target/release/simgpu > before.txt
    scripts/golden-outputs.py target/release/simgpu --against before.txt

Run it before and after a change that must not alter any result. It reads the example corpus and one that it
generates, and covers every scheme, unit, verification, cluster and keep policy of `dedup`, `pairs`, `sign` and
`pairs --signatures`. `run.json`, which differs from run to run, is left out. The last line is the hash of the list.
Needs Python 3.9 and nothing else.
"""

import argparse
import gzip
import hashlib
import itertools
import json
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SCHEMES = (
    "affine32 affine64 mersenne31 mersenne61 mersenne61-wide affine32-even fast datasketch datasketch64 "
    "datasketch-legacy datatrove datatrove32 text-dedup nemo nemo64 rensa"
).split()
UNITS = "bytes chars words stopwords pieces tokens".split()
VERIFICATIONS = "none signature exact".split()
CLUSTERS = "greedy connected".split()
KEEPS = "first longest".split()
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "driver-docs.jsonl.zst"


def write_corpus(folder):
    """Groups of near-duplicates, repeats, documents without a shingle, and odd letters, in several formats."""
    draw = random.Random(20)
    syllables = "ka to mi ren sol da ver lin pa stra o que ti mon el fu gra ne bi zor the of and a in".split()
    odd = ["Übergröße", "naïve", "日本語", "don't", "3.14", "e\u0301clair", "ДОМ", "😀", "x_1", "co-op"]
    vocabulary = ["".join(draw.choices(syllables, k=draw.randint(1, 3))) for _ in range(3000)] + odd

    def text(words):
        separators = draw.choices([" ", " ", " ", "  ", ", ", ". ", "\n", "\t"], k=len(words))
        return "".join(word + separator for word, separator in zip(words, separators)).strip()

    documents = []
    for _ in range(260):
        words = draw.choices(vocabulary, k=draw.randint(8, 160))
        for member in range(draw.choice([1, 1, 1, 2, 3, 7])):
            copy = list(words)
            for _ in range(draw.choice([0, 1, 1, 2, 4]) if member else 0):
                copy[draw.randrange(len(copy))] = draw.choice(vocabulary)
            documents.append(copy)
    documents += [[], ["word"], ["two", "words"], ["?!"], []]
    draw.shuffle(documents)
    records = [
        {"id": f"d{i}", "text": text(words), "tokens": words, "meta": {"n": i}} for i, words in enumerate(documents)
    ]
    cut = len(records) // 2
    lines = [json.dumps(record, ensure_ascii=i % 3 == 0) for i, record in enumerate(records)]
    (folder / "a.jsonl").write_text("\n".join(lines[:cut]) + "\n", encoding="utf-8")
    with gzip.GzipFile(folder / "b.jsonl.gz", "wb", mtime=0) as packed:
        packed.write("\r\n".join(lines[cut:]).encode())
    # No ids; bad records; files of text.
    bad = lines[:200]
    bad[3] = '{"id": "d3", "text": 7}'
    bad[50] = "{"
    bad[51] = '{"id": "d51"}'
    bad[120] = '{"id": 120, "text": null}'
    (folder / "bad.jsonl").write_text("\n".join(bad), encoding="utf-8")
    unnamed = [json.dumps({"text": record["text"]}) for record in records[:150]]
    (folder / "unnamed.jsonl").write_text("\n".join(unnamed), encoding="utf-8")
    numbered = [json.dumps({"id": i % 90, "body": {"text": record["text"]}}) for i, record in enumerate(records[:150])]
    (folder / "numbered.jsonl").write_text("\n".join(numbered), encoding="utf-8")
    texts = folder / "texts"
    (texts / "deeper").mkdir(parents=True)
    for i, record in enumerate(records[:40]):
        (texts / ("deeper" if i % 4 == 0 else ".") / f"{i:02}.txt").write_text(record["text"], encoding="utf-8")


def runs(folder):
    """Each run: a name, the arguments, and the output, a folder or a file of the name given."""
    ours = ["a.jsonl", "b.jsonl.gz"]
    inputs = {"made": [str(folder / name) for name in ours], "docs": [str(EXAMPLE)]}
    everything = list(itertools.product(VERIFICATIONS, CLUSTERS, KEEPS))

    def search(verify, cluster, keep):
        return ["--verify", verify, "--cluster", cluster, "--keep", keep]

    for mode in everything:
        for scheme in SCHEMES:
            yield "-".join(("made", scheme) + mode), ["dedup", *inputs["made"], "--scheme", scheme, *search(*mode)], "out"
        for unit in UNITS:
            yield "-".join(("made", unit) + mode), ["dedup", *inputs["made"], "--unit", unit, *search(*mode)], "out"
        yield "-".join(("docs",) + mode), ["dedup", *inputs["docs"], *search(*mode)], "out"
    for scheme in SCHEMES:
        tokens = ["--scheme", scheme, "--unit", "tokens"]
        yield f"made-{scheme}-tokens", ["dedup", *inputs["made"], *tokens], "out"
        yield f"docs-{scheme}", ["dedup", *inputs["docs"], "--scheme", scheme], "out"
        for name, ending in itertools.product(inputs, ["parquet", "npy"]):
            sign = ["sign", *inputs[name], "--scheme", scheme]
            yield f"{name}-{scheme}-{ending}", sign, f"signatures.{ending}"
        for verify, ending in itertools.product(VERIFICATIONS, ["jsonl", "csv", "parquet"]):
            pairs = ["pairs", *inputs["made"], "--scheme", scheme, "--verify", verify]
            yield f"made-{scheme}-{verify}-{ending}", pairs, f"pairs.{ending}"
        yield f"docs-{scheme}-pairs", ["pairs", *inputs["docs"], "--scheme", scheme], "pairs.jsonl"
    for unit in UNITS[:-1]:
        yield f"docs-{unit}", ["dedup", *inputs["docs"], "--unit", unit], "out"
        yield f"made-{unit}-pairs", ["pairs", *inputs["made"], "--unit", unit], "pairs.jsonl"
        yield f"made-{unit}-sign", ["sign", *inputs["made"], "--unit", unit], "signatures.npy"
    bad, skip = str(folder / "bad.jsonl"), ["--on-bad-record", "skip"]
    more = {
        "lowercase": ["--lowercase", "--strip-punctuation"],
        "keep-whitespace": ["--keep-whitespace", "--unit", "chars", "--size", "7"],
        "threshold": ["--threshold", "0.5"],
        "bands": ["--bands", "30", "--rows", "4", "--num-perm", "120"],
        "seed": ["--seed", "7", "--num-perm", "64"],
        "max-bucket": ["--max-bucket", "2"],
        "one-thread": ["--threads", "1", "--batch-mib", "1"],
        "not-held": ["--hold-mib", "0", "--verify", "exact"],
        "scalar": ["--backend", "scalar"],
        "portable": ["--isa", "portable"],
        "wide-tokens": ["--unit", "tokens", "--size", "3"],
        "hash": ["--hash", "sha1-32"],
    }
    for name, options in more.items():
        yield f"made-{name}", ["dedup", *inputs["made"], *options], "out"
        yield f"made-{name}-pairs", ["pairs", *inputs["made"], *options], "pairs.jsonl"
    for command, output in [("dedup", "out"), ("pairs", "pairs.csv"), ("pairs", "pairs.parquet"), ("sign", "s.parquet"), ("sign", "s.npy")]:
        odd = {
            "bad": [bad, *skip],
            "bad-fails": [bad],
            "unnamed": [str(folder / "unnamed.jsonl")],
            "numbered": [str(folder / "numbered.jsonl"), "--text-field", "body.text"],
            "unique": [str(folder / "numbered.jsonl"), "--text-field", "body.text", "--unique-ids"],
            "texts": [str(folder / "texts")],
            "several": [*inputs["made"], bad, str(folder / "unnamed.jsonl"), *skip],
        }
        for name, arguments in odd.items():
            yield f"{name}-{output}", [command, *arguments], output


def signature_runs(folder):
    """`pairs --signatures` of what the other runs signed."""
    for name, scheme, ending in itertools.product(["made", "docs"], SCHEMES, ["parquet", "npy"]):
        signed = folder / f"{name}-{scheme}-{ending}" / f"signatures.{ending}"
        for verify in VERIFICATIONS[:2]:
            run = f"{name}-{scheme}-{ending}-again-{verify}"
            yield run, ["pairs", "--signatures", str(signed), "--verify", verify], "pairs.jsonl"
    for signed in ["bad-s.parquet/s.parquet", "bad-s.npy/s.npy", "several-s.npy/s.npy"]:
        yield f"{signed.split('/')[0]}-again", ["pairs", "--signatures", str(folder / signed)], "pairs.csv"


def hash_of_run(program, folder, run):
    name, arguments, output = run
    (folder / name).mkdir()
    backend = [] if "--backend" in arguments or "--signatures" in arguments else ["--backend", "simd"]
    command = [program, *arguments, *backend, "--quiet", "--output", str(folder / name / output)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    lines = [f"{'exit ' + str(done.returncode):64}  {name}"] if done.returncode else []
    for path in sorted((folder / name).rglob("*")):
        if path.is_file() and path.name != "run.json":
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            lines.append(f"{digest}  {path.relative_to(folder)}")
    # What is signed is read again later; the rest would fill the disk.
    if arguments[0] != "sign":
        shutil.rmtree(folder / name)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program to run")
    parser.add_argument("--against", type=Path, help="a list made before; exit with 1 unless this one equals it")
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        corpus = folder / "corpus"
        corpus.mkdir()
        write_corpus(corpus)
        lines, count = [], 0
        with ThreadPoolExecutor(2) as pool:
            for batch in [list(runs(corpus)), list(signature_runs(folder))]:
                count += len(batch)
                for of_run in pool.map(lambda run: hash_of_run(program, folder, run), batch):
                    lines += of_run
    lines.sort(key=lambda line: line.split("  ", 1)[1])
    whole = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    lines.append(f"{whole}  {count} runs, {len(lines)} lines")
    print("\n".join(lines))
    if arguments.against:
        before = arguments.against.read_text().splitlines()
        different = set(before) ^ set(lines)
        for line in sorted(different, key=lambda line: line.split("  ", 1)[1]):
            print(("before" if line in before else " after"), line, file=sys.stderr)
        sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
