"""SyncMemory: Memory for code that is not asynchronous, and for notebooks, where a loop runs already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from factstream.memory.inbox import DeadEntry
from factstream.memory.memory import Event, Memory
from factstream.memory.options import ContextOptions, SearchOptions, Time
from factstream.memory.results import Added, Forgotten
from factstream.rebuild.parts import Rebuilt
from search_api.answers import ContextAnswer, EntityAnswer, EpisodeAnswer, FactAnswer, SearchAnswer

T = TypeVar("T")


class SyncMemory:
    """The methods of `Memory`, blocking. The work runs in a thread of its own with a loop of its own, so it may be
    called from any thread, whether or not a loop runs there.

        with SyncMemory("support.db") as memory:
            memory.add({"group_id": "acme", "source": "text", "content": "Ana works at Acme."})

    Takes the arguments of `Memory`; raises its errors.
    """

    def __init__(self, path: str | Path, **options: Any) -> None:
        self._memory = Memory(path, **options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """As `Memory.open`; again: nothing."""
        if self._loop is not None:
            return
        self._loop = asyncio.new_event_loop()
        # A daemon, so that a notebook that forgets to close can still end; nothing acknowledged is lost by that.
        self._thread = threading.Thread(target=self._loop.run_forever, name="factstream-memory", daemon=True)
        self._thread.start()
        try:
            self._do(self._memory.open)
        except BaseException:
            self._end()
            raise

    def close(self) -> None:
        """As `Memory.close`; again: nothing."""
        if self._loop is None:
            return
        try:
            self._do(self._memory.close)
        finally:
            self._end()

    def add(self, episode: Event, *, wait: bool = True) -> Added:
        """As `Memory.add`."""
        return self._do(lambda: self._memory.add(episode, wait=wait))

    def add_many(self, episodes: Iterable[Event], *, wait: bool = True) -> list[Added]:
        """As `Memory.add_many`."""
        listed = list(episodes)
        return self._do(lambda: self._memory.add_many(listed, wait=wait))

    def drain(self) -> None:
        """As `Memory.drain`."""
        self._do(self._memory.drain)

    def dead(self) -> list[DeadEntry]:
        """As `Memory.dead`."""
        return self._do(self._memory.dead)

    def replay(self, group_id: str, episode_id: str) -> int:
        """As `Memory.replay`."""
        return self._do(lambda: self._memory.replay(group_id, episode_id))

    def forget(
        self,
        group_id: str,
        *,
        episode: str | Sequence[str] | None = None,
        entity: str | None = None,
        everything: bool = False,
    ) -> Forgotten:
        """As `Memory.forget`."""
        return self._do(
            lambda: self._memory.forget(group_id, episode=episode, entity=entity, everything=everything)
        )

    def rebuild(self, group_id: str) -> Rebuilt:
        """As `Memory.rebuild`."""
        return self._do(lambda: self._memory.rebuild(group_id))

    def rebuild_communities(self, group_id: str) -> int:
        """As `Memory.rebuild_communities`."""
        return self._do(lambda: self._memory.rebuild_communities(group_id))

    def search(
        self,
        query: str | None = None,
        *,
        group_ids: str | Sequence[str],
        **options: Unpack[SearchOptions],
    ) -> SearchAnswer:
        """As `Memory.search`."""
        return self._do(lambda: self._memory.search(query, group_ids=group_ids, **options))

    def context(
        self,
        query: str | None = None,
        *,
        group_ids: str | Sequence[str],
        **options: Unpack[ContextOptions],
    ) -> ContextAnswer:
        """As `Memory.context`."""
        return self._do(lambda: self._memory.context(query, group_ids=group_ids, **options))

    def facts(
        self,
        group_id: str,
        entity: str | None = None,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
    ) -> list[FactAnswer]:
        """As `Memory.facts`."""
        return self._do(lambda: self._memory.facts(group_id, entity, as_of=as_of, known_at=known_at))

    def entities(self, group_id: str) -> list[EntityAnswer]:
        """As `Memory.entities`."""
        return self._do(lambda: self._memory.entities(group_id))

    def episode(self, group_id: str, episode_id: str) -> EpisodeAnswer | None:
        """As `Memory.episode`."""
        return self._do(lambda: self._memory.episode(group_id, episode_id))

    def groups(self) -> list[str]:
        """As `Memory.groups`."""
        return self._do(self._memory.groups)

    def _do(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._loop is None:
            raise RuntimeError("the memory is not open: use it as `with SyncMemory(…) as memory`")
        if threading.current_thread() is self._thread:
            raise RuntimeError("SyncMemory cannot be called from its own thread; use Memory there")
        future = asyncio.run_coroutine_threadsafe(call(), self._loop)
        try:
            return future.result()
        except BaseException:
            # Ctrl-C in the caller takes the waiting away, too.
            future.cancel()
            raise

    def _end(self) -> None:
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
