"""How long things may take before a worker says that it is not ready."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """Frozen limits in seconds; 0 switches one off.

    stuck: one attempt of one event, and the time in which nothing is finished while something waits.
    polling: since the consumer last asked for records. oldest: age of the oldest event that is not parked, by its
    Kafka timestamp. canary: since the last canary episode that came through.
    """

    stuck: float = 600.0
    polling: float = 60.0
    oldest: float = 900.0
    canary: float = 300.0

    def __post_init__(self) -> None:
        for one in fields(self):
            if getattr(self, one.name) < 0:
                raise ValueError(f"{one.name} must not be negative")
