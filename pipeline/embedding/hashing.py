"""HashingEmbedder: vectors without a model, from the letters and terms of a text."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.text.analysis import terms

_TERM_WEIGHT = 2.0
_GRAM_SIZES = (3, 4)


class HashingEmbedder:
    """Feature hashing of terms and of their character n-grams into unit vectors, the same on every machine.

    For tests and tiny set-ups: texts are near when they share words or parts of words, not when they mean the same.
    Each feature adds its weight, with a sign, to one place that its hash gives (Weinberger et al., "Feature Hashing
    for Large Scale Multitask Learning", 2009). A text without letters or digits gets one fixed vector of its own.

    Args:
        dimension: length of the vectors, at least 8; more places means fewer features that fall together.
    """

    def __init__(self, dimension: int = 256) -> None:
        if dimension < 8:
            raise ValueError(f"dimension must be at least 8, not {dimension}")
        self._dimension = dimension

    @property
    def model(self) -> str:
        """ "hashing-256" """
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._dimension

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One unit vector per text; questions are treated as any text. A short text takes some 20 microseconds."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = np.zeros(self._dimension)
        for feature, weight in _features(text):
            digest = hashlib.blake2b(feature.encode(), digest_size=8).digest()
            place = int.from_bytes(digest[:7], "little") % self._dimension
            vector[place] += weight if digest[7] & 1 else -weight
        length = float(np.linalg.norm(vector))
        if length == 0:
            # Nothing to hash, or features that cancel each other out.
            vector[0] = length = 1.0
        return [float(value) for value in vector / length]


def _features(text: str) -> Iterator[tuple[str, float]]:
    """Features with their weights; a word counts less each time it comes again."""
    for term, count in Counter(terms(text)).items():
        weight = 1 + math.log(count)
        yield f"term {term}", _TERM_WEIGHT * weight
        marked = f"^{term}$"
        grams = [marked[i : i + size] for size in _GRAM_SIZES for i in range(len(marked) - size + 1)]
        for gram in grams:
            # The grams of a term weigh together as much as one feature, however long it is.
            yield f"gram {gram}", weight / math.sqrt(len(grams))
