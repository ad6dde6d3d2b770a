"""Writes vectors/text_dedup_041.json: signatures by text-dedup 0.4.1, which needs Python 3.12.

    pip install numpy scipy mmh3 datasketch xxhash regex rbloom bitarray pydantic-settings
    pip install --no-deps text-dedup==0.4.1
    python tests/golden/text_dedup_041.py

The texts are those of vectors/text_dedup.json, and some on which the package `regex` differs from Python's `re`.
text-dedup's command line needs `datasets` and more, none of which its signatures touch.
"""

import json
import sys
from importlib.metadata import version

import numpy
from generate import REPOSITORY, write
from text_dedup.config.algorithms.minhash import MinHashAlgorithmConfig

MORE_TEXTS = [
    "cafe\u0301s x² ½ Ⓐ\u203fb x\u200dy \u200c ⅷ १२",
    "हि न्दी भा षा में है",
    "??? one -- two ... three !!! four",
    "??? one -- two ... three !!! four five",
]


def algorithm(num_perm, size, seed):
    return MinHashAlgorithmConfig(
        algorithm_name="minhash",
        text_column="text",
        num_perm=num_perm,
        ngram_size=size,
        seed=seed,
        threshold=0.8,
        bands=1,
        rows=num_perm,
    )


def signature(embed, text):
    """The slots of a text, from its only band."""
    (band,) = embed([text], [0])["__band_val__"]
    return [int(slot) for slot in numpy.frombuffer(band, dtype=">u8")]


def signatures():
    old = json.loads((REPOSITORY / "vectors/text_dedup.json").read_text(encoding="utf-8"))
    texts = old["texts"] + MORE_TEXTS
    cases = []
    for num_perm, size, seed in ((250, 1, 42), (16, 1, 42), (16, 5, 42), (16, 7, 42), (16, 1, 7)):
        embed = algorithm(num_perm, size, seed).get_embed_func()
        some = texts[:2] if num_perm == 250 else texts
        cases.append({
            "num_perm": num_perm,
            "size": size,
            "seed": seed,
            "signatures": [signature(embed, text) for text in some],
        })
    return {
        "source": f"text-dedup {version('text-dedup')}, get_embed_func, by Python {sys.version.split()[0]}",
        "licence": "Apache-2.0",
        "texts": texts,
        "cases": cases,
    }


if __name__ == "__main__":
    write({"vectors/text_dedup_041.json": signatures})
