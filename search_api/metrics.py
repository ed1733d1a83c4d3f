"""The one catalogue of what the read service measures: each metric with its unit, its labels and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_RESULTS = (0, 1, 2, 5, 10, 20, 50, 100)
_DEGRADED_PARTS = ("cosine", "bm25", "bfs", "cross_encoder", "node_distance", "bfs_origins", "wait_for")


class SearchMetrics:
    """Every metric of the read service, in a registry of its own."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self.requests = Histogram(
            "factstream_search_request_seconds",
            "How long requests took, by route and status. A slow route: look at the graph round trips below.",
            ("route", "status"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.searches = Histogram(
            "factstream_search_seconds",
            "How long searches took, by the set of scopes. Context requests are searches too.",
            ("scopes",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.results = Histogram(
            "factstream_search_results",
            "How many items a search found in a scope. Mostly 0: wrong group, or nothing was ever committed.",
            ("scope",),
            buckets=_RESULTS,
            registry=self.registry,
        )
        self.degraded = Counter(
            "factstream_search_degraded_total",
            "Searches that had to do without something: cosine (embedder down), cross_encoder, the store's indexes.",
            ("part",),
            registry=self.registry,
        )
        self.graph_round_trips = Histogram(
            "factstream_search_graph_round_trip_seconds",
            "How long the store took for one request, by its operation. Slow: look at the database.",
            ("operation",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.embeddings = Histogram(
            "factstream_search_embedding_seconds",
            "How long the embedding of a query took. Slow: look at the embedder.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "factstream_search_in_flight",
            "Requests that are being worked on. At its limit for long: add replicas.",
            registry=self.registry,
        )
        self.waiting = Gauge(
            "factstream_search_waiting",
            "Requests that wait for a place. Above 0 for long: add replicas.",
            registry=self.registry,
        )
        self.tools = Histogram(
            "factstream_search_tool_seconds",
            "How long calls of MCP tools took, by tool and outcome: answered, refused (the agent's fault), failed (ours).",
            ("tool", "outcome"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.awaiting = Gauge(
            "factstream_search_awaiting",
            "Requests that wait for an episode. At its limit for long: the pipeline lags behind; look at its lag.",
            registry=self.registry,
        )
        self.rejected = Counter(
            "factstream_search_rejected_total",
            "Requests sent away: queue_full, waited_too_long, deadline, body_too_large, unauthorized, forbidden.",
            ("reason",),
            registry=self.registry,
        )
        self.events = Counter(
            "factstream_search_events_total",
            "Named occurrences that the store and the embedder report.",
            ("name",),
            registry=self.registry,
        )

    def searched(self, counts: dict[str, int], degraded: Iterable[str], seconds: float) -> None:
        """One search: how many items it found by scope asked for, what it had to do without, how long it took."""
        self.searches.labels("+".join(counts)).observe(seconds)
        for scope, count in counts.items():
            self.results.labels(scope).observe(count)
        for reason in degraded:
            part = reason.partition(":")[0]
            self.degraded.labels(part if part in _DEGRADED_PARTS else "store").inc()

    def tool_called(self, tool: str, outcome: str, seconds: float) -> None:
        """One call of an MCP tool."""
        self.tools.labels(tool, outcome).observe(seconds)

    def exposition(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)
