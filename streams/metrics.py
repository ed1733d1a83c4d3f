"""The one catalogue of metrics of the worker and the gateway: type, unit, labels and meaning, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PREFIX = "factstream_"
FAST = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SLOW = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `name` is without the prefix; `action` says what to do when it looks wrong."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    unit: str
    labels: tuple[str, ...]
    meaning: str
    action: str
    buckets: tuple[float, ...] = ()


GROUP_USAGE = Metric(
    "group_usage",
    "gauge",
    "calls, tokens, texts, or the prices' unit",
    ("group", "kind"),
    "what this worker has committed for a group since midnight UTC; the groups that cost most, the rest as 'other'",
    "near its budget: the group's episodes will wait for midnight",
)
GROUP_BACKLOG = Metric(
    "group_backlog_events",
    "gauge",
    "events",
    ("stage", "group"),
    "events of a group that a stage of this worker knows and has not finished; the groups with most, the rest as 'other'",
    "one far above the others: it gets its share and no more; events of it that were not read yet do not count",
)
CATALOGUE: tuple[Metric, ...] = (
    Metric(
        "events_total",
        "counter",
        "events",
        ("stage", "outcome"),
        "events finished by a stage: outcome done, or dead after its last attempt",
        "a rate of 0 with lag above 0: look at retries_total for what is down",
    ),
    Metric(
        "event_seconds",
        "histogram",
        "seconds",
        ("stage", "outcome"),
        "from taking an event in until it is finished, waiting for its group's turn included",
        "far above phase_seconds: groups queue behind themselves, or concurrency is too low",
        SLOW,
    ),
    Metric(
        "phase_seconds",
        "histogram",
        "seconds",
        ("stage", "phase"),
        "one successful attempt of a phase: admit, prepare, handle, dead_letter, on_dead",
        "slow prepare is the model, slow admit or handle is the graph",
        SLOW,
    ),
    Metric(
        "lag_events",
        "gauge",
        "events",
        ("topic", "partition"),
        "records of a partition that this worker holds and has not acknowledged",
        "growing: add workers up to the number of partitions, or raise concurrency",
    ),
    Metric(
        "oldest_event_age_seconds",
        "gauge",
        "seconds",
        ("stage",),
        "age of the oldest unfinished event in this worker that waits for no budget, by its Kafka timestamp; else 0",
        "growing while events_total moves: one group is stuck in retries",
    ),
    Metric(
        "in_flight_events",
        "gauge",
        "events",
        ("stage",),
        "events taken in and not acknowledgeable yet",
        "at max_pending per partition: the stage is at its limit, reading has stopped",
    ),
    Metric(
        "parked_events",
        "gauge",
        "events",
        ("stage",),
        "events whose group has used up its budget of the day; their partitions go on without them",
        "at max_held per partition: of those groups no more is stored; raise the budget or max_held and restart",
    ),
    GROUP_USAGE,
    GROUP_BACKLOG,
    Metric(
        "retries_total",
        "counter",
        "attempts",
        ("stage", "phase", "verdict"),
        "failed attempts: outage, timeout, parked, fenced, poison, unknown",
        "outage: a dependency is down; timeout: something hangs; unknown: read the log, it is probably a defect",
    ),
    Metric(
        "dead_letters_total",
        "counter",
        "events",
        ("stage",),
        "events written to the dead letter topic",
        "read the reasons with the dead letter command, mend, send again",
    ),
    Metric(
        "stage_halted",
        "gauge",
        "1 or 0",
        ("stage",),
        "whether the stage has stopped itself because too many of its events die",
        "/readyz of the worker has the last reasons; mend, and it goes on by itself, or restart",
    ),
    Metric(
        "fenced_commits_total",
        "counter",
        "attempts",
        ("stage",),
        "commits refused because another worker committed for the group first",
        "a few at a rebalance are normal; a steady rate means two workers hold one group",
    ),
    Metric(
        "model_calls_total",
        "counter",
        "calls",
        ("purpose", "outcome"),
        "calls of the chat model by purpose and outcome",
        "429: lower `ahead` or raise the quota; malformed: try another model or response mode",
    ),
    Metric(
        "model_tokens_total",
        "counter",
        "tokens",
        ("purpose", "kind"),
        "tokens that the endpoint counted: prompt, completion",
        "a jump: longer episodes, or reflexion runs more often",
    ),
    Metric(
        "model_call_seconds",
        "histogram",
        "seconds",
        ("purpose",),
        "one call of the chat model",
        "compare with the endpoint's own figures",
        SLOW,
    ),
    Metric(
        "embedded_texts_total",
        "counter",
        "texts",
        ("source",),
        "texts embedded: computed or cached",
        "few cached during a rebuild: the cache is too small",
    ),
    Metric(
        "embedding_seconds",
        "histogram",
        "seconds",
        (),
        "one request for embeddings",
        "slow: shorter texts, a smaller model, another endpoint",
        SLOW,
    ),
    Metric(
        "graph_round_trip_seconds",
        "histogram",
        "seconds",
        ("operation",),
        "one round trip to the graph store, by the store's own operation; its count is the number of round trips",
        "slow: check that indexes are online and the page cache holds them",
        FAST,
    ),
    Metric(
        "kafka_confirmation_seconds",
        "histogram",
        "seconds",
        ("topic",),
        "from sending records to a topic until the brokers have confirmed them; its count is the number of sends",
        "slow: look at the brokers and their replicas; linger alone takes 5 ms",
        FAST,
    ),
    Metric(
        "kafka_records_total",
        "counter",
        "records",
        ("topic",),
        "records that the brokers have confirmed",
        "a rate of 0 with lag above 0: Kafka takes nothing, or the stage is stuck",
    ),
    Metric(
        "empty_extractions_total",
        "counter",
        "episodes",
        (),
        "episodes in which the extractor found nothing",
        "a high share: look at the episodes, then at the model and the prompt",
    ),
    Metric(
        "occurrences_total",
        "counter",
        "occurrences",
        ("name",),
        "other named occurrences of the pipeline: ungrounded_entity, date_disagreement and the like",
        "see the names below the table",
    ),
    Metric(
        "canary_seconds",
        "histogram",
        "seconds",
        ("step",),
        "from publishing a canary episode until its text (raw) and its fact (facts) are found by a search",
        "what a user waits for: compare with phase_seconds to see which stage it is spent in",
        SLOW,
    ),
    Metric(
        "canary_age_seconds",
        "gauge",
        "seconds",
        (),
        "since a canary last came through; 0 in a worker that flies none",
        "above 300: nothing gets through from Kafka to the search; /readyz of that worker says why",
    ),
    Metric(
        "canary_lost_total",
        "counter",
        "canaries",
        (),
        "canaries that were not found in time",
        "as for canary_age_seconds",
    ),
    Metric(
        "gateway_requests_total",
        "counter",
        "requests",
        ("route", "status"),
        "requests that the gateway answered",
        "5xx: Kafka does not confirm; 4xx: a producer sends what is refused",
    ),
    Metric(
        "gateway_request_seconds",
        "histogram",
        "seconds",
        ("route",),
        "from request to answer, Kafka's confirmation included",
        "slow: look at the brokers",
        FAST,
    ),
)
