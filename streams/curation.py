"""What a curation by hand tells Kafka: changes of belief, and that what the stages said of an episode is gone."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.model.changes import FactChange
from streams.agents.outbox import Sender
from streams.topics import CHANGES, EXTRACTED, RESOLVED, stage_key


async def publish_curation(
    sender: Sender, prefix: str, group_id: str, changes: Iterable[FactChange], forgotten: Iterable[str]
) -> None:
    """Tombstones for the forgotten episodes on the compacted topics, then the changes in order.

    Returns when Kafka has all of it. Repeating it is harmless: a tombstone says the same twice, and a consumer of
    changes drops a revision that it has seen.
    """
    keys = [stage_key(group_id, episode) for episode in forgotten]
    for topic in (EXTRACTED, RESOLVED):
        if keys:
            await sender.send_all(topic.named(prefix), [(key, None) for key in keys])
    events = [(group_id.encode(), change.model_dump_json().encode()) for change in changes]
    if events:
        await sender.send_all(CHANGES.named(prefix), events)
