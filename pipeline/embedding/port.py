"""Embedder: what turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """Turns texts into unit vectors of one fixed dimension."""

    @property
    def model(self) -> str:
        """The name under which vectors may be cached and compared; another model is another space."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One vector per text, in order. `query` for a question, for models that treat questions apart.

        Raises Retryable when the model cannot be reached. Never blocks the event loop.
        """
