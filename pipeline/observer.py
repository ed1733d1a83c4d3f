"""What the pipeline reports about itself, without knowing who listens."""

from __future__ import annotations

from typing import Protocol

from pipeline.model.episode import Usage


class Observer(Protocol):
    """Receives measurements. Implementations must be cheap and must not raise."""

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        """One request to the graph store, named after the store's own operation."""

    def model_call(
        self, purpose: str, outcome: str, prompt_tokens: int, completion_tokens: int, seconds: float
    ) -> None:
        """One call of a chat model: purpose "extract", "judge_entities", …; outcome "ok", "429", "malformed"…"""

    def embedded(self, texts: int, cached: int, seconds: float) -> None:
        """One request for embeddings: how many texts were asked for, how many of them came from the cache."""

    def spent(self, group_id: str, usage: Usage) -> None:
        """What a stage has committed of the cost of an episode of a group."""

    def event(self, name: str, amount: int = 1) -> None:
        """A named occurrence: "empty_extraction", "ungrounded_entity", "date_disagreement", …"""


class SilentObserver:
    """Listens to nothing."""

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        """Ignored."""

    def model_call(
        self, purpose: str, outcome: str, prompt_tokens: int, completion_tokens: int, seconds: float
    ) -> None:
        """Ignored."""

    def embedded(self, texts: int, cached: int, seconds: float) -> None:
        """Ignored."""

    def spent(self, group_id: str, usage: Usage) -> None:
        """Ignored."""

    def event(self, name: str, amount: int = 1) -> None:
        """Ignored."""
