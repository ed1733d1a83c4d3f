"""Fusion by normalised score: what a method is sure of counts more than what it merely ranks first.

Ranks throw away how much better one candidate is than the next. Where one method is weaker than the other (a small
embedding model beside BM25), fusion by rank lets its noise displace good hits; fusion by score does not. Each leg is
brought to [0, 1] and weighted; the sum is divided by the weights, so that 1 is best by every method.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipeline.graph.search import Leg, Method
from search_api.retrieval.fusion import by_score
from search_api.retrieval.ranked import Ranked

WEIGHTS: Mapping[Method, float] = {Method.bm25: 1.0, Method.cosine: 0.5, Method.bfs: 0.5}
"""Words count twice as much as vectors; measured, see docs/retrieval.md. Flat between 0.3 and 1 for vectors."""

MIN_SPREAD = 0.05
"""Cosines of a leg that lie closer together than this tell little: they are not stretched over the whole scale."""


def fused_by_score(legs: Iterable[Leg], weights: Mapping[Method, float] = WEIGHTS) -> Ranked:
    """The legs of one scope as one list, best first; equal scores in the order of their keys."""
    total = 0.0
    scores: dict[str, float] = {}
    for leg in legs:
        total += weights[leg.method]
        for key, score in normalised(leg).items():
            scores[key] = scores.get(key, 0.0) + weights[leg.method] * score
    return by_score((key, score / total) for key, score in scores.items())


def normalised(leg: Leg) -> dict[str, float]:
    """The scores of a leg in [0, 1].

    BM25 and 1 / steps have a zero of their own (no common word, not joined), so they are divided by the best. A cosine
    has none that means anything: the last candidate is 0.
    """
    scores = dict(leg.ranked)
    if not scores:
        return {}
    best = max(scores.values())
    if leg.method is Method.cosine:
        last = min(scores.values())
        spread = max(best - last, MIN_SPREAD)
        return {key: 1 - (best - score) / spread for key, score in scores.items()}
    return {key: score / best if best > 0 else 0.0 for key, score in scores.items()}
