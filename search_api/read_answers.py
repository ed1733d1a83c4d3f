"""What is read by id, as callers get it: what one sentence states over several pairs is told once, with the pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from pipeline.graph.search import GraphReader, StoredEpisode
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact, last_view, view
from search_api.answers import (
    EntityAnswer,
    EpisodeAnswer,
    FactAnswer,
    entity_fields,
    episode_fields,
    fact_fields,
)
from search_api.hyperedges import Shown, each_once, members, pairs_of, siblings


def hyperedge_answer(
    hyperedge: str, facts: Sequence[Fact], known_at: datetime | None = None
) -> FactAnswer | None:
    """A fact read by the id that its pairs share: those believed at `known_at`, else all as last believed."""
    seen = [(fact, shown) for fact in facts if (shown := view(fact, known_at)) is not None]
    if not seen and known_at is None:
        seen = [(fact, last_view(fact)) for fact in facts]
    seen = [(fact, shown) for fact, shown in seen if shown.hyperedge in (hyperedge, None)]
    if not seen:
        return None
    first = min(seen, key=lambda s: (s[1].valid_at is not None, s[1].valid_at, s[1].id))
    pairs, _ = pairs_of(first, facts, known_at, None)
    return FactAnswer(**{**fact_fields(*first, pairs), "id": hyperedge})


async def facts_answer(
    reader: GraphReader, shown: Sequence[Shown], known_at: datetime | None, as_of: datetime | None = None
) -> tuple[FactAnswer, ...]:
    """Facts in their order; what one sentence states over several pairs, once, with the pairs that hold at `as_of`."""
    found = await siblings(reader, shown)
    made = []
    for one in each_once(shown, known_at):
        pairs, _ = pairs_of(one, members(found, one), known_at, as_of) if one[1].hyperedge else ((), True)
        made.append(FactAnswer(**fact_fields(*one, pairs)))
    return tuple(made)


async def episode_answer(
    reader: GraphReader, stored: StoredEpisode, known_at: datetime | None = None
) -> EpisodeAnswer:
    """An episode read by id; with `known_at`, only the facts and entities that were known then."""
    seen = [(fact, last_view(fact) if known_at is None else view(fact, known_at)) for fact in stored.facts]
    facts = await facts_answer(reader, [(f, s) for f, s in seen if s is not None], known_at)
    entities: Iterable[Entity] = stored.entities
    if known_at is not None:
        entities = (entity for entity in entities if entity.created_at <= known_at)
    return EpisodeAnswer(
        **episode_fields(stored),
        facts=facts,
        entities=tuple(EntityAnswer(**entity_fields(entity)) for entity in entities),
        usage=stored.usage,
    )
