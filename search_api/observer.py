"""The bridge from what the store and the embedder report to the metrics."""

from __future__ import annotations

from pipeline.model.episode import Usage
from search_api.metrics import SearchMetrics


class MetricsObserver:
    """Listens to the reader and the embedder (see pipeline.observer) and writes down what they report."""

    def __init__(self, metrics: SearchMetrics) -> None:
        self._metrics = metrics

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        """One request to the store."""
        self._metrics.graph_round_trips.labels(operation).observe(seconds)

    def model_call(
        self, purpose: str, outcome: str, prompt_tokens: int, completion_tokens: int, seconds: float
    ) -> None:
        """A chat model was called; the read side does that nowhere, so it is counted as an event."""
        self._metrics.events.labels(f"model_call_{purpose}_{outcome}").inc()

    def embedded(self, texts: int, cached: int, seconds: float) -> None:
        """One request for embeddings."""
        self._metrics.embeddings.observe(seconds)

    def spent(self, group_id: str, usage: Usage) -> None:
        """What an episode has cost; the read side commits none."""

    def event(self, name: str, amount: int = 1) -> None:
        """A named occurrence."""
        self._metrics.events.labels(name).inc(amount)
