"""CommunityTeller: who sums up what joins the members of a community."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pipeline.model.entity import Entity
from pipeline.model.episode import Usage


class CommunityTeller(Protocol):
    """Writes summaries, such as a chat model."""

    async def tell(self, members: Sequence[Entity]) -> tuple[str | None, Usage]:
        """A few sentences about the members, those with most facts first, and what they cost; None when nothing
        came out that stands on what is known of them."""


class SpendingGate(Protocol):
    """Holds back what a group may not spend any more."""

    async def check(self, group_id: str) -> None:
        """Raises Parked while nothing may be spent."""

    def note(self, group_id: str, usage: Usage) -> None:
        """Something was spent."""
