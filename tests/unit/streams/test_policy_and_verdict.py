"""Decisions about errors: what to do, and how long to wait."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from aiokafka.errors import KafkaConnectionError
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import Fenced, Parked, Poison, Retryable
from streams.lane_policy import LanePolicy
from streams.verdict import Verdict, judge


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (Retryable("x"), Verdict.OUTAGE),
        (KafkaConnectionError("x"), Verdict.OUTAGE),
        (Parked("x", datetime(2024, 1, 1, tzinfo=UTC)), Verdict.PARKED),
        (Poison("x"), Verdict.POISON),
        (Fenced("x"), Verdict.FENCED),
        (KeyError("x"), Verdict.UNKNOWN),
        (TimeoutError(), Verdict.UNKNOWN),
    ],
)
def test_each_kind_of_error_has_its_verdict(error, verdict):
    assert judge(error) is verdict


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_pauses_grow_and_are_bounded(failures, chance):
    policy = LanePolicy(first_pause=0.5, longest_pause=30)
    pause = policy.pause(failures, chance)
    assert 0.25 <= pause <= 30
    assert policy.pause(failures + 1, chance) >= pause


@pytest.mark.parametrize(
    "wrong",
    [
        {"concurrency": 0},
        {"ahead": 0},
        {"max_pending": 0},
        {"max_held": 0},
        {"attempts": 0},
        {"first_pause": 31.0},
        {"first_pause": 0.0},
    ],
)
def test_a_policy_that_cannot_work_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LanePolicy(**wrong)
