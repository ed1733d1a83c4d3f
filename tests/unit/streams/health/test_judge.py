"""Reasons: which measurement gives which, and which gives none."""

from __future__ import annotations

import pytest

from streams.health.judge import Measured, reasons
from streams.health.limits import HealthLimits
from streams.health.reason import Reason
from streams.health.stage_state import RunningCall, StageState

LIMITS = HealthLimits(stuck=100, polling=10, oldest=50, canary=30)


def codes(*, partitions: int = 1, poll_age: float | None = 0.0, **state: object) -> list[str]:
    stage = StageState("extract", **state)  # type: ignore[arg-type]
    return [one.code for one in reasons(Measured(partitions, poll_age, [stage]), LIMITS)]


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ({}, []),
        ({"partitions": 0}, ["no_partitions"]),
        ({"poll_age": None}, []),
        ({"poll_age": 10.0}, []),
        ({"poll_age": 10.1}, ["not_polling"]),
        ({"waiting": 3, "quiet": 100.0, "oldest_age": 50.0}, []),
        ({"waiting": 3, "quiet": 100.1}, ["nothing_finished"]),
        ({"waiting": 3, "oldest_age": 50.1}, ["oldest_event"]),
        ({"waiting": 0, "parked": 3, "oldest_age": 9e9, "quiet": 9e9}, []),
        ({"waiting": 1, "slowest": RunningCall("episodes/0/1", "handle", 100.0)}, []),
        ({"waiting": 1, "slowest": RunningCall("episodes/0/1", "handle", 101.0)}, ["handler_stuck"]),
        ({"halted": "20 events in a row have died"}, ["halted"]),
    ],
)
def test_each_limit_has_its_reason(measured, expected):
    assert codes(**measured) == expected


def test_a_limit_of_zero_is_no_limit():
    state = StageState("x", waiting=1, quiet=9e9, oldest_age=9e9, slowest=RunningCall("p", "handle", 9e9))
    off = HealthLimits(stuck=0, polling=0, oldest=0, canary=0)
    assert reasons(Measured(1, 9e9, [state]), off) == []


def test_what_probes_found_comes_first_and_the_failing_event_is_named():
    failing = RunningCall("episodes/0/7", "handle", None, 12, "Retryable: the graph is away")
    state = StageState("extract", waiting=2, quiet=101.0, failing=failing)
    probe = Reason("graph_away", "graph: connection refused")
    found = reasons(Measured(1, 0.0, [state], [probe]), LIMITS)
    assert [one.code for one in found] == ["graph_away", "nothing_finished"]
    assert "handle of episodes/0/7 fails: Retryable: the graph is away" in found[1].detail
    assert found[1].told() == {
        "code": "nothing_finished",
        "detail": found[1].detail,
        "stage": "extract",
        "seconds": 101.0,
        "limit": 100,
    }


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match="polling"):
        HealthLimits(polling=-1)
