"""Forgetting: takes back what was said, in the graph and in the inbox, so that no word of it is left in the file."""

from __future__ import annotations

from collections.abc import Sequence

from factstream.memory.inbox import DeadEntry, Inbox
from factstream.memory.results import Forgotten
from pipeline.clock import Clock
from pipeline.curation.operator import Curated, Operator
from pipeline.embedding.port import Embedder
from pipeline.errors import Poison
from pipeline.graph.sqlite.store import SqliteGraphStore


class Forgetting:
    """Takes back episodes of a file whose runner is at rest.

    Nobody listens to changes here, so what the operator keeps for publishing is dropped at once.
    """

    def __init__(self, store: SqliteGraphStore, inbox: Inbox, embedder: Embedder, clock: Clock) -> None:
        self._inbox = inbox
        self._store = store
        self._operator = Operator(store, embedder, clock)

    async def episodes(self, group_id: str, episodes: Sequence[str]) -> Forgotten:
        """Take episodes back; also those that were given up before they came into the graph.

        Raises Poison that names the ones that are not known.
        """
        wanted = list(dict.fromkeys(episodes))
        dead = [e for e in await self._dead(group_id) if e.episode_id in wanted]
        known = (await self._store.ledger(group_id)).episodes
        buried = {entry.episode_id for entry in dead}
        if unknown := sorted(set(wanted) - known - buried):
            raise Poison(f"group {group_id!r} has no episode {', '.join(unknown)}", "episode")
        await self._inbox.discard([entry.no for entry in dead])
        in_graph = [episode for episode in wanted if episode in known]
        if not in_graph:
            return Forgotten(group_id, tuple(sorted(wanted)), ())
        done = await self._operator.forget_episodes(group_id, in_graph)
        return await self._finished(done, tuple(sorted(wanted)))

    async def entity(self, group_id: str, name_or_id: str) -> Forgotten:
        """Take back every episode that tells of an entity. Raises Poison when none does."""
        done = await self._operator.forget_entity(group_id, name_or_id)
        dead = [e for e in await self._dead(group_id) if e.episode_id in done.forgotten]
        await self._inbox.discard([entry.no for entry in dead])
        return await self._finished(done, done.forgotten)

    async def group(self, group_id: str) -> Forgotten:
        """Remove everything of a group. Raises Poison when there is nothing."""
        dead = await self._dead(group_id)
        await self._inbox.discard([entry.no for entry in dead])
        done = await self._operator.forget_group(group_id)
        return await self._finished(done, done.forgotten)

    async def _dead(self, group_id: str) -> list[DeadEntry]:
        return [entry for entry in await self._inbox.dead() if entry.group_id == group_id]

    async def _finished(self, done: Curated, episodes: tuple[str, ...]) -> Forgotten:
        # Finished events wait in the inbox for the next write: their text goes now.
        await self._inbox.flush()
        for one in (*await self._operator.unsent(done.group_id), done):
            await self._operator.sent(one)
        return Forgotten(done.group_id, episodes, done.changes)
