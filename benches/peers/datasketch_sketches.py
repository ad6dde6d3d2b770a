"""CPU time of operations on sketches: simgpu.datasketch beside datasketch.

python3 benches/peers/datasketch_sketches.py [--num-perm 128] [--repeats 15]

Prints one line per operation: microseconds of both, the ratio, and the least ratio aimed at. Both
run in turn in one process, and the least of all repeats counts. Needs both packages in the
environment; the extension module of simgpu should be a release build.
"""

import argparse
import pickle
import time
import timeit

import datasketch
import simgpu.datasketch

# CPU seconds of one repeat.
REPEAT_S = 0.01

# Name, statement, and least ratio aimed at. `m` has seen 100 tokens, `n` is a copy with one more.
OPERATIONS = [
    ("MinHash()", "MinHash(num_perm=K)", 300),
    ("copy", "m.copy()", 50),
    ("update", "m.update(b'a token')", 25),
    ("update_batch of 10", "m.update_batch(tokens10)", 25),
    ("update_batch of 100", "m.update_batch(tokens100)", 13),
    ("update_batch of 1000", "m.update_batch(tokens1000)", 30),
    ("bulk of 20 sets of 100", "MinHash.bulk(sets, num_perm=K)", 20),
    ("jaccard", "m.jaccard(n)", 8),
    ("merge", "m.merge(n)", 8),
    ("pickle.dumps", "dumps(m)", 4),
    ("pickle.loads", "loads(pickled)", 4),
    ("lean.serialize", "lean.serialize(buffer)", 10),
    ("lean.deserialize", "LeanMinHash.deserialize(buffer)", 10),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-perm", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    names = [names_of(module, arguments.num_perm) for module in (simgpu.datasketch, datasketch)]
    print(f"{'operation':24} {'simgpu us':>10} {'datasketch us':>14} {'ratio':>7} {'goal':>5}")
    for name, statement, goal in OPERATIONS:
        own, peer = in_turn([timer(statement, each) for each in names], arguments.repeats)
        print(f"{name:24} {own * 1e6:10.3f} {peer * 1e6:14.3f} {peer / own:7.1f} {goal:5}")
    print("bytes of a pickled MinHash: {}, {}".format(*(len(each["pickled"]) for each in names)))


def names_of(module, num_perm):
    """The names that statements use, with the classes of one module."""
    m = module.MinHash(num_perm=num_perm)
    tokens = [b"token %d" % i for i in range(1000)]
    m.update_batch(tokens[:100])
    n = m.copy()
    n.update(b"one more")
    lean = module.LeanMinHash(m)
    buffer = bytearray(lean.bytesize())
    lean.serialize(buffer)
    return {
        "K": num_perm,
        "MinHash": module.MinHash,
        "LeanMinHash": module.LeanMinHash,
        "m": m,
        "n": n,
        "lean": lean,
        "buffer": buffer,
        "pickled": pickle.dumps(m),
        "dumps": pickle.dumps,
        "loads": pickle.loads,
        "sets": [tokens[50 * i : 50 * i + 100] for i in range(19)] + [tokens[:100]],
        "tokens10": tokens[:10],
        "tokens100": tokens[:100],
        "tokens1000": tokens,
    }


def timer(statement, names):
    """A timer of a statement, and how often to run it per repeat."""
    timed = timeit.Timer(statement, timer=time.process_time, globals=names)
    count = 1
    while timed.timeit(count) < REPEAT_S:
        count *= 2
    return timed, count


def in_turn(timers, repeats):
    """The least CPU seconds of each timer's statement."""
    least = [float("inf")] * len(timers)
    for _ in range(repeats):
        for i, (timed, count) in enumerate(timers):
            least[i] = min(least[i], timed.timeit(count) / count)
    return least


if __name__ == "__main__":
    main()
