"""scikit-learn: MinHash signatures as a transformer.

Needs the package ``scikit-learn``: ``pip install "simgpu[sklearn]"``.
"""

from __future__ import annotations

from typing import Any

from ._hosts import require

require("simgpu.sklearn", "sklearn")

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from . import Shingling, Signer
from ._options import Unit

__all__ = ["MinHashTransformer"]


class MinHashTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns texts into MinHash signatures.

    Two rows agree in a share of their columns that estimates the Jaccard similarity of the texts' shingles, so
    ``metric="hamming"`` is the fitting distance: an estimate of 1 - J.

    Args:
        scheme: A signature scheme, as of :class:`simgpu.Scheme`.
        num_perm: Columns; by default 128, or the scheme's number.
        seed: The seed of the permutations; by default 1, or the scheme's.
        unit: What shingles are made of: ``"words"``, ``"chars"``, ``"bytes"`` …
        size: Units per shingle; by default the unit's.
        lowercase: Whether to lowercase texts first.
        threads: Threads; by default one per core.
    """

    def __init__(
        self,
        scheme: str = "affine32",
        *,
        num_perm: int | None = None,
        seed: int | None = None,
        unit: Unit = "words",
        size: int | None = None,
        lowercase: bool = False,
        threads: int | None = None,
    ):
        self.scheme = scheme
        self.num_perm = num_perm
        self.seed = seed
        self.unit = unit
        self.size = size
        self.lowercase = lowercase
        self.threads = threads

    def fit(self, texts: Any, y: Any = None) -> MinHashTransformer:
        """Checks the parameters. Nothing is learnt from the texts.

        Raises:
            simgpu.ParameterError: If a parameter is unknown or out of range.
        """
        shingling = Shingling(self.unit, self.size, lowercase=self.lowercase)
        self.signer_ = Signer(
            self.scheme,
            num_perm=self.num_perm,
            seed=self.seed,
            shingling=shingling,
            threads=self.threads,
        )
        return self

    def transform(self, texts: Any) -> np.ndarray:
        """The signatures of texts: an array of shape (texts, num_perm) of unsigned integers."""
        if not hasattr(self, "signer_"):
            self.fit(texts)
        return self.signer_.sign(texts).slots

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns: ``minhash0``, ``minhash1`` …"""
        if not hasattr(self, "signer_"):
            self.fit(None)
        columns = range(self.signer_.scheme.num_perm)
        return np.array([f"minhash{k}" for k in columns], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
