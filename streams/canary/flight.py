"""One canary: published, found raw, found as a fact."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Literal, Protocol

from pipeline.errors import FactstreamError, Retryable
from pipeline.graph.search import Scope
from streams.agents.outbox import Sender
from streams.canary.group import CANARY_HEADER, canary_group, canary_value
from streams.timing import Timing
from streams.topics import EPISODES

LOOK_EVERY = 0.5
"""Seconds between two looks, and so the resolution of what is measured."""
Step = Literal["raw", "facts"]
_STEPS: tuple[tuple[Step, Scope], ...] = (("raw", Scope.episodes), ("facts", Scope.facts))


class Finder(Protocol):
    """The read side, as far as a flight needs it."""

    async def finds(self, scope: Scope, token: str) -> bool:
        """Whether a search for the token finds something in the scope."""


class CanaryLost(FactstreamError):
    """It did not come through in time; the text says how far it came."""


class Flight:
    """Flies canaries, one after the other.

    Args:
        patience: seconds after which one that was not found counts as lost.
        on_step: told the seconds from publishing to each step.
    """

    def __init__(
        self,
        sender: Sender,
        prefix: str,
        finder: Finder,
        patience: float,
        timing: Timing,
        on_step: Callable[[Step, float], None],
    ) -> None:
        self._sender = sender
        self._topic = EPISODES.named(prefix)
        self._group = canary_group(prefix)
        self._finder = finder
        self._patience = patience
        self._timing = timing
        self._on_step = on_step

    async def fly(self) -> None:
        """Returns when its fact was found. Raises CanaryLost."""
        token = uuid.uuid4().hex
        started = self._timing.monotonic()
        value = canary_value(self._group, token, self._timing.clock())
        try:
            await self._sender.send(self._topic, self._group.encode(), value, [(CANARY_HEADER, b"1")])
        except Retryable as error:
            raise CanaryLost(f"it could not be published: {error}") from error
        for step, scope in _STEPS:
            await self._until_found(scope, token, started)
            self._on_step(step, self._timing.monotonic() - started)

    async def _until_found(self, scope: Scope, token: str, started: float) -> None:
        problem = "it was published and processed no further"
        if scope is Scope.facts:
            problem = "it was stored and its fact did not become searchable"
        while True:
            try:
                if await self._finder.finds(scope, token):
                    return
            except Retryable as error:
                problem = f"the search does not answer: {error}"
            if self._timing.monotonic() - started > self._patience:
                raise CanaryLost(problem)
            await self._timing.sleep(LOOK_EVERY)
