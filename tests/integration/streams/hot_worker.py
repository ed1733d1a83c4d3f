"""A worker in a process of its own, to be killed: copies each event to the status topic, with a small share per group.

Arguments: bootstrap, topic prefix, consumer group, seconds per event.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

from streams.delivery_settings import DeliverySettings
from streams.event import Event
from streams.lane_app import LaneApp
from streams.lane_policy import LanePolicy
from streams.lane_work import LaneWork
from streams.topics import EPISODES, STATUS


class Copy(LaneWork[None, None]):
    """Handles only."""

    def __init__(self, app: LaneApp, prefix: str, seconds: float) -> None:
        self._app = app
        self._topic = STATUS.named(prefix)
        self._seconds = seconds

    async def handle(self, event: Event, admitted: Any, prepared: Any) -> None:
        await asyncio.sleep(self._seconds)
        await self._app.sender.send(self._topic, event.key, event.value)


async def main(bootstrap: str, prefix: str, group: str, seconds: str) -> None:
    app = LaneApp(DeliverySettings(bootstrap, group, prefix, grace=2.0))
    app.stage("copy", EPISODES, Copy(app, prefix, float(seconds)), LanePolicy(share=4, max_pending=16))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await app.serve(stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
