"""Makes items of benchmarks with any number of n-grams, to measure the memory of `simgpu contain`.

    python3 benches/peers/generate_items.py --ngrams 100000000 --words 204 --seed 1 items.jsonl

Each line is a question of made-up words, drawn by Zipf's law from 200,000 ones, so that nearly all n-grams of 5 words are distinct. It
needs NumPy alone.
"""

import argparse

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ngrams", type=int, required=True)
    parser.add_argument("--words", type=int, default=204, help="of a question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("output")
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    letters = np.array(list("aabcdeeefghiiklmnnoooprrsttuvw"))
    words = ["".join(random.choice(letters, size)) for size in random.integers(2, 10, 200_000)]
    weights = 1.0 / np.arange(20, len(words) + 20)
    ends = np.cumsum(weights / weights.sum())
    rest = -(-options.ngrams // (options.words - 4))
    with open(options.output, "w", encoding="utf-8") as file:
        number = 0
        while rest > 0:
            count = min(rest, 20_000)
            drawn = np.searchsorted(ends, random.random((count, options.words))).clip(max=len(words) - 1)
            for row in drawn.tolist():
                question = " ".join([words[i] for i in row])
                file.write(f'{{"id": "{number}", "question": "{question}?"}}\n')
                number += 1
            rest -= count


if __name__ == "__main__":
    main()
