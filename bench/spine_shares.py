"""Where a worker's time went, from two readings of its /metrics."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

STAGES = ("extract", "resolve_entities", "resolve_facts", "update_communities")
NOT_OF_AN_EPISODE = ("ping", "schema", "open")


@dataclass(frozen=True)
class Reading:
    """Samples by (name without the prefix, labels in order of their names)."""

    samples: dict[tuple[str, tuple[str, ...]], float]

    @classmethod
    def of(cls, text: str) -> Reading:
        """From the text of /metrics."""
        found = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = tuple(value for _, value in sorted(sample.labels.items()))
                found[sample.name.removeprefix("factstream_"), labels] = float(sample.value)
        return cls(found)

    def since(self, before: Reading) -> Reading:
        """What was added between two readings."""
        return Reading({key: value - before.samples.get(key, 0.0) for key, value in self.samples.items()})

    def by_label(self, name: str, place: int = 0) -> dict[str, float]:
        """Sums of a sample by one of its labels."""
        sums: dict[str, float] = defaultdict(float)
        for (found, labels), value in self.samples.items():
            if found == name and value:
                sums[labels[place] if labels else ""] += value
        return dict(sums)


def graph_trips(reading: Reading) -> dict[str, float]:
    """Round trips by operation, without those that belong to no episode."""
    trips = reading.by_label("graph_round_trip_seconds_count")
    return {name: count for name, count in trips.items() if name not in NOT_OF_AN_EPISODE}


def shares(reading: Reading) -> dict[str, float]:
    """Seconds of all phases together, and the parts of them: Neo4j, Kafka, embedding, and the stages' own.

    Phases run side by side, so the sum is more than the time that passed; the shares are what counts.
    """
    # The labels of a phase are in the order of their names: phase, stage.
    total = sum(reading.by_label("phase_seconds_sum", 1).values())
    graph = sum(
        seconds
        for name, seconds in reading.by_label("graph_round_trip_seconds_sum").items()
        if name not in NOT_OF_AN_EPISODE
    )
    kafka = sum(reading.by_label("kafka_confirmation_seconds_sum").values())
    embedding = sum(reading.by_label("embedding_seconds_sum").values())
    return {
        "phases": total,
        "neo4j": graph,
        "kafka": kafka,
        "embedding": embedding,
        "own": total - graph - kafka - embedding,
    }
