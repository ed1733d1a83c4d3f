"""EpisodeLog: what a rebuild reads. The topics of Kafka are one, the raw episodes of a graph file another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pipeline.model.changes import FactChange
from pipeline.model.episode import Episode, EpisodeState
from pipeline.model.extraction import Extraction
from pipeline.model.judgement import JudgedEpisode


@dataclass(frozen=True)
class Place:
    """An episode of the log: its place in the order of its group, and when the log took it.

    `extracted`: what an extractor said of it is kept. `status` is the last state that was told of it, if one is known.
    """

    episode_id: str
    sequence: int
    at: datetime
    extracted: bool = False
    status: EpisodeState | None = None


class EpisodeLog(Protocol):
    """The episodes of groups, in order. Raises Retryable when it cannot be read now."""

    async def refresh(self) -> None:
        """Take in what has come since the last time."""

    async def groups(self) -> Sequence[str]:
        """The groups of the log."""

    async def places(self, group_id: str) -> Sequence[Place]:
        """Every episode of the group once, in order of their sequence."""

    async def episodes(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Episode]:
        """The raw episodes of those ids, as far as the log has them."""

    async def extractions(self, group_id: str, ids: Sequence[str]) -> Mapping[str, Extraction]:
        """What an extractor said of them, as far as it is kept."""

    async def judged(self, group_id: str, ids: Sequence[str]) -> Sequence[JudgedEpisode]:
        """What judges decided about them, as far as it is kept."""

    async def told(self, group_id: str) -> Mapping[str, FactChange]:
        """By fact id, the last change that consumers were told."""
