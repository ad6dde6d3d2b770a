"""Identical documents: of those with equal digests, the first stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .plan import Plan
from .tables import DOCUMENTS, Batches, batch_of, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The length of a document that is kept before all others.
_FIRST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Identical:
    """Finds identical documents: ``SIGNED``, by ascending digest and place, to ``DOCUMENTS``.

    ``first`` is the place of the first document with the same digest. The row of that one has also the place and
    length of the one to keep of them, keys and signature; other rows have none of these. Of a reference, the first is kept
    before all others, whatever their length, and others have no rows, unless pairs are found: nothing else is done with them.
    """

    plan: Plan

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        is_open = False
        digest = np.empty(0, "<u8")
        # The open group: its first document, and the length and the place of the one to keep.
        first = pa.table({})
        length = keeper = last_place = 0
        for batch in batches:
            if batch.num_rows == 0:
                continue
            digests = words_of(batch.column("digest"), 2)
            places = batch.column("place").to_numpy()
            lengths = batch.column("length").to_numpy()
            before = np.vstack([digest if is_open else ~digests[:1], digests[:-1]])
            is_first = (digests != before).any(axis=1)
            starts = np.flatnonzero(is_first)
            if len(starts) == 0 or starts[0] > 0:
                end = int(starts[0]) if len(starts) else len(places)
                length, keeper = self._preferred((length, keeper), lengths[:end], places[:end])
                last_place = int(places[end - 1])
            if len(starts) > 0 and is_open:
                yield self._first_document(first, [keeper], [length], [last_place])
            group = np.cumsum(is_first) - 1
            opened = first.column("place")[0].as_py() if is_open else 0
            first_places = np.concatenate([[opened], places[starts]])[group + 1]
            is_repeat = ~is_first
            if self.plan.against and not self.plan.pairs:
                is_repeat &= places >= 0
            if is_repeat.any():
                yield batch_of(
                    DOCUMENTS,
                    place=pa.array(places[is_repeat]),
                    first=pa.array(first_places[is_repeat]),
                )
            if len(starts) > 0:
                # The last group stays open.
                closed = starts[:-1]
                if len(closed) > 0:
                    most, preferred = self._preferred_of(closed, starts[-1], lengths, places)
                    last_places = places[starts[1:] - 1]
                    firsts = batch.take(pa.array(closed))
                    yield self._first_document(firsts, preferred, most, last_places)
                last = int(starts[-1])
                first = batch.slice(last, 1)
                opened = (int(lengths[last]), int(places[last]))
                length, keeper = self._preferred(opened, lengths[last:], places[last:])
            is_open, digest, last_place = True, digests[-1:], int(places[-1])
        if is_open:
            yield self._first_document(first, [keeper], [length], [last_place])

    def _preferred(
        self, best: tuple[int, int], lengths: NDArray[np.int64], places: NDArray[np.int64]
    ) -> tuple[int, int]:
        """The length and place of the document to keep: an earlier one, or one of these."""
        if self.plan.keep == "first" or len(lengths) == 0:
            return best
        longest = int(np.argmax(lengths))
        if lengths[longest] <= best[0]:
            return best
        return int(lengths[longest]), int(places[longest])

    def _preferred_of(
        self,
        starts: NDArray[np.int64],
        end: int,
        lengths: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The length and place of the document to keep of each group, up to ``end``."""
        if self.plan.keep == "first":
            return lengths[starts], places[starts]
        most = np.maximum.reduceat(lengths[:end], starts)
        group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, end)))
        begin = int(starts[0])
        longest = np.flatnonzero(lengths[begin:end] == most[group])
        _, of_group = np.unique(group[longest], return_index=True)
        return most, places[begin:end][longest[of_group]]

    def _first_document(
        self, rows: Any, keeper: Any, length: Any, last_place: Any
    ) -> pa.RecordBatch:
        """Rows of the first documents of their groups, from the last place of each group."""
        place = rows.column("place")
        columns = {name: rows.column(name) for name in ("keys", "signature")}
        if self.plan.against:
            places = place.to_numpy()
            is_reference = places < 0
            keeper = np.where(is_reference, places, keeper)
            length = np.where(is_reference, _FIRST, length)
            is_repeated = (np.asarray(last_place) >= 0) & self.plan.stands_for_inputs
            columns["input"] = pa.array((~is_reference | is_repeated).astype(np.int32))
        return batch_of(
            DOCUMENTS,
            place=place,
            first=place,
            keeper=pa.array(keeper, pa.int64()),
            length=pa.array(length, pa.int64()),
            **columns,
        )
