#!/usr/bin/env python3
"""Says which pairs of options the tests of the command have joined in a run that succeeded.

    SIMGPU_COMMANDS=commands.txt cargo test --package simgpu-cli --all-features
    scripts/option-pairs.py target/debug/simgpu commands.txt > cli/tests/option-pairs.md

An option counts as joined with another one if a test ran both in one call. Options that change messages alone, such as
`--quiet`, are left out. Needs Python 3.9 and nothing else.
"""

import argparse
import itertools
import re
import subprocess
from collections import defaultdict

OF_MESSAGES = {"help", "quiet", "version", "dry-run"}
WITH_PARTS = ("index",)


def helped(program, command):
    help = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout
    return help


def commands(program):
    """All commands with options."""
    names = re.findall(r"^  ([a-z]+)  ", helped(program, []), re.M)
    for name in names:
        if name in WITH_PARTS:
            parts = re.findall(r"^  ([a-z]+)  ", helped(program, [name]), re.M)
            yield from ((name, part) for part in parts if part != "help")
        elif name != "help":
            yield (name,)


def options(program, command):
    """The options of a command, by their long and their short names."""
    names = {}
    for short, long in re.findall(r"^ +(?:-(\w), )?--([a-z][a-z-]+)", helped(program, command), re.M):
        if long not in OF_MESSAGES:
            names["--" + long] = long
            if short:
                names["-" + short] = long
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("commands", help="the file that SIMGPU_COMMANDS named")
    arguments = parser.parse_args()
    known = {command: options(arguments.program, command) for command in commands(arguments.program)}
    joined = defaultdict(set)
    with open(arguments.commands, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            command = tuple(words[:2]) if words[:1] and words[0] in WITH_PARTS else tuple(words[:1])
            names = known.get(command)
            if names:
                given = {names[word] for word in (word.split("=")[0] for word in words) if word in names}
                joined[command] |= {frozenset(pair) for pair in itertools.combinations(given, 2)}
    print("# Options that tests have joined\n")
    print("`scripts/option-pairs.py` makes this table. Two options are joined if a test ran both in one call that succeeded. Some pairs are refused, so that")
    print("no test can join them.\n")
    print("| command | options | pairs | joined |\n|---|---|---|---|")
    for command, names in known.items():
        count = len(set(names.values()))
        print(f"| `{' '.join(command)}` | {count} | {count * (count - 1) // 2} | {len(joined[command])} |")
    for command, names in known.items():
        if not joined[command]:
            continue
        print(f"\n## {' '.join(command)}\n\n| option | joined with |\n|---|---|")
        for option in sorted(set(names.values())):
            others = sorted(other for pair in joined[command] if option in pair for other in pair - {option})
            print(f"| `--{option}` | {', '.join(f'`{other}`' for other in others) or 'none'} |")


main()
