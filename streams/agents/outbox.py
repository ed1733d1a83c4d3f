"""What an agent sends on: the output of its stage, and the status of the episode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.clock import Clock
from pipeline.model.changes import EpisodeStatus
from pipeline.model.episode import EpisodeRef, EpisodeState, Usage
from streams.canary.group import is_canary_group
from streams.topics import CHANGES, JUDGED, JUDGING_STAGES, STATUS, Topic, judged_key, stage_key


class Sender(Protocol):
    """What is needed of a producer."""

    async def send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()
    ) -> None:
        """Returns when the record is durable."""

    async def send_all(
        self,
        topic: str,
        records: Sequence[tuple[bytes | None, bytes | None]],
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        """Several records, in order; returns when all are durable."""


@dataclass(frozen=True)
class Outbox:
    """Sends to the topics of one installation; every call returns when Kafka has the record.

    What is for others to read says nothing of the canary.
    """

    sender: Sender
    prefix: str
    clock: Clock

    async def send(
        self, topic: Topic, key: bytes, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()
    ) -> None:
        """One record."""
        if _hidden(topic, key):
            return
        await self.sender.send(topic.named(self.prefix), key, value, headers)

    async def send_all(self, topic: Topic, key: bytes, values: Iterable[bytes]) -> None:
        """Several records of one key, in order."""
        if _hidden(topic, key):
            return
        await self.sender.send_all(topic.named(self.prefix), [(key, value) for value in values])

    async def judged(self, episode: EpisodeRef, stage: str, record: str | None) -> None:
        """What a judge decided about an episode in a stage, if it was asked."""
        if record is not None:
            key = judged_key(episode.group_id, episode.id, stage)
            await self.send(JUDGED, key, record.encode())

    async def gone(self, episode: EpisodeRef, *topics: Topic) -> None:
        """Tombstones for an episode that was forgotten while it was on its way: what a stage has sent behind those of
        the curation would otherwise stay."""
        for topic in topics:
            await self.send(topic, stage_key(episode.group_id, episode.id), None)
        for stage in JUDGING_STAGES:
            await self.send(JUDGED, judged_key(episode.group_id, episode.id, stage), None)

    async def status(
        self,
        group_id: str,
        episode_id: str,
        state: EpisodeState,
        usage: Usage | None = None,
        reason: str | None = None,
    ) -> None:
        """One event on `episodes.status`."""
        event = EpisodeStatus(
            episode_id=episode_id,
            group_id=group_id,
            state=state,
            at=self.clock(),
            usage=usage or Usage(),
            reason=reason,
        )
        await self.send(STATUS, group_id.encode(), event.model_dump_json().encode())


def _hidden(topic: Topic, key: bytes) -> bool:
    return topic in (STATUS, CHANGES) and is_canary_group(key)
