"""From what was found to the answer of a search."""

from __future__ import annotations

from pipeline.graph.search import Scope, StoredEpisode
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact
from search_api.answers import (
    ScoredCommunity,
    ScoredEntity,
    ScoredEpisode,
    ScoredFact,
    SearchAnswer,
    community_fields,
    entity_fields,
    episode_fields,
    fact_fields,
)
from search_api.retrieval.found import Found


def search_answer(found: Found, took_ms: float) -> SearchAnswer:
    """Every scope is there, empty when it was not asked for."""
    facts, entities, episodes, communities = (found.hits.get(scope, ()) for scope in Scope)
    return SearchAnswer(
        facts=tuple(
            ScoredFact(**fact_fields(hit.item, hit.shown, hit.pairs), score=hit.score)
            for hit in facts
            if isinstance(hit.item, Fact) and hit.shown is not None
        ),
        entities=tuple(
            ScoredEntity(**entity_fields(hit.item), score=hit.score)
            for hit in entities
            if isinstance(hit.item, Entity)
        ),
        episodes=tuple(
            ScoredEpisode(**episode_fields(hit.item), score=hit.score)
            for hit in episodes
            if isinstance(hit.item, StoredEpisode)
        ),
        communities=tuple(
            ScoredCommunity(**community_fields(hit.item), score=hit.score)
            for hit in communities
            if isinstance(hit.item, Community)
        ),
        degraded=found.degraded,
        took_ms=took_ms,
    )
