"""What the lanes report about themselves, without knowing who listens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from streams.verdict import Verdict

Outcome = Literal["done", "dead"]


class LaneObserver(Protocol):
    """Receives measurements. Implementations must be cheap and must not raise."""

    def event_finished(self, stage: str, outcome: Outcome, seconds: float) -> None:
        """An event was handled or dead-lettered, that many seconds after it was taken in."""

    def phase_finished(self, stage: str, phase: str, seconds: float) -> None:
        """One successful attempt of a phase ("admit", "prepare", "handle", "dead_letter", "on_dead")."""

    def attempt_failed(self, stage: str, phase: str, verdict: Verdict) -> None:
        """One failed attempt of a phase."""

    def backlog(self, stage: str, in_flight: int, oldest_age: float) -> None:
        """At intervals: events taken in and unfinished, and the age in seconds of the oldest by its timestamp."""

    def parked(self, stage: str, events: int) -> None:
        """At intervals: events that wait for a moment before which they may not go on."""

    def halted(self, stage: str, halted: bool) -> None:
        """At intervals: whether the stage has stopped itself."""

    def group_backlog(self, stage: str, backlog: Mapping[bytes, int]) -> None:
        """At intervals: events of each group that are not done, as far as they are known to this worker."""

    def lag(self, topic: str, partition: int, events: int) -> None:
        """At intervals: records of a partition that are not acknowledged yet."""

    def partition_lost(self, topic: str, partition: int) -> None:
        """The partition went to another worker: its lag is no longer ours to tell."""


class SilentLaneObserver:
    """Listens to nothing."""

    def event_finished(self, stage: str, outcome: Outcome, seconds: float) -> None:
        """Ignored."""

    def phase_finished(self, stage: str, phase: str, seconds: float) -> None:
        """Ignored."""

    def attempt_failed(self, stage: str, phase: str, verdict: Verdict) -> None:
        """Ignored."""

    def backlog(self, stage: str, in_flight: int, oldest_age: float) -> None:
        """Ignored."""

    def parked(self, stage: str, events: int) -> None:
        """Ignored."""

    def halted(self, stage: str, halted: bool) -> None:
        """Ignored."""

    def group_backlog(self, stage: str, backlog: Mapping[bytes, int]) -> None:
        """Ignored."""

    def lag(self, topic: str, partition: int, events: int) -> None:
        """Ignored."""

    def partition_lost(self, topic: str, partition: int) -> None:
        """Ignored."""
