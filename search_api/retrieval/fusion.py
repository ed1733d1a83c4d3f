"""Reciprocal rank fusion: several ranked lists become one.

After Cormack, Clarke and Büttcher (SIGIR 2009): an item's score is the sum of 1 / (k + rank) over the lists that
have it, with k = 60. Here it is divided by the best sum there is, so that 1 means first in every list.
Items with equal scores in a list share the rank of the first of them, since their order there means nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from search_api.retrieval.ranked import Ranked

RRF_K = 60


def reciprocal_rank(lists: Sequence[Ranked], k: int = RRF_K) -> Ranked:
    """The lists as one, best first; equal scores in the order of their keys, so that the answer is reproducible."""
    best = len(lists) / (k + 1)
    scores: dict[str, float] = {}
    for ranked in lists:
        for key, rank in _ranks(ranked):
            scores[key] = scores.get(key, 0.0) + 1 / (k + rank)
    return by_score((key, score / best) for key, score in scores.items())


def by_score(scored: Iterable[tuple[str, float]]) -> Ranked:
    """Best first; equal scores in the order of their keys."""
    return tuple(sorted(scored, key=lambda pair: (-pair[1], pair[0])))


def _ranks(ranked: Ranked) -> Iterable[tuple[str, int]]:
    rank, previous = 0, None
    for place, (key, score) in enumerate(by_score(dict(ranked).items()), 1):
        if score != previous:
            rank, previous = place, score
        yield key, rank
