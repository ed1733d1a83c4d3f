"""The stage resolve_entities on Neo4j: which entities may be meant, and the commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.errors import Poison
from pipeline.graph.entity_port import EntityCommit, EntityQuery, EntityView, EntityWrite
from pipeline.graph.neo4j import codec
from pipeline.graph.neo4j import queries_entities as q
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.lane import RESOLVE_ENTITIES, Commit, Lane, begin, mark_of
from pipeline.graph.neo4j.properties import entity_parameters, mention_id, merge_parameters, vector
from pipeline.graph.parts import with_identity
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeState
from pipeline.text.analysis import MAX_QUERY_TERMS

# Reciprocal rank fusion with its usual constant (Cormack, Clarke and Buettcher 2009).
RANK_CONSTANT = 60


@dataclass(frozen=True)
class EntityWrites:
    """Reads and commits of resolve_entities; `dimension` is the length of every vector."""

    connection: Neo4jConnection
    dimension: int

    async def view(self, query: EntityQuery) -> EntityView:
        """See GraphStore.entity_view: one round trip."""
        group = query.episode.group_id
        lane = Lane(group, RESOLVE_ENTITIES, query.episode.id)
        texts = [{"index": i, "text": lucene(group, t)} for i, t in enumerate(query.texts) if t.strip()]
        vectors = [
            {"index": i, "vector": vector(v, self.dimension)}
            for i, v in enumerate(query.vectors)
            if v is not None
        ]
        params = {
            **lane.params,
            "keys": [[codec.index_key(key) for key in keys] for keys in query.keys],
            "texts": texts,
            "vectors": vectors,
            "limit": query.limit,
        }
        row = (await self.connection.run("entity_view", q.ENTITY_VIEW, params))[0]
        entities = {found["id"]: codec.entity(found) for found in row["entities"]}
        by_key: dict[int, list[Entity]] = defaultdict(list)
        for index, entity_id in row["by_key"]:
            by_key[index].append(entities[entity_id])
        similar = fused(row["by_text"], row["by_vector"])
        places = range(len(query.keys))
        return EntityView(
            mark=mark_of(row),
            lane_version=row["version"],
            by_key=tuple(tuple(sorted(by_key[i], key=_age)) for i in places),
            similar=tuple(tuple(entities[e] for e in similar[i][: query.limit]) for i in places),
        )

    async def commit(self, commit: EntityCommit) -> None:
        """See GraphStore.commit_entities."""
        group = commit.episode.group_id
        lane = Lane(group, RESOLVE_ENTITIES, commit.episode.id)
        mentions = [
            {
                "entity": e,
                "uuid": mention_id(group, commit.episode.id, e),
                "told": codec.told_json(commit.told.get(e, ())),
            }
            for e in sorted(set(commit.mentioned))
        ]
        async with begin(self.connection, lane, commit.lane_version) as open_commit:
            await write_entities(open_commit, commit.entities, self.dimension, with_identity)
            if mentions:
                rows = await open_commit.run(
                    q.WRITE_MENTIONS, mentions=mentions, at=commit.at, place=commit.lane_version
                )
                if rows[0]["written"] != len(mentions):
                    raise Poison("the episode or an entity that it mentions is not in the graph", "mentioned")
            if commit.merges:
                merges = [merge_parameters(merge) for merge in commit.merges]
                await open_commit.run(q.WRITE_MERGES, merges=merges)
            await open_commit.finish(
                EpisodeState.resolved, commit.output, commit.usage, commit.at, commit.judged
            )


async def write_entities(
    commit: Commit,
    writes: Sequence[EntityWrite],
    dimension: int,
    merge: Callable[[Entity | None, Entity], Entity],
) -> None:
    """Create or overwrite entities inside a commit; `merge` says what a stage may change of one that stands."""
    if not writes:
        return
    ordered = sorted(writes, key=lambda w: w.entity.id)
    rows = await commit.run(q.LOCK_ENTITIES, ids=[w.entity.id for w in ordered])
    stored: Mapping[str, Entity] = {row["entity"]["id"]: codec.entity(row["entity"]) for row in rows}
    merged = [replace(w, entity=merge(stored.get(w.entity.id), w.entity)) for w in ordered]
    await commit.run(q.WRITE_ENTITIES, entities=[entity_parameters(w, dimension) for w in merged])


def lucene(group_id: str, text: str) -> str:
    """The full-text query for search terms inside one group; the group itself adds nothing to the score.

    Terms are letters and digits only (see pipeline.text.analysis), so none of them is an operator.
    """
    terms = list(dict.fromkeys(text.split()))[:MAX_QUERY_TERMS]
    return f"+fs_scope:{codec.scope_token(group_id)}^0 +(" + " ".join(f"fs_text:{t}" for t in terms) + ")"


def fused(*methods: Sequence[tuple[int, str]]) -> dict[int, list[str]]:
    """By mention, the ids that any method found, best first; each method lists (mention, id) best first."""
    scores: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for found in methods:
        ranks: dict[int, int] = defaultdict(int)
        for index, entity_id in found:
            ranks[index] += 1
            scores[index][entity_id] += 1 / (RANK_CONSTANT + ranks[index])
    ordered: dict[int, list[str]] = defaultdict(list)
    for index, some in scores.items():
        ordered[index] = [e for _, e in sorted((-score, e) for e, score in some.items())]
    return ordered


def _age(entity: Entity) -> tuple[object, str]:
    return (entity.created_at, entity.id)
