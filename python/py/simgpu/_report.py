"""Results of runs over files and of tools: mappings whose entries are also attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any


class Result(Mapping):
    """Named values, as ``result["name"]`` and ``result.name``. Prints as the command does."""

    _data: dict[str, Any]
    _text: str

    def __init__(self, data: dict[str, Any], text: str) -> None:
        self._data = data
        self._text = text

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __getattr__(self, name: str) -> Any:
        # Also called before `_data` exists, by copy and pickle.
        data = self.__dict__.get("_data", {})
        try:
            return data[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._text)}</pre>"


class Report(Result):
    """The report of a run over files.

    The entries are those of ``report.json``: ``counts``, ``parameters``, ``skipped`` and others.
    They are equal in every run with the same inputs and options. ``docs/output.md`` describes them.
    """

    #: Seconds that the run took.
    elapsed: float
    #: The stages in order: ``stage``, ``elapsed_s``, ``bytes`` (of input read, decompressed),
    #: ``is_part``, whether the nearest earlier stage that is no part includes this one, and
    #: ``peak_memory_bytes``, the peak of the process up to the end of the stage.
    timings: list[dict[str, Any]]

    _summary: list[tuple[str, str]]

    def __init__(
        self,
        data: dict[str, Any],
        summary: list[tuple[str, str]],
        elapsed: float,
        timings: list[dict[str, Any]],
    ) -> None:
        width = max((len(name) for name, _ in summary), default=0)
        super().__init__(data, "\n".join(f"{name:>{width}}  {value}" for name, value in summary))
        self._summary = summary
        self.elapsed = elapsed
        self.timings = timings

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self._summary
        )
        return f"<table>{rows}</table>"


class Tuning(Result):
    """Bandings for one threshold, and their effects.

    ``threshold``; ``num_perm``; ``similarities``: the threshold -0.2 to +0.2, ``None`` outside of
    0 to 1; ``default``, ``requested`` (``None`` if none was) and ``by_weight``, a list: bandings,
    each a dict with ``bands``, ``rows``, ``false_negative_weight``, ``candidates`` (the
    probability that a pair becomes a candidate, for each of the similarities),
    ``bytes_per_document``, ``false_positive_area``, ``false_negative_area``, and ``recall``, the
    shares of pairs at the threshold that are found with ``"exact"`` and with ``"signature"``
    verification.

    ``sample``, ``None`` without one: a dict with ``documents`` and ``pairs``, the random pairs of
    them; ``documents_to_search``; ``size``, the one to take (``None`` if none is large enough), and
    ``default_size``; ``sizes``, a list: for each size from 1 to 12 a dict with ``size``,
    ``mean_shingles`` of a document, ``distinct_shingles`` of the sample, ``mean_similarity`` and
    ``high_similarity`` of the random pairs (their mean, and what 99 of 100 do not exceed), and
    ``candidate_share``, the share of these pairs that become candidates.
    """


class Comparison(Result):
    """The similarity of two texts.

    ``jaccard`` and ``estimate`` are ``None`` if neither text has a shingle. ``interval`` is the
    confidence interval of the similarity at ``confidence``, from the signatures alone;
    ``candidate_probability`` is the probability that ``dedup`` and ``pairs`` compare two texts of
    this similarity.

    ``containment_a`` is the share of A's shingles that are in B. ``bag_jaccard``, ``bag_similarity``,
    ``cosine``, ``angle_degrees``, ``l1``, ``l2`` and ``linf`` count each shingle as often as it
    occurs. ``edit_distance`` (insertions and deletions), ``lcs`` (longest common subsequence) and
    ``hamming`` compare sequences of ``sequence_unit``: characters, or words of long texts. What is
    undefined is ``None``, such as ``hamming`` of texts of different lengths.
    """


class Device(Result):
    """A device that the backend ``"gpu"`` can use: pass its ``number`` as ``device``."""


class Selftest(Result):
    """The checks of a self-test, all passed or not applicable.

    ``checks`` is a list of dicts: ``signer`` (``None`` for values that all signers share),
    ``values`` (the name of the group), ``outcome`` (``"passed"`` or ``"unsupported"``),
    ``compared`` (a number of values) and ``reason``.
    """
