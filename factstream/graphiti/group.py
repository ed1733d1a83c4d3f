"""GroupReading: one group of Graphiti, row by row, to the records of an archive. Pure, but for what it remembers.

Facts become evidence: one statement for each episode that a fact names, with the fact's own interval, so that taking
an episode back later takes back what rested on it. Ids of episodes, entities, facts and communities stay. What was
believed of a fact before Graphiti let it expire stays in its history, so `known_at` answers for the time before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from factstream.graphiti.report import Report
from factstream.graphiti.values import attributes, content, moment, text
from pipeline.graph.archive import (
    CommunityRecord,
    ContributionRecord,
    EntityRecord,
    EpisodeRecord,
    EvidenceRecord,
    FactRecord,
    MarkRecord,
    Record,
    packed,
)
from pipeline.graph.ledger import STAGES
from pipeline.identity import entity_key, stable_id
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, EpisodeState, Source
from pipeline.model.extraction import Mention
from pipeline.model.fact import Belief, EntityRef, Fact, Support
from pipeline.model.moments import iso
from pipeline.model.provenance import Contribution, Told
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.reconcile import Occasion, reconcile

MAX_EPISODE_ID = 200
# Properties that have a meaning of their own; the others are attributes.
_EPISODE = frozenset(
    {"uuid", "group_id", "name", "content", "source", "source_description", "valid_at", "created_at"}
    | {"entity_edges", "content_embedding"}
)
_ENTITY = frozenset({"uuid", "group_id", "name", "summary", "created_at", "name_embedding", "labels"})
_FACT = frozenset(
    {"uuid", "group_id", "name", "fact", "fact_embedding", "episodes", "valid_at", "invalid_at", "created_at"}
    | {"expired_at", "reference_time", "source_node_uuid", "target_node_uuid"}
)
_SOURCES = {source.value: source for source in (Source.message, Source.text, Source.json)}


@dataclass(frozen=True)
class _Known:
    """What later rows need of an episode."""

    reference_time: datetime
    sequence: int
    created_at: datetime


class GroupReading:
    """Reads one group; the methods are called in the order in which they stand.

    Args:
        group_id: its name here.
        dimension: length of the vectors that are kept; others are made anew.
        at: when the import is.
        report: is told what was decided and lost.
    """

    def __init__(self, group_id: str, dimension: int, at: datetime, report: Report) -> None:
        self._group = group_id
        self._dimension = dimension
        self._at = at
        self._report = report
        self._episodes: dict[str, _Known] = {}
        self._states: dict[str, EpisodeState] = {}
        self._sequence = 0
        self._mentions: dict[str, Mention] = {}
        self._community: dict[str, str] = {}
        self._told: dict[str, dict[str, list[tuple[int, int]]]] = defaultdict(dict)
        self._statements: dict[str, int] = defaultdict(int)
        self._keys: set[tuple[str, str]] = set()

    def communities(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
        """Communities; who belongs to them is told with the entities."""
        for row in rows:
            props = row["props"]
            if not (uuid := text(props.get("uuid"))):
                self._report.note("lost_no_id", "Community")
                continue
            for member in row["members"]:
                if self._community.setdefault(text(member), uuid) != uuid:
                    self._report.note("lost_member", f"{uuid}: {member}")
            self._report.note("communities")
            yield CommunityRecord(
                community=Community(
                    id=uuid,
                    group_id=self._group,
                    name=text(props.get("name")) or uuid,
                    summary=text(props.get("summary")),
                    created_at=self._created(props, uuid),
                ),
                vector=self._vector(row["vector"], uuid),
            )

    def episodes(self, rows: Iterable[Mapping[str, Any]], mentioning: set[str]) -> Iterator[Record]:
        """Episodes; those in `mentioning` have something to tell."""
        for row in rows:
            props = row["props"]
            uuid = text(props.get("uuid"))
            if not uuid or len(uuid) > MAX_EPISODE_ID:
                self._report.note("lost_too_long" if uuid else "lost_no_id", uuid[:20] or "Episodic")
                continue
            yield self._episode(props, uuid, row["saga"], mentioning)

    def _episode(self, props: Mapping[str, Any], uuid: str, saga: Any, mentioning: set[str]) -> EpisodeRecord:
        named = text(props.get("source"))
        source = _SOURCES.get(named, Source.text)
        if named not in _SOURCES:
            self._report.note("episodes_source", f"{uuid}: {named or 'none'}")
        if not text(props.get("content")):
            self._report.note("episodes_empty", uuid)
        created = self._created(props, uuid)
        more = attributes(props, _EPISODE, self._report, uuid)
        tags = {name: value for name, value in more.items() if isinstance(value, str | int | float | bool)}
        episode = Episode(
            id=uuid,
            group_id=self._group,
            source=source,
            content=content(props.get("content"), source.value),
            reference_time=moment(props.get("valid_at"), self._report, uuid) or created,
            sequence=self._next(created),
            source_description=text(props.get("source_description")) or None,
            thread_id=None if saga is None else text(saga),
            metadata=tags | ({"name": text(props["name"])} if props.get("name") else {}),
        )
        self._report.note("episodes")
        return self._keep(episode, created, uuid in mentioning)

    def entities(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
        """Entities, and the types, summaries and attributes that Graphiti gave them."""
        for row in rows:
            props = row["props"]
            if not (uuid := text(props.get("uuid"))):
                self._report.note("lost_no_id", f"Entity {text(props.get('name'))}")
                continue
            mention = self._mention(props, row["labels"], uuid)
            self._mentions[uuid] = mention
            key = entity_key(mention.name)
            if (key, mention.type or "") in self._keys:
                self._report.note("entities_alike", mention.name)
            self._keys.add((key, mention.type or ""))
            self._report.note("entities")
            yield EntityRecord(
                entity=Entity(
                    id=uuid,
                    group_id=self._group,
                    name=mention.name,
                    type=mention.type,
                    keys=(key,) if key else (),
                    summary=mention.summary or "",
                    description=mention.summary or "",
                    attributes=mention.attributes,
                    created_at=self._created(props, uuid),
                    community_id=self._community.get(uuid),
                ),
                vector=self._vector(row["vector"], uuid),
            )

    def _mention(self, props: Mapping[str, Any], labels: Sequence[str], uuid: str) -> Mention:
        name = text(props.get("name")).strip()
        if not entity_key(name):
            self._report.note("entities_unnamed", uuid)
            name = uuid
        types = sorted(label for label in labels if label != "Entity")
        more = attributes(props, _ENTITY, self._report, uuid)
        if len(types) > 1:
            self._report.note("entities_labels", f"{name}: {', '.join(types)}")
            more["labels"] = types
        summary = text(props.get("summary")).strip()
        return Mention(name=name, type=types[0] if types else None, summary=summary or None, attributes=more)

    def mentions(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Which episode mentions which entity."""
        for row in rows:
            episode, entity = text(row["episode"]), text(row["entity"])
            if episode not in self._episodes or entity not in self._mentions:
                self._report.note("lost_mention", f"{episode or 'none'}: {entity or 'none'}")
                continue
            self._told[episode].setdefault(entity, [])
            self._report.note("mentions")

    def facts(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
        """All facts of one (source, relation, target): their evidence, and what is believed by it."""
        facts: dict[str, Fact] = {}
        vectors: dict[str, str | None] = {}
        evidence: list[Evidence] = []
        for row in rows:
            uuid = text(row["props"].get("uuid"))
            source, target = text(row["source"]), text(row["target"])
            if not uuid:
                self._report.note("lost_no_id", f"RELATES_TO {source} {target}")
                continue
            if source not in self._mentions or target not in self._mentions:
                self._report.note("lost_elsewhere", uuid)
                continue
            read = self._fact(row["props"], uuid, source, target)
            if read is None:
                continue
            fact, stated, apart = read
            self._report.note("facts")
            yield from apart
            facts[uuid] = fact
            vectors[uuid] = self._vector(row["vector"], uuid)
            evidence += stated
        if not facts:
            return
        yield from (EvidenceRecord(evidence=item) for item in evidence)
        # What overlaps or touches is one fact here; the rest is left exactly as it was.
        occasion = Occasion(self._group, evidence[0].episode_id, self._at)
        changed = {fact.id: fact for fact in reconcile(evidence, facts.values(), {}, occasion).facts}
        gone = sum(not fact.beliefs[-1].holds for fact in changed.values())
        if gone:
            self._report.note("facts_joined", next(iter(changed)), gone)
        for uuid, fact in (facts | changed).items():
            yield FactRecord(fact=fact, vector=vectors.get(uuid))

    def _fact(
        self, props: Mapping[str, Any], uuid: str, source: str, target: str
    ) -> tuple[Fact, list[Evidence], list[Record]] | None:
        created = self._created(props, uuid)
        starts = moment(props.get("valid_at"), self._report, uuid)
        ends = moment(props.get("invalid_at"), self._report, uuid)
        expired = moment(props.get("expired_at"), self._report, uuid)
        if expired is not None and ends is None:
            self._report.note("facts_expired", uuid)
            ends = expired
        if starts is not None and ends is not None and ends <= starts:
            self._report.note("lost_inverted", uuid)
            return None
        relation = text(props.get("name")).strip()
        if not relation:
            self._report.note("facts_unnamed", uuid)
            relation = "RELATES_TO"
        one, other = self._mentions[source], self._mentions[target]
        told = text(props.get("fact")).strip()
        if not told:
            self._report.note("facts_wordless", uuid)
            told = f"{one.name} {relation.replace('_', ' ').lower()} {other.name}"
        known = [e for e in dict.fromkeys(map(text, props.get("episodes") or ())) if e in self._episodes]
        apart: list[Record] = []
        if not known:
            self._report.note("facts_stated_apart", uuid)
            triple = _triple(one, relation, other, told, starts, ends)
            reference = moment(props.get("reference_time"), self._report, uuid) or starts or created
            record = self._apart(f"graphiti-{uuid}", Source.triples, [triple], reference, created)
            apart.append(record)
            known = [record.episode.id]
        more = attributes(props, _FACT, self._report, uuid)
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
        of = self._episodes[episode]
        index = self._statements[episode]
        self._statements[episode] += 1
        for side, entity in ((0, source), (1, target)):
            self._told[episode].setdefault(entity, []).append((index, side))
        return first.model_copy(
            update={
                "id": stable_id("evidence", self._group, episode, str(index)),
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
            group_id=self._group,
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

    def rest(self) -> Iterator[Record]:
        """What every episode told of every entity, and the marks that say that nothing is left to do."""
        named = {entity for told in self._told.values() for entity in told}
        if alone := [uuid for uuid in self._mentions if uuid not in named]:
            self._report.note("entities_stated_apart", alone[0], len(alone))
            names = [self._mentions[uuid].name for uuid in alone]
            record = self._apart("graphiti-entities", Source.json, {"entities": names}, self._at, self._at)
            yield record
            self._told[record.episode.id] = {uuid: [] for uuid in alone}
        for place, (episode, told) in enumerate(self._told.items()):
            for index, (entity, ends) in enumerate(told.items()):
                yield ContributionRecord(
                    contribution=Contribution(
                        episode_id=episode,
                        entity_id=entity,
                        place=place,
                        at=self._episodes[episode].created_at,
                        told=(Told(index=index, mention=self._mentions[entity], ends=tuple(ends)),),
                    )
                )
        for episode, state in self._states.items():
            for stage in STAGES if state is EpisodeState.committed else STAGES[:1]:
                yield MarkRecord(episode_id=episode, stage=stage)

    def _apart(
        self, name: str, source: Source, told: Any, reference: datetime, created: datetime
    ) -> EpisodeRecord:
        episode = Episode(
            id=name[:MAX_EPISODE_ID],
            group_id=self._group,
            source=source,
            content=told,
            reference_time=reference,
            sequence=self._next(created),
            source_description="from Graphiti",
        )
        return self._keep(episode, created, True)

    def _keep(self, episode: Episode, created: datetime, tells: bool) -> EpisodeRecord:
        self._episodes[episode.id] = _Known(episode.reference_time, episode.sequence, created)
        state = EpisodeState.committed if tells else EpisodeState.skipped
        self._states[episode.id] = state
        return EpisodeRecord(episode=episode, state=state, created_at=created)

    def _next(self, created: datetime) -> int:
        """The place in the order of arrival: that of its time, and above the last one."""
        self._sequence = max(round(created.timestamp() * 1000) << 20, self._sequence + 1)
        return self._sequence

    def _created(self, props: Mapping[str, Any], uuid: str) -> datetime:
        found = moment(props.get("created_at"), self._report, uuid)
        if found is None:
            self._report.note("times_missing", uuid)
            found = moment(props.get("valid_at"), self._report, uuid) or self._at
        return min(found, self._at)

    def _vector(self, values: Sequence[float] | None, uuid: str) -> str | None:
        if values is None:
            return None
        if len(values) != self._dimension:
            self._report.note("vectors_other", uuid)
            return None
        return packed(values)


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
