"""The catalogue and what fills it."""

from __future__ import annotations

from pipeline.model.episode import Usage
from pipeline.observer import Observer
from streams.canary.group import canary_group
from streams.lane_observer import LaneObserver
from streams.metrics import CATALOGUE, PREFIX
from streams.prometheus_observer import PrometheusObserver
from streams.verdict import Verdict


def test_every_metric_of_the_catalogue_is_filled_by_a_report():
    observer = PrometheusObserver()
    lanes: LaneObserver = observer
    pipeline: Observer = observer
    lanes.event_finished("extract", "done", 0.5)
    lanes.event_finished("extract", "dead", 0.5)
    lanes.phase_finished("extract", "admit", 0.1)
    lanes.attempt_failed("extract", "handle", Verdict.FENCED)
    lanes.backlog("extract", 3, 12.5)
    lanes.parked("extract", 2)
    lanes.halted("extract", True)
    lanes.group_backlog("extract", {b"g": 3, canary_group("").encode(): 9})
    lanes.lag("episodes", 0, 7)
    pipeline.graph_round_trip("commit", 0.01)
    pipeline.model_call("extract", "ok", 100, 20, 1.5)
    pipeline.embedded(10, 4, 0.2)
    pipeline.spent("g", Usage(llm_calls=2))
    pipeline.event("empty_extraction")
    pipeline.event("date_disagreement", 2)
    observer.records_confirmed("facts.changes", 3, 0.01)
    observer.canary_step("raw", 0.4)
    observer.canary_lost()
    observer.watch_canary(lambda: 12.0)
    observer.gateway_request("/v1/episodes", 202, 0.02)
    filled = {sample.name for family in observer.registry.collect() for sample in family.samples}
    for metric in CATALOGUE:
        name = PREFIX + metric.name + ("_count" if metric.kind == "histogram" else "")
        assert name in filled, name

    def value(name, /, **labels):
        return observer.registry.get_sample_value(PREFIX + name, labels)

    assert value("dead_letters_total", stage="extract") == 1
    assert value("fenced_commits_total", stage="extract") == 1
    assert value("model_tokens_total", purpose="extract", kind="completion") == 20
    assert value("embedded_texts_total", source="computed") == 6
    assert value("occurrences_total", name="date_disagreement") == 2
    assert value("parked_events", stage="extract") == 2
    assert value("canary_age_seconds") == 12
    pipeline.spent(canary_group(""), Usage(embeddings=2))
    assert value("group_usage", group=canary_group(""), kind="embeddings") is None
    assert value("group_usage", group="g", kind="llm_calls") == 2
    assert value("oldest_event_age_seconds", stage="extract") == 12.5
    lanes.partition_lost("episodes", 0)
    assert value("lag_events", topic="episodes", partition="0") is None


def test_the_catalogue_is_well_formed():
    names = [metric.name for metric in CATALOGUE]
    assert len(set(names)) == len(names)
    for metric in CATALOGUE:
        assert metric.meaning
        assert metric.action
        assert (metric.kind == "counter") == metric.name.endswith("_total")
        assert (metric.kind == "histogram") == bool(metric.buckets)
        if metric.unit == "seconds":
            assert metric.name.endswith("_seconds")
