"""Agent 1: `episodes` → `episodes.extracted`."""

from __future__ import annotations

from collections.abc import Collection

from pipeline.errors import Parked, Poison
from pipeline.graph.extraction_port import Received
from pipeline.model.episode import EpisodeState
from pipeline.model.extraction import Extraction
from pipeline.stages.extract import ExtractStage
from streams.agents.decoding import names_of, read_episode
from streams.agents.outbox import Outbox
from streams.agents.stage_work import StageWork
from streams.event import Event
from streams.topics import EXTRACTED, stage_key


class ExtractWork(StageWork[Received, Extraction | None]):
    """Stores each raw episode in the group's order, extracts side by side, releases in order."""

    def __init__(self, stage: ExtractStage, outbox: Outbox, ontologies: Collection[str] = ()) -> None:
        super().__init__(stage.store, outbox)
        self._stage = stage
        self._ontologies = ontologies

    async def admit(self, event: Event) -> Received:
        """The episode is stored and searchable when this returns."""
        received = await self._stage.admit(read_episode(event, self._ontologies))
        if received.mark is None:
            episode = received.stored
            await self.outbox.status(episode.group_id, episode.id, EpisodeState.received)
        return received

    async def prepare(self, event: Event, admitted: Received) -> Extraction | None:
        """The extractor's part; it may take as long as a model takes. One that is parked is said to be so."""
        try:
            return await self._stage.prepare(admitted)
        except Parked as parked:
            episode = admitted.stored
            await self.outbox.status(
                episode.group_id, episode.id, EpisodeState.received, admitted.spent, str(parked)
            )
            raise

    async def handle(self, event: Event, admitted: Received, prepared: Extraction | None) -> None:
        """Commits and sends on."""
        outcome = await self._stage.commit(admitted, prepared)
        episode = admitted.stored
        if outcome.output is not None:
            key = stage_key(episode.group_id, episode.id)
            await self.outbox.send(EXTRACTED, key, outcome.output.encode())
        # A repeat has nothing new to tell, except that `skipped` has no later state to tell it if a crash kept it back.
        # What was forgotten meanwhile is told of no more.
        if not outcome.forgotten and (not outcome.repeated or outcome.state is EpisodeState.skipped):
            await self.outbox.status(episode.group_id, episode.id, outcome.state, outcome.usage)

    def names(self, event: Event) -> tuple[str, str] | None:
        """A raw event without an id has one that is derived."""
        try:
            episode = read_episode(event, self._ontologies)
        except Poison:
            return names_of(event)
        return episode.group_id, episode.id
