"""Sends records, and returns only when Kafka has them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from aiokafka import AIOKafkaProducer
from aiokafka.errors import (
    InvalidProducerEpoch,
    KafkaError,
    MessageSizeTooLargeError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
)

from pipeline.errors import Poison, Retryable
from streams.closing import closed
from streams.event_format import stamped
from streams.topics import DEAD, MIB, group_partition

BROKEN = (InvalidProducerEpoch, OutOfOrderSequenceNumber, ProducerFenced)
"""After these an idempotent producer refuses everything; only a new one goes on."""


class ProducerObserver(Protocol):
    """Receives measurements. Implementations must be cheap and must not raise."""

    def records_confirmed(self, topic: str, records: int, seconds: float) -> None:
        """Records that were sent together are confirmed; the time counts from the call of `send`."""


class Producer:
    """One idempotent producer, acknowledged by all in-sync replicas, connected at the first use.

    Every topic is partitioned by the group's part of the key. A record that no broker confirmed counts as not sent,
    though it may arrive: sending again is right, readers tolerate repeats.
    """

    def __init__(
        self,
        bootstrap: str,
        *,
        max_request_size: int = DEAD.max_bytes + MIB,
        linger_ms: int = 5,
        request_timeout_ms: int = 30_000,
        observer: ProducerObserver | None = None,
    ) -> None:
        self._bootstrap = bootstrap
        self._max_request_size = max_request_size
        self._linger_ms = linger_ms
        self._request_timeout_ms = request_timeout_ms
        self._observer = observer
        self._client: Any = None
        self._connecting = asyncio.Lock()

    async def send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()
    ) -> None:
        """Returns when the broker has confirmed the record; a value of None is a tombstone.

        Raises Retryable when Kafka cannot take it now, Poison when it is larger than the topic allows.
        """
        await self.send_all(topic, [(key, value)], headers)

    async def send_all(
        self,
        topic: str,
        records: Sequence[tuple[bytes | None, bytes | None]],
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        """Sends (key, value) records, which keep their order, and returns when all of them are confirmed. Each bears
        the version of its format in a header.

        Raises as `send` does; some of the records may have been taken then.
        """
        client: Any = None
        started, marked = time.monotonic(), stamped(headers)
        try:
            client = await self._connected()
            # Each is queued before the next, so that none overtakes another that waits for room in a batch.
            confirmations = [
                await client.send(topic, value=value, key=key, headers=marked) for key, value in records
            ]
            await asyncio.gather(*confirmations)
        except MessageSizeTooLargeError as error:
            largest = max((len(value or b"") for _, value in records), default=0)
            raise Poison(f"{largest} bytes are more than topic {topic} takes") from error
        except BROKEN as error:
            await self._discard(client)
            raise Retryable(f"the producer had to be replaced: {error!r}") from error
        except KafkaError as error:
            raise Retryable(f"Kafka did not take a record for {topic}: {error!r}") from error
        if self._observer is not None and records:
            self._observer.records_confirmed(topic, len(records), time.monotonic() - started)

    async def stop(self) -> None:
        """Sends what is under way, for as long as closing may take, then closes. A later `send` connects again."""
        await self._discard(self._client)

    async def _connected(self) -> Any:
        async with self._connecting:
            if self._client is None:
                client = AIOKafkaProducer(
                    bootstrap_servers=self._bootstrap,
                    acks="all",
                    enable_idempotence=True,
                    partitioner=group_partition,
                    max_request_size=self._max_request_size,
                    linger_ms=self._linger_ms,
                    request_timeout_ms=self._request_timeout_ms,
                )
                try:
                    await client.start()
                except BaseException:
                    await client.stop()
                    raise
                self._client = client
            return self._client

    async def _discard(self, client: Any) -> None:
        if client is not None and client is self._client:
            self._client = None
            # It waits for what is under way, for ever without a broker. None of that is confirmed to anyone.
            await closed(client.stop(), "closing the producer")
