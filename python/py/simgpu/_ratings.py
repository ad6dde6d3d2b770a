"""Neighbours and recommendations from ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from . import _simgpu
from ._dedup import _Rows

if TYPE_CHECKING:
    from ._dedup import Progress
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


def neighbours(
    ratings: Any,
    *,
    by: Literal["item", "user"] = "item",
    as_: Literal["seen", "liked", "liked-hated", "stars"] = "liked",
    top: int = 10,
    min_support: int = 5,
    liked_from: float = 4.0,
    hated_to: float = 2.5,
    user_field: str = "user",
    item_field: str = "item",
    rating_field: str = "rating",
    time_field: str | None = None,
    on_bad_record: Literal["fail", "skip"] = "fail",
    names: Any = None,
    name_id_field: str = "id",
    name_field: str = "name",
    threads: int | None = None,
    progress: Progress = None,
) -> RatingsFound:
    """Finds what is rated alike: the most similar others of each item or user, exactly.

    Items are compared as sets of the users who rated them, or users as sets of items (Mining of Massive Datasets,
    3.1.3). The options are those of the command ``simgpu ratings``.

    Args:
        ratings: One row per rating: a data frame of pandas or polars, an Arrow table or stream, a dict of columns, or a
            tuple of two to four sequences: users, items, ratings and times.
        by: What is compared: ``"item"`` or ``"user"``.
        as_: What is in a set: ``"seen"``, everything rated; ``"liked"``; ``"liked-hated"``, two elements for each; or
            ``"stars"``, as many copies as stars, which makes bags.
        top: The most neighbours of each.
        min_support: The fewest elements in common: of items, users who rated both.
        liked_from: Liked from this number of stars on.
        hated_to: Hated up to this number of stars, for ``as_="liked-hated"``.
        user_field: The column of users, integers or strings.
        item_field: The column of items, integers or strings.
        rating_field: The column of stars, numbers. ``as_="seen"`` needs none.
        time_field: The column of times, numbers or dates: of several ratings of an item by a user, the latest counts. By
            default ``"timestamp"``, if there is one; without it, the last counts.
        on_bad_record: ``"fail"``, or ``"skip"`` to leave out, count and report rows that are no ratings.
        names: The names of items, a table as ``ratings``; they stand beside their ids in the result.
        name_id_field: The column of ``names`` with the ids of items.
        name_field: The column of ``names`` with their names.
        threads: Number of threads; by default ``SIMGPU_NUM_THREADS``, or one per core that this process may use.
        progress: True draws a bar; a function gets (stage, done, total) and stops the work if it returns False.

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
    return _found(_simgpu.neighbours_of_ratings, locals())


def recommend(
    ratings: Any,
    users: Any = None,
    *,
    by: Literal["item", "user"] = "item",
    as_: Literal["seen", "liked", "liked-hated", "stars"] = "liked",
    top: int = 10,
    neighbours: int = 50,
    min_support: int = 5,
    liked_from: float = 4.0,
    hated_to: float = 2.5,
    user_field: str = "user",
    item_field: str = "item",
    rating_field: str = "rating",
    time_field: str | None = None,
    on_bad_record: Literal["fail", "skip"] = "fail",
    names: Any = None,
    name_id_field: str = "id",
    name_field: str = "name",
    threads: int | None = None,
    progress: Progress = None,
) -> RatingsFound:
    """Recommends items that a user has not rated.

    By item, each item that the user liked adds its similarity to the scores of its neighbours, and with
    ``as_="liked-hated"`` each item that he hated subtracts it. By user, each neighbour of the user adds its similarity
    to the scores of what it liked.

    Args:
        users: The id of a user, or several; by default all users.
        top: The most recommendations per user.
        neighbours: The most neighbours of each item or user that vote.

    The other arguments, and the errors, are those of :func:`neighbours`.

    Returns:
        user, rank (from 1), item, score (the sum of the similarities to what the user liked), and because: what added
        most to the score, an item that the user rated, or with ``by="user"`` another user; with names, also name and
        because_name.
    """
    return _found(_simgpu.recommend_by_ratings, locals())


def hold_out(
    ratings: Any,
    *,
    by: Literal["item", "user"] = "item",
    as_: Literal["seen", "liked", "liked-hated", "stars"] = "liked",
    top: int = 10,
    neighbours: int = 50,
    min_support: int = 5,
    liked_from: float = 4.0,
    hated_to: float = 2.5,
    user_field: str = "user",
    item_field: str = "item",
    rating_field: str = "rating",
    time_field: str | None = None,
    on_bad_record: Literal["fail", "skip"] = "fail",
    names: Any = None,
    name_id_field: str = "id",
    name_field: str = "name",
    threads: int | None = None,
    progress: Progress = None,
) -> RatingsFound:
    """Measures recommendations: hides the item that each user liked last, and looks for it among them.

    Users with more than ten liked items take part, and each rating needs a time. The arguments, and the errors, are
    those of :func:`recommend`.

    Returns:
        user, item, rank (among the recommendations) and popularity_rank (among the items with the most ratings), both
        null where the item is not found; with names, also name. ``report["hit_rates"]`` has the shares of users whose
        item was found, with 95 % confidence intervals.
    """
    return _found(_simgpu.hold_out_of_ratings, locals())


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
