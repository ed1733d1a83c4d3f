"""How long a rebuild takes, and for how much of it commits of the group wait.

    python -m bench.rebuild --facts 2000 [--bolt bolt://127.0.0.1:7687]

One group of that many episodes of one fact each, hashing embedder, no model: rebuilt after it was lost, when nothing
differs, and when every object is to be written again.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from factstream.rebuild.parts import From, Options, Tools
from factstream.rebuild.rebuild import Rebuild
from pipeline.clock import system_clock
from pipeline.curation.operator import Operator
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.changes import FactChange
from pipeline.model.episode import Episode, Source
from pipeline.model.extraction import Extraction
from pipeline.model.judgement import JudgedEpisode
from pipeline.rebuild.log import Place

DIMENSION = 384


class Made:
    """A log of episodes that are made up: people who know each other and move."""

    def __init__(self, group_id: str, count: int) -> None:
        start = datetime(2024, 1, 1, tzinfo=UTC)
        self._raw = {}
        for number in range(count):
            person, other = (
                f"Person {number % (count // 8 + 1)}",
                f"Person {number * 7 % (count // 8 + 1)} Jr",
            )
            triple = {"subject": {"name": person}, "relation": "KNOWS", "object": {"name": other}}
            at = start + timedelta(minutes=number)
            self._raw[f"e{number}"] = Episode(
                id=f"e{number}",
                group_id=group_id,
                source=Source.triples,
                content=[{**triple, "fact": f"{person} knows {other} since meeting {number}"}],
                reference_time=at,
                sequence=number,
            )

    async def refresh(self) -> None:
        """Nothing comes."""

    async def groups(self) -> Sequence[str]:
        """See EpisodeLog."""
        return sorted({e.group_id for e in self._raw.values()})

    async def places(self, group_id: str) -> Sequence[Place]:
        """See EpisodeLog."""
        return [Place(e.id, e.sequence, e.reference_time) for e in self._raw.values()]

    async def episodes(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Episode]:
        """See EpisodeLog."""
        return {i: self._raw[i] for i in ids}

    async def extractions(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Extraction]:
        """None."""
        return {}

    async def judged(self, group_id: str, ids: Sequence[str]) -> Sequence[JudgedEpisode]:
        """None."""
        return ()

    async def told(self, group_id: str) -> Mapping[str, FactChange]:
        """Nothing."""
        return {}


async def measure(name: str, store: SqliteGraphStore | Neo4jGraphStore, count: int, folder: Path) -> None:
    """Three rebuilds of one group."""
    group = f"bench-rebuild-{uuid.uuid4().hex[:8]}"
    embedder = HashingEmbedder(DIMENSION)
    tools = Tools(store, Made(group, count), embedder, RoutingExtractor(TriplesExtractor()), system_clock)
    await store.open()
    try:
        for what, everything in (("lost", False), ("nothing differs", False), ("everything again", True)):
            options = Options(From.raw, folder / name, everything=everything)
            done = await Rebuild(group, tools, options).run()
            print(
                f"{name:7} {what:17} {done.episodes} episodes, {done.changed} objects differed: "
                f"{done.seconds:.1f} s, commits waited {done.held:.1f} s",
                flush=True,
            )
        await Operator(store, embedder, system_clock).forget_group(group)
    finally:
        await store.close()


async def main() -> None:
    """Both stores, or only the file when no Neo4j is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=2000)
    parser.add_argument("--bolt")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await measure(
            "sqlite", SqliteGraphStore(folder / "graph.db", dimension=DIMENSION), told.facts, folder
        )
        if told.bolt:
            await measure("neo4j", Neo4jGraphStore(told.bolt, dimension=DIMENSION), told.facts, folder)


if __name__ == "__main__":
    asyncio.run(main())
