"""A worker in a process of its own, to be killed: copies each event to the status topic, slowly.

Arguments: bootstrap, topic prefix, consumer group, seconds per event.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

from streams.delivery_settings import DeliverySettings
from streams.event import Event
from streams.lane_app import LaneApp
from streams.lane_work import LaneWork
from streams.topics import EPISODES, STATUS


class Copy(LaneWork[int, int]):
    """All three phases, the slow one ahead."""

    def __init__(self, app: LaneApp, prefix: str, seconds: float) -> None:
        self._app = app
        self._topic = STATUS.named(prefix)
        self._seconds = seconds

    async def admit(self, event: Event) -> int:
        return event.offset

    async def prepare(self, event: Event, admitted: int) -> int:
        await asyncio.sleep(self._seconds)
        return admitted + 1

    async def handle(self, event: Event, admitted: Any, prepared: Any) -> None:
        assert prepared == event.offset + 1
        await asyncio.sleep(self._seconds / 10)
        await self._app.sender.send(self._topic, event.key, event.value, [("pid", b"%d" % os.getpid())])


async def main(bootstrap: str, prefix: str, group: str, seconds: str) -> None:
    app = LaneApp(DeliverySettings(bootstrap, group, prefix, grace=5.0))
    app.stage("copy", EPISODES, Copy(app, prefix, float(seconds)))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await app.serve(stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
