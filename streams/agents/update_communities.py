"""Agent 4: `facts.changes` → communities."""

from __future__ import annotations

import orjson
from pydantic import ValidationError

from pipeline.errors import Poison
from pipeline.model.episode import EpisodeRef
from pipeline.stages.update_communities import UpdateCommunitiesStage
from streams.agents.outbox import Outbox
from streams.agents.resolve_facts import LAST_HEADER
from streams.agents.stage_work import StageWork
from streams.event import Event
from streams.failure import Failure


class UpdateCommunitiesWork(StageWork[None, None]):
    """Acts once per episode, on the last of its changes; the others pass by."""

    def __init__(self, stage: UpdateCommunitiesStage, outbox: Outbox) -> None:
        super().__init__(stage.store, outbox)
        self._stage = stage

    async def handle(self, event: Event, admitted: None, prepared: None) -> None:
        """Commits; there is nothing to send on."""
        note = event.header(LAST_HEADER)
        if note is None:
            return
        try:
            told = orjson.loads(note)
            episode, touched = EpisodeRef.model_validate(told["episode"]), [str(e) for e in told["touched"]]
        except (orjson.JSONDecodeError, ValidationError, KeyError, TypeError) as error:
            raise Poison(f"the header {LAST_HEADER} cannot be read: {error}", LAST_HEADER) from None
        outcome = await self._stage.run(episode, touched)
        if outcome.forgotten:
            await self.outbox.gone(episode)

    async def on_dead(self, event: Event, failure: Failure) -> None:
        """The episode itself is committed and stays so: only its communities are behind, which a rebuild mends."""
