"""What becomes of an event that was added."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.errors import FactstreamError
from pipeline.model.changes import FactChange
from pipeline.model.episode import EpisodeState


@dataclass(frozen=True)
class Added:
    """An event that was accepted.

    `state` is `committed`, `skipped` (nothing to extract) or `dead` (with the `reason`); or `received` when nobody
    waited: it is kept, and a background task brings it through the stages.
    """

    id: str
    group_id: str
    state: EpisodeState
    reason: str | None = None


@dataclass(frozen=True)
class Forgotten:
    """What was taken back: the ids of the episodes that are gone, and what changed by that, as on `facts.changes`."""

    group_id: str
    episodes: tuple[str, ...]
    changes: tuple[FactChange, ...]


class EpisodeDied(FactstreamError):
    """An added episode was given up. It is kept, its text can be searched, and `replay` tries again."""

    def __init__(self, added: Added) -> None:
        super().__init__(f"episode {added.id!r} of group {added.group_id!r} is dead: {added.reason}")
        self.added = added
