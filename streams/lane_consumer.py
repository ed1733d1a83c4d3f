"""Faust's consumer, committing nothing but what the lanes say is done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from faust.transport.drivers.aiokafka import Consumer
from faust.types import TP

from streams.event import Partition


class LaneConsumer(Consumer):  # type: ignore[misc]
    """Takes the place of Faust's own account of acknowledged offsets, which is not to be trusted here.

    Faust acknowledges an event that it skips as stale, commits past unfinished events when it holds no committed
    offset (after every revoke), and needs one commit per gap of a compacted topic. The ledger knows the position
    exactly, so every path by which Faust commits (timer, stop) asks here for it instead.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._done: dict[TP, int] = {}
        self._polled = time.monotonic()

    @property
    def poll_age(self) -> float:
        """Seconds since it last got an answer from its thread when it asked for records, were there any or not."""
        return time.monotonic() - self._polled

    async def _getmany(self, active_partitions: Any, timeout: float) -> Any:  # noqa: ASYNC109
        records = await super()._getmany(active_partitions, timeout)
        self._polled = time.monotonic()
        return records

    def mark_done(self, partition: Partition, position: int) -> None:
        """Everything below `position` is finished; goes out with the next commit."""
        self._done[TP(*partition)] = position

    def take_done(self) -> dict[TP, int]:
        """The positions of all partitions, forgetting them: whoever asks commits them, or lets go."""
        done, self._done = self._done, {}
        return done

    def lag(self, tp: TP) -> int | None:
        """Records that are not acknowledged yet; None before the broker has told how many there are."""
        highwater = self.highwater(tp)
        if highwater is None:
            return None
        return max(0, int(highwater) - int(self._done.get(tp) or self._committed_offset[tp] or 0))

    def ack(self, message: Any) -> bool:
        """Faust lets go of a message. Says nothing about whether it is finished."""
        message.acked = True
        self._unacked_messages.discard(message)
        return True

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        return (tp for tp in list(self._done) if topics is None or tp in topics or tp.topic in topics)

    def _new_offset(self, tp: TP) -> int | None:
        return self._done.get(tp)

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Gaps need no account: the ledger is contiguous over what was read."""
