"""ρ: candidates of one scope into their final order, by every reranker that needs no model."""

from __future__ import annotations

from pipeline.graph.search import Candidates, Leg, Scope
from search_api.recipes import Reranker
from search_api.requests import SearchRequest
from search_api.retrieval.distance import nearest
from search_api.retrieval.fusion import reciprocal_rank
from search_api.retrieval.mentions import most_mentioned
from search_api.retrieval.mmr import marginal_relevance
from search_api.retrieval.ranked import Ranked
from search_api.retrieval.score_fusion import fused_by_score

BY_SCORE = (Reranker.score, Reranker.memory)


def fused(candidates: Candidates, scope: Scope, visible: frozenset[str], order: Reranker) -> Ranked:
    """The legs of a scope as one list of the visible items: by normalised score where the order is one of those, else
    by reciprocal rank; every other order starts from that."""
    legs = [
        Leg(scope, leg.method, tuple((key, score) for key, score in leg.ranked if key in visible))
        for leg in candidates.legs
        if leg.scope is scope
    ]
    if order in BY_SCORE:
        return fused_by_score(legs)
    return reciprocal_rank([leg.ranked for leg in legs])


def ranked(candidates: Candidates, scope: Scope, relevance: Ranked, request: SearchRequest) -> Ranked:
    """The fused list in the order that the request wants; a cross-encoder's order is made elsewhere."""
    match request.order:
        case Reranker.mmr:
            pairs = candidates.similarities.get(scope, {})
            return marginal_relevance(relevance, pairs, request.mmr_lambda, request.limit)
        case Reranker.episode_mentions:
            return most_mentioned(relevance, candidates.mentions.get(scope, {}))
        case Reranker.node_distance:
            return nearest(relevance, candidates.distances.get(scope, {}))
        case _:
            return relevance
