"""Runs a step until it succeeds or is given up. What to do about an error follows from its kind alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from pipeline.clock import system_clock
from pipeline.errors import FactstreamError, Fenced, Parked, Poison, Retryable, SettingError

T = TypeVar("T")

log = logging.getLogger(__name__)

FENCED_AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Frozen settings of retries.

    attempts: tries of a step that fails for an unknown reason. first_pause, longest_pause: seconds; the pause doubles
    from one to the other.
    """

    attempts: int = 5
    first_pause: float = 0.2
    longest_pause: float = 30.0

    def pause(self, failures: int) -> float:
        """Seconds to wait after that many failures in a row."""
        return min(self.longest_pause, self.first_pause * 2.0 ** min(failures - 1, 30))


class GivenUp(FactstreamError):
    """A step that will not succeed; `reason` names the step and its error."""

    def __init__(self, step: str, attempts: int, error: Exception) -> None:
        told = str(error) if isinstance(error, FactstreamError) else f"{type(error).__name__}: {error}"
        self.reason = f"{step}: {told}" if attempts == 1 else f"{step}: {told} (after {attempts} attempts)"
        super().__init__(self.reason)


async def persist(step: str, call: Callable[[], Awaitable[T]], policy: RetryPolicy) -> T:
    """The call's result.

    Retryable is tried for as long as it takes, Parked at its time, Fenced at once and then with pauses, an unknown
    error a few times. Whatever the call takes hold of (a place among those that run) it must give back itself.

    Raises:
        GivenUp: the input can never succeed (Poison), or the attempts are used up.
        SettingError: as the call raised it; no repeat can mend a setting.
    """
    failures = 0
    while True:
        try:
            return await call()
        except SettingError:
            raise
        except Exception as error:
            failures += 1
            hopeless = isinstance(error, Poison) or (
                not isinstance(error, Retryable | Fenced) and failures >= policy.attempts
            )
            if hopeless:
                log.error("%s is given up after %d attempts: %r", step, failures, error)
                raise GivenUp(step, failures, error) from error
            pause = _pause(error, failures, policy)
            if isinstance(error, Parked):
                pause = max(pause, (error.until - system_clock()).total_seconds())
            log.warning("%s failed (%d), again in %.1f s: %r", step, failures, pause, error)
        await asyncio.sleep(pause)


def _pause(error: Exception, failures: int, policy: RetryPolicy) -> float:
    if isinstance(error, Parked):
        return max(0.0, (error.until - datetime.now(UTC)).total_seconds())
    if isinstance(error, Fenced) and failures <= FENCED_AT_ONCE:
        return 0.0
    return policy.pause(failures)
