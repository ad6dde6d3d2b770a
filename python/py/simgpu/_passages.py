"""Passages that repeat in texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from . import _simgpu
from ._dedup import _Rows
from ._options import PassageOptions, PassagesOptions, parameters_of, takes

if TYPE_CHECKING:
    from ._simgpu import Table


class PassagesFound(_Rows):
    """The passages of texts: a table with one row per piece, a part of a text with one source, in the order of the texts.

    It goes to Arrow as :class:`Table` does; ``found["row"]`` is a numpy array. The columns:

    - ``row``: the row of the text, from 0.
    - ``start``, ``end``: its place in bytes of the text in UTF-8: ``text.encode()[start:end]``; of a list, in tokens.
    - ``source_row``, ``source_start``, ``source_end``: the same of its source.
    - ``length``: its length in units.
    - ``exact``: whether all bytes are those of the source, not only the units.
    - ``reference``, with ``against``: the row of the source there, where ``source_row`` is null.
    - ``id``, ``source_id``, with ids: those of the text and of its source. Of a source in ``against``, if ``id`` names a
      column that ``against`` has; else null.
    """

    table: Table
    """The pieces."""

    texts: list[str] | None
    """The texts without their passages, one per row of the data; ``None`` unless ``cut`` asks for them."""

    counts: dict[str, int]
    """The counts of texts and pieces, as in the report of the command ``passages``."""

    report: dict[str, Any]
    """Counts, and the options that decide what a passage is."""

    def __init__(self, parts: dict[str, Any], options: dict[str, Any]) -> None:
        self.table = parts["table"]
        self.texts = parts["texts"]
        self.counts = parts["counts"]
        self.report = {"command": "passages", "counts": self.counts, "parameters": parameters_of(options, PassageOptions)}

    def __repr__(self) -> str:
        return f"<PassagesFound: {len(self)} pieces>"


@takes(PassagesOptions)
def passages(data: Any, column: str | None = None, **options: Unpack[PassagesOptions]) -> PassagesFound:
    """Finds the parts of texts that repeat, in other texts or the same one.

    Finds all of them, exactly. The first occurrence is no passage, so order the texts by trust. The options are those of
    the command ``simgpu passages``; :func:`passages_files` reads files.

    Args:
        data: The texts, or with ``unit="tokens"`` lists of int or str, one per row, as for :func:`dedup`. A null is empty.
        column: The column of texts, if ``data`` is a table.
        **options: Those of the command ``simgpu passages``; ``help(simgpu.passages)`` lists them.

    Raises:
        ParameterError: An argument is unknown, out of range or contradicts another one.
        TypeError: The texts are of another type.
        StoppedError: The progress function stopped the work.
    """
    return PassagesFound(_simgpu.passages_in_memory({"data": data, "column": column, **options}), dict(options))
