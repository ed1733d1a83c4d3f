"""Agent 2: `episodes.extracted` → `episodes.resolved`."""

from __future__ import annotations

from pipeline.model.extraction import ExtractedEpisode
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from streams.agents.decoding import read_model
from streams.agents.outbox import Outbox
from streams.agents.stage_work import StageWork
from streams.event import Event
from streams.topics import EXTRACTED, RESOLVED, stage_key


class ResolveEntitiesWork(StageWork[None, None]):
    """Resolves the mentions of one episode after the other."""

    def __init__(self, stage: ResolveEntitiesStage, outbox: Outbox) -> None:
        super().__init__(stage.store, outbox)
        self._stage = stage

    async def handle(self, event: Event, admitted: None, prepared: None) -> None:
        """Commits and sends on."""
        if event.value is None:
            # The episode was forgotten, and with it what the compacted topic kept of it.
            return
        extracted = read_model(ExtractedEpisode, event)
        outcome = await self._stage.run(extracted)
        episode = extracted.episode
        if outcome.forgotten:
            await self.outbox.gone(episode, EXTRACTED)
            return
        await self.outbox.judged(episode, self._stage.name, outcome.judged)
        if outcome.output is not None:
            key = stage_key(episode.group_id, episode.id)
            await self.outbox.send(RESOLVED, key, outcome.output.encode())
        if not outcome.repeated:
            await self.outbox.status(episode.group_id, episode.id, outcome.state, outcome.usage)
