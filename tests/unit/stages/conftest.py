"""The four stages over an SQLite store in memory, with a clock that tests move."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.changes import FactChange
from pipeline.model.episode import Episode, EpisodeRef, Source
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.judging import EntityJudge
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage

START = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass
class Line:
    """A pipeline without Kafka: `say` runs an episode through all four stages."""

    store: SqliteGraphStore
    reader: SqliteGraphReader
    extract: ExtractStage
    entities: ResolveEntitiesStage
    facts: ResolveFactsStage
    communities: UpdateCommunitiesStage
    now: list[datetime]
    changes: list[FactChange] = field(default_factory=list)
    count: int = 0

    def episode(self, triples: list[dict[str, Any]], *, at: str = "2024-01-01", group: str = "g") -> Episode:
        self.count += 1
        return Episode(
            id=f"e{self.count}",
            group_id=group,
            source=Source.triples,
            content=triples,
            reference_time=at,
            sequence=self.count,
        )

    async def say(self, *triples: dict[str, Any], at: str = "2024-01-01", group: str = "g") -> EpisodeRef:
        return await self.run(self.episode(list(triples), at=at, group=group))

    async def run(self, episode: Episode) -> EpisodeRef:
        self.now[0] += timedelta(seconds=1)
        extracted = await self.extract.run(episode)
        assert extracted.output
        resolved = await self.entities.run(ExtractedEpisode.model_validate_json(extracted.output))
        assert resolved.output
        done = await self.facts.run(ResolvedEpisode.model_validate_json(resolved.output))
        told = orjson.loads(done.output or '{"changes": [], "touched": []}')
        self.changes += [FactChange.model_validate(c) for c in told["changes"]]
        await self.communities.run(episode.ref, told["touched"])
        return episode.ref


def triple(
    subject: str,
    relation: str,
    object_: str,
    *,
    types: tuple[str | None, str | None] = (None, None),
    **more: Any,
) -> dict[str, Any]:
    """A triple as a producer sends it."""

    def end(name: str, kind: str | None) -> dict[str, Any]:
        return {"name": name} | ({"type": kind} if kind else {})

    return {
        "subject": end(subject, types[0]),
        "relation": relation,
        "object": end(object_, types[1]),
        "fact": f"{subject} {relation.lower().replace('_', ' ')} {object_}",
        **more,
    }


@pytest.fixture
async def make_line(tmp_path: Path) -> AsyncIterator[Any]:
    opened: list[Any] = []

    async def make(judge: EntityJudge | None = None) -> Line:
        embedder = HashingEmbedder()
        observer = SilentObserver()
        now = [START]
        path = tmp_path / f"graph{len(opened)}.db"
        store = SqliteGraphStore(path, dimension=embedder.dimension)
        reader = SqliteGraphReader(path)
        await store.open()
        await reader.open()
        opened.extend([store, reader])

        def clock() -> datetime:
            return now[0]

        return Line(
            store=store,
            reader=reader,
            extract=ExtractStage(store, RoutingExtractor(TriplesExtractor()), embedder, clock, observer),
            entities=ResolveEntitiesStage(store, embedder, clock, observer, judge),
            facts=ResolveFactsStage(store, embedder, clock, observer),
            communities=UpdateCommunitiesStage(store, embedder, clock, observer),
            now=now,
        )

    yield make
    for one in opened:
        await one.close()


@pytest.fixture
async def line(make_line: Any) -> Line:
    made: Line = await make_line()
    return made
