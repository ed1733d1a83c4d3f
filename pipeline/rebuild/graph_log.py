"""GraphLog: the raw episodes that a graph keeps, as a log. What an extractor said is not kept in a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.graph.ledger import RebuildStore
from pipeline.model.changes import FactChange
from pipeline.model.episode import Episode
from pipeline.model.extraction import Extraction
from pipeline.model.judgement import JudgedEpisode
from pipeline.rebuild.log import Place


class GraphLog:
    """Implements EpisodeLog over a store; nothing has to be taken in, and nobody was told anything."""

    def __init__(self, store: RebuildStore) -> None:
        self._store = store

    async def refresh(self) -> None:
        """Nothing: what is stored is there."""

    async def groups(self) -> Sequence[str]:
        """The groups of the graph."""
        return await self._store.group_ids()

    async def places(self, group_id: str) -> Sequence[Place]:
        """Every stored episode, in order of its sequence."""
        known = await self._store.known_episodes(group_id)
        places = [Place(k.id, k.sequence, k.created_at) for k in known if k.created_at is not None]
        return sorted(places, key=lambda place: (place.sequence, place.episode_id))

    async def episodes(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Episode]:
        """As they are stored."""
        return {e.id: e for e in await self._store.raw_episodes(group_id, ids)}

    async def extractions(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Extraction]:
        """None."""
        return {}

    async def judged(self, group_id: str, ids: Sequence[str]) -> Sequence[JudgedEpisode]:
        """None beside those that the ledger has."""
        return ()

    async def told(self, group_id: str) -> Mapping[str, FactChange]:
        """Nothing."""
        return {}
