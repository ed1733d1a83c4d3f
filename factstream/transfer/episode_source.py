"""EpisodeSource: the raw episodes of a store, group by group, in the order of their arrival."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.dump import Neo4jDump
from pipeline.graph.sqlite.listing import SqliteListing
from pipeline.model.episode import Episode
from pipeline.model.moments import iso

PAGE = 1000
GROUPS_OF_NEO4J = """CYPHER 25
MATCH (p:Episodic) WHERE p.fs_sequence IS NOT NULL RETURN DISTINCT p.group_id AS id ORDER BY id
"""


class EpisodeSource(Protocol):
    """What an export reads."""

    async def groups(self) -> list[str]:
        """The ids of all groups, sorted."""

    def episodes(self, group_id: str) -> AsyncIterator[Episode]:
        """The episodes of a group by sequence, then id, whatever has become of them."""


class SqliteEpisodes:
    """The episodes of a graph file, also while it is written."""

    def __init__(self, listing: SqliteListing) -> None:
        self._listing = listing

    async def groups(self) -> list[str]:
        """The groups of the file."""
        return sorted(await self._listing.groups())

    async def episodes(self, group_id: str) -> AsyncIterator[Episode]:
        """A page of the file at a time; sorted as a whole, since a replayed episode is stored late."""
        found: list[Episode] = []
        after = 0
        while page := await self._listing.episodes(group_id, after, PAGE):
            after = page[-1][0]
            found += [stored.episode for _, stored in page]
        for episode in sorted(found, key=_place):
            yield episode


class Neo4jEpisodes:
    """The episodes of a graph in Neo4j."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    async def groups(self) -> list[str]:
        """The groups that this program has written."""
        rows = await self._connection.run("list_groups", GROUPS_OF_NEO4J, {})
        return sorted(row["id"] for row in rows)

    async def episodes(self, group_id: str) -> AsyncIterator[Episode]:
        """One read of the group."""
        dump = await Neo4jDump(self._connection).dump(group_id)
        for episode in sorted((stored.episode for stored in dump.episodes), key=_place):
            yield episode


def event_of(episode: Episode) -> dict[str, Any]:
    """The event of the contract that gives this episode again, with its id and reference time filled in."""
    event: dict[str, Any] = {
        "id": episode.id,
        "group_id": episode.group_id,
        "source": episode.source.value,
        "content": episode.content,
        "reference_time": iso(episode.reference_time),
    }
    if episode.speaker is not None:
        event["speaker"] = episode.speaker.model_dump(exclude_none=True)
    for name in ("source_description", "thread_id", "ontology"):
        if (value := getattr(episode, name)) is not None:
            event[name] = value
    if episode.metadata:
        event["metadata"] = episode.metadata
    return event


def _place(episode: Episode) -> tuple[int, str]:
    return episode.sequence, episode.id
