"""What readiness asks of others each time: the graph, the broker, the breakers of model endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from aiokafka.errors import KafkaError

from pipeline.errors import Retryable
from pipeline.graph.port import GraphStore
from streams.broker import admin_client
from streams.health.reason import Reason

PROBE_SECONDS = 4.0
Probe = Callable[[], Awaitable[Reason | None]]
"""Answers why not, or None. Must not raise and must not take much longer than `PROBE_SECONDS`."""


class Breakable(Protocol):
    """An endpoint's breaker."""

    @property
    def open(self) -> bool:
        """Whether the endpoint is believed to be down."""


def graph_probe(store: GraphStore) -> Probe:
    """Touches the database and its indexes."""

    async def probe() -> Reason | None:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await store.ping()
        except TimeoutError:
            return Reason("graph_away", f"the graph does not answer within {PROBE_SECONDS:g} s")
        except Retryable as error:
            return Reason("graph_away", f"graph: {error}")
        return None

    return probe


def broker_probe(bootstrap: str) -> Probe:
    """Connects to a broker."""

    async def probe() -> Reason | None:
        try:
            async with asyncio.timeout(PROBE_SECONDS), admin_client(bootstrap):
                return None
        except TimeoutError:
            return Reason("broker_away", f"Kafka at {bootstrap} does not answer within {PROBE_SECONDS:g} s")
        except (KafkaError, OSError) as error:
            return Reason("broker_away", f"Kafka at {bootstrap} does not answer: {error}")

    return probe


def breaker_probe(url: str, breaker: Breakable) -> Probe:
    """Asks nothing of the endpoint itself, which would cost calls: the breaker knows."""

    async def probe() -> Reason | None:
        if breaker.open:
            return Reason("model_away", f"{url} is believed to be down")
        return None

    return probe
