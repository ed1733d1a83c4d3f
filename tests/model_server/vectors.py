"""Embeddings that depend on the words of a text alone: texts that share words are near each other."""

from __future__ import annotations

import hashlib

from pipeline.text.analysis import terms


def embedding(text: str, dimension: int) -> list[float]:
    """A vector (not of unit length) in which each term of the text counts at three places."""
    vector = [0.0] * dimension
    for term in terms(text) or ["(nothing)"]:
        digest = hashlib.sha256(term.encode()).digest()
        for i in range(3):
            place = int.from_bytes(digest[4 * i : 4 * i + 4], "big") % dimension
            vector[place] += 1.0 if digest[16 + i] % 2 else -1.0
    if not any(vector):
        vector[0] = 1.0
    return vector
