"""CrossEncoder: a model that reads the query and a text together and says how well they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class CrossEncoder(Protocol):
    """Scores texts for a query. Greater is better; the scale is the model's own."""

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order, in one request. Raises Retryable when there is no usable answer."""

    async def close(self) -> None:
        """Let go of connections."""
