"""Tools that sign: the fastest way of each to sign many documents on one thread, from hashes here and from texts in
`texts.py`; and simgpu."""

import dataclasses
import hashlib
import importlib
import importlib.metadata
import json
import subprocess
import time
from typing import Callable

import numpy as np

SEED = 1
# Values per intermediate matrix, which stay in the cache.
BLOCK = 1 << 19


@dataclasses.dataclass(frozen=True)
class Peer:
    """One way to use another tool."""

    tool: str
    # What it computes: the scheme of simgpu, if there is one of that kind.
    scheme: str
    # Its call, for readers of the results.
    api: str
    # (documents, num_perm) -> a function without arguments that signs them.
    prepare: Callable
    # Result of that function -> signatures, one row per document.
    rows: Callable = lambda signed: signed
    # Whether the scheme of simgpu has the same values.
    is_equal: bool = False
    # Whether it updates every slot for every shingle, with independent slots.
    has_independent_slots: bool = True
    # Whether it mixes hashes before permuting them.
    is_mixed: bool = False
    slot_bits: int = 32
    # Whether its time is compared; a sketch that skips tokens is not.
    is_timed: bool = True

    @property
    def name(self):
        """The tool with its version."""
        package = "stringzillas-cpus" if self.tool == "stringzillas" else self.tool
        return f"{self.tool} {importlib.metadata.version(package)}"

    def signed(self, documents, num_perm):
        return self.rows(self.prepare(documents, num_perm)())

    def passes(self, documents, num_perm, count):
        """Seconds of each of `count` passes, after one that is not timed."""
        sign = self.prepare(documents, num_perm)
        sign()
        elapsed_s = []
        for _ in range(count):
            start = time.perf_counter()
            signed = sign()
            elapsed_s.append(time.perf_counter() - start)
            del signed
        return elapsed_s


def rensa(method, **options):
    def prepare(documents, num_perm):
        sketch = getattr(importlib.import_module("rensa").RMinHash, method)
        hashes, offsets = documents.hashes, documents.offsets.astype(np.uint64)
        return lambda: sketch(hashes, offsets, num_perm, SEED, **options)

    return prepare


def fast_sketch(documents, num_perm):
    sketch = importlib.import_module("FastSketchLSH").FastSimilaritySketch(num_perm, SEED)
    hashes, offsets = documents.hashes, documents.offsets.astype(np.uint64)
    return lambda: sketch.batch_csr(hashes, offsets, prehashed=True, num_threads=1)


def datasketch(scheme):
    def prepare(documents, num_perm):
        # A hash function may return the hashes of many shingles at once, which saves a call and a
        # Python integer per shingle.
        empty = importlib.import_module("datasketch").MinHash(
            num_perm, seed=SEED, scheme=scheme, hashfunc=lambda hashes: hashes
        )
        low, offsets = documents.low, documents.offsets.tolist()
        hashes = low.astype(np.uint64) if scheme == "legacy" else low
        step = max(16, BLOCK // num_perm)

        def sign():
            signed = []
            for start, end in zip(offsets, offsets[1:]):
                minhash = empty.copy()
                for i in range(start, end, step):
                    minhash.update_batch([hashes[i : min(i + step, end)]])
                signed.append(minhash)
            return signed

        return sign

    return prepare


def numpy_affine32(documents, num_perm):
    """`min (a*h + b) mod 2^32` with `h = fmix32(x)`: permutation by permutation over blocks of
    documents, the fastest order of those tried."""
    random = np.random.RandomState(SEED)
    a = random.randint(0, 1 << 31, num_perm, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    b = random.randint(0, 1 << 32, num_perm, dtype=np.uint32)
    low, offsets = documents.low, documents.offsets
    per_block = max(1, (1 << 15) * len(documents) // len(low))

    def sign():
        slots = np.empty((len(documents), num_perm), np.uint32)
        for first in range(0, len(documents), per_block):
            bounds = offsets[first : first + per_block + 1]
            h = fmix32(low[bounds[0] : bounds[-1]])
            starts = bounds[:-1] - bounds[0]
            values = np.empty_like(h)
            rows = slots[first : first + per_block]
            for k in range(num_perm):
                np.multiply(h, a[k], out=values)
                np.add(values, b[k], out=values)
                np.minimum.reduceat(values, starts, out=rows[:, k])
        return slots

    return sign


def fmix32(h):
    h = h ^ (h >> np.uint32(16))
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return h


def datatrove(documents, num_perm):
    step = datatrove_step(num_perm)
    bounds = documents.offsets.tolist()
    sets = [documents.hashes[start:end].reshape(-1, 1) for start, end in zip(bounds, bounds[1:])]
    return lambda: [step.get_signature(shingles) for shingles in sets]


def datatrove_step(num_perm):
    """The first step of datatrove, which signs, with buckets of eight hashes."""
    minhash = importlib.import_module("datatrove.pipeline.dedup.minhash")
    config = minhash.MinhashConfig(num_buckets=num_perm // 8, hashes_per_bucket=8, seed=SEED)
    return minhash.MinhashDedupSignature(output_folder="memory://peers", config=config)


def joined_buckets(signed):
    """Rows of slots from the buckets of datatrove."""
    return np.array(signed, np.uint64).reshape(len(signed), -1)


HASHED = [
    Peer(
        "rensa",
        "rensa",
        "RMinHash.digest_matrix_from_flat_token_hashes",
        rensa("digest_matrix_from_flat_token_hashes"),
        rows=lambda matrix: np.array(matrix.to_rows(), np.uint32),
        is_equal=True,
        has_independent_slots=False,
    ),
    Peer(
        "rensa",
        "rho",
        "RMinHash.digest_matrix_from_flat_token_hashes_rho, which leaves tokens out; for its error alone",
        rensa("digest_matrix_from_flat_token_hashes_rho"),
        rows=lambda matrix: np.array(matrix.to_rows(), np.uint32),
        has_independent_slots=False,
        is_timed=False,
    ),
    Peer(
        "FastSketchLSH",
        "fast",
        "FastSimilaritySketch.batch_csr(prehashed=True, num_threads=1)",
        fast_sketch,
        has_independent_slots=False,
        is_mixed=True,
        slot_bits=64,
    ),
    Peer(
        "datasketch",
        "affine32",
        "MinHash.copy and update_batch, with all hashes of a document in one array",
        datasketch("affine32"),
        rows=lambda signed: np.array([minhash.hashvalues for minhash in signed], np.uint32),
        is_equal=True,
        is_mixed=True,
    ),
    Peer(
        "datasketch",
        "datasketch-legacy",
        "the same of MinHash(scheme='legacy')",
        datasketch("legacy"),
        rows=lambda signed: np.array([minhash.hashvalues for minhash in signed], np.uint32),
        is_equal=True,
    ),
    Peer(
        "numpy",
        "affine32",
        "bare arithmetic: multiply, add, minimum.reduceat over blocks of documents",
        numpy_affine32,
        is_equal=True,
        is_mixed=True,
    ),
    Peer(
        "datatrove",
        "datatrove",
        "MinhashDedupSignature.get_signature, a document at a time",
        datatrove,
        rows=joined_buckets,
        is_equal=True,
        slot_bits=64,
    ),
]


class Refused(Exception):
    """The program of simgpu refused to sign; the message is the reason."""


@dataclasses.dataclass(frozen=True)
class Simgpu:
    """The bench target `peers` (cli/benches/peers.rs), with one scheme."""

    program: str
    scheme: str
    isa: str | None = None
    # Options for texts.
    options: tuple = ()
    name: str = "simgpu"

    @property
    def has_independent_slots(self):
        return self.scheme not in ("fast", "rensa")

    @property
    def is_mixed(self):
        return self.scheme in ("affine32", "fast")

    @property
    def slot_bits(self):
        return 64 if self.scheme == "datatrove" else 32

    @property
    def seed(self):
        # text-dedup has a fixed seed.
        return 42 if self.scheme == "text-dedup" else SEED

    def run(self, file, documents, num_perm, *options):
        command = [self.program, file, "--scheme", self.scheme, "--num-perm", str(num_perm)]
        command += ["--docs", str(documents), "--seed", str(self.seed), *self.options, *options]
        if self.isa:
            command += ["--isa", self.isa]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            lines = ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"]
            raise Refused(lines[0].removeprefix("Error: "))
        return json.loads(ran.stdout)

    def passes(self, file, documents, num_perm, count):
        return self.run(file, documents, num_perm, "--repeats", str(count))["elapsed_s"]

    def signed(self, file, documents, num_perm, folder):
        path = folder / "signatures"
        options = ["--repeats", "0", "--signatures", str(path)]
        slots = self.run(file, documents, num_perm, *options)
        width = {4: np.uint32, 8: np.uint64}[slots["slot_bytes"]]
        return np.fromfile(path, width).reshape(-1, num_perm)


def sha1(slots):
    """SHA-1 of the slots, little-endian, row by row, like that of cli/benches/peers.rs."""
    return hashlib.sha1(np.ascontiguousarray(slots).tobytes()).hexdigest()
