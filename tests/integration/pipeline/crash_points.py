"""Points at which a worker kills itself, around the store and the producer that it is given."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streams.producer import Producer

# The stage that dies, the point, and which passing of it: in the middle of the story's twenty-four events.
CRASHES = [
    ("extract", "receive:before", 8),
    ("extract", "receive:after", 10),
    ("extract", "commit_extraction:before", 9),
    ("extract", "commit_extraction:after", 9),
    ("extract", "send:episodes.extracted:before", 7),
    ("extract", "send:episodes.extracted:after", 7),
    ("resolve_entities", "commit_entities:before", 7),
    ("resolve_entities", "commit_entities:after", 7),
    ("resolve_entities", "send:episodes.resolved:before", 8),
    ("resolve_entities", "send:episodes.resolved:after", 8),
    ("resolve_facts", "commit_facts:before", 8),
    ("resolve_facts", "commit_facts:after", 8),
    ("resolve_facts", "settle:after", 8),
    ("resolve_facts", "send:facts.changes:before", 9),
    ("resolve_facts", "send:facts.changes:after", 9),
    ("update_communities", "commit_communities:before", 6),
    ("update_communities", "commit_communities:after", 6),
]


@dataclass
class CrashPlan:
    """Kill this process at the `occurrence`-th passing of `point`, once per marker file.

    `point` is "<method of the store>:before" or ":after", or "send:<topic>:before" or ":after". With `episode`, only
    passings of episodes whose id ends so count. `signal` may be another one: SIGSTOP freezes it there.
    """

    point: str
    occurrence: int
    marker: Path
    episode: str = ""
    signal: int = signal.SIGKILL
    _passed: int = field(default=0, init=False)

    def reached(self, point: str, episode: str = "") -> None:
        """Does not return when this is the point."""
        if point != self.point or not episode.endswith(self.episode):
            return
        self._passed += 1
        if self._passed == self.occurrence and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), self.signal)


class CrashingStore:
    """A GraphStore that passes a point before and after each call."""

    def __init__(self, store: Any, plan: CrashPlan) -> None:
        self._store = store
        self._plan = plan

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def call(*args: Any) -> Any:
            episode = str(getattr(getattr(args[0], "episode", args[0]), "id", "")) if args else ""
            self._plan.reached(f"{name}:before", episode)
            result = await method(*args)
            self._plan.reached(f"{name}:after", episode)
            return result

        return call


def crashing_producer(plan: CrashPlan, prefix: str) -> type[Producer]:
    """A producer that passes a point before it sends records, and one when they are confirmed."""

    class CrashingProducer(Producer):
        async def send_all(
            self,
            topic: str,
            records: Sequence[tuple[bytes | None, bytes | None]],
            headers: Iterable[tuple[str, bytes]] = (),
        ) -> None:
            name = topic.removeprefix(prefix)
            if records:
                plan.reached(f"send:{name}:before")
            await super().send_all(topic, records, headers)
            if records:
                plan.reached(f"send:{name}:after")

    return CrashingProducer
