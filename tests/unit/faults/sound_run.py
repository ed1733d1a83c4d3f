"""A history through all four stages in one process, on an SQLite file."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.local.extractor import LocalExtractor
from pipeline.extraction.router import RoutingExtractor
from pipeline.graph.digest import GroupDump
from pipeline.graph.sqlite.dump import SqliteDump
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.changes import FactChange
from pipeline.model.event import parse_event, to_episode
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from tests.faults.load import Sent

START = datetime(2025, 1, 1, tzinfo=UTC)


async def dump_of(sent: list[Sent]) -> tuple[GroupDump, list[FactChange]]:
    """What stands in the graph afterwards, and all changes."""
    now = [START]

    def clock() -> datetime:
        now[0] += timedelta(seconds=1)
        return now[0]

    changes: list[FactChange] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.db"
        embedder, observer = HashingEmbedder(64), SilentObserver()
        store = SqliteGraphStore(path, dimension=64, observer=observer)
        await store.open()
        parts = (embedder, clock, observer)
        extract = ExtractStage(store, RoutingExtractor(LocalExtractor()), *parts)
        entities, facts = ResolveEntitiesStage(store, *parts), ResolveFactsStage(store, *parts)
        communities = UpdateCommunitiesStage(store, *parts)
        for sequence, one in enumerate(dict.fromkeys(sent)):
            raw = orjson.loads(one.value)
            if one.episode is None:
                continue
            episode = to_episode(raw, parse_event(raw), logged_at=START, sequence=sequence)
            extracted = await extract.run(episode)
            if extracted.output is None:
                continue
            resolved = await entities.run(ExtractedEpisode.model_validate_json(extracted.output))
            done = await facts.run(ResolvedEpisode.model_validate_json(resolved.output or ""))
            told = orjson.loads(done.output or '{"changes": [], "touched": []}')
            changes += [FactChange.model_validate(c) for c in told["changes"]]
            await communities.run(episode.ref, told["touched"])
        await store.close()
        return await SqliteDump(path).dump(sent[0].group), changes
