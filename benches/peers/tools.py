"""The tools that are compared: for each one the fastest way that its interface has to sign many
documents on one thread."""

import dataclasses
import hashlib
import importlib
import importlib.metadata
import json
import subprocess
import time
from typing import Callable

import numpy as np

from documents import WINDOW_BYTES

SEED = 1
# Values of an intermediate matrix: so many stay in the cache.
BLOCK = 1 << 19


@dataclasses.dataclass(frozen=True)
class Peer:
    """One way to use another tool."""

    name: str
    package: str
    module: str
    # How it is called, for the reader of the results.
    api: str
    # Schemes of simgpu that it is compared with.
    schemes: tuple
    # documents, num_perm -> a function without arguments that signs them.
    prepare: Callable
    # What that function returns -> signatures, a row a document.
    rows: Callable = lambda signed: signed
    # The scheme of simgpu that has the same values.
    equals: str = None
    # Does not compute every slot of every shingle, so that state updates/s mean nothing.
    skips_work: bool = False
    # Takes texts instead of hashes, and so hashes windows itself.
    from_text: bool = False
    # Whether its time is compared; a sketch that leaves tokens out is not.
    is_timed: bool = True

    def version(self):
        return importlib.metadata.version(self.package)

    def signed(self, documents, num_perm):
        return self.rows(self.prepare(documents, num_perm)())

    def passes(self, documents, num_perm, count):
        """Seconds of each of so many passes, after one that is not measured."""
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
        # Python integer for each.
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
    """`min (a*h + b) mod 2^32` with `h = fmix32(x)`: one permutation after the other over blocks of
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
    """The fastest instructions: on some machines those that are taken by default are not."""
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

PEERS = [
    Peer(
        "rensa",
        "rensa",
        "rensa",
        "RMinHash.digest_matrix_from_flat_token_hashes",
        ("rensa", "fast"),
        rensa("digest_matrix_from_flat_token_hashes"),
        rows=lambda matrix: np.array(matrix.to_rows(), np.uint32),
        equals="rensa",
        skips_work=True,
    ),
    Peer(
        "rensa rho",
        "rensa",
        "rensa",
        "RMinHash.digest_matrix_from_flat_token_hashes_rho, which leaves tokens out",
        (),
        rensa("digest_matrix_from_flat_token_hashes_rho"),
        rows=lambda matrix: np.array(matrix.to_rows(), np.uint32),
        skips_work=True,
        is_timed=False,
    ),
    Peer(
        "FastSketchLSH",
        "FastSketchLSH",
        "FastSketchLSH",
        "FastSimilaritySketch.batch_csr(prehashed=True, num_threads=1), slots of 64 bits",
        ("fast", "rensa"),
        fast_sketch,
        skips_work=True,
    ),
    Peer(
        "datasketch affine32",
        "datasketch",
        "datasketch",
        "MinHash.copy and update_batch, with all hashes of a document in one array",
        ("affine32",),
        datasketch("affine32"),
        rows=lambda signed: np.array([minhash.hashvalues for minhash in signed], np.uint32),
        equals="affine32",
    ),
    Peer(
        "datasketch legacy",
        "datasketch",
        "datasketch",
        "the same with scheme='legacy'",
        ("mersenne61",),
        datasketch("legacy"),
        rows=lambda signed: np.array([minhash.hashvalues for minhash in signed], np.uint32),
        equals="datasketch-legacy",
    ),
    Peer(
        "numpy affine32",
        "numpy",
        "numpy",
        "bare arithmetic: multiply, add, minimum.reduceat over blocks of documents",
        ("affine32",),
        numpy_affine32,
        equals="affine32",
    ),
    Peer(
        "stringzillas",
        "stringzillas-cpus",
        "stringzillas",
        f"Fingerprints over windows of {WINDOW_BYTES} bytes, from texts, with the fastest instructions it offers",
        ("affine32", "mersenne61"),
        fingerprints,
        rows=lambda signed: signed[0],
        from_text=True,
    ),
]


class Refused(Exception):
    """simgpu's program did not sign, and said why."""


class Simgpu:
    """The program of `simgpu.rs`, with one scheme."""

    def __init__(self, program, scheme, isa=None):
        self.program, self.scheme, self.isa = program, scheme, isa
        self.name = f"simgpu {scheme}"
        self.skips_work = scheme in ("fast", "rensa")

    def run(self, file, documents, num_perm, *options):
        command = [self.program, file, "--scheme", self.scheme, "--num-perm", str(num_perm)]
        command += ["--docs", str(documents), "--seed", str(SEED), *options]
        if self.isa:
            command += ["--isa", self.isa]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            said = ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"]
            raise Refused(said[0].removeprefix("Error: "))
        return json.loads(ran.stdout)

    def passes(self, file, documents, num_perm, count):
        return self.run(file, documents, num_perm, "--repeats", str(count))["elapsed_s"]

    def signed(self, file, documents, num_perm, folder):
        path = folder / "signatures"
        options = ["--repeats", "0", "--signatures", str(path)]
        slots = self.run(file, documents, num_perm, *options)
        width = {4: np.uint32, 8: np.uint64}[slots["slot_bytes"]]
        return np.fromfile(path, width).reshape(-1, num_perm)

    def sha1(self, file, documents, num_perm):
        return self.run(file, documents, num_perm, "--repeats", "0")["sha1"]


def sha1(slots):
    """As simgpu's program computes it: of the slots, little-endian, row by row."""
    return hashlib.sha1(np.ascontiguousarray(slots).tobytes()).hexdigest()
