"""Extractor: what reads an episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pipeline.model.episode import Episode
from pipeline.model.extraction import Extraction


class Extractor(Protocol):
    """Reads one episode, with the episodes before it in its thread as context."""

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        """Mentions and statements of the episode itself; the context only explains it.

        Raises Retryable when a model cannot be reached, Parked when none may be asked before a moment, Poison
        when it cannot be made to answer usefully.
        """
