"""datatrove's MinHash deduplication with a faster first stage.

Change one import, from ``datatrove.pipeline.dedup.minhash`` to ``simgpu.datatrove``.
:class:`MinhashDedupSignature` then writes the same files in a fraction of the time. The other
stages are datatrove's own.

Words are those of datatrove's tokenizer. For English and other languages that spaCy cuts by
rules, spaCy is called once per distinct word instead of once per text. For all other languages,
datatrove's tokenizer cuts every text, and only the hashing and signing are faster.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import struct
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from .errors import InputError

from ._hosts import require

require("simgpu.datatrove", "datatrove")

try:
    import datatrove.pipeline.dedup.minhash as _minhash
    from datatrove.data import DocumentsPipeline
    from datatrove.pipeline.dedup.minhash import (
        MinhashBuildIndex,
        MinhashConfig,
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
    )
    from datatrove.utils import text as _text
    from datatrove.utils.logging import logger
    from datatrove.utils.typeshelper import StatHints
    from datatrove.utils.word_tokenizers import SpaCyTokenizer, WordTokenizer
except ImportError as error:
    raise ImportError(
        f"simgpu.datatrove needs datatrove and spaCy: {error}; "
        'run pip install --upgrade "simgpu[datatrove]"'
    ) from error

from . import _simgpu

__all__ = [
    "MinhashBuildIndex",
    "MinhashConfig",
    "MinhashDedupBuckets",
    "MinhashDedupCluster",
    "MinhashDedupFilter",
    "MinhashDedupSignature",
]

# One call signs about this many characters, so that Ctrl-C is seen within a fraction of a second.
_BATCH_CHARACTERS = 1 << 20
_BATCH_DOCUMENTS = 1 << 14
# Bytes of records held in memory. Beyond that they wait, unsorted, in their files, as in datatrove.
_HELD_BYTES = 256 << 20
_CHUNK_BYTES = 1 << 20
# Methods of datatrove's stage that decide the values. A subclass may replace them.
_VALUE_METHODS = ("get_shingles", "get_signature", "parameters")
# A text that uses every rule of simplify_text, to notice a datatrove with other rules.
_PROBE = (
    "Ünï‘s 1,234.5 «Don't» \t\n can not CANNOT 5gb ١٢٫٥ 7, friday March IT'S ½ ≠ ﬁ it‘s "
    "naïve\u3000Zoë\x85x"
)


class MinhashDedupSignature(_minhash.MinhashDedupSignature):
    """datatrove's first MinHash stage: writes the signature of each document to disk.

    Arguments, statistics and the bytes of the files are those of
    ``datatrove.pipeline.dedup.minhash.MinhashDedupSignature``. A task uses one thread. A subclass
    that overrides ``get_shingles``, ``get_signature`` or ``parameters`` runs at datatrove's speed.

    Args:
        output_folder: where the ``.minhash.sig`` files go: a path, or an fsspec address.
        config: a ``MinhashConfig``.
        language: the language of the documents, which decides the tokenizer.
        skip_existing_sigs: whether a task keeps complete signature files of an earlier run.
    """

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> None:
        """Signs the documents of task ``rank`` and writes one sorted file per bucket.

        Raises:
            ParameterError: if the configuration cannot be computed, such as a seed beyond 32 bits.
            InputError: if a file does not hold what was written to it.
        """
        if self._has_own_values():
            return super().run(data, rank, world_size)
        host = _Host(self.word_tokenizer, self.config.norm_config)
        signer = _simgpu._DatatroveSigner(self.config, host)
        if host.knows_words and not self._agrees(signer, host):
            logger.warning(
                "This version of datatrove has other rules for words; using its own, slower stage."
            )
            return super().run(data, rank, world_size)
        with self.track_time():
            can_skip, count = self.check_can_skip_sig_writing(rank)
            buckets = [_Bucket(self, bucket, rank) for bucket in range(self.config.num_buckets)]
            if not can_skip:
                count = self._sign(data, signer, host, buckets)
            logger.info("Sorting buckets...")
            for bucket in buckets:
                bucket.write_sorted(count, is_on_disk=can_skip)

    def _has_own_values(self) -> bool:
        """Whether a subclass computes other values."""
        base = _minhash.MinhashDedupSignature
        return any(getattr(type(self), name) is not getattr(base, name) for name in _VALUE_METHODS)

    def _agrees(self, signer: Any, host: _Host) -> bool:
        """Whether the installed datatrove finds the same words in a text with special cases."""
        return signer.words(_PROBE) == host.tokenize(host.simplify(_PROBE))

    def _sign(
        self, data: DocumentsPipeline, signer: Any, host: _Host, buckets: list[_Bucket]
    ) -> int:
        """Adds the records of all documents to ``buckets``. Returns how many documents have one."""
        count = first = held = 0
        for texts in _batches(self._texts(data)):
            if host.knows_words:
                signed, records = signer.sign(texts, first)
            else:
                words = [host.tokenize(host.simplify(text)) for text in texts]
                signed, records = signer.sign_words(words, first)
            for bucket, new in zip(buckets, records, strict=True):
                bucket.add(new)
                held += len(new)
            if held > _HELD_BYTES:
                for bucket in buckets:
                    bucket.spill()
                held = 0
            count += signed
            first += len(texts)
        return count

    def _texts(self, data: DocumentsPipeline) -> Iterator[str]:
        for document in data:
            self.stat_update(StatHints.total)
            yield document.text


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Lists of texts of about ``_BATCH_CHARACTERS`` together."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        characters += len(text)
        if characters >= _BATCH_CHARACTERS or len(batch) == _BATCH_DOCUMENTS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


class _Bucket:
    """The records of one bucket: in memory, or unsorted in their file, and at last sorted in it."""

    def __init__(self, step: MinhashDedupSignature, bucket: int, rank: int):
        hashing = step.config.hash_config
        self._folder = step.output_folder
        self._path = f"bucket_{bucket:03d}/{rank:05d}.minhash.sig"
        self._name = f"bucket {bucket} rank {rank}"
        self._hashes = step.config.hashes_per_bucket
        self._precision = hashing.precision
        self._record_bytes = struct.calcsize(f"<{self._hashes}{hashing.struct_format}I")
        self._held: list[bytes] = []
        self._unsorted: Any = None

    def add(self, records: bytes) -> None:
        self._held.append(records)

    def spill(self) -> None:
        """Moves the records from memory to the file."""
        if self._unsorted is None:
            self._unsorted = self._folder.open(self._path, mode="wb")
        self._unsorted.write(self._take())

    def write_sorted(self, count: int, *, is_on_disk: bool) -> None:
        """Writes the ``count`` records in order and checks the file."""
        if self._unsorted is not None:
            self.spill()
            self._unsorted.close()
            is_on_disk = True
        records = self._read(count) if is_on_disk else self._take()
        records = _simgpu._sort_datatrove_records(records, self._hashes, self._precision)
        with self._folder.open(self._path, mode="wb") as file:
            file.write(records)
        self._check(records)

    def _take(self) -> bytes:
        records = b"".join(self._held)
        self._held.clear()
        return records

    def _read(self, count: int) -> bytes:
        expected = count * self._record_bytes
        with self._folder.open(self._path, mode="rb") as file:
            records = file.read(expected)
        if len(records) != expected:
            raise self._corrupted(f"{expected} bytes are expected, {len(records)} can be read")
        return records

    def _check(self, records: bytes) -> None:
        """Reads the file again: otherwise only a later stage would notice a torn file."""
        expected = hashlib.blake2b(records, digest_size=16)
        found, length = hashlib.blake2b(digest_size=16), 0
        with self._folder.open(self._path, mode="rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                found.update(chunk)
                length += len(chunk)
        if found.digest() != expected.digest():
            raise self._corrupted(
                f"{len(records)} bytes were written, {length} bytes with another hash were read"
            )

    def _corrupted(self, problem: str) -> InputError:
        error = InputError(
            f"Corrupted minhash signature detected for {self._name}: {problem}; run the task again"
        )
        error.path, error.problem = self._path, problem
        return error


class _Host:
    """Answers the native signer's questions by datatrove's and spaCy's own functions."""

    def __init__(self, tokenizer: WordTokenizer, norm_config: _text.TextNormConfig):
        self._tokenizer = tokenizer
        self._norm_config = norm_config
        self._cutter = _SpacyCutter.of(tokenizer)
        self.knows_words = self._cutter is not None

    def simplify(self, text: str) -> str:
        """``text`` as datatrove simplifies it."""
        return _text.simplify_text(text, self._norm_config)

    def tokenize(self, text: str) -> list[str]:
        """The words of a simplified text, by datatrove's tokenizer."""
        return self._tokenizer.word_tokenize(text)

    def characters(self, characters: str) -> list[tuple[str, str, bool, bool, bool]]:
        """Describes each character: lowercase; canonical decomposition without nonspacing marks;
        is it a digit; is it punctuation; does the decomposition keep a mark that may be reordered.
        """
        return [_about(character) for character in characters]

    def exceptions(self) -> tuple[bool, list[str], set[tuple[int, int]]] | None:
        """Describes the tokenizer: are ASCII letters alone one word; the exceptions from that; the
        numbers of tokens that some special case has side by side. ``None`` if it is not spaCy's.
        """
        return self._cutter and self._cutter.exceptions()

    def cut(self, stretches: list[str]) -> list[tuple[list[str], int, int]]:
        """Cuts stretches without white space: tokens, number of the first and of the last."""
        assert self._cutter is not None
        return self._cutter.cut(stretches)


def _about(character: str) -> tuple[str, str, bool, bool, bool]:
    decomposed = unicodedata.normalize("NFD", character)
    kept = [part for part in decomposed if unicodedata.category(part) != "Mn"]
    return (
        character.lower(),
        "".join(kept),
        _text.NUMBERS_PATTERN.fullmatch(character) is not None,
        ord(character) in _text.PUNCTUATION_TRANS,
        any(unicodedata.combining(part) for part in kept),
    )


class _SpacyCutter:
    """Cuts stretches without white space, each alone, by a rule-based tokenizer of spaCy.

    So does spaCy with a text, but then it matches its special cases, such as "d." or "=D", against
    the tokens of the whole text. Two tokens that are neighbours in a special case may meet across
    white space, as in "= D"; spaCy must then cut the whole text. Therefore these tokens have
    numbers, and their pairs are listed.
    """

    def __init__(self, nlp: Any, language: str):
        from spacy.tokenizer import Tokenizer

        self._nlp = nlp
        tokenizer = nlp.tokenizer
        affixes = [
            _Switched(tokenizer.prefix_search, None),
            _Switched(tokenizer.suffix_search, None),
            _Switched(tokenizer.infix_finditer, ()),
        ]
        matches = (tokenizer.token_match, tokenizer.url_match)
        # spaCy matches only special cases that have an affix. This tokenizer finds no affix while
        # it loads them, so it never matches any: its tokens are those before matching.
        self._before_matching = Tokenizer(nlp.vocab, tokenizer.rules, *affixes, *matches)
        for affix in affixes:
            affix.is_on = True
        self._letters_are_words = language == "en"
        plain = Tokenizer(nlp.vocab, {}, *affixes, *matches)
        special = [[token.text for token in plain(rule)] for rule in tokenizer.rules]
        pairs = {pair for tokens in special for pair in itertools.pairwise(tokens)}
        self._left = _numbered(left for left, _ in pairs)
        self._right = _numbered(right for _, right in pairs)
        self._edges = {(self._left[left], self._right[right]) for left, right in pairs}

    @classmethod
    def of(cls, tokenizer: WordTokenizer) -> _SpacyCutter | None:
        """The cutter for ``tokenizer``; ``None`` if a word may depend on others."""
        if type(tokenizer) is not SpaCyTokenizer or tokenizer.config is not None:
            return None
        from spacy.tokenizer import Tokenizer

        nlp = tokenizer.tokenizer
        if type(nlp.tokenizer) is not Tokenizer or nlp.pipe_names != ["sentencizer"]:
            return None
        return _cutter(nlp, tokenizer.language)

    def exceptions(self) -> tuple[bool, list[str], set[tuple[int, int]]]:
        words = {*self._nlp.tokenizer.rules, *self._left, *self._right}
        letters = [word for word in words if word.isascii() and word.isalpha()]
        return self._letters_are_words, letters, self._edges

    def cut(self, stretches: list[str]) -> list[tuple[list[str], int, int]]:
        # What spaCy learns in a memory zone is forgotten after it.
        with self._nlp.memory_zone():
            return [self._cut(stretch) for stretch in stretches]

    def _cut(self, stretch: str) -> tuple[list[str], int, int]:
        before = self._before_matching(stretch)
        first, last = before[0].text, before[-1].text
        tokens = [token.text for token in self._nlp.tokenizer(stretch)]
        return tokens, self._right.get(first, 0), self._left.get(last, 0)


@functools.lru_cache(maxsize=8)
def _cutter(nlp: Any, language: str) -> _SpacyCutter:
    """The cutter of a pipeline, made once per process: that takes as long as 2,000 abstracts."""
    return _SpacyCutter(nlp, language)


class _Switched:
    """A search that finds nothing until it is switched on."""

    def __init__(self, search: Any, nothing: Any):
        self._search = search
        self._nothing = nothing
        self.is_on = False

    def __call__(self, text: str) -> Any:
        return self._search(text) if self.is_on and self._search else self._nothing


def _numbered(words: Iterable[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(sorted(set(words)), 1)}
