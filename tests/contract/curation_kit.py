"""Episodes of triples through the stages over any store, and an operator beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson

from pipeline.curation.operator import Operator
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.ledger import Ledger
from pipeline.model.episode import Episode, Source, Usage
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.judging import LookAlike, SameAs
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from tests.contract.kit import DIMENSION, Graph, day


class AlwaysSame:
    """A judge that takes everything that it is asked about for the first candidate."""

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        return {q.index: SameAs(q.candidates[0].id) for q in questions}, Usage(llm_calls=1)


@dataclass
class Teller:
    """Tells a group episodes; each takes a second of the clock."""

    graph: Graph
    group: str
    judge: AlwaysSame | None = None
    now: datetime = field(default_factory=lambda: day(100))
    count: int = 0

    def clock(self) -> datetime:
        return self.now

    @property
    def operator(self) -> Operator:
        return Operator(self.graph.store, self._embedder, self.clock)

    @property
    def _embedder(self) -> HashingEmbedder:
        return HashingEmbedder(DIMENSION)

    def episode(self, triples: Sequence[dict[str, Any]], at: int = 1, name: str | None = None) -> Episode:
        self.count += 1
        return Episode(
            id=name or f"e{self.count}",
            group_id=self.group,
            source=Source.triples,
            content=list(triples),
            reference_time=day(at),
            sequence=self.count,
            metadata={"topic": f"about {self.count}"},
        )

    async def tell(self, *triples: dict[str, Any], at: int = 1, name: str | None = None) -> Episode:
        """An episode through all four stages."""
        episode = self.episode(triples, at, name)
        touched = await self.facts_of(episode)
        await self.communities().run(episode.ref, touched)
        return episode

    async def facts_of(self, episode: Episode) -> list[str]:
        """The first three stages; answers the entities that were touched."""
        resolved = await self.resolve(episode)
        done = await self.resolve_facts().run(ResolvedEpisode.model_validate_json(resolved))
        touched: list[str] = orjson.loads(done.output or '{"touched": []}')["touched"]
        return touched

    async def resolve(self, episode: Episode) -> str:
        """The first two stages; answers what the second sends on."""
        self.now += timedelta(seconds=1)
        extracted = await self.extract().run(episode)
        assert extracted.output
        event = ExtractedEpisode.model_validate_json(extracted.output)
        resolved = await self.entities().run(event)
        assert resolved.output
        return resolved.output

    async def ledger(self) -> Ledger:
        return await self.graph.store.ledger(self.group)

    async def named(self, name: str) -> str:
        """The id of the one entity of a name."""
        (found,) = [e.id for e in (await self.ledger()).entities.values() if e.name == name]
        return found

    def extract(self) -> ExtractStage:
        extractor = RoutingExtractor(TriplesExtractor())
        return ExtractStage(self.graph.store, extractor, self._embedder, self.clock, SilentObserver())

    def entities(self) -> ResolveEntitiesStage:
        return ResolveEntitiesStage(
            self.graph.store, self._embedder, self.clock, SilentObserver(), self.judge
        )

    def resolve_facts(self) -> ResolveFactsStage:
        return ResolveFactsStage(self.graph.store, self._embedder, self.clock, SilentObserver())

    def communities(self) -> UpdateCommunitiesStage:
        return UpdateCommunitiesStage(self.graph.store, self._embedder, self.clock, SilentObserver())


def says(subject: str, relation: str, value: str, **more: Any) -> dict[str, Any]:
    """A triple; `types` are those of its ends."""
    types = more.pop("types", (None, None))

    def end(name: str, kind: str | None) -> dict[str, Any]:
        return {"name": name} | ({"type": kind} if kind else {})

    return {
        "subject": end(subject, types[0]),
        "relation": relation,
        "object": end(value, types[1]),
        "fact": f"{subject} {relation.lower().replace('_', ' ')} {value}",
        **more,
    }


def believed(ledger: Ledger) -> list[tuple[str, str, str | None, str | None]]:
    """What holds by what is believed last: sentence of present names, start and end as dates."""
    found = []
    for fact in ledger.facts.values():
        belief = fact.beliefs[-1]
        if belief.holds:
            sentence = f"{fact.source.name} {fact.relation} {fact.target.name}"
            start = belief.valid_at and belief.valid_at.date().isoformat()
            end = belief.invalid_at and belief.invalid_at.date().isoformat()
            found.append((sentence, fact.fact, start, end))
    return sorted(found, key=str)
