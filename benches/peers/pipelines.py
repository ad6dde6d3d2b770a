"""Removes near-duplicates from a folder of JSON Lines with the library of a tool, as its documentation shows: shingles
of so many words, 128 hashes in 16 bands. `dedup.py` runs it as a separate process.

    python pipelines.py TOOL INPUT OUTPUT THREADS WORDS
"""

import json
import pathlib
import sys

from shingling import shingles

NUM_PERM, BANDS, ROWS, THRESHOLD, SEED = 128, 16, 8, 0.8, 1


def records(folder):
    """Lines and texts, file by file."""
    for path in sorted(folder.glob("*.jsonl")):
        with open(path, "rb") as file:
            for line in file:
                yield line, json.loads(line)["text"]


def keep(lines, flags, output):
    output.mkdir()
    with open(output / "kept.jsonl", "wb") as file:
        file.writelines(line for line, is_kept in zip(lines, flags) if is_kept)


def rensa(folder, output, threads, words):
    from rensa import RMinHashDeduplicator

    deduplicator = RMinHashDeduplicator(THRESHOLD, NUM_PERM, True, num_bands=BANDS, seed=SEED)
    lines, texts = zip(*records(folder))
    flags = deduplicator.add_pairs((str(i), shingles(text, words)) for i, text in enumerate(texts))
    keep(lines, flags, output)


def fast_sketch(folder, output, threads, words):
    from FastSketchLSH import LSH, FastSimilaritySketch

    lines, texts = zip(*records(folder))
    sketches = FastSimilaritySketch(NUM_PERM, SEED).batch([shingles(text, words) for text in texts], num_threads=threads)
    flags = LSH(NUM_PERM, BANDS, num_threads=threads).insert_and_query_duplicates(sketches)
    keep(lines, flags == 0, output)


def datasketch(folder, output, threads, words):
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(num_perm=NUM_PERM, params=(BANDS, ROWS))
    empty = MinHash(NUM_PERM, seed=SEED)
    lines, flags = [], []
    for i, (line, text) in enumerate(records(folder)):
        minhash = empty.copy()
        minhash.update_batch([shingle.encode() for shingle in shingles(text, words)])
        is_kept = not lsh.query(minhash)
        if is_kept:
            lsh.insert(i, minhash)
        lines.append(line)
        flags.append(is_kept)
    keep(lines, flags, output)


def datatrove(folder, output, threads, words):
    from datatrove.executor.local import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    config = MinhashConfig(n_grams=words, num_buckets=BANDS, hashes_per_bucket=ROWS, seed=SEED)
    between = pathlib.Path(f"{output}-steps")
    signatures, buckets, removed = (str(between / name) for name in ("signatures", "buckets", "removed"))
    reader = JsonlReader(str(folder))
    filtered = [
        reader,
        MinhashDedupFilter(removed),
        JsonlWriter(str(output), output_filename="${rank}.jsonl", compression=None),
    ]
    steps = [
        ([reader, MinhashDedupSignature(signatures, config)], threads),
        ([MinhashDedupBuckets(signatures, buckets, config=config)], BANDS),
        ([MinhashDedupCluster(buckets, removed, config)], 1),
        (filtered, threads),
    ]
    for i, (pipeline, tasks) in enumerate(steps):
        workers = min(tasks, threads)
        logs = str(between / f"logs-{i}")
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=workers, logging_dir=logs).run()


TOOLS = {"rensa": rensa, "FastSketchLSH": fast_sketch, "datasketch": datasketch, "datatrove": datatrove}

if __name__ == "__main__":
    tool, folder, output, threads, words = sys.argv[1:]
    TOOLS[tool](pathlib.Path(folder), pathlib.Path(output), int(threads), int(words))
