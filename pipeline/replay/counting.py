"""An observer that counts occurrences beside the one that is told."""

from __future__ import annotations

from collections import Counter

from pipeline.model.episode import Usage
from pipeline.observer import Observer


class Counting:
    """Passes everything on; `events` has the occurrences by name."""

    def __init__(self, inner: Observer) -> None:
        self._inner = inner
        self.events: Counter[str] = Counter()

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        """See `Observer`."""
        self._inner.graph_round_trip(operation, seconds)

    def model_call(
        self, purpose: str, outcome: str, prompt_tokens: int, completion_tokens: int, seconds: float
    ) -> None:
        """See `Observer`."""
        self._inner.model_call(purpose, outcome, prompt_tokens, completion_tokens, seconds)

    def embedded(self, texts: int, cached: int, seconds: float) -> None:
        """See `Observer`."""
        self._inner.embedded(texts, cached, seconds)

    def spent(self, group_id: str, usage: Usage) -> None:
        """See `Observer`."""
        self._inner.spent(group_id, usage)

    def event(self, name: str, amount: int = 1) -> None:
        """See `Observer`."""
        self.events[name] += amount
        self._inner.event(name, amount)
