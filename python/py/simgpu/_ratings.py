"""Neighbours and recommendations from ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _simgpu

if TYPE_CHECKING:
    from ._dedup import Progress
    from ._simgpu import Table


_SETTINGS = (
    "user",
    "item",
    "rating",
    "time",
    "by",
    "as_",
    "liked_from",
    "hated_to",
    "min_support",
    "threads",
    "progress",
)


def neighbours(
    ratings: Any,
    *,
    by: str = "item",
    as_: str = "liked",
    top: int = 10,
    min_support: int = 5,
    liked_from: float = 4.0,
    hated_to: float = 2.5,
    user: str = "user",
    item: str = "item",
    rating: str = "rating",
    time: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Table:
    """Finds what is rated alike: the most similar others of each item or user, exactly.

    Items are compared as sets of the users who rated them, or users as sets of items (Mining of Massive
    Datasets, 3.1.3).

    Args:
        ratings: A table with one row per rating: a data frame, an Arrow table, or a dict of columns.
            Of several ratings of an item by a user, the one with the latest time counts, or the last.
        by: What is compared: ``"item"`` or ``"user"``.
        as_: What is in a set: ``"seen"``, everything rated; ``"liked"``; ``"liked-hated"``, two
            elements; or ``"stars"``, as many copies as stars, which makes bags.
        top: The most neighbours of each.
        min_support: The fewest elements in common: of items, users who rated both.
        liked_from: Liked from this rating on.
        hated_to: Hated up to this rating.
        user: The column of users, int or str.
        item: The column of items, int or str.
        rating: The column of ratings, numbers; not read with ``as_="seen"``.
        time: The column of times, numbers or Arrow dates or timestamps.
        threads: Number of threads; by default ``SIMGPU_NUM_THREADS``, or one per core that this process
            may use.
        progress: True draws a bar; a function gets (stage, done, total) and stops the work if it
            returns False.

    Returns:
        id, neighbour_id, rank (from 1), similarity (Jaccard), support (elements in common), and low and
        high, the ends of the 95 % confidence interval of the similarity. Items and users come in the
        order of their first rows.

    Raises:
        ParameterError: An argument is unknown or out of range, or a column is missing.
        TypeError: A column is of another type.
        InputError: A value is missing; ``row`` says which.
        StoppedError: The progress function stopped the work.
    """
    return _simgpu.neighbours_of_ratings(ratings, _settings(locals()), top)


def recommend(
    ratings: Any,
    users: Any = None,
    *,
    by: str = "item",
    as_: str = "liked",
    top: int = 10,
    neighbours: int = 50,
    min_support: int = 5,
    liked_from: float = 4.0,
    hated_to: float = 2.5,
    user: str = "user",
    item: str = "item",
    rating: str = "rating",
    time: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Table:
    """Recommends items that a user has not rated.

    By item, each item that the user liked adds its similarity to the scores of its neighbours, and
    with ``as_="liked-hated"`` each item that he hated subtracts it. By user, each neighbour of the user
    adds its similarity to the scores of what it liked.

    Args:
        users: The id of a user, or several; by default all users.
        top: The most recommendations per user.
        neighbours: The most neighbours of each item or user that vote.

    The other arguments, and the errors, are those of :func:`neighbours`.

    Returns:
        user, rank (from 1), item, score, and because: what added most to the score, an item that the
        user rated, or with ``by="user"`` another user.
    """
    return _simgpu.recommend_by_ratings(ratings, users, _settings(locals()), top, neighbours)


def _settings(arguments: dict[str, Any]) -> dict[str, Any]:
    """What decides the search and how it runs, of the arguments of a call."""
    return {name: arguments[name] for name in _SETTINGS}
