"""Histories of triples through the four stages over SQLite, with an operator beside them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pipeline.curation.operator import Operator
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.ledger import Ledger
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.episode import Episode, Source
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.judging import EntityJudge
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from tests.unit.stages.conftest import START, Line

GROUP = "g"


@dataclass
class Story:
    """A line of stages and an operator over one file."""

    path: Path
    line: Line
    operator: Operator
    told: list[Episode] = field(default_factory=list)

    async def tell(
        self, *triples: dict[str, Any], at: str = "2024-01-01", name: str | None = None
    ) -> Episode:
        """Run an episode through all stages; its number is its place in the story."""
        return await self.tell_as(len(self.told) + 1, triples, at, name)

    async def tell_as(
        self, number: int, triples: Sequence[dict[str, Any]], at: str, name: str | None = None
    ) -> Episode:
        """The same with a number of its own, so that two stories have the same clock and the same ids."""
        episode = Episode(
            id=name or f"e{number}",
            group_id=GROUP,
            source=Source.triples,
            content=list(triples),
            reference_time=at,
            sequence=number,
        )
        self.line.now[0] = START + timedelta(seconds=number - 1)
        await self.line.run(episode)
        self.told.append(episode)
        return episode

    async def ledger(self) -> Ledger:
        return await self.line.store.ledger(GROUP)

    def later(self, seconds: int = 1000) -> None:
        self.line.now[0] += timedelta(seconds=seconds)


@asynccontextmanager
async def story(folder: Path, judge: EntityJudge | None = None) -> AsyncIterator[Story]:
    """An empty story in a folder."""
    embedder, observer, now = HashingEmbedder(), SilentObserver(), [START]

    def clock() -> datetime:
        return now[0]

    path = folder / "graph.db"
    store = SqliteGraphStore(path, dimension=embedder.dimension, clock=clock)
    reader = SqliteGraphReader(path)
    await store.open()
    await reader.open()
    line = Line(
        store=store,
        reader=reader,
        extract=ExtractStage(store, RoutingExtractor(TriplesExtractor()), embedder, clock, observer),
        entities=ResolveEntitiesStage(store, embedder, clock, observer, judge),
        facts=ResolveFactsStage(store, embedder, clock, observer),
        communities=UpdateCommunitiesStage(store, embedder, clock, observer),
        now=now,
    )
    try:
        yield Story(path, line, Operator(store, embedder, clock))
    finally:
        await reader.close()
        await store.close()


@asynccontextmanager
async def story_of(episodes: Sequence[tuple[int, Sequence[dict[str, Any]], str]]) -> AsyncIterator[Story]:
    """A story told already, in a folder that goes with it."""
    with TemporaryDirectory() as folder:
        async with story(Path(folder)) as made:
            for number, triples, at in episodes:
                await made.tell_as(number, triples, at)
            yield made


@pytest.fixture
async def told(tmp_path: Path) -> AsyncIterator[Story]:
    async with story(tmp_path) as made:
        yield made


def meaning(ledger: Ledger) -> dict[str, Any]:
    """What a ledger says, without ids and without the revision of facts, in an order of its content."""

    def who(entity_id: str) -> str:
        entity = ledger.entities[entity_id]
        return f"{entity.name}/{entity.type}"

    evidence = ledger.evidence
    return {
        "episodes": sorted(ledger.episodes),
        "entities": sorted(
            repr((e.name, e.type, e.aliases, sorted(e.keys), e.description, e.attributes, e.created_at))
            for e in ledger.entities.values()
        ),
        "summaries": sorted(repr((who(e.id), e.summary)) for e in ledger.entities.values()),
        "mentions": sorted(
            repr((c.episode_id, who(c.entity_id), c.at, c.told)) for c in ledger.contributions.values()
        ),
        "evidence": sorted(
            repr((who(e.subject), who(e.object), e.model_dump(exclude={"id", "subject", "object"})))
            for e in evidence.values()
        ),
        "facts": sorted(
            repr(
                (
                    who(f.source.id),
                    f.source.name,
                    f.relation,
                    who(f.target.id),
                    f.target.name,
                    f.fact,
                    f.attributes,
                    f.cardinality,
                    f.beliefs,
                    sorted(
                        (s.episode_id, evidence[s.evidence_id].index, s.known_from, str(s.known_to))
                        for s in f.support
                    ),
                )
            )
            for f in ledger.facts.values()
        ),
    }
