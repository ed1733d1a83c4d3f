"""What a worker must know to join the stream."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeliverySettings:
    """Frozen settings of a worker's delivery.

    bootstrap: brokers, "host:port,host:port".
    group: the consumer group; workers of one installation share it, and so the partitions.
    topic_prefix: put before every topic's name.
    grace: seconds that running handlers get at a rebalance or stop.
    broker_wait: seconds to wait for a broker at the start; None waits for ever.
    report_every: seconds between two reports of lag and backlog.
    """

    bootstrap: str
    group: str = "factstream"
    topic_prefix: str = ""
    grace: float = 10.0
    broker_wait: float | None = None
    report_every: float = 5.0
