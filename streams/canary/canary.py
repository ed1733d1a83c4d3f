"""Flies a canary at intervals from the one worker that holds its partition, and knows when one last came through."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pipeline.errors import FactstreamError
from streams.canary.flight import Flight
from streams.health.reason import Reason
from streams.timing import Timing

log = logging.getLogger(__name__)

CLEAN_UP_EVERY = 60
"""Canaries after which the old ones are taken out of the graph."""


@dataclass(frozen=True, slots=True)
class CanarySettings:
    """`every`: seconds from one canary to the next; 0 flies none. `patience`: seconds until one counts as lost."""

    every: float = 60.0
    patience: float = 300.0


class Canary:
    """One canary for all workers: who holds the partition of its group flies it, and nobody else does.

    Args:
        holds: whether this worker holds that partition now.
        clean_up: takes old canaries out of graph and topics.
        on_lost: told of each one that did not come through.
    """

    def __init__(
        self,
        every: float,
        flight: Flight,
        *,
        holds: Callable[[], Awaitable[bool]],
        clean_up: Callable[[], Awaitable[None]],
        on_lost: Callable[[], None],
        timing: Timing,
    ) -> None:
        self._every = every
        self._flight = flight
        self._holds = holds
        self._clean_up = clean_up
        self._on_lost = on_lost
        self._timing = timing
        self._since: float | None = None
        self._problem = ""

    @property
    def age(self) -> float | None:
        """Seconds since one last came through, or since this worker is the one to fly them; None when it is not."""
        return None if self._since is None else self._timing.monotonic() - self._since

    def reason(self, limit: float) -> Reason | None:
        """Why the worker is not ready as far as the canary is concerned. A limit of 0 is none."""
        age = self.age
        if age is None or not 0 < limit < age:
            return None
        return Reason(
            "canary",
            f"no canary episode came through for {age:.0f} s: {self._problem or 'the first one is under way'}",
            seconds=age,
            limit=limit,
        )

    async def run(self) -> None:
        """For ever. Nothing that happens to a canary ends it."""
        flown = 0
        while True:
            try:
                held = await self._holds()
            except Exception as error:
                # Kafka does not say. Whether it is away is another probe's question.
                log.info("whether the canary is ours to fly is not known: %s", error)
                held = self._since is not None
            if not held:
                self._since = None
            else:
                if self._since is None:
                    self._since = self._timing.monotonic()
                if flown % CLEAN_UP_EVERY == 0:
                    await self._clean()
                await self._one()
                flown += 1
            await self._timing.sleep(self._every)

    async def _clean(self) -> None:
        try:
            await self._clean_up()
        except Exception as error:
            log.warning("old canary episodes stay for now: %s", error)

    async def _one(self) -> None:
        try:
            await self._flight.fly()
        except Exception as error:
            self._problem = str(error) if isinstance(error, FactstreamError) else repr(error)
            self._on_lost()
            log.warning("a canary episode did not come through: %s", self._problem)
        else:
            self._since = self._timing.monotonic()
            self._problem = ""
