"""Models that count words, so that tests know what they answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipeline.text.analysis import terms


class WordEmbedder:
    """A dimension a word: what has the same words has the same direction."""

    model = "words"
    dimension = 64

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], bool]] = []
        self.trouble: Exception | None = None

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        self.asked.append((list(texts), query))
        if self.trouble:
            raise self.trouble
        return [word_vector(text) for text in texts]


def word_vector(text: str) -> list[float]:
    vector = [0.0] * 64
    for term in terms(text):
        vector[sum(term.encode()) % 64] += 1.0
    length = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / length for x in vector]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


class WordEncoder:
    """A cross-encoder that likes long texts, so that its order differs from every other."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[str]]] = []
        self.trouble: Exception | None = None
        self.closed = 0

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.calls.append((query, list(texts)))
        if self.trouble:
            raise self.trouble
        return [float(len(text)) for text in texts]

    async def close(self) -> None:
        self.closed += 1
