"""Which requests are repeated, and after how long. All of them may be: reads change nothing, and an id is one episode."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

import httpx

from factstream.client.calls import Call

_LATER = frozenset((502, 503))
_HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


@dataclass(frozen=True)
class RetryPolicy:
    """How long a request is repeated that meets a busy or absent service; all in seconds.

    `seconds` bounds the time from the first try to the last. Pauses grow from `first` to `longest` with some chance in
    them; a Retry-After of the service is followed. `seconds=0` repeats nothing.
    """

    seconds: float = 30.0
    first: float = 0.2
    longest: float = 5.0


class Attempts:
    """The attempts of one call."""

    def __init__(self, policy: RetryPolicy, call: Call[Any]) -> None:
        self._policy = policy
        # The deadline of a search is its own fault; that of a publication is a proxy's before a slow Kafka.
        self._later = _LATER | {504} if call.gateway else _LATER
        self._until = time.monotonic() + policy.seconds
        self._pause = policy.first

    def after_error(self, error: httpx.RequestError) -> float | None:
        """The pause before the next try; None when there is none."""
        if isinstance(error, _HOPELESS) or not isinstance(error, httpx.TransportError):
            return None
        return self._next(None)

    def after(self, response: httpx.Response) -> float | None:
        """The pause before the next try; None when the answer is final."""
        if response.status_code not in self._later:
            return None
        told = response.headers.get("retry-after", "")
        return self._next(float(told) if told.isdecimal() else None)

    def _next(self, told: float | None) -> float | None:
        pause = self._pause * random.uniform(0.5, 1.0) if told is None else told
        self._pause = min(self._policy.longest, 2 * self._pause)
        return pause if time.monotonic() + pause <= self._until else None
