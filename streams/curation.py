"""What a curation by hand tells Kafka: changes of belief, and that what the stages said of an episode is gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipeline.model.changes import FactChange
from pipeline.model.judgement import JudgedEpisode, record_of
from streams.agents.outbox import Sender
from streams.topics import CHANGES, EXTRACTED, JUDGED, JUDGING_STAGES, RESOLVED, judged_key, stage_key


async def publish_curation(
    sender: Sender,
    prefix: str,
    group_id: str,
    changes: Iterable[FactChange],
    forgotten: Iterable[str],
    judged: Mapping[tuple[str, str], JudgedEpisode | None] | None = None,
) -> None:
    """Tombstones for the forgotten episodes on the compacted topics, then the changes in order.

    `judged` are records of judges that are otherwise now (None: gone), by (episode id, stage).

    Returns when Kafka has all of it. Repeating it is harmless: a tombstone says the same twice, and a consumer of
    changes drops a revision that it has seen.
    """
    gone = list(forgotten)
    keys = [stage_key(group_id, episode) for episode in gone]
    for topic in (EXTRACTED, RESOLVED):
        if keys:
            await sender.send_all(topic.named(prefix), [(key, None) for key in keys])
    records = {(episode, stage): None for episode in gone for stage in JUDGING_STAGES} | dict(judged or {})
    if records:
        told = [(judged_key(group_id, *place), _record(record)) for place, record in records.items()]
        await sender.send_all(JUDGED.named(prefix), told)
    events = [(group_id.encode(), change.model_dump_json().encode()) for change in changes]
    if events:
        await sender.send_all(CHANGES.named(prefix), events)


def _record(record: JudgedEpisode | None) -> bytes | None:
    text = None if record is None else record_of(record)
    return None if text is None else text.encode()
