"""What a rebuild tells Kafka: changes of belief, episodes that are at their end, and what was extracted anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.model.changes import FactChange
from pipeline.model.episode import EpisodeState
from pipeline.model.extraction import ExtractedEpisode
from pipeline.model.judgement import JudgedEpisode
from streams.agents.outbox import Outbox
from streams.curation import publish_curation
from streams.topics import EXTRACTED, stage_key


async def publish_rebuild(
    outbox: Outbox,
    group_id: str,
    changes: Sequence[FactChange],
    settled: Mapping[str, EpisodeState],
    judged: Mapping[tuple[str, str], JudgedEpisode | None],
) -> None:
    """Records of judges, the changes in order, then the states. Repeating it is harmless."""
    await publish_curation(outbox.sender, outbox.prefix, group_id, changes, (), judged)
    for episode_id, state in settled.items():
        await outbox.status(
            group_id, episode_id, state, reason="rebuilt" if state is EpisodeState.dead else None
        )


async def keep_extracted(outbox: Outbox, events: Sequence[ExtractedEpisode]) -> None:
    """The newest answers about episodes; a tombstone where there is nothing to resolve any more.

    The agent that reads them finds the episodes' marks and does nothing.
    """
    records = [
        (
            stage_key(event.episode.group_id, event.episode.id),
            None if event.extraction.empty else event.model_dump_json().encode(),
        )
        for event in events
    ]
    await outbox.sender.send_all(EXTRACTED.named(outbox.prefix), records)
