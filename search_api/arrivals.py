"""Read-your-writes: waiting until an episode is through the pipeline, with a bound."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pipeline.graph.search import GraphReader, Progress
from pipeline.model.episode import FINAL_STATES, EpisodeState
from search_api.metrics import SearchMetrics

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5


@dataclass(frozen=True)
class Awaited:
    """The episode of a group that a request waits for, and for how many seconds at most."""

    group_id: str
    episode_id: str
    seconds: float


class Arrivals:
    """Waits for episodes by reading them, at first every 20 ms, later every half second.

    One read is a look-up of the state by id in one group. At most `most` requests wait and at most `reads` of them read at a time, so that waiting cannot take the
    store away from searching.
    """

    def __init__(self, reader: GraphReader, metrics: SearchMetrics, most: int, reads: int = 4) -> None:
        self._reader = reader
        self._metrics = metrics
        self._most = most
        self._reads = asyncio.Semaphore(reads)
        self._waiting = 0

    async def wait(self, awaited: Awaited) -> str | None:
        """None when the episode is committed or skipped, else why the answer may be without it.

        Raises what the reader raises.
        """
        if self._waiting >= self._most:
            return "wait_for: too many requests wait already; this one did not"
        self._waiting += 1
        self._metrics.awaiting.set(self._waiting)
        seen: Progress | None = None
        try:
            async with asyncio.timeout(awaited.seconds):
                pause = FIRST_PAUSE
                while True:
                    seen = await self._read(awaited)
                    if seen is not None and seen.state in FINAL_STATES:
                        break
                    await asyncio.sleep(pause)
                    pause = min(LONGEST_PAUSE, 1.5 * pause)
        except TimeoutError:
            state = "not there" if seen is None else f"only {seen.state.value}"
            return f"wait_for: episode {awaited.episode_id!r} is {state} after {awaited.seconds:g} s"
        finally:
            self._waiting -= 1
            self._metrics.awaiting.set(self._waiting)
        if seen.state is EpisodeState.dead:
            return f"wait_for: episode {awaited.episode_id!r} is dead: {seen.reason or 'no reason is known'}"
        return None

    async def _read(self, awaited: Awaited) -> Progress | None:
        async with self._reads:
            return await self._reader.state(awaited.group_id, awaited.episode_id)
