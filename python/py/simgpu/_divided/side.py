"""The two sides of a search with a reference, and the places of their documents."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ParameterError

#: With a reference, the places of its documents are their keys less this number, and those of all others their keys plus
#: this number. So the reference has the places below 0, if keys are nowhere beyond it.
REACH = 1 << 62


@dataclass(frozen=True)
class Side:
    """Where documents are: in the input, or in the reference with which it is compared."""

    #: The place of a document less its key.
    shift: int = 0
    #: What errors say of its records.
    of: str = ""

    def places(self, keys: pa.Array, name: str) -> pa.Array:
        """The places of keys, in a column of this name.

        Raises:
            ParameterError: A key is beyond :data:`REACH`.
        """
        keys = keys.cast(pa.int64())
        if self.shift == 0:
            return keys
        beyond = keys.filter(pc.or_(pc.less(keys, -REACH), pc.greater_equal(keys, REACH)))
        if len(beyond) > 0:
            raise ParameterError(
                f"the record{self.of} with {name} {beyond[0]} has no place beside a reference, where ids are from -2^62 up "
                "to 2^62; give other ids, or use simgpu.spark"
            )
        return pc.add(keys, self.shift)


#: The input of a search without a reference.
ALONE = Side()

INPUT = Side(REACH)

REFERENCE = Side(-REACH, " of against")


def keys_at(places: pa.Array) -> pa.Array:
    """The keys of documents of either side, by their places."""
    return pc.if_else(pc.less(places, 0), pc.add(places, REACH), pc.subtract(places, REACH))
