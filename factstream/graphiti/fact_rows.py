"""FactRows: rows of facts, to evidence and what is believed by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from factstream.graphiti.remembered import Remembered
from factstream.graphiti.values import attributes, moment, text
from pipeline.graph.archive import EvidenceRecord, FactRecord, Record
from pipeline.identity import stable_id
from pipeline.model.episode import Source
from pipeline.model.extraction import Mention
from pipeline.model.fact import Belief, EntityRef, Fact, Support
from pipeline.model.moments import iso
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.reconcile import Occasion, reconcile

# Properties that have a meaning of their own; the others are attributes.
_FACT = frozenset(
    {"uuid", "group_id", "name", "fact", "fact_embedding", "episodes", "valid_at", "invalid_at", "created_at"}
    | {"expired_at", "reference_time", "source_node_uuid", "target_node_uuid"}
)


class FactRows:
    """Reads the facts of a group whose episodes and entities are known."""

    def __init__(self, group: Remembered) -> None:
        self._group = group
        self._statements: dict[str, int] = defaultdict(int)

    def facts(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
        """All facts of one (source, relation, target): their evidence, and what is believed by it."""
        facts: dict[str, Fact] = {}
        vectors: dict[str, str | None] = {}
        evidence: list[Evidence] = []
        for row in rows:
            uuid = text(row["props"].get("uuid"))
            source, target = text(row["source"]), text(row["target"])
            if not uuid:
                self._group.report.note("lost_no_id", f"RELATES_TO {source} {target}")
                continue
            if source not in self._group.mentions or target not in self._group.mentions:
                self._group.report.note("lost_elsewhere", uuid)
                continue
            read = self._fact(row["props"], uuid, source, target)
            if read is None:
                continue
            fact, stated, apart = read
            self._group.report.note("facts")
            yield from apart
            facts[uuid] = fact
            vectors[uuid] = self._group.vector(row["vector"], uuid)
            evidence += stated
        if not facts:
            return
        yield from (EvidenceRecord(evidence=item) for item in evidence)
        # What overlaps or touches is one fact here; the rest is left exactly as it was.
        occasion = Occasion(self._group.id, evidence[0].episode_id, self._group.at)
        changed = {fact.id: fact for fact in reconcile(evidence, facts.values(), {}, occasion).facts}
        gone = sum(not fact.beliefs[-1].holds for fact in changed.values())
        if gone:
            self._group.report.note("facts_joined", next(iter(changed)), gone)
        for uuid, fact in (facts | changed).items():
            yield FactRecord(fact=fact, vector=vectors.get(uuid))

    def _fact(
        self, props: Mapping[str, Any], uuid: str, source: str, target: str
    ) -> tuple[Fact, list[Evidence], list[Record]] | None:
        created = self._group.created(props, uuid)
        starts = moment(props.get("valid_at"), self._group.report, uuid)
        ends = moment(props.get("invalid_at"), self._group.report, uuid)
        expired = moment(props.get("expired_at"), self._group.report, uuid)
        if expired is not None and ends is None:
            self._group.report.note("facts_expired", uuid)
            ends = expired
        if starts is not None and ends is not None and ends <= starts:
            self._group.report.note("lost_inverted", uuid)
            return None
        relation = text(props.get("name")).strip()
        if not relation:
            self._group.report.note("facts_unnamed", uuid)
            relation = "RELATES_TO"
        one, other = self._group.mentions[source], self._group.mentions[target]
        told = text(props.get("fact")).strip()
        if not told:
            self._group.report.note("facts_wordless", uuid)
            told = f"{one.name} {relation.replace('_', ' ').lower()} {other.name}"
        known = [
            e for e in dict.fromkeys(map(text, props.get("episodes") or ())) if e in self._group.episodes
        ]
        apart: list[Record] = []
        if not known:
            self._group.report.note("facts_stated_apart", uuid)
            triple = _triple(one, relation, other, told, starts, ends)
            reference = moment(props.get("reference_time"), self._group.report, uuid) or starts or created
            record = self._group.apart(f"graphiti-{uuid}", Source.triples, [triple], reference, created)
            apart.append(record)
            known = [record.episode.id]
        more = attributes(props, _FACT, self._group.report, uuid)
        first = Evidence(
            id="",
            episode_id="",
            subject=source,
            relation=relation,
            object=target,
            subject_name=one.name,
            object_name=other.name,
            fact=told,
            attributes=more,
            valid_at=starts,
            invalid_at=ends,
            reference_time=created,
            sequence=0,
            recorded_at=created,
        )
        stated = [self._stated(first, episode, source, target) for episode in known]
        return self._believed(first, uuid, stated, created, expired), stated, apart

    def _stated(self, first: Evidence, episode: str, source: str, target: str) -> Evidence:
        of = self._group.episodes[episode]
        index = self._statements[episode]
        self._statements[episode] += 1
        for side, entity in ((0, source), (1, target)):
            self._group.told[episode].setdefault(entity, []).append((index, side))
        return first.model_copy(
            update={
                "id": stable_id("evidence", self._group.id, episode, str(index)),
                "episode_id": episode,
                "reference_time": of.reference_time,
                "sequence": of.sequence,
                "index": index,
                "recorded_at": max(first.recorded_at, of.created_at),
            }
        )

    def _believed(
        self,
        first: Evidence,
        uuid: str,
        stated: Sequence[Evidence],
        created: datetime,
        expired: datetime | None,
    ) -> Fact:
        whole = Belief(
            known_from=created,
            valid_at=first.valid_at,
            invalid_at=first.invalid_at,
            closed_by=None if first.invalid_at is None else stated[-1].episode_id,
            closing_rule=None if first.invalid_at is None else "graphiti",
        )
        beliefs: tuple[Belief, ...] = (whole,)
        if expired is not None and expired > created:
            still = {"invalid_at": None, "closed_by": None, "closing_rule": None}
            beliefs = (whole.model_copy(update=still), whole.model_copy(update={"known_from": expired}))
        return Fact(
            id=uuid,
            group_id=self._group.id,
            source=EntityRef(id=first.subject, name=first.subject_name),
            target=EntityRef(id=first.object, name=first.object_name),
            relation=first.relation,
            fact=first.fact,
            attributes=first.attributes,
            beliefs=beliefs,
            support=tuple(
                Support(episode_id=e.episode_id, evidence_id=e.id, known_from=e.recorded_at) for e in stated
            ),
        )


def _triple(
    one: Mention, relation: str, other: Mention, told: str, starts: datetime | None, ends: datetime | None
) -> dict[str, Any]:
    """The triple of the contract that says the same."""
    triple: dict[str, Any] = {"subject": _end(one), "relation": relation, "object": _end(other), "fact": told}
    if starts is not None:
        triple["valid_at"] = iso(starts)
    if ends is not None:
        triple["invalid_at"] = iso(ends)
    return triple


def _end(mention: Mention) -> dict[str, Any]:
    return {"name": mention.name} | ({"type": mention.type} if mention.type else {})
