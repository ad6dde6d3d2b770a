#!/usr/bin/env python3
"""Runs the `simgpu` program in every mode and prints the SHA-256 of each file it writes, and of what it says.

    scripts/golden-outputs.py target/release/simgpu > before.txt
    scripts/golden-outputs.py target/release/simgpu --against before.txt

Run it before and after a change that must not alter any result, on one machine: what a command says names its
instructions. It reads the example corpus and one that it generates. The first part covers every scheme, unit,
verification, cluster and keep policy of `dedup`, `pairs`, `sign` and `pairs --signatures`. The second covers every command
that writes: in memory and on disk, against files and indexes, from a pipe, resumed after a stop, with each action, and with
stdout and stderr. Of an index, it hashes what `export` and `stats` say, because a store may lay out the same entries in
several ways. Times, speeds and peaks of memory in what a command says are masked, and `run.json`, which has them, is left
out. The last line is the hash of the list. Needs Python 3.9 and nothing else.
"""

import argparse
import gzip
import hashlib
import itertools
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
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


class Scenario:
    """Commands that run in a folder of their own, one after the other.

    `corpus/` in an argument is the folder of the inputs. Steps are lists of arguments. A step that begins with `<` and a
    name reads that file of the corpus from stdin; `stop` before a step stops the command as soon as it has made a
    checkpoint, and repeats it; `indexes` names indexes whose documents are listed at the end.
    """

    def __init__(self, name, *steps, indexes=()):
        self.name, self.steps, self.indexes = name, [step.split() for step in steps], indexes


def scenarios():
    """Every command that writes, in every way it can run."""
    disk = "--memory 1MiB --hold-mib 0"
    both = "corpus/a.jsonl corpus/b.jsonl.gz"
    for where, limits in [("memory", ""), ("disk", disk)]:
        for cluster in CLUSTERS:
            yield Scenario(f"dedup-{where}-{cluster}", f"dedup {both} -o out --cluster {cluster} {limits}")
        yield Scenario(f"dedup-{where}-report", f"dedup {both} -o out --action report {limits}")
        yield Scenario(f"dedup-{where}-pipe", f"<a.jsonl dedup - -o out {limits}")
        yield Scenario(f"dedup-{where}-zst", f"dedup {both} -o out --removed-format jsonl.zst {limits}")
        yield Scenario(f"dedup-{where}-parquet", f"dedup {both} -o out --removed-format parquet {limits}")
        yield Scenario(f"dedup-{where}-by", f"dedup {both} -o out --keep-by meta.n:desc --source-field meta.n {limits}")
        yield Scenario(f"dedup-{where}-join", f"dedup {both} -o out --unit tokens --candidates join {limits}")
        yield Scenario(
            f"dedup-{where}-against",
            f"dedup corpus/b.jsonl.gz --against corpus/a.jsonl -o out {limits}",
            f"pairs corpus/b.jsonl.gz --against corpus/a.jsonl -o pairs.csv {limits}",
        )
        for kind in ["--verify signature", "--verify exact", "--kind exact"]:
            name = kind.replace("--", "").replace(" ", "-")
            yield Scenario(
                f"dedup-{where}-index-{name}",
                f"index build corpus/a.jsonl --index ix {kind}",
                f"dedup corpus/b.jsonl.gz --against ix -o out {limits}",
                f"dedup corpus/b.jsonl.gz --against ix -o added --add {limits}",
                indexes=["ix"],
            )
        for ending, page in [("jsonl", "--page"), ("csv.gz", ""), ("parquet", "")]:
            yield Scenario(f"pairs-{where}-{ending}", f"pairs {both} -o pairs.{ending} {page} {limits}")
        for action in ["report", "cut", "drop", "mark"]:
            found = f"passages {both} -o out --min-length 8 --action {action}"
            yield Scenario(f"passages-{where}-{action}", f"{found} {limits.replace('--hold-mib 0', '')}")
        against = "passages corpus/b.jsonl.gz --against corpus/a.jsonl -o out --min-length 8 --action cut --only-against"
        yield Scenario(f"passages-{where}-against", f"{against} {limits.replace('--hold-mib 0', '')}")
    yield Scenario("sign", f"sign {both} -o s.parquet", f"sign {both} -o s.npy", "<a.jsonl sign - -o piped.npy --memory 1MiB")
    for command in ["dedup -o out", "pairs -o pairs.parquet"]:
        yield Scenario(f"{command.split()[0]}-resumed", f"stop {command} {both} {disk} --temp-dir temporary")
    resumed = "passages -o out --min-length 8 --action cut --memory 1MiB --temp-dir temporary"
    yield Scenario("passages-resumed", f"stop {resumed} {both}")
    yield Scenario("dedup-from-pairs", f"pairs {both} -o pairs.parquet", f"dedup {both} -o out --from-pairs pairs.parquet")
    yield Scenario("dedup-to-stdout", f"dedup {both} -o -")
    yield Scenario("pairs-to-stdout", f"pairs {both} -o -")
    yield Scenario("dedup-dry", f"dedup {both} -o out --dry-run", f"dedup {both} -o out --report json")
    for action in ["report", "cut", "drop", "mark"]:
        contain = f"contain corpus/asking.jsonl --against corpus/items.jsonl -o out --action {action}"
        yield Scenario(f"contain-{action}", contain)
    yield Scenario(
        "contain-phrases",
        "contain corpus/asking.jsonl --against corpus/items.jsonl -o out",
        "<asking.jsonl contain - --against corpus/items.jsonl -o again --phrases out/phrases.parquet",
    )
    fields = "--fields name,city,born"
    yield Scenario("link-two", f"link corpus/people.csv corpus/others.csv {fields} -o out")
    yield Scenario("link-two-csv", f"link corpus/people.csv corpus/others.csv {fields} -o out --format csv")
    for score in ["text", "points", "evidence"]:
        both_files = "" if score == "evidence" else "corpus/others.csv "
        yield Scenario(f"link-{score}", f"link corpus/people.csv {both_files}{fields} -o out --score {score}")
    for kind in ["--verify signature", "--verify exact", "--kind exact", "--kind exact --measure contained"]:
        name = kind.replace("--", "").replace(" ", "-")
        yield Scenario(
            f"index-{name}",
            f"index build corpus/a.jsonl --index ix {kind}",
            "index query corpus/b.jsonl.gz --index ix -o hits.jsonl",
            "index add corpus/b.jsonl.gz --index ix --if-new -o verdicts.jsonl",
            "index delete --index ix --ids corpus/ids",
            "index compact --index ix",
            "index verify --index ix",
            "index snapshot ix copy",
            "index query corpus/b.jsonl.gz --index copy -o later.jsonl --top 2",
            indexes=["ix", "copy"],
        )
    yield Scenario(
        "index-signatures",
        "sign corpus/a.jsonl -o s.parquet",
        "index build --signatures s.parquet --index ix",
        "<b.jsonl index query - --index ix -o -",
        indexes=["ix"],
    )
    yield Scenario("index-build-memory", "index build corpus/a.jsonl --index ix --memory 1MiB", indexes=["ix"])
    for what in ["", "--by user", "--recommend all", "--hold-out last --time-field time"]:
        name = what.removeprefix("--").split(" --")[0].replace(" ", "-") or "items"
        for ending in ["jsonl", "csv", "parquet"]:
            yield Scenario(f"ratings-{name}-{ending}", f"ratings corpus/ratings.csv -o out.{ending} {what}")
    yield Scenario(
        "evaluate",
        "link corpus/people.csv corpus/others.csv --fields name,city,born -o out",
        "evaluate out --truth corpus/truth.csv",
        "evaluate out --truth corpus/truth.csv --report json",
    )
    yield Scenario(
        "show",
        f"dedup {both} -o out --cluster connected",
        "show out d1",
        "show out d100 --json",
        "show out d7 --no-text",
        "passages corpus/a.jsonl -o passages --min-length 8 --action cut",
        "show passages d3",
    )
    tune = "tune --threshold 0.7 --sample corpus/a.jsonl"
    yield Scenario("tune", "tune", tune, "tune --documents 1000000 --bytes 3GB")
    yield Scenario("compare", "compare corpus/texts/01.txt corpus/texts/02.txt", "selftest")
    for name in ["bad.jsonl", "missing.jsonl", "texts", "items.jsonl"]:
        yield Scenario(f"refused-{name}", f"dedup corpus/{name} -o out", f"sign corpus/{name} -o s.npy")


def write_records(folder):
    """Records to link, a truth, benchmark items and documents that ask them, ratings, and ids."""
    draw = random.Random(21)
    syllables = "ba co du fe gi ho ju ka le mi no pu ra se ti vo wu xa ye zi".split()

    def name(count):
        return "".join(draw.choices(syllables, k=count)).title()

    def person():
        return f"{name(2)} {name(3)}", name(2), f"{draw.randint(1930, 2004)}-{draw.randint(1, 12):02}-01"

    people = [person() for _ in range(400)]
    others = []
    for number, (person, city, born) in enumerate(people[:260]):
        if draw.random() < 0.4:
            at = draw.randrange(len(person))
            person = person[:at] + draw.choice("abcdef") + person[at + 1 :]
        others.append((f"b{number}", person, city, born))
    with (folder / "people.csv").open("w") as file:
        file.write("id,name,city,born\n")
        file.writelines(f"{number},{','.join(person)}\n" for number, person in enumerate(people))
    with (folder / "others.csv").open("w") as file:
        file.write("id,name,city,born\n")
        file.writelines(",".join(other) + "\n" for other in others)
    with (folder / "truth.csv").open("w") as file:
        file.write("id_a,id_b\n")
        file.writelines(f"{number},b{number}\n" for number in range(260))
    items = []
    for number in range(80):
        who, what, whom, friend, where, town, late, gift = (name(3) for _ in range(8))
        question = (
            f"{who} bought {number + 3} {what} for {whom} and gave {number % 5 + 1} of them to {friend} near the {where} of "
            f"{town}. How many {what} does {who} have left when {late} brings {gift}?"
        )
        items.append({"id": f"q{number}", "question": question, "answer": str(number * 7 + 2)})
    texts = [json.loads(line)["text"] for line in (folder / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    with (folder / "items.jsonl").open("w") as file:
        file.writelines(json.dumps(item) + "\n" for item in items)
    with (folder / "asking.jsonl").open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts[:240]):
            if number % 4 == 0:
                text = f"{text[:90]}\n\n{items[number % 80]['question']}\n\n{text[90:]}"
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    with (folder / "ratings.csv").open("w") as file:
        file.write("user,item,rating,time\n")
        for user in range(150):
            file.writelines(f"u{user},i{item},{draw.randint(1, 5)},{draw.randint(0, 10**6)}\n" for item in draw.sample(range(90), 14))
    (folder / "ids").write_text("".join(f"d{number}\n" for number in range(0, 200, 3)))
    with gzip.open(folder / "b.jsonl.gz") as packed:
        (folder / "b.jsonl").write_bytes(packed.read())


#: What a command says that differs from run to run: times, speeds, and the memory of the process.
VARIES = [
    (re.compile(r"[\d,.]+ (ns|µs|ms|s|min|h|seconds?|minutes?|hours?)\b"), "# time"),
    (re.compile(r"[\d,.]+ ?[kMGT]?i?B/s"), "# speed"),
    (re.compile(r"peak memory +[\d,.]+ \S+"), "peak memory #"),
    (re.compile(r"simgpu-spill-\w+"), "simgpu-spill-#"),
    # The store compacts in the background.
    (re.compile(r"compacted +[\d,]+ to [\d,]+ bytes"), "compacted #"),
]


def masked(said, folder):
    text = said.decode(errors="replace").replace(str(folder), "FOLDER")
    for pattern, mask in VARIES:
        text = pattern.sub(mask, text)
    # A command that is quick says nothing of some stages, and pads the names of the others.
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if "# time" not in line)


def stopped(command, work):
    """Stops a command at its first checkpoint, if it makes one before it ends. Returns whether it did."""
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=work)
    while running.poll() is None:
        if any((work / "temporary").glob("simgpu-spill-*/*")):
            running.send_signal(signal.SIGINT)
            break
        time.sleep(0.001)
    running.communicate()
    return running.returncode != 0


def hash_of_scenario(program, folder, scenario):
    work = folder / "scenarios" / scenario.name
    (work / "temporary").mkdir(parents=True)
    corpus = folder / "corpus"
    lines, says = [], []
    for step in scenario.steps:
        source, stops = subprocess.DEVNULL, step[0] == "stop"
        if step[0].startswith("<"):
            source = (corpus / step[0][1:]).open("rb")
        if stops or step[0].startswith("<"):
            step = step[1:]
        command = [program, *(argument.replace("corpus/", f"{corpus}/") for argument in step)]
        if stops and not stopped(command, work):
            print(f"{scenario.name} ended before it was stopped", file=sys.stderr)
            shutil.rmtree(work)
            (work / "temporary").mkdir(parents=True)
        done = subprocess.run(command, stdin=source, capture_output=True, cwd=work)
        # What a resumed run says depends on where it was stopped.
        if not stops:
            says += [f"exit {done.returncode}", masked(done.stdout, folder), masked(done.stderr, folder)]
    for index in scenario.indexes:
        listed = subprocess.run([program, "index", "export", "--index", index], capture_output=True, cwd=work).stdout
        stats = subprocess.run([program, "index", "stats", "--index", index, "--report", "json"], capture_output=True, cwd=work)
        stats = {name: value for name, value in json.loads(stats.stdout).items() if "bytes" not in name}
        says += [listed.decode(), json.dumps(stats, sort_keys=True)]
        shutil.rmtree(work / index)
    said = "\n".join(says).encode()
    lines.append(f"{hashlib.sha256(said).hexdigest()}  scenarios/{scenario.name} says")
    for path in sorted(work.rglob("*")):
        if path.is_file() and path.name != "run.json" and not path.name.endswith(".run.json"):
            digest = hashlib.sha256(path.read_bytes().replace(str(folder).encode(), b"FOLDER")).hexdigest()
            lines.append(f"{digest}  {path.relative_to(folder)}")
    shutil.rmtree(work)
    return lines, said


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
    parser.add_argument("--scenarios", action="store_true", help="run the second part alone")
    parser.add_argument("--says", type=Path, help="an empty folder for what each scenario says, to compare by eye")
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        corpus = folder / "corpus"
        corpus.mkdir()
        write_corpus(corpus)
        write_records(corpus)
        lines, count = [], 0
        with ThreadPoolExecutor(2) as pool:
            every = list(scenarios())
            count += len(every)
            hashed = pool.map(lambda scenario: hash_of_scenario(program, folder, scenario), every)
            for scenario, (of_scenario, said) in zip(every, hashed):
                lines += of_scenario
                if arguments.says:
                    (arguments.says / scenario.name).write_bytes(said)
            batches = [] if arguments.scenarios else [list(runs(corpus)), list(signature_runs(folder))]
            for batch in batches:
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
