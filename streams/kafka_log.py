"""KafkaLog: the topics as the log that a rebuild reads."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from pipeline.errors import Poison, Retryable
from pipeline.model.changes import EpisodeStatus, FactChange
from pipeline.model.episode import Episode
from pipeline.model.extraction import Extraction
from pipeline.model.judgement import JudgedEpisode
from pipeline.rebuild.log import Place
from streams.agents.decoding import read_episode, read_model
from streams.broker import partitions_of
from streams.canary.group import is_canary_group
from streams.event import Event
from streams.event_format import FORMAT_HEADER, check_format
from streams.spool import Entry, Spool, raw_entry, told_entry
from streams.topics import CHANGES, EPISODES, EXTRACTED, JUDGED, SEPARATOR, STATUS, lane_key, partition_of

BATCH = 500
TOPICS = (EPISODES, EXTRACTED, JUDGED, STATUS, CHANGES)

log = logging.getLogger(__name__)


class KafkaLog:
    """Implements EpisodeLog over the topics `episodes`, `episodes.extracted`, `episodes.judged`, `episodes.status` and `facts.changes`.

    What is read is kept in a file, group by group. Records that are no episodes (they are dead letters) are passed
    over.

    Args:
        groups: only these are kept; None: all.
        ontologies: the names that an event's `ontology` may have.
    """

    def __init__(
        self,
        bootstrap: str,
        path: Path,
        prefix: str = "",
        *,
        groups: Collection[str] | None = None,
        ontologies: Collection[str] = (),
    ) -> None:
        self._bootstrap = bootstrap
        self._prefix = prefix
        self._groups = None if groups is None else frozenset(groups)
        self._ontologies = ontologies
        self._spool = Spool(path)

    def close(self) -> None:
        """Let go of the file."""
        self._spool.close()

    async def refresh(self) -> None:
        """Read to where the topics end now. Raises Retryable when Kafka does not answer."""
        try:
            partitions = await self._partitions()
            if partitions:
                await self._read(partitions)
        except (KafkaError, OSError) as error:
            raise Retryable(f"Kafka at {self._bootstrap} cannot be read: {error!r}") from error

    async def groups(self) -> Sequence[str]:
        """The groups that have raw events."""
        return self._spool.groups()

    async def places(self, group_id: str) -> Sequence[Place]:
        """See EpisodeLog."""
        return self._spool.places(group_id)

    async def episodes(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Episode]:
        """See EpisodeLog."""
        return self._spool.episodes(group_id, ids)

    async def extractions(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Extraction]:
        """See EpisodeLog."""
        return self._spool.extractions(group_id, ids)

    async def judged(self, group_id: str, ids: Sequence[str]) -> Sequence[JudgedEpisode]:
        """See EpisodeLog."""
        return self._spool.judged(group_id, ids)

    async def told(self, group_id: str) -> Mapping[str, FactChange]:
        """See EpisodeLog."""
        return self._spool.told(group_id)

    async def _partitions(self) -> list[TopicPartition]:
        found = []
        for topic in TOPICS:
            name = topic.named(self._prefix)
            numbers = await partitions_of(self._bootstrap, name)
            if self._groups is not None and numbers:
                wanted = {partition_of(group, len(numbers)) for group in self._groups}
                numbers = [number for number in numbers if number in wanted]
            found += [TopicPartition(name, number) for number in numbers]
        return found

    async def _read(self, partitions: Sequence[TopicPartition]) -> None:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            # A record counts once all replicas that are in sync have it, transactions or not.
            max_partition_fetch_bytes=8 * 1024 * 1024,
        )
        await consumer.start()
        try:
            consumer.assign(list(partitions))
            ends = await consumer.end_offsets(list(partitions))
            firsts = await consumer.beginning_offsets(list(partitions))
            read = self._spool.positions()
            for part in partitions:
                consumer.seek(part, max(read.get((part.topic, part.partition), 0), firsts[part]))
            left = {part for part in partitions if await consumer.position(part) < ends[part]}
            while left:
                polled = await consumer.getmany(*left, timeout_ms=1000, max_records=BATCH)
                entries = [e for records in polled.values() for r in records for e in self._entries(r)]
                positions = {(part.topic, part.partition): await consumer.position(part) for part in left}
                self._spool.put(entries, positions)
                left = {part for part in left if positions[part.topic, part.partition] < ends[part]}
        finally:
            await consumer.stop()

    def _entries(self, record: Any) -> list[Entry]:
        event = Event.from_record(record)
        check_format(event.place, event.header(FORMAT_HEADER))
        try:
            group = lane_key(event.key).decode()
            if is_canary_group(group):
                return []
            if self._groups is not None and group not in self._groups:
                return []
            entry = self._entry(event, group)
        except (Poison, ValueError) as error:
            log.info("%s is passed over: %s", event.place, error)
            return []
        return [entry] if entry else []

    def _entry(self, event: Event, group: str) -> Entry | None:
        name = event.topic.removeprefix(self._prefix)
        if name == EPISODES.name:
            return raw_entry(read_episode(event, self._ontologies), event.timestamp)
        if name == EXTRACTED.name:
            episode = (event.key or b"").split(SEPARATOR, 1)[-1].decode()
            return Entry("extracted", (group, episode, None if event.value is None else event.value.decode()))
        if name == JUDGED.name:
            _, episode, stage = (event.key or b"").decode().split(SEPARATOR.decode())
            value = None if event.value is None else read_model(JudgedEpisode, event).model_dump_json()
            return Entry("judged", (group, episode, stage, value))
        if name == STATUS.name:
            status = read_model(EpisodeStatus, event)
            return Entry("status", (status.group_id, status.episode_id, status.state.value))
        return told_entry(read_model(FactChange, event))
