"""The stage resolve_facts on Neo4j: what is known of the statements' slots, and the commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.errors import Poison
from pipeline.graph.fact_port import (
    SCANNED_FACTS,
    SOURCE_CHARACTERS,
    FactCommit,
    FactGraph,
    FactQuery,
    Look,
    NearFact,
)
from pipeline.graph.neo4j import codec
from pipeline.graph.neo4j import queries_facts as q
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.entity_writes import write_entities
from pipeline.graph.neo4j.lane import RESOLVE_FACTS, Lane, begin, mark_of
from pipeline.graph.neo4j.properties import evidence_parameters, fact_parameters, slot_id, triplet_id, vector
from pipeline.graph.parts import with_lines
from pipeline.model.episode import EpisodeRef
from pipeline.model.fact import Fact
from pipeline.timeline.evidence import Evidence


@dataclass(frozen=True)
class FactWrites:
    """Reads and commits of resolve_facts; `dimension` is the length of every vector."""

    connection: Neo4jConnection
    dimension: int

    async def graph(self, query: FactQuery) -> FactGraph:
        """See GraphStore.fact_graph: one round trip."""
        lane = Lane(query.episode.group_id, RESOLVE_FACTS, query.episode.id)
        params = {
            **lane.params,
            "triplets": sorted({triplet_id(t.subject, t.relation, t.object) for t in query.triplets}),
            "slots": sorted({slot_id(t.subject, t.relation) for t in query.triplets if t.whole_slot}),
            "end_slots": sorted(
                {
                    slot_id(end, t.relation)
                    for t in query.triplets
                    if t.whole_slot and t.symmetric
                    for end in (t.subject, t.object)
                }
            ),
            "entity_ids": sorted(set(query.entity_ids)),
            "looks": [self._look(look) for look in query.looks],
            "near_limit": query.near_limit,
            "scanned": SCANNED_FACTS,
            "source_characters": SOURCE_CHARACTERS,
        }
        row = (await self.connection.run("fact_graph", q.FACT_GRAPH, params))[0]
        evidence = [Evidence.model_validate_json(text) for text in row["evidence"]]
        facts = [codec.fact({"fact": text}) for text in row["facts"]]
        return FactGraph(
            mark=mark_of(row),
            lane_version=row["version"],
            evidence=tuple(sorted(evidence, key=lambda e: (e.order, e.id))),
            facts=tuple(sorted(facts, key=lambda f: f.id)),
            entities={found["id"]: codec.entity(found) for found in row["entities"]},
            near=_near(row["near"], len(query.looks)),
            source=row["source"] or "",
        )

    def _look(self, look: Look) -> dict[str, object]:
        return {
            "subject": look.subject,
            "object": look.object,
            "at": codec.micros(look.at),
            # Only facts of the pair are wanted where there is nothing to compare others with.
            "ends": sorted({look.subject, look.object}) if look.vector is not None else [],
            "vector": vector(look.vector, self.dimension),
        }

    async def of_entities(self, group_id: str, entity_ids: Sequence[str]) -> tuple[Fact, ...]:
        """See GraphStore.facts_of: one round trip."""
        params = {"group_id": group_id, "ids": list(entity_ids)}
        rows = await self.connection.run("facts_of", q.FACTS_OF_ENTITIES, params)
        return tuple(codec.fact(row) for row in rows)

    async def by_id(self, group_id: str, ids: Sequence[str]) -> tuple[Evidence, ...]:
        """See GraphStore.evidence: one round trip."""
        params = {"group_id": group_id, "ids": list(ids)}
        rows = await self.connection.run("evidence", q.EVIDENCE_BY_ID, params)
        return tuple(Evidence.model_validate_json(row["evidence"]) for row in rows)

    async def commit(self, commit: FactCommit) -> None:
        """See GraphStore.commit_facts."""
        lane = Lane(commit.episode.group_id, RESOLVE_FACTS, commit.episode.id)
        evidence = [evidence_parameters(e) for e in sorted(commit.evidence, key=lambda e: e.id)]
        facts = [
            fact_parameters(w, self.dimension, commit.at)
            for w in sorted(commit.facts, key=lambda w: w.fact.id)
        ]
        async with begin(self.connection, lane, commit.lane_version) as open_commit:
            await write_entities(open_commit, commit.entities, self.dimension, with_lines)
            if evidence:
                await open_commit.run(q.WRITE_EVIDENCE, evidence=evidence)
            if facts:
                rows = await open_commit.run(q.WRITE_FACTS, facts=facts)
                if rows[0]["written"] != len(facts):
                    raise Poison("an entity that a fact joins is not in the graph", "facts")
            await open_commit.finish(None, commit.output, commit.usage, commit.at, commit.judged)

    async def settle(self, episode: EpisodeRef) -> None:
        """See GraphStore.settle."""
        lane = Lane(episode.group_id, RESOLVE_FACTS, episode.id)
        await self.connection.write("settle", q.SETTLE, lane.params)


def _near(rows: Sequence[Sequence[Any]], looks: int) -> tuple[tuple[NearFact, ...], ...]:
    found: list[list[NearFact]] = [[] for _ in range(looks)]
    for index, _, text, source in sorted(rows, key=lambda row: (row[0], row[1])):
        found[index].append(NearFact(codec.fact({"fact": text}), source or ""))
    return tuple(map(tuple, found))
