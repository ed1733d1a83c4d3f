"""Which errors are tried again, and for how long. One pure function; the loop in `attempts` only obeys it."""

from __future__ import annotations

from enum import Enum

from aiokafka.errors import KafkaError

from pipeline.errors import Fenced, Parked, Poison, Retryable
from streams.errors import TooSlow


class Verdict(Enum):
    """What to do about a failed attempt. The value is the metric's label."""

    OUTAGE = "outage"
    """Something outside is down: again for as long as it takes, with growing pauses."""
    TIMEOUT = "timeout"
    """The attempt took longer than an attempt may: again, as in an outage."""
    PARKED = "parked"
    """Nothing is wrong, but it may not go on before a moment: again then, and nobody else waits for it."""
    FENCED = "fenced"
    """Someone else committed: again at once a few times, then with pauses, never dead-lettered."""
    POISON = "poison"
    """This input can never succeed: dead-letter it now."""
    UNKNOWN = "unknown"
    """An error without a name of ours: a few attempts, then dead-letter."""


def judge(error: Exception) -> Verdict:
    """The verdict on an error that a stage raised."""
    if isinstance(error, Poison):
        return Verdict.POISON
    if isinstance(error, Fenced):
        return Verdict.FENCED
    if isinstance(error, Parked):
        return Verdict.PARKED
    if isinstance(error, TooSlow):
        return Verdict.TIMEOUT
    if isinstance(error, Retryable | KafkaError):
        return Verdict.OUTAGE
    return Verdict.UNKNOWN
