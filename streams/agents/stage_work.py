"""What the work of all four agents has in common: telling the world when an event is dead."""

from __future__ import annotations

from abc import ABC
from typing import TypeVar

from pipeline.graph.port import GraphStore
from pipeline.model.episode import EpisodeState
from streams.agents.decoding import names_of
from streams.agents.outbox import Outbox
from streams.event import Event
from streams.failure import Failure
from streams.lane_work import LaneWork

A = TypeVar("A")
P = TypeVar("P")


class StageWork(LaneWork[A, P], ABC):
    """A lane's work with a store and an outbox."""

    def __init__(self, store: GraphStore, outbox: Outbox) -> None:
        self.store = store
        self.outbox = outbox

    async def on_dead(self, event: Event, failure: Failure) -> None:
        """Sets the state in the graph and on the status topic, as far as the event can be identified."""
        names = self.names(event)
        if names is None:
            return
        reason = f"{failure.stage}: {failure.reason}"
        if not await self.store.mark_dead(*names, reason):
            # An event that only bears the id of an episode which stands: what has died is the event.
            return
        await self.outbox.status(*names, EpisodeState.dead, reason=reason)

    def names(self, event: Event) -> tuple[str, str] | None:
        """Group and episode of an event, as far as they can be told."""
        return names_of(event)
