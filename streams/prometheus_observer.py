"""Counts what the lanes, the pipeline and the gateway report, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from pipeline.clock import Clock, system_clock
from pipeline.model.episode import Usage
from streams.canary.group import is_canary_group
from streams.group_backlog import GroupBacklog
from streams.group_usage import GroupUsage
from streams.lane_observer import Outcome
from streams.metrics import CATALOGUE, GROUP_BACKLOG, GROUP_USAGE, PREFIX, Metric
from streams.verdict import Verdict


class PrometheusObserver:
    """Fills the catalogue's metrics; implements the pipeline's Observer, LaneObserver and ProducerObserver."""

    def __init__(
        self,
        registry: CollectorRegistry | None = None,
        *,
        top_groups: int = 20,
        clock: Clock = system_clock,
    ) -> None:
        self.registry = registry or CollectorRegistry()
        self._group_usage = GroupUsage(top_groups, clock)
        self._group_backlog = GroupBacklog(top_groups)
        self.registry.register(self._group_usage)
        self.registry.register(self._group_backlog)
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        for metric in CATALOGUE:
            if metric not in (GROUP_USAGE, GROUP_BACKLOG):
                self._declare(metric)

    def event_finished(self, stage: str, outcome: Outcome, seconds: float) -> None:
        """A stage finished an event; a dead one was written to the dead letters."""
        self._counters["events_total"].labels(stage, outcome).inc()
        self._histograms["event_seconds"].labels(stage, outcome).observe(seconds)
        if outcome == "dead":
            self._counters["dead_letters_total"].labels(stage).inc()

    def phase_finished(self, stage: str, phase: str, seconds: float) -> None:
        """One successful attempt of a phase."""
        self._histograms["phase_seconds"].labels(stage, phase).observe(seconds)

    def attempt_failed(self, stage: str, phase: str, verdict: Verdict) -> None:
        """One failed attempt of a phase."""
        self._counters["retries_total"].labels(stage, phase, verdict.value).inc()
        if verdict is Verdict.FENCED:
            self._counters["fenced_commits_total"].labels(stage).inc()

    def backlog(self, stage: str, in_flight: int, oldest_age: float) -> None:
        """The backlog of a stage in this worker."""
        self._gauges["in_flight_events"].labels(stage).set(in_flight)
        self._gauges["oldest_event_age_seconds"].labels(stage).set(oldest_age)

    def parked(self, stage: str, events: int) -> None:
        """What waits for the next day's budget."""
        self._gauges["parked_events"].labels(stage).set(events)

    def group_backlog(self, stage: str, backlog: Mapping[bytes, int]) -> None:
        """What waits of each group."""
        self._group_backlog.report(stage, backlog)

    def halted(self, stage: str, halted: bool) -> None:
        """Whether a stage has stopped itself."""
        self._gauges["stage_halted"].labels(stage).set(halted)

    def lag(self, topic: str, partition: int, events: int) -> None:
        """What is left of a partition."""
        self._gauges["lag_events"].labels(topic, str(partition)).set(events)

    def partition_lost(self, topic: str, partition: int) -> None:
        """Takes the partition's lag away, since another worker tells it now."""
        self._gauges["lag_events"].remove(topic, str(partition))

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        """One request to the graph store."""
        self._histograms["graph_round_trip_seconds"].labels(operation).observe(seconds)

    def model_call(
        self, purpose: str, outcome: str, prompt_tokens: int, completion_tokens: int, seconds: float
    ) -> None:
        """One call of a chat model."""
        self._counters["model_calls_total"].labels(purpose, outcome).inc()
        self._counters["model_tokens_total"].labels(purpose, "prompt").inc(prompt_tokens)
        self._counters["model_tokens_total"].labels(purpose, "completion").inc(completion_tokens)
        self._histograms["model_call_seconds"].labels(purpose).observe(seconds)

    def embedded(self, texts: int, cached: int, seconds: float) -> None:
        """One request for embeddings."""
        self._counters["embedded_texts_total"].labels("computed").inc(texts - cached)
        self._counters["embedded_texts_total"].labels("cached").inc(cached)
        self._histograms["embedding_seconds"].observe(seconds)

    def spent(self, group_id: str, usage: Usage) -> None:
        """What a stage has committed of a group's cost; the canary's is nobody's."""
        if is_canary_group(group_id):
            return
        self._group_usage.add(group_id, usage)

    def event(self, name: str, amount: int = 1) -> None:
        """A named occurrence in the pipeline."""
        if name == "empty_extraction":
            self._counters["empty_extractions_total"].inc(amount)
        else:
            self._counters["occurrences_total"].labels(name).inc(amount)

    def records_confirmed(self, topic: str, records: int, seconds: float) -> None:
        """Records that were sent together are confirmed."""
        self._histograms["kafka_confirmation_seconds"].labels(topic).observe(seconds)
        self._counters["kafka_records_total"].labels(topic).inc(records)

    def canary_step(self, step: str, seconds: float) -> None:
        """A canary has come this far."""
        self._histograms["canary_seconds"].labels(step).observe(seconds)

    def canary_lost(self) -> None:
        """A canary was not found in time."""
        self._counters["canary_lost_total"].inc()

    def watch_canary(self, age: Callable[[], float]) -> None:
        """Asks for the seconds since the last canary whenever metrics are read."""
        self._gauges["canary_age_seconds"].set_function(age)

    def gateway_request(self, route: str, status: int, seconds: float) -> None:
        """One request that the gateway answered; `route` is the template, not the path."""
        self._counters["gateway_requests_total"].labels(route, str(status)).inc()
        self._histograms["gateway_request_seconds"].labels(route).observe(seconds)

    def _declare(self, metric: Metric) -> None:
        name, text = PREFIX + metric.name, f"{metric.meaning} ({metric.unit})"
        if metric.kind == "counter":
            self._counters[metric.name] = Counter(name, text, metric.labels, registry=self.registry)
        elif metric.kind == "gauge":
            self._gauges[metric.name] = Gauge(name, text, metric.labels, registry=self.registry)
        else:
            self._histograms[metric.name] = Histogram(
                name, text, metric.labels, registry=self.registry, buckets=metric.buckets
            )
