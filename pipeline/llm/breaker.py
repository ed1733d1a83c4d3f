"""A circuit breaker: while an endpoint is down, say so at once instead of trying (Nygard, "Release It!")."""

from __future__ import annotations

from pipeline.errors import Retryable
from pipeline.llm.timing import Timing


class Breaker:
    """Opens after `threshold` failures in a row, for `pause` seconds, twice as long each time it must open again.

    After the pause one request tries; the others still hear that the endpoint is down. Its success closes the
    breaker and forgets the past.
    """

    def __init__(
        self,
        name: str,
        timing: Timing,
        *,
        threshold: int = 5,
        pause: float = 5.0,
        longest_pause: float = 60.0,
    ) -> None:
        self._name = name
        self._timing = timing
        self._threshold = threshold
        self._first_pause = self._pause = pause
        self._longest = longest_pause
        self._failures = 0
        self._open_until: float | None = None
        self._trying = False

    @property
    def open(self) -> bool:
        """Whether the endpoint is believed to be down."""
        return self._open_until is not None

    def check(self) -> None:
        """Before a request. Raises Retryable while the breaker is open; after the pause, lets one through."""
        if self._open_until is None:
            return
        left = self._open_until - self._timing.monotonic()
        if left > 0 or self._trying:
            raise Retryable(f"{self._name} is down: paused, next attempt in {max(left, 0):.0f} s")
        self._trying = True

    def succeeded(self) -> None:
        """After any answer that shows that the endpoint is alive."""
        self._failures = 0
        self._pause = self._first_pause
        self._open_until = None
        self._trying = False

    def failed(self) -> None:
        """After a failure that the endpoint itself is to blame for."""
        self._failures += 1
        again = self._trying
        self._trying = False
        if again or (self._failures >= self._threshold and self._open_until is None):
            if again:
                self._pause = min(self._longest, self._pause * 2)
            self._open_until = self._timing.monotonic() + self._pause

    def abandoned(self) -> None:
        """After a request that ended without an answer for a reason of ours (cancelled)."""
        self._trying = False
