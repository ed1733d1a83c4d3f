"""Taking back and correcting on Neo4j: the whole group as a ledger, and the commit of what changes in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pipeline.errors import Fenced, Poison, Retryable
from pipeline.graph.ledger import FENCED_STAGES, FORGOTTEN, NOTICE, STAGES, CurationCommit, Ledger, Trace
from pipeline.graph.needles import needles
from pipeline.graph.neo4j import codec, queries_communities, queries_entities, queries_facts
from pipeline.graph.neo4j import queries_curation as q
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.entity_writes import write_entities
from pipeline.graph.neo4j.lane import WHOLE, Commit, Lane
from pipeline.graph.neo4j.properties import (
    RESERVED_LABELS,
    community_parameters,
    contribution_parameters,
    created_parameters,
    entity_parameters,
    episode_properties,
    evidence_parameters,
    fact_parameters,
    mention_id,
    merge_parameters,
    move_parameters,
    vector,
)
from pipeline.graph.neo4j.queries_dump import DUMP_ENTITIES, DUMP_EVIDENCE, DUMP_FACTS
from pipeline.graph.neo4j.rebuild_writes import RebuildWrites
from pipeline.graph.neo4j.schema import check_version
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeState, Usage
from pipeline.model.judgement import JudgedEpisode, record_of
from pipeline.model.provenance import Merge
from pipeline.timeline.evidence import Evidence


@dataclass(frozen=True)
class CurationWrites:
    """Reads and commits of curations; `dimension` is the length of every vector."""

    connection: Neo4jConnection
    dimension: int

    async def ledger(self, group_id: str) -> Ledger:
        """See CurationStore.ledger. The lanes are read first: what is read after them is at least as new."""
        of = {"group_id": group_id, "stages": list(FENCED_STAGES)}
        async with self.connection.transaction("ledger") as reading:
            lanes = {row["stage"]: row["version"] for row in await reading.run(q.LANES, of)}
            entities = [codec.entity(row["entity"]) for row in await reading.run(DUMP_ENTITIES, of)]
            facts = [codec.fact(row) for row in await reading.run(DUMP_FACTS, of)]
            evidence = [
                Evidence.model_validate_json(row["evidence"]) for row in await reading.run(DUMP_EVIDENCE, of)
            ]
            told = [codec.contribution(row) for row in await reading.run(q.CONTRIBUTIONS, of)]
            episodes = {row["id"] for row in await reading.run(q.EPISODE_IDS, of)}
            marks = await reading.run(q.MARKS, of)
            communities = await reading.run(q.COMMUNITIES, of)
            merges = [Merge.model_validate_json(row["json"]) for row in await reading.run(q.MERGES, of)]
        members: dict[str, list[str]] = defaultdict(list)
        for entity in entities:
            if entity.community_id is not None:
                members[entity.community_id].append(entity.id)
        done: dict[str, set[str]] = defaultdict(set)
        for mark in marks:
            done[mark["stage"]].add(mark["episode"])
        marked = {i for stage in STAGES for i in done[stage]}
        return Ledger(
            group_id,
            lanes={**dict.fromkeys(FENCED_STAGES, 0), **lanes},
            episodes=frozenset((episodes | marked) - done[FORGOTTEN]),
            unfinished=frozenset(done["resolve_entities"] - done["resolve_facts"]),
            entities={e.id: e for e in entities},
            contributions={(c.episode_id, c.entity_id): c for c in told},
            evidence={e.id: e for e in evidence},
            facts={f.id: f for f in facts},
            communities={c["id"]: codec.community({**c, "members": members[c["id"]]}) for c in communities},
            merges={m.id: m for m in merges},
            outputs={(m["episode"], m["stage"]): m["output"] for m in marks if m["output"] is not None},
            judged={
                (m["episode"], m["stage"]): JudgedEpisode.model_validate_json(m["judged"])
                for m in marks
                if m["judged"] is not None
            },
        )

    async def commit(self, commit: CurationCommit) -> None:
        """See CurationStore.commit_curation."""
        begun = self._begin("commit_curation", commit.group_id, commit.lanes, commit.lease, commit.place)
        async with begun as open_commit:
            await self._remove(open_commit, commit)
            await RebuildWrites(self.connection, self.dimension).restore(open_commit, commit.restored)
            await self._write(open_commit, commit)
            await self._place(open_commit, commit)
            outputs = [{"episode": e, "stage": s, "output": t} for (e, s), t in commit.outputs.items()]
            if outputs:
                await open_commit.run(q.REPLACE_OUTPUTS, outputs=outputs)
            judged = [
                {"episode": e, "stage": s, "judged": None if r is None else record_of(r)}
                for (e, s), r in commit.judged.items()
            ]
            if judged:
                await open_commit.run(q.REPLACE_JUDGED, judged=judged)
            if commit.notice is not None:
                await open_commit.run(q.KEEP_NOTICE, name=commit.notice[0], output=commit.notice[1])

    async def erase(self, group_id: str, lanes: Mapping[str, int], notice: tuple[str, str]) -> None:
        """See CurationStore.erase_group."""
        async with self._begin("erase_group", group_id, lanes) as open_commit:
            known = {row["id"] for row in await open_commit.run(q.EPISODE_IDS)}
            known |= {row["episode"] for row in await open_commit.run(q.MARKS) if row["stage"] != NOTICE}
            for statement in q.ERASE:
                await open_commit.run(statement)
            await open_commit.run(q.DROP_OTHER_MARKS, kept=[*STAGES, FORGOTTEN])
            await self._bury(open_commit, known)
            await open_commit.run(q.KEEP_NOTICE, name=notice[0], output=notice[1])

    async def drop_marks(self, group_id: str) -> None:
        """See CurationStore.drop_marks."""
        await self.connection.write("drop_marks", q.DROP_OTHER_MARKS, {"group_id": group_id, "kept": []})

    async def notice_sent(self, group_id: str, name: str) -> None:
        """See CurationStore.notice_sent."""
        await self.connection.write("notice_sent", q.DROP_NOTICE, {"group_id": group_id, "name": name})

    async def traces(self, group_id: str, text: str) -> tuple[Trace, ...]:
        """See CurationStore.traces. It looks at every node and relationship of the database."""
        params = {"group_id": group_id, "needles": list(needles(text)), "labels": sorted(RESERVED_LABELS)}
        rows = [
            row
            for query in (q.TRACES_IN_NODES, q.TRACES_IN_RELATIONSHIPS)
            for row in await self.connection.run("traces", query, params)
        ]
        return tuple(sorted((Trace(r["kind"], r["id"], r["field"]) for r in rows), key=str))

    @asynccontextmanager
    async def _begin(
        self, operation: str, group_id: str, lanes: Mapping[str, int], lease: str = "", place: int = 0
    ) -> AsyncIterator[Commit]:
        params = {"group_id": group_id, "stages": list(STAGES), "lease": lease, "place": place}
        async with self.connection.transaction(operation) as transaction:
            for row in await transaction.run(q.BEGIN_CURATION, params):
                stage = row["stage"]
                check_version(row["format"])
                if row["held"]:
                    raise Retryable(f"group {group_id!r} is held while a rebuild of it is swapped in")
                if stage in FENCED_STAGES and row["version"] != lanes.get(stage, 0):
                    raise Fenced(f"{stage} of group {group_id!r} has committed since the ledger was read")
            yield Commit(Lane(group_id, WHOLE), transaction, None, 0, Usage())

    async def _remove(self, commit: Commit, given: CurationCommit) -> None:
        mentions = [mention_id(given.group_id, *pair) for pair in given.removed_mentions]
        for statement, names in (
            (q.REMOVE_MENTIONS, mentions),
            (q.REMOVE_FACTS, given.removed_facts),
            (q.REMOVE_EVIDENCE, given.removed_evidence),
            (q.REMOVE_MERGES, given.removed_merges),
            (q.REMOVE_ENTITIES, given.removed_entities),
            (q.REMOVE_EPISODES, given.forgotten),
        ):
            if names:
                await commit.run(statement, ids=sorted(names))
        await self._bury(commit, given.forgotten)

    async def _bury(self, commit: Commit, episodes: Iterable[str]) -> None:
        if names := sorted(episodes):
            await commit.run(q.BURY, ids=names, stages=[*STAGES, FORGOTTEN], forgotten=True)

    async def _write(self, commit: Commit, given: CurationCommit) -> None:
        if given.added:
            episodes = [
                {
                    "uuid": episode.id,
                    "properties": {
                        **episode_properties(episode, vector(embedding, self.dimension), given.at),
                        "fs_state": EpisodeState.committed.value,
                    },
                }
                for episode, embedding in given.added
            ]
            await commit.run(q.ADD_EPISODES, episodes=episodes)
            ids = [e.id for e, _ in given.added]
            await commit.run(q.BURY, ids=ids, stages=list(STAGES), forgotten=False)
        await write_entities(commit, given.entities, self.dimension, _as_given)
        if given.entities:
            entities = [entity_parameters(w, self.dimension) for w in given.entities]
            await commit.run(q.SET_CREATED, entities=[created_parameters(e) for e in entities])
        if given.evidence:
            await commit.run(
                queries_facts.WRITE_EVIDENCE, evidence=[evidence_parameters(e) for e in given.evidence]
            )
        if given.contributions:
            mentions = [contribution_parameters(given.group_id, one) for one in given.contributions]
            rows = await commit.run(q.WRITE_CONTRIBUTIONS, mentions=mentions)
            if rows[0]["written"] != len(mentions):
                raise Poison("an episode or an entity that it mentions is not in the graph", "contributions")
        if given.facts:
            facts = [fact_parameters(w, self.dimension, given.at) for w in given.facts]
            rows = await commit.run(queries_facts.WRITE_FACTS, facts=facts)
            if rows[0]["written"] != len(facts):
                raise Poison("an entity that a fact joins is not in the graph", "facts")
        if given.merges:
            await commit.run(
                queries_entities.WRITE_MERGES, merges=[merge_parameters(m) for m in given.merges]
            )
        await commit.run(q.DROP_ORPHAN_KEYS)

    async def _place(self, commit: Commit, given: CurationCommit) -> None:
        if given.communities:
            communities = [community_parameters(w, self.dimension) for w in given.communities]
            await commit.run(queries_communities.WRITE_COMMUNITIES, communities=communities)
        moves = [move_parameters(given.group_id, e, c) for e, c in sorted(given.moves.items())]
        if moves:
            row = (await commit.run(queries_communities.MOVE_MEMBERS, moves=moves, at=given.at))[0]
            if row["placed"] != len(moves):
                raise Poison("an entity or a community that a move names is not in the graph", "moves")
        await commit.run(q.DROP_MEMBERLESS_COMMUNITIES)


def _as_given(stored: Entity | None, written: Entity) -> Entity:
    """A curation is fenced against every stage, so that it decides the whole entity."""
    return written
