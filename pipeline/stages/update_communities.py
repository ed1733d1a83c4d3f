"""Stage 4: keep communities up to date with the facts that changed, and rebuild them on demand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipeline.clock import Clock
from pipeline.cost.metering import Meter
from pipeline.embedding.port import Embedder
from pipeline.errors import Fenced
from pipeline.graph.community_port import CommunityCommit, CommunityGraph, CommunityQuery, CommunityWrite
from pipeline.graph.port import GraphStore
from pipeline.identity import entity_key, stable_id
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeRef, EpisodeState, Usage
from pipeline.observer import Observer
from pipeline.stages.community_summaries import CommunitySummaries
from pipeline.stages.community_text import community_name, community_summary
from pipeline.stages.outcome import Outcome, repeat_of
from pipeline.stages.propagation import MAX_ROUNDS, best_label, propagate

REBUILD_TRIES = 20


@dataclass(frozen=True)
class UpdateCommunitiesStage:
    """One step of label propagation for the entities that an episode's changes touched.

    Texts are made by rule, at once. `summaries`, where a model is configured, hears what has changed and has it told
    later, when nothing waits for it.
    """

    name: ClassVar[str] = "update_communities"
    store: GraphStore
    embedder: Embedder
    clock: Clock
    observer: Observer
    summaries: CommunitySummaries | None = None

    async def run(self, episode: EpisodeRef, touched: Sequence[str]) -> Outcome:
        """Place the touched entities, refresh the communities that gained or lost members. Sends nothing on."""
        graph = await self.store.community_graph(CommunityQuery(episode, tuple(touched)))
        if graph.mark is not None:
            return repeat_of(graph.mark, EpisodeState.committed, Usage())
        moves = _moves(episode.group_id, graph)
        writes, usage = await self._writes(episode.group_id, graph, moves)
        await self.store.commit_communities(
            CommunityCommit(
                group_id=episode.group_id,
                episode=episode,
                lane_version=graph.lane_version,
                communities=writes,
                moves={e: c for e, c in moves.items() if c != graph.neighbourhoods[e].entity.community_id},
                usage=usage,
                at=self.clock(),
            )
        )
        self.observer.spent(episode.group_id, usage)
        if self.summaries is not None:
            self.summaries.changed(episode.group_id, (w.community.id for w in writes))
        return Outcome(EpisodeState.committed, None, usage=usage)

    async def rebuild(self, group_id: str) -> int:
        """Propagate labels over the whole group until they settle, and swap the result in. Answers how many
        communities there are. Raises Fenced when an episode was committed meanwhile: call again."""
        graph = await self.store.group_graph(group_id)
        labels = _settled(graph.entities, graph.edges)
        degree: dict[str, int] = defaultdict(int)
        for a, b, weight in graph.edges:
            degree[a] += weight
            degree[b] += weight
        members: dict[str, list[Entity]] = defaultdict(list)
        for entity in sorted(graph.entities, key=lambda e: (-degree[e.id], e.id)):
            if entity.id in labels:
                members[_community_id(group_id, labels[entity.id])].append(entity)
        writes, usage = await self._described(group_id, members)
        of_entity = {e.id: community for community, some in members.items() for e in some}
        await self.store.commit_communities(
            CommunityCommit(
                group_id=group_id,
                episode=None,
                lane_version=graph.lane_version,
                communities=writes,
                moves={e.id: of_entity.get(e.id) for e in graph.entities},
                usage=usage,
                at=self.clock(),
            )
        )
        if self.summaries is not None:
            self.summaries.changed(group_id, members)
        return len(members)

    async def rebuild_between(self, group_id: str) -> int:
        """As `rebuild`, between the episodes that are committed meanwhile; Fenced when they leave no room for it."""
        for _ in range(REBUILD_TRIES):
            try:
                return await self.rebuild(group_id)
            except Fenced:
                # What the rebuild saw is no longer so: look at the group again.
                continue
        return await self.rebuild(group_id)

    async def _writes(
        self, group_id: str, graph: CommunityGraph, moves: Mapping[str, str | None]
    ) -> tuple[tuple[CommunityWrite, ...], Usage]:
        """The communities that the touched entities are in now or were in before, described anew."""
        entities = {e: n.entity for e, n in graph.neighbourhoods.items()}
        concerned = {c for c in moves.values() if c} | {
            e.community_id for e in entities.values() if e.community_id
        }
        members: dict[str, list[Entity]] = {}
        for community in sorted(concerned):
            stayed = [e for e in graph.members.get(community, ()) if moves.get(e.id, community) == community]
            come = [
                entities[e] for e, c in moves.items() if c == community and e not in {m.id for m in stayed}
            ]
            # A touched entity was read with its newest lines; the copy among the members is the same entity.
            some = [entities.get(e.id, e) for e in stayed] + come
            if some:
                members[community] = some
        return await self._described(group_id, members)

    async def _described(
        self, group_id: str, members: Mapping[str, Sequence[Entity]]
    ) -> tuple[tuple[CommunityWrite, ...], Usage]:
        now = self.clock()
        made = [
            Community(
                id=community,
                group_id=group_id,
                name=community_name(some),
                summary=community_summary(some),
                created_at=now,
                members=tuple(e.id for e in some),
            )
            for community, some in members.items()
        ]
        texts = [f"{c.name}: {c.summary}" for c in made]
        meter = Meter.begin()
        vectors = await self.embedder.embed(texts) if texts else []
        writes = tuple(CommunityWrite(c, v) for c, v in zip(made, vectors, strict=True))
        return writes, Usage(embeddings=len(texts)) + meter.usage


def _settled(entities: Sequence[Entity], edges: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """Labels by entity id. Ties go by name and type, not by id: the same facts in another group make the same parts."""
    ordered = sorted(entities, key=lambda e: (entity_key(e.name), e.type or "", e.id))
    place = {entity.id: f"{n:012d}" for n, entity in enumerate(ordered)}
    known = [(place[a], place[b], weight) for a, b, weight in edges if a in place and b in place]
    return {
        ordered[int(one)].id: ordered[int(label)].id
        for one, label in propagate(list(place.values()), known).items()
    }


def _moves(group_id: str, graph: CommunityGraph) -> dict[str, str | None]:
    """Where each touched entity belongs; everything around them stays where it is.

    One step decides for an entity that joins what is there. Entities that come together need a few: they are placed
    one after the other, in the order of their ids, until a round changes nothing (at most `MAX_ROUNDS`).
    """
    placed: dict[str, str | None] = {e: n.entity.community_id for e, n in graph.neighbourhoods.items()}
    for _ in range(MAX_ROUNDS):
        before = dict(placed)
        for entity in sorted(graph.neighbourhoods):
            neighbours = graph.neighbourhoods[entity].neighbours
            weights: dict[str, int] = defaultdict(int)
            for neighbour, (weight, community) in neighbours.items():
                label = placed.get(neighbour, community)
                if label is not None:
                    weights[label] += weight
            found = best_label(weights, placed[entity])
            placed[entity] = found if found is not None or not neighbours else _community_id(group_id, entity)
        if placed == before:
            break
    return placed


def _community_id(group_id: str, seed: str) -> str:
    return stable_id("community", group_id, seed)
