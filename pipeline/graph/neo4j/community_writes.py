"""The stage update_communities on Neo4j: neighbourhoods, the commit of moves, the whole group for a rebuild."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from pipeline.clock import Clock
from pipeline.errors import Poison
from pipeline.graph.community_port import (
    CommunityCommit,
    CommunityGraph,
    CommunityQuery,
    CommunityTexts,
    CommunityView,
    GroupGraph,
    Neighbourhood,
)
from pipeline.graph.neo4j import codec
from pipeline.graph.neo4j import queries_communities as q
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.lane import NO_EPISODE, UPDATE_COMMUNITIES, Lane, begin, mark_of
from pipeline.graph.neo4j.properties import community_parameters, move_parameters


@dataclass(frozen=True)
class CommunityWrites:
    """Reads and commits of update_communities. The clock says which facts are current."""

    connection: Neo4jConnection
    dimension: int
    clock: Clock

    async def graph(self, query: CommunityQuery) -> CommunityGraph:
        """See GraphStore.community_graph: one round trip."""
        lane = Lane(query.episode.group_id, UPDATE_COMMUNITIES, query.episode.id)
        params = {
            **lane.params,
            "entity_ids": sorted(set(query.entity_ids)),
            "now": codec.micros(self.clock()),
            "neighbour_limit": query.neighbour_limit,
            "member_limit": query.member_limit,
        }
        row = (await self.connection.run("community_graph", q.COMMUNITY_GRAPH, params))[0]
        members = {c["id"]: tuple(codec.entity(m) for m in c["members"]) for c in row["communities"]}
        return CommunityGraph(
            mark=mark_of(row),
            lane_version=row["version"],
            neighbourhoods={
                found["entity"]["id"]: Neighbourhood(
                    entity=codec.entity(found["entity"]),
                    neighbours={n: (weight, community) for n, weight, community in found["neighbours"]},
                )
                for found in row["neighbourhoods"]
            },
            communities={
                c["id"]: codec.community({**c, "members": [e.id for e in members[c["id"]]]})
                for c in row["communities"]
            },
            members=members,
        )

    async def group(self, group_id: str) -> GroupGraph:
        """See GraphStore.group_graph: one round trip."""
        params = {**Lane(group_id, UPDATE_COMMUNITIES).params, "now": codec.micros(self.clock())}
        row = (await self.connection.run("group_graph", q.GROUP_GRAPH, params))[0]
        return GroupGraph(
            lane_version=row["version"],
            entities=tuple(codec.entity(found) for found in row["entities"]),
            edges=tuple((a, b, weight) for a, b, weight in row["edges"]),
        )

    async def view(self, group_id: str, ids: Sequence[str], member_limit: int) -> CommunityView:
        """See GraphStore.communities: one round trip."""
        params = {
            **Lane(group_id, UPDATE_COMMUNITIES).params,
            "ids": list(dict.fromkeys(ids)),
            "member_limit": member_limit,
            "now": codec.micros(self.clock()),
        }
        row = (await self.connection.run("communities", q.COMMUNITIES, params))[0]
        members = {c["id"]: tuple(codec.entity(m) for m in c["members"]) for c in row["communities"]}
        return CommunityView(
            lane_version=row["version"],
            communities={
                c["id"]: codec.community({**c, "members": [e.id for e in members[c["id"]]]})
                for c in row["communities"]
            },
            members=members,
        )

    async def describe(self, texts: CommunityTexts) -> None:
        """See GraphStore.describe_communities."""
        written = sorted(texts.communities, key=lambda w: w.community.id)
        lane = Lane(texts.group_id, UPDATE_COMMUNITIES)
        async with begin(self.connection, lane, texts.lane_version) as open_commit:
            if written:
                communities = [community_parameters(w, self.dimension) for w in written]
                await open_commit.run(q.DESCRIBE_COMMUNITIES, communities=communities)
            await open_commit.spend(texts.usage, texts.at)

    async def commit(self, commit: CommunityCommit) -> None:
        """See GraphStore.commit_communities."""
        group = commit.group_id
        lane = Lane(group, UPDATE_COMMUNITIES, commit.episode.id if commit.episode else NO_EPISODE)
        written = sorted(w.community.id for w in commit.communities)
        communities = [
            community_parameters(w, self.dimension)
            for w in sorted(commit.communities, key=lambda w: w.community.id)
        ]
        moves = [move_parameters(group, e, c) for e, c in sorted(commit.moves.items())]
        async with begin(self.connection, lane, commit.lane_version) as open_commit:
            if commit.episode is None:
                await open_commit.run(q.DROP_OTHER_COMMUNITIES, kept=written)
            if communities:
                await open_commit.run(q.WRITE_COMMUNITIES, communities=communities)
            left: set[str] = set()
            if moves:
                row = (await open_commit.run(q.MOVE_MEMBERS, moves=moves, at=commit.at))[0]
                if row["placed"] != len(moves):
                    raise Poison("an entity or a community that a move names is not in the graph", "moves")
                left = set(chain.from_iterable(row["left"]))
            await open_commit.run(q.DROP_EMPTY_COMMUNITIES, ids=sorted(left | set(written)))
            if commit.episode is not None:
                await open_commit.finish(None, None, commit.usage, commit.at)
