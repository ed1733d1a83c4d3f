"""The stages over a SQLite file, and the application over it: what tests over a real store start from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.episode import EpisodeRef
from pipeline.model.event import parse_event, to_episode
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from search_api.app import create_app
from search_api.settings import ApiSettings


class Writer:
    """The stages, one event after the other, and a clock that tests set."""

    def __init__(self, store: SqliteGraphStore, embedder: HashingEmbedder) -> None:
        self.now = datetime(2024, 6, 1, tzinfo=UTC)
        self._sequence = 0
        self._extract = ExtractStage(store, TriplesExtractor(), embedder, lambda: self.now, SilentObserver())
        self._entities = ResolveEntitiesStage(store, embedder, lambda: self.now, SilentObserver())
        self._facts = ResolveFactsStage(store, embedder, lambda: self.now, SilentObserver())
        self._communities = UpdateCommunitiesStage(store, embedder, lambda: self.now, SilentObserver())

    async def begin(
        self, group: str, episode_id: str, *triples: dict[str, Any], **given: Any
    ) -> tuple[EpisodeRef, ExtractedEpisode]:
        """The first stage only: the episode is `extracted`."""
        raw = {"id": episode_id, "group_id": group, "source": "triples", "content": list(triples), **given}
        self._sequence += 1
        episode = to_episode(raw, parse_event(raw), logged_at=self.now, sequence=self._sequence)
        extracted = ExtractedEpisode.model_validate_json((await self._extract.run(episode)).output)
        return episode.ref, extracted

    async def finish(self, ref: EpisodeRef, extracted: ExtractedEpisode) -> None:
        """The other stages: it is `committed`."""
        resolved = ResolvedEpisode.model_validate_json((await self._entities.run(extracted)).output)
        changes = orjson.loads((await self._facts.run(resolved)).output)
        await self._communities.run(ref, changes["touched"])

    async def tell(self, group: str, episode_id: str, *triples: dict[str, Any], **given: Any) -> None:
        """All stages."""
        await self.finish(*await self.begin(group, episode_id, *triples, **given))


def triple(
    subject: str, relation: str, target: str, valid_at: str = "2024-01-01", **more: Any
) -> dict[str, Any]:
    """A triple of people and companies."""
    return {
        "subject": {"name": subject, "type": "Person"},
        "relation": relation,
        "object": {"name": target, "type": "Company"},
        "valid_at": valid_at,
        **more,
    }


@asynccontextmanager
async def stored(path: Path, **settings: Any) -> AsyncIterator[tuple[Writer, FastAPI]]:
    """A writer and the running application over one new file; keyword arguments go to the settings."""
    embedder = HashingEmbedder()
    store = SqliteGraphStore(path, dimension=embedder.dimension)
    await store.open()
    try:
        writer = Writer(store, embedder)
        app = create_app(ApiSettings(**settings), SqliteGraphReader(path), embedder, clock=lambda: writer.now)
        async with app.router.lifespan_context(app):
            yield writer, app
    finally:
        await store.close()
