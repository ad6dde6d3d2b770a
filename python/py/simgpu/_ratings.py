"""Neighbours and recommendations from ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from . import _simgpu
from ._dedup import _Rows
from ._options import NeighbourOptions, RecommendOptions, takes

if TYPE_CHECKING:
    from ._simgpu import Table


class RatingsFound(_Rows):
    """What was found in ratings: a table, with a report.

    It goes to Arrow as :class:`Table` does; ``found["similarity"]`` is a numpy array.
    """

    table: Table
    """The rows."""

    counts: dict[str, int]
    """The counts of ratings, users, items and results, as in the report of the command ``ratings``."""

    report: dict[str, Any]
    """Counts, parameters, rows that were skipped, and of :func:`hold_out` the ``hit_rates``, as the command reports them."""

    def __init__(self, table: Table, report: dict[str, Any]) -> None:
        self.table = table
        self.counts = report["counts"]
        self.report = report

    def __repr__(self) -> str:
        counts = self.counts
        return (
            f"<RatingsFound: {len(self)} rows from {counts['ratings']} ratings "
            f"by {counts['users']} users of {counts['items']} items>"
        )


@takes(NeighbourOptions)
def neighbours(ratings: Any, **options: Unpack[NeighbourOptions]) -> RatingsFound:
    """Finds what is rated alike: the most similar others of each item or user, exactly.

    Items are compared as sets of the users who rated them, or users as sets of items (Mining of Massive Datasets,
    3.1.3). The options are those of the command ``simgpu ratings``.

    Args:
        ratings: One row per rating: a data frame of pandas or polars, an Arrow table or stream, a dict of columns, or a
            tuple of two to four sequences: users, items, ratings and times.
        **options: Those of the command ``simgpu ratings``; ``help(simgpu.neighbours)`` lists them.

    Returns:
        id, neighbour_id, rank (from 1), similarity (Jaccard), support (elements in common), and low and high, the ends
        of the 95 % confidence interval of the similarity; with names, also name and neighbour_name. Items and users
        come in the order of their first rows, and ids are integers if all are.

    Raises:
        ParameterError: An argument is unknown or out of range, or names no column.
        TypeError: The ratings, or a column, are of another type.
        InputError: A row is no rating; ``row`` says which, and ``problem`` why.
        StoppedError: The progress function stopped the work.
    """
    return _found(_simgpu.neighbours_of_ratings, {"ratings": ratings, **options})


@takes(RecommendOptions)
def recommend(ratings: Any, users: Any = None, **options: Unpack[RecommendOptions]) -> RatingsFound:
    """Recommends items that a user has not rated.

    By item, each item that the user liked adds its similarity to the scores of its neighbours, and with
    ``as_="liked-hated"`` each item that he hated subtracts it. By user, each neighbour of the user adds its similarity
    to the scores of what it liked.

    Args:
        ratings: As for :func:`neighbours`.
        users: The id of a user, or several; by default all users.
        **options: Those of the command ``simgpu ratings``; ``help(simgpu.recommend)`` lists them.

    The errors are those of :func:`neighbours`.

    Returns:
        user, rank (from 1), item, score (the sum of the similarities to what the user liked), and because: what added
        most to the score, an item that the user rated, or with ``by="user"`` another user; with names, also name and
        because_name.
    """
    return _found(_simgpu.recommend_by_ratings, {"ratings": ratings, "users": users, **options})


@takes(RecommendOptions)
def hold_out(ratings: Any, **options: Unpack[RecommendOptions]) -> RatingsFound:
    """Measures recommendations: hides the item that each user liked last, and looks for it among them.

    Users with more than ten liked items take part, and each rating needs a time. The errors are those of
    :func:`recommend`.

    Args:
        ratings: As for :func:`neighbours`.
        **options: Those of :func:`recommend`; ``help(simgpu.hold_out)`` lists them.

    Returns:
        user, item, rank (among the recommendations) and popularity_rank (among the items with the most ratings), both
        null where the item is not found; with names, also name. ``report["hit_rates"]`` has the shares of users whose
        item was found, with 95 % confidence intervals.
    """
    return _found(_simgpu.hold_out_of_ratings, {"ratings": ratings, **options})


def _found(call: Any, options: dict[str, Any]) -> RatingsFound:
    ratings = options["ratings"]
    if isinstance(ratings, tuple):
        options["ratings"] = _columns(ratings, options)
    return RatingsFound(*call(options))


def _columns(ratings: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Sequences as columns."""
    fields = [options[f"{name}_field"] for name in ("user", "item", "rating", "time")]
    fields[3] = fields[3] or "timestamp"
    if not 2 <= len(ratings) <= len(fields):
        raise TypeError(
            f"ratings are a tuple of {len(ratings)}; give two to four sequences: users, items, ratings and times"
        )
    return dict(zip(fields, ratings, strict=False))
