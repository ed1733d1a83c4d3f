"""Agent 3: `episodes.resolved` → `facts.changes`."""

from __future__ import annotations

import orjson

from pipeline.model.episode import EpisodeRef
from pipeline.model.extraction import ResolvedEpisode
from pipeline.stages.resolve_facts import ResolveFactsStage
from streams.agents.decoding import read_model
from streams.agents.outbox import Outbox
from streams.agents.stage_work import StageWork
from streams.event import Event
from streams.topics import CHANGES, RESOLVED

LAST_HEADER = "factstream-last-of-episode"
"""On the last change of an episode: the episode and the entities touched, for the agent that keeps communities."""


class ResolveFactsWork(StageWork[None, None]):
    """Derives beliefs from one episode after the other."""

    def __init__(self, stage: ResolveFactsStage, outbox: Outbox) -> None:
        super().__init__(stage.store, outbox)
        self._stage = stage

    async def handle(self, event: Event, admitted: None, prepared: None) -> None:
        """Commits and sends on, one record per change."""
        if event.value is None:
            # The episode was forgotten, and with it what the compacted topic kept of it.
            return
        resolved = read_model(ResolvedEpisode, event)
        outcome = await self._stage.run(resolved)
        if outcome.forgotten:
            # It was taken back while it was on its way: nobody is told that it is committed.
            await self.outbox.gone(resolved.episode, RESOLVED)
            return
        await self.outbox.judged(resolved.episode, self._stage.name, outcome.judged)
        if outcome.output is not None:
            await self._send_changes(resolved.episode, outcome.output)
        # Sent again on a repeat too: the first time may have ended between the commit and here.
        await self.outbox.status(resolved.episode.group_id, resolved.episode.id, outcome.state, outcome.usage)

    async def _send_changes(self, episode: EpisodeRef, output: str) -> None:
        """All changes; the last one only when Kafka has the others, since it is what the next agent acts on."""
        told = orjson.loads(output)
        key = episode.group_id.encode()
        changes = [orjson.dumps(change) for change in told["changes"]]
        if not changes:
            return
        await self.outbox.send_all(CHANGES, key, changes[:-1])
        note = orjson.dumps({"episode": episode.model_dump(mode="json"), "touched": told["touched"]})
        await self.outbox.send(CHANGES, key, changes[-1], [(LAST_HEADER, note)])
