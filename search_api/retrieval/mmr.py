"""Maximal marginal relevance: relevant first, near-repeats of what is already there later.

After Carbonell and Goldstein (SIGIR 1998), greedy: each pick has the greatest
`weight * relevance - (1 - weight) * similarity`, where similarity is to the most similar pick so far. The first pick
is always the most relevant one. Relevance is the fused score (in (0, 1]), so that what was found by words only
counts as well; similarity is the cosine of the two items. Stores compare the best candidates only, and some items
have no vector: a pair without a known cosine counts as the mean of the known ones, or what was never compared would
look most different of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from search_api.retrieval.ranked import Ranked


def marginal_relevance(
    relevance: Ranked, similarity: Mapping[tuple[str, str], float], weight: float, limit: int
) -> Ranked:
    """At most `limit` items in the order in which they are picked, with what each was worth when it was picked.

    Args:
        relevance: the candidates, most relevant first.
        similarity: cosine by ordered pair of keys.
        weight: 1 is relevance only (the order stays), 0 is difference only (after the first).
        limit: how many to pick.
    """
    left = dict(relevance)
    usual = fmean(similarity.values()) if similarity else 0.0
    nearest: dict[str, float] = {}
    picked: list[tuple[str, float]] = []
    while left and len(picked) < limit:
        # The candidates stand most relevant first, and max() keeps the first of equals.
        worth = {key: weight * score - (1 - weight) * nearest.get(key, 0.0) for key, score in left.items()}
        best = max(worth, key=worth.__getitem__) if picked else next(iter(left))
        picked.append((best, worth[best]))
        del left[best]
        for key in left:
            cosine = similarity.get((best, key), usual)
            nearest[key] = max(nearest.get(key, cosine), cosine)
    return tuple(picked)
