"""From what was measured to reasons. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from streams.health.limits import HealthLimits
from streams.health.reason import Reason
from streams.health.stage_state import StageState


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of a worker: partitions it holds, seconds since its last poll (None before the first), its
    stages, and what probes of graph, broker, models and canary have found."""

    partitions: int
    poll_age: float | None
    stages: Sequence[StageState] = ()
    probes: Sequence[Reason] = field(default_factory=tuple)


def reasons(measured: Measured, limits: HealthLimits) -> list[Reason]:
    """Why the worker is not ready, the causes before what follows from them; none when it is."""
    found = [*measured.probes, *_consumer(measured, limits)]
    for state in measured.stages:
        found += _stage(state, limits)
    return found


def _consumer(measured: Measured, limits: HealthLimits) -> Iterable[Reason]:
    if not measured.partitions:
        yield Reason("no_partitions", "no partitions are assigned yet")
    age = measured.poll_age
    if age is not None and _over(age, limits.polling):
        yield Reason(
            "not_polling",
            f"the consumer has not asked for records for {age:.0f} s",
            seconds=age,
            limit=limits.polling,
        )


def _stage(state: StageState, limits: HealthLimits) -> Iterable[Reason]:
    stage, slowest, failing = state.stage, state.slowest, state.failing
    if state.halted:
        yield Reason("halted", state.halted, stage)
    if slowest is not None and slowest.seconds is not None and _over(slowest.seconds, limits.stuck):
        yield Reason(
            "handler_stuck",
            f"{slowest.phase} of {slowest.place} has run for {slowest.seconds:.0f} s",
            stage,
            slowest.seconds,
            limits.stuck,
        )
    if state.waiting and _over(state.quiet, limits.stuck):
        cause = f"; {failing.phase} of {failing.place} fails: {failing.error}" if failing else ""
        yield Reason(
            "nothing_finished",
            f"{state.waiting} events wait and none was finished for {state.quiet:.0f} s{cause}",
            stage,
            state.quiet,
            limits.stuck,
        )
    if state.waiting and _over(state.oldest_age, limits.oldest):
        yield Reason(
            "oldest_event",
            f"the oldest event is {state.oldest_age:.0f} s old",
            stage,
            state.oldest_age,
            limits.oldest,
        )


def _over(seconds: float, limit: float) -> bool:
    return 0 < limit < seconds
