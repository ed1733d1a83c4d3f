"""GroupReading: one group of Graphiti, row by row, to the records of an archive. Pure, but for what it remembers.

Facts become evidence: one statement for each episode that a fact names, with the fact's own interval, so that taking
an episode back later takes back what rested on it. Ids of episodes, entities, facts and communities stay. What was
believed of a fact before Graphiti let it expire stays in its history, so `known_at` answers for the time before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from factstream.graphiti.entity_rows import EntityRows
from factstream.graphiti.fact_rows import FactRows
from factstream.graphiti.remembered import MAX_EPISODE_ID, Remembered
from factstream.graphiti.report import Report
from factstream.graphiti.values import attributes, content, moment, text
from pipeline.graph.archive import ContributionRecord, EpisodeRecord, MarkRecord, Record
from pipeline.graph.ledger import STAGES
from pipeline.model.episode import Episode, EpisodeState, Source
from pipeline.model.provenance import Contribution, Told

# Properties that have a meaning of their own; the others are attributes.
_EPISODE = frozenset(
    {"uuid", "group_id", "name", "content", "source", "source_description", "valid_at", "created_at"}
    | {"entity_edges", "content_embedding"}
)
_SOURCES = {source.value: source for source in (Source.message, Source.text, Source.json)}


class GroupReading:
    """Reads one group; the methods are called in the order in which they stand.

    Args:
        group_id: its name here.
        dimension: length of the vectors that are kept; others are made anew.
        at: when the import is.
        report: is told what was decided and lost.
    """

    def __init__(self, group_id: str, dimension: int, at: datetime, report: Report) -> None:
        self._group = Remembered(group_id, dimension, at, report)
        self._entities = EntityRows(self._group)
        self._facts = FactRows(self._group)

    def communities(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
        """Communities; who belongs to them is told with the entities."""
        return self._entities.communities(rows)

    def episodes(self, rows: Iterable[Mapping[str, Any]], mentioning: set[str]) -> Iterator[Record]:
        """Episodes; those in `mentioning` have something to tell."""
        for row in rows:
            props = row["props"]
            uuid = text(props.get("uuid"))
            if not uuid or len(uuid) > MAX_EPISODE_ID:
                self._group.report.note("lost_too_long" if uuid else "lost_no_id", uuid[:20] or "Episodic")
                continue
            yield self._episode(props, uuid, row["saga"], mentioning)

    def _episode(self, props: Mapping[str, Any], uuid: str, saga: Any, mentioning: set[str]) -> EpisodeRecord:
        named = text(props.get("source"))
        source = _SOURCES.get(named, Source.text)
        if named not in _SOURCES:
            self._group.report.note("episodes_source", f"{uuid}: {named or 'none'}")
        if not text(props.get("content")):
            self._group.report.note("episodes_empty", uuid)
        created = self._group.created(props, uuid)
        more = attributes(props, _EPISODE, self._group.report, uuid)
        tags = {name: value for name, value in more.items() if isinstance(value, str | int | float | bool)}
        episode = Episode(
            id=uuid,
            group_id=self._group.id,
            source=source,
            content=content(props.get("content"), source.value),
            reference_time=moment(props.get("valid_at"), self._group.report, uuid) or created,
            sequence=self._group.next_sequence(created),
            source_description=text(props.get("source_description")) or None,
            thread_id=None if saga is None else text(saga),
            metadata=tags | ({"name": text(props["name"])} if props.get("name") else {}),
        )
        self._group.report.note("episodes")
        return self._group.keep(episode, created, uuid in mentioning)

    def entities(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
        """Entities, and the types, summaries and attributes that Graphiti gave them."""
        return self._entities.entities(rows)

    def mentions(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Which episode mentions which entity."""
        self._entities.mentions(rows)

    def facts(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
        """All facts of one (source, relation, target): their evidence, and what is believed by it."""
        return self._facts.facts(rows)

    def rest(self) -> Iterator[Record]:
        """What every episode told of every entity, and the marks that say that nothing is left to do."""
        named = {entity for told in self._group.told.values() for entity in told}
        if alone := [uuid for uuid in self._group.mentions if uuid not in named]:
            self._group.report.note("entities_stated_apart", alone[0], len(alone))
            names = [self._group.mentions[uuid].name for uuid in alone]
            record = self._group.apart(
                "graphiti-entities", Source.json, {"entities": names}, self._group.at, self._group.at
            )
            yield record
            self._group.told[record.episode.id] = {uuid: [] for uuid in alone}
        for place, (episode, told) in enumerate(self._group.told.items()):
            for index, (entity, ends) in enumerate(told.items()):
                yield ContributionRecord(
                    contribution=Contribution(
                        episode_id=episode,
                        entity_id=entity,
                        place=place,
                        at=self._group.episodes[episode].created_at,
                        told=(Told(index=index, mention=self._group.mentions[entity], ends=tuple(ends)),),
                    )
                )
        for episode, state in self._group.states.items():
            for stage in STAGES if state is EpisodeState.committed else STAGES[:1]:
                yield MarkRecord(episode_id=episode, stage=stage)
