"""Usage by group as metrics whose number is bounded."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from pipeline.model.episode import Usage
from streams.prometheus_observer import PrometheusObserver

NOON = datetime(2024, 3, 14, 12, tzinfo=UTC)
NAME = "factstream_group_usage"


def shown(observer: PrometheusObserver, kind: str) -> dict[str, float]:
    samples = [s for family in observer.registry.collect() for s in family.samples if s.name == NAME]
    return {s.labels["group"]: s.value for s in samples if s.labels["kind"] == kind}


def test_the_groups_that_cost_most_have_series_and_the_rest_is_one() -> None:
    observer = PrometheusObserver(top_groups=2, clock=lambda: NOON)
    for number in range(1, 101):
        observer.spent(f"g{number}", Usage(llm_calls=1, prompt_tokens=number))
    observer.spent("g1", Usage(llm_calls=1, prompt_tokens=500))
    assert shown(observer, "prompt_tokens") == {"g1": 501, "g100": 100, "other": 5050 - 1 - 100}
    assert shown(observer, "llm_calls") == {"g1": 2, "g100": 1, "other": 98}
    assert shown(observer, "cost") == {}


def test_cost_goes_before_tokens() -> None:
    observer = PrometheusObserver(top_groups=1, clock=lambda: NOON)
    observer.spent("cheap", Usage(prompt_tokens=1000, cost=Decimal("0.1")))
    observer.spent("dear", Usage(prompt_tokens=10, cost=Decimal("0.2")))
    assert shown(observer, "cost") == {"dear": 0.2, "other": 0.1}


def test_no_group_has_a_series_of_its_own_when_none_may() -> None:
    observer = PrometheusObserver(top_groups=0, clock=lambda: NOON)
    observer.spent("g", Usage(embeddings=3))
    assert shown(observer, "embeddings") == {"other": 3}


def test_a_new_day_begins_with_nothing() -> None:
    now = [NOON]
    observer = PrometheusObserver(clock=lambda: now[0])
    observer.spent("g", Usage(llm_calls=1))
    assert shown(observer, "llm_calls") == {"g": 1}
    now[0] = datetime(2024, 3, 15, tzinfo=UTC)
    assert shown(observer, "llm_calls") == {}
