"""The thread that a consumer lives in, which always comes to an end when its worker stops."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from aiokafka.structs import OffsetAndMetadata, TopicPartition
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.types import TP
from mode.threads import WorkerThread

from streams.closing import CLOSE_WITHIN, closed


class _EndingThread(WorkerThread):  # type: ignore[misc]
    """Does not keep the process: Faust's own waits for it without a bound, and Python does at the end."""

    def __init__(self, service: Any, **kwargs: Any) -> None:
        super().__init__(service, **kwargs)
        self.daemon = True

    def stop(self) -> None:
        """Waits for its end, within a bound."""
        if self.is_stopped.wait(CLOSE_WITHIN) and self.is_alive():
            self.join(CLOSE_WITHIN)


class LaneThread(AIOKafkaConsumerThread):  # type: ignore[misc]
    """Puts the note beside each position that goes out, and ends in the middle of a rebalance too."""

    Worker = _EndingThread

    async def on_thread_stop(self) -> None:
        """Closes the consumer, then the queue of calls into this thread.

        Faust does it the other way round. A rebalance that is under way when the worker stops then calls the worker's
        loop, which calls back into a queue that nobody serves, and consumer and worker wait for each other for ever.
        """
        consumer = self._consumer
        if consumer is not None:
            await closed(consumer.stop(), "leaving the consumer group")
        # What Faust does itself finds the consumer closed.
        await closed(super().on_thread_stop(), "ending the calls into the thread of the consumer")

    async def _gather_remaining_tasks(self) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=CLOSE_WITHIN)

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        commit = consumer.commit

        async def with_notes(offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
            await commit(
                {
                    tp: OffsetAndMetadata(at.offset, self.consumer.note_of(TP(tp.topic, tp.partition)))
                    for tp, at in offsets.items()
                }
            )

        consumer.commit = with_notes
        return consumer
