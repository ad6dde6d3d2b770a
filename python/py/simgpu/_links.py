"""Links between records that describe the same thing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Unpack

from . import _simgpu
from ._dedup import _Rows
from ._options import LinkOptions, takes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._simgpu import Table


class Page(str):
    """A page of HTML. It is its text, and writes itself to a file if it is called."""

    __slots__ = ()

    def __call__(self, path: str | os.PathLike[str]) -> None:
        """Writes the page.

        Args:
            path: Where to write it. A file there is replaced.
        """
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self)


class LinksFound(_Rows):
    """The links between records: a table with one row per link, by descending score, and what explains each.

    It goes to Arrow as :class:`Table` does; ``found["score"]`` is a numpy array. The columns:

    - ``row_a``, ``row_b``: the rows of both records in their tables, from 0. With one table, the earlier record and the
      later one.
    - ``id_a``, ``id_b``: their ids, if every record of the table has one.
    - ``score``: of ``score="text"`` from 0 to 1, of ``score="evidence"`` in bits, else in points. All scores are rounded to six digits after the point.
    - ``similarity``: the cosine of the words of all fields together, from 0 to 1: the score of texts.
    - ``similarity_<field>``: for each field, the cosine of its own words, from 0 to 1; null if either record has none.
    - ``points_<field>``: the points of each field, unless the score is that of texts; and with ``score="points"``
      ``whole_points``, those of ``similarity``, or with ``score="evidence"`` ``other_points``, what chance and things that
      share some fields take away. They add up to the score.
    - ``shared``, ``shared_records``: lists of the rarest words, or parts of words, that both records have, five at
      most, and of the number of records that have each. ``_`` is the beginning or the end of a word.
    - ``runner_up_row_a``, ``runner_up_row_b``, with their ids, and ``runner_up_score``: the best other candidate pair of
      either record; null if there is none. ``distance`` is the score of the link less this one.
    """

    table: Table
    """The links."""

    entities: Table | None
    """The entity of every good record of one table, one row per record; ``None`` with two tables. Columns: ``row``;
    ``entity``, the row of the first record of the entity; with ids, ``id`` and ``entity_id``."""

    counts: dict[str, int]
    """The counts of records, candidates and links, as in the report of the command ``link``."""

    report: dict[str, Any]
    """Counts, parameters, the threshold and what is expected of it, histogram and examples, as the command reports
    them."""

    page: Page
    """The report as a page of HTML, for people: ``found.page(path)`` writes it, as the command writes ``report.html``.
    ``found.page`` itself is its text, a str."""

    def __init__(
        self, table: Table, entities: Table | None, report: dict[str, Any], page: str
    ) -> None:
        self.table = table
        self.entities = entities
        self.counts = report["counts"]
        self.report = report
        self.page = Page(page)

    @property
    def links(self) -> Table:
        """The links: the same as ``table``."""
        return self.table

    @property
    def threshold(self) -> float:
        """The least score of a link."""
        return self.report["estimate"]["threshold"]

    @property
    def expected_precision(self) -> float | None:
        """The expected share of correct links, from 0 to 1; ``None`` if there is no evidence to tell it by: then
        ``report["estimate"]["unknown_because"]`` says why."""
        return self.report["estimate"]["expected_precision"]

    def __repr__(self) -> str:
        counts = self.counts
        if self.entities is None:
            among = f"between {counts['records_a']} and {counts['records_b']} records"
        else:
            among = f"among {counts['records_a']} records, {counts['entities']} entities"
        return f"<LinksFound: {len(self)} links {among}>"


@takes(LinkOptions)
def link(
    a: Any,
    b: Any = None,
    *,
    fields: str | Iterable[str],
    **options: Unpack[LinkOptions],
) -> LinksFound:
    """Finds the records of two tables, or of one, that describe the same thing.

    Compares words and windows of three characters of the chosen fields, each weighted by its rarity, and needs no
    labelled examples. The options are those of the command ``simgpu link``; :func:`link_files` reads files.

    Args:
        a: The records, one per row: a data frame of pandas or polars, an Arrow table or stream, or a dict of columns.
        b: The records to link those of ``a`` to; without it, records of ``a`` are linked to each other.
        fields: The columns to compare, one or several: texts, numbers, dates, times or durations. A null counts as
            missing. ``"title=name"`` is the column title of ``a`` and name of ``b``; ``"first+last=name"`` joins the
            columns first and last of ``a`` by a blank; ``"dob:date"`` sets the kind of a column (date, coordinates, email,
            phone, postcode, number, identifier, text or name), for ``score="evidence"``. Write a backslash before ``=``,
            ``:`` and ``+`` where they are part of a name.
        **options: Those of the command ``simgpu link``; ``help(simgpu.link)`` lists them.

    Raises:
        ParameterError: An argument is unknown, out of range or contradicts another one, or names no column.
        TypeError: The records, or a column, are of another type.
        InputError: A record cannot be used; ``row`` says which, and ``problem`` why.
        StoppedError: The progress function stopped the work.
    """
    return LinksFound(*_simgpu.link_records({"a": a, "b": b, "fields": fields, **options}))
