"""Tools that sign from texts: what a user would write to sign a list of texts on one thread."""

import importlib
import time

import numpy as np

from documents import WINDOW_BYTES
from shingling import WORDS, shingles
from tools import SEED, Peer, datatrove_step, joined_buckets


def rensa(texts, num_perm):
    sketch = importlib.import_module("rensa").RMinHash.digest_matrix_from_token_sets
    return lambda: sketch([shingles(text) for text in texts], num_perm, SEED)


def fast_sketch(texts, num_perm):
    sketch = importlib.import_module("FastSketchLSH").FastSimilaritySketch(num_perm, SEED)
    return lambda: sketch.batch([shingles(text) for text in texts], num_threads=1)


def datasketch(texts, num_perm):
    empty = importlib.import_module("datasketch").MinHash(num_perm, seed=SEED)

    def sign():
        signed = []
        for text in texts:
            minhash = empty.copy()
            minhash.update_batch([shingle.encode() for shingle in shingles(text)])
            signed.append(minhash)
        return signed

    return sign


def text_dedup(texts, num_perm):
    """The function that its command maps over documents, with the same arguments."""
    minhash = importlib.import_module("text_dedup.minhash")
    random = np.random.RandomState(minhash.SEED)
    prime = np.uint64((1 << 61) - 1)
    options = {
        "num_perm": num_perm,
        "ngram_size": WORDS,
        "min_length": 5,
        "hashranges": [(start, start + 8) for start in range(0, num_perm, 8)],
        "permutations": (
            random.randint(1, prime, size=(num_perm,), dtype=np.uint64),
            random.randint(0, prime, size=(num_perm,), dtype=np.uint64),
        ),
        "hash_func": lambda shingle: minhash.sha1_hash(shingle, d=32),
        "dtype": np.uint64,
        "max_hash": np.uint32((1 << 32) - 1),
        "modulo_prime": prime,
    }
    return lambda: [
        minhash.embed_func(text, i, **options)[minhash.SIGNATURE_COLUMN] for i, text in enumerate(texts)
    ]


def joined_bands(signed):
    """Rows of 32-bit slots from the bands of text-dedup, which are bytes of 64-bit big-endian slots."""
    rows = [np.frombuffer(b"".join(bands), ">u8") for bands in signed]
    return np.array(rows, np.uint64).astype(np.uint32)


def datatrove(texts, num_perm):
    step = datatrove_step(num_perm)

    def sign():
        sets = map(step.get_shingles, texts)
        return [step.get_signature(hashes) for hashes in sets if hashes.size]

    return sign


def fingerprints(texts, num_perm):
    stringzilla = importlib.import_module("stringzilla")
    stringzillas = importlib.import_module("stringzillas")
    engine = stringzillas.Fingerprints(
        num_perm,
        window_widths=np.array([WINDOW_BYTES], np.uint64),
        seed=SEED,
        capabilities=fingerprint_capabilities(),
    )
    strings, device = stringzilla.Strs(texts), stringzillas.DeviceScope(cpu_cores=1)
    return lambda: engine(strings, device=device)


def fingerprint_capabilities():
    """The fastest instructions. The defaults are slower on some machines."""
    global _capabilities
    if _capabilities is None:
        stringzilla = importlib.import_module("stringzilla")
        stringzillas = importlib.import_module("stringzillas")
        strings, device = stringzilla.Strs(["ab" * 2000]), stringzillas.DeviceScope(cpu_cores=1)
        widths = np.array([WINDOW_BYTES], np.uint64)
        elapsed_s = {}
        others = [c for c in stringzillas.__capabilities__ if c not in ("serial", "parallel", "cuda")]
        for capabilities in [("serial",)] + [("serial", other) for other in others]:
            try:
                engine = stringzillas.Fingerprints(128, window_widths=widths, capabilities=capabilities)
                start = time.perf_counter()
                engine(strings, device=device)
                elapsed_s[capabilities] = time.perf_counter() - start
            except (RuntimeError, ValueError):
                pass
        _capabilities = min(elapsed_s, key=elapsed_s.get)
    return _capabilities


_capabilities = None

WORDS_OF = [
    Peer(
        "rensa",
        "rensa",
        "RMinHash.digest_matrix_from_token_sets, of shingles made in Python",
        rensa,
        rows=lambda matrix: np.array(matrix.to_rows(), np.uint32),
        has_independent_slots=False,
    ),
    Peer(
        "FastSketchLSH",
        "fast",
        "FastSimilaritySketch.batch(num_threads=1), of shingles made in Python",
        fast_sketch,
        has_independent_slots=False,
        is_mixed=True,
        slot_bits=64,
    ),
    Peer(
        "datasketch",
        "affine32",
        "MinHash.copy and update_batch, of shingles made in Python, hashed by SHA-1",
        datasketch,
        rows=lambda signed: np.array([minhash.hashvalues for minhash in signed], np.uint32),
        is_mixed=True,
    ),
    Peer(
        "text-dedup",
        "text-dedup",
        "minhash.embed_func, with the command's default hash",
        text_dedup,
        rows=joined_bands,
        is_equal=True,
    ),
    Peer(
        "datatrove",
        "datatrove",
        "MinhashDedupSignature.get_shingles and get_signature; cuts words by spaCy",
        datatrove,
        rows=joined_buckets,
        slot_bits=64,
    ),
]

BYTES_OF = [
    Peer(
        "stringzillas",
        "fingerprints",
        f"Fingerprints over windows of {WINDOW_BYTES} bytes, with the fastest instructions it offers",
        fingerprints,
        rows=lambda signed: signed[0],
    ),
]
