"""Compares exact joins of token sets: simgpu's, simgpu through LSH, and SetSimilaritySearch (pip install SetSimilaritySearch).

    python3 benches/peers/set_joins.py [--simgpu PATH] [--rounds N] [--thresholds S ...] [FILE ...]

A FILE has one set per line, its elements separated by commas. Without a FILE, baskets are generated: 20,000 sets from
1,000 items of unequal frequency, and 20,000 from 50,000; half of the sets are near-copies of others.

Measures CPU seconds, the least of several rounds: of the whole command with the pairs thrown away, and for the package of
`all_pairs` alone, once. All must find the same number of pairs, but for those that LSH misses.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess
import tempfile
import time

import SetSimilaritySearch


def generated(sets, items):
    """Sets of 2 to 25 items, of which low numbers are more frequent."""
    numbers = random.Random(1)
    made = []
    for _ in range(sets):
        if made and numbers.random() < 0.5:
            chosen = set(numbers.choice(made))
        else:
            chosen = {int(items * numbers.random() ** 3) for _ in range(numbers.randint(2, 25))}
        chosen |= {int(items * numbers.random()) for _ in range(numbers.randint(0, 2))}
        made.append(sorted(chosen))
    return made


def of_command(command):
    """CPU seconds, similar pairs, and the method that ran."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(output)
    elapsed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return elapsed, report["counts"]["similar_pairs"], report["parameters"]["candidates"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--simgpu", default="target/dist/simgpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--thresholds", type=float, nargs="+", default=[0.5, 0.8, 0.9])
    options = parser.parse_args()
    inputs = {
        file.name: [sorted(set(line.split(","))) for line in file.read_text().splitlines() if line] for file in options.files
    }
    if not inputs:
        inputs = {f"{items} items": generated(20_000, items) for items in (1_000, 50_000)}
    print("| sets | threshold | pairs | join, CPU s | auto | LSH (pairs found) | SetSimilaritySearch | join is faster by |")
    print("|---|---|---|---|---|---|---|---|")
    for name, sets in inputs.items():
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.writelines(json.dumps({"tokens": [str(item) for item in items]}) + "\n" for items in sets)
            file.flush()
            for threshold in options.thresholds:
                command = [options.simgpu, "pairs", file.name, "--unit", "tokens", "--dry-run", "--report", "json", "--quiet"]
                command += ["--threshold", str(threshold), "--candidates"]
                best = {}
                for _ in range(options.rounds):
                    for method in ("join", "auto", "lsh"):
                        best[method] = min(best.get(method, (float("inf"),)), of_command([*command, method]))
                start = time.process_time()
                theirs = sum(1 for _ in SetSimilaritySearch.all_pairs(sets, "jaccard", threshold))
                package = time.process_time() - start
                join, pairs, _ = best["join"]
                assert pairs == theirs, (name, threshold, pairs, theirs)
                (auto, _, chosen), (lsh, found, _) = best["auto"], best["lsh"]
                print(
                    f"| {name}, {len(sets):,} | {threshold} | {pairs:,} | {join:.3f} | {auto:.3f} ({chosen}) "
                    f"| {lsh:.3f} ({found:,}) | {package:.2f} | {package / join:.0f}x |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
