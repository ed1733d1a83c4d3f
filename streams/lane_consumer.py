"""Faust's consumer, committing nothing but what the lanes say is done."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from faust.transport.drivers.aiokafka import Consumer
from faust.types import TP

from streams.closing import closed
from streams.event import Partition
from streams.lane_thread import LaneThread


class LaneConsumer(Consumer):  # type: ignore[misc]
    """Takes the place of Faust's own account of acknowledged offsets, which is not to be trusted here.

    Faust acknowledges an event that it skips as stale, commits past unfinished events when it holds no committed
    offset (after every revoke), and needs one commit per gap of a compacted topic. The ledger knows the position
    exactly, so every path by which Faust commits (timer, stop) asks here for it instead.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._done: dict[TP, int] = {}
        self._notes: dict[TP, str] = {}
        self._committed_notes: dict[TP, str] = {}
        self._polled = time.monotonic()

    @property
    def poll_age(self) -> float:
        """Seconds since it last got an answer from its thread when it asked for records, were there any or not."""
        return time.monotonic() - self._polled

    async def _getmany(self, active_partitions: Any, timeout: float) -> Any:  # noqa: ASYNC109
        records = await super()._getmany(active_partitions, timeout)
        self._polled = time.monotonic()
        return records

    def mark_done(self, partition: Partition, position: int, note: str = "") -> None:
        """Everything below `position` is finished but for what `note` says; goes out with the next commit."""
        tp = TP(*partition)
        self._done[tp] = position
        self._notes[tp] = note

    def restored(self, partition: Partition, note: str) -> None:
        """What stands beside the committed position of a partition that was assigned."""
        tp = TP(*partition)
        self._notes[tp] = self._committed_notes[tp] = note

    def take_done(self) -> dict[TP, int]:
        """The positions of all partitions, forgetting them: whoever asks commits them, or lets go."""
        done, self._done = self._done, {}
        return done

    def note_of(self, tp: TP) -> str:
        """The note to commit beside a position. It may be newer than the position: then what it says less of is done,
        and what it says more of is above the position or still unfinished."""
        return self._notes.get(tp, "")

    def lag(self, tp: TP) -> int | None:
        """Records that are not acknowledged yet; None before the broker has told how many there are."""
        highwater = self.highwater(tp)
        if highwater is None:
            return None
        return max(0, int(highwater) - int(self._done.get(tp) or self._committed_offset[tp] or 0))

    async def on_stop(self) -> None:
        """Commits what is done, for as long as that may take: a broker that is away keeps no worker from stopping."""
        await closed(super().on_stop(), "committing the last positions")

    def ack(self, message: Any) -> bool:
        """Faust lets go of a message. Says nothing about whether it is finished."""
        message.acked = True
        self._unacked_messages.discard(message)
        return True

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        return (tp for tp in list(self._done) if topics is None or tp in topics or tp.topic in topics)

    def _new_offset(self, tp: TP) -> int | None:
        return self._done.get(tp)

    def _should_commit(self, tp: TP, offset: int) -> bool:
        if super()._should_commit(tp, offset):
            return True
        return offset == self._committed_offset[tp] and self.note_of(tp) != self._committed_notes.get(tp, "")

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        notes = {tp: self.note_of(tp) for tp in offsets}
        done = bool(await super()._commit(offsets))
        if done:
            self._committed_notes.update(notes)
        return done

    def _new_consumer_thread(self) -> Any:
        return LaneThread(self, loop=self.loop, beacon=self.beacon)

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Gaps need no account: the ledger is contiguous over what was read."""
