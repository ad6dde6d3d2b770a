"""Signing: texts to digests, band keys and signatures, and keys to places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import _simgpu
from ..errors import InputError
from .plan import Plan
from .side import ALONE, Side
from .tables import SIGNED, Batches, batch_of, columns_of, words_of


@dataclass(frozen=True)
class Sign:
    """Signs documents: (place, text), and perhaps the hash of each, to ``SIGNED``.

    A record that is skipped has no place: without a text, it has no length either.
    """

    plan: Plan
    side: Side = ALONE

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        search = self.plan.search()
        for batch in batches:
            good = self._good(batch.column(0), batch.column(1))
            if good is not None:
                bad = batch.filter(pc.invert(good))
                length = pc.binary_length(bad.column(1))
                nowhere = pa.nulls(bad.num_rows, pa.int64())
                yield batch_of(SIGNED, place=nowhere, length=length, **_hash_of(bad))
                batch = batch.filter(good)
            if batch.num_rows > 0:
                signed = columns_of(search.sign(batch.column(1)))
                yield batch_of(SIGNED, place=batch.column(0), **signed, **_hash_of(batch))

    def _good(self, place: pa.Array, text: pa.Array) -> pa.Array | None:
        """Which records are good; ``None`` if all are."""
        if place.null_count == 0 and text.null_count == 0:
            return None
        good = np.asarray(place.is_valid()) & np.asarray(text.is_valid())
        bad = np.flatnonzero(~good)
        if not self.plan.skips:
            row = int(bad[0])
            of = self.side.of
            problem = f"a record{of} has no {self.plan.record}"
            if place[row].is_valid:
                key = place[row].as_py() - self.side.shift
                problem = f"the record{of} with {self.plan.record} {key!r} has no text"
            raise InputError(f'{problem}; correct it, or pass on_bad_record="skip"')
        return pa.array(good)


def _hash_of(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """The hashes of records, if they came with them."""
    return {"hash": batch.column(2)} if batch.num_columns > 2 else {}


@dataclass(frozen=True)
class SignAlone:
    """Signs documents with a ``Signer`` of these options: (id, text) to (id, signature)."""

    options: dict[str, Any]

    def signer(self) -> _simgpu.Signer:
        return _simgpu.Signer(**self.options)

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        signer = self.signer()
        for batch in batches:
            ids, texts = batch.columns
            slots = np.asarray(signer.sign(texts))
            bytes_of_row = slots.shape[1] * slots.itemsize
            slots = np.ascontiguousarray(slots, slots.dtype.newbyteorder("<"))
            rows = pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(bytes_of_row), len(slots), [None, pa.py_buffer(slots)]
            )
            yield pa.RecordBatch.from_arrays([ids, rows.cast(pa.binary())], ["id", "signature"])


@dataclass(frozen=True)
class Band:
    """The band keys of documents: (id, text) to (id, band, key)."""

    plan: Plan

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        search = self.plan.search()
        for batch in batches:
            signed = columns_of(search.sign(batch.column(1)))
            has_shingles = signed["keys"].is_valid()
            ids, keys = batch.column(0).filter(has_shingles), signed["keys"].filter(has_shingles)
            rows = np.repeat(np.arange(len(ids)), search.bands)
            bands = np.tile(np.arange(search.bands, dtype=np.int32), len(ids))
            words = words_of(keys, search.bands).reshape(-1).view("<i8")
            yield pa.RecordBatch.from_arrays(
                [ids.take(pa.array(rows)), pa.array(bands), pa.array(words)], ["id", "band", "key"]
            )


@dataclass(frozen=True)
class Number:
    """Numbers sorted keys: (key) to (head, key, row), where ``head`` is the first key of the partition."""

    name: str

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        head = last = None
        row = 0
        for batch in batches:
            keys = batch.column(0)
            if len(keys) == 0:
                continue
            head = keys[0] if head is None else head
            before = keys.slice(0, len(keys) - 1)
            repeated = keys.slice(1).filter(pc.equal(keys.slice(1), before))
            if last is not None and last == keys[0]:
                repeated = keys.slice(0, 1)
            if len(repeated) > 0:
                raise InputError(
                    f"several records have {self.name} {repeated[0].as_py()!r}; make it unique, or pass the name of a "
                    "column as order that is"
                )
            rows = pa.array(np.arange(row, row + len(keys)))
            yield pa.RecordBatch.from_arrays(
                [pa.repeat(head, len(keys)), keys, rows], ["head", "key", "row"]
            )
            last, row = keys[len(keys) - 1], row + len(keys)
