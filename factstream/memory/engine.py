"""Engine: everything that writes to a graph file, put together. `Memory` and the embedded server stand on it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from factstream.memory.forgetting import Forgetting
from factstream.memory.inbox import Acceptable, DeadEntry, Inbox
from factstream.memory.line import Line
from factstream.memory.policy import RunnerPolicy
from factstream.memory.results import Added
from factstream.memory.runner import LineRunner
from factstream.memory.writer_lock import WriterLock
from factstream.rebuild.parts import From, Options, Rebuilt, Tools
from factstream.settings import Settings
from pipeline.clock import Clock
from pipeline.embedding.cached import CachingEmbedder
from pipeline.embedding.port import Embedder
from pipeline.errors import SettingError
from pipeline.extraction.port import Extractor
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.observer import Observer
from pipeline.rebuild.graph_log import GraphLog
from pipeline.stages.judging import EntityJudge


@dataclass(frozen=True)
class Parts:
    """What an engine works with; None stands for what the settings name."""

    settings: Settings
    clock: Clock
    observer: Observer
    extractor: Extractor | None = None
    embedder: Embedder | None = None
    judge: EntityJudge | None = None
    ontologies: Collection[str] | None = None
    policy: RunnerPolicy | None = None

    def caching_embedder(self) -> Embedder:
        """The embedder behind a cache. Raises SettingError when its package is missing."""
        from factstream import models

        if self.embedder is None:
            return models.build_embedder(self.settings, self.observer)
        if isinstance(self.embedder, CachingEmbedder):
            return self.embedder
        return CachingEmbedder(self.embedder, max(1, self.settings.embedding_cache), self.observer)

    def runner_policy(self) -> RunnerPolicy:
        """How much runs at once: as given, or as the settings say."""
        if self.policy is not None:
            return self.policy
        by_model = self.extractor is None and self.settings.extractor == "model"
        return RunnerPolicy(asked=self.settings.extraction_batch if by_model else 1)

    def ontology_names(self) -> Collection[str]:
        """The names that an event's `ontology` may have. Raises SettingError when their file is wrong."""
        from factstream import compose

        if self.ontologies is None:
            return compose.build_ontologies(self.settings).names
        return self.ontologies


class Engine:
    """A graph file that is written: lock, store, inbox and runner.

    Args:
        path: the file; created when its folder exists.
        parts: what to work with.
        embedder: from `parts.caching_embedder()`, shared with whoever searches.
    """

    def __init__(self, path: Path, parts: Parts, embedder: Embedder) -> None:
        self.path = path
        self._parts = parts
        self._embedder = embedder
        self._lock = WriterLock(path)
        self._store = SqliteGraphStore(
            path, dimension=embedder.dimension, observer=parts.observer, clock=parts.clock
        )
        self._inbox = Inbox(path, parts.observer)
        self._line = _line(parts, self._store, embedder)
        self._open = AsyncExitStack()
        self._runner: LineRunner | None = None

    @property
    def runner(self) -> LineRunner:
        """The runner of an open engine."""
        if self._runner is None:
            raise RuntimeError("the memory is not open: use it as `async with Memory(…) as memory`")
        return self._runner

    async def open(self) -> None:
        """Take the file and go on where it was left. Raises SettingError when it cannot be used or is being written
        by another process."""
        async with AsyncExitStack() as stack:
            self._lock.acquire()
            stack.callback(self._lock.release)
            await self._store.open()
            stack.push_async_callback(self._store.close)
            await self._inbox.open()
            stack.push_async_callback(self._inbox.close)
            await self._check_model()
            names = self._parts.ontology_names()
            if (summaries := self._line.update_communities.summaries) is not None:
                stack.push_async_callback(summaries.stop)
            runner = LineRunner(self._line, self._inbox, self._embedder, self._parts.runner_policy(), names)
            stack.push_async_callback(runner.stop)
            runner.start()
            self._runner = runner
            self._open = stack.pop_all()

    async def _check_model(self) -> None:
        stored = await self._inbox.remember("embedding_model", self._embedder.model)
        if stored != self._embedder.model:
            raise SettingError(
                f"{self.path} holds vectors of the embedding model {stored}, the configured one is "
                f"{self._embedder.model}: take that model, or export the episodes and import them into a new file"
            )

    async def close(self) -> None:
        """Stop the runner and let go of the file; what is unfinished is taken up at the next start."""
        await self._open.aclose()
        self._runner = None

    async def ping(self) -> None:
        """Raises Retryable when the file does not answer, and what crashed the runner when it has crashed."""
        await self._store.ping()
        if self.runner.crashed.done():
            raise self.runner.crashed.result()

    async def accept(self, records: Sequence[Acceptable]) -> None:
        """Keep validated events; the runner finishes them."""
        await self.runner.submit(records, self._parts.clock(), watch=False)

    async def finish(self, records: Sequence[Acceptable]) -> list[Added]:
        """Keep validated events and wait until all of them are finished."""
        futures = await self.runner.submit(records, self._parts.clock(), watch=True)
        return [await future for future in futures]

    async def go_on_after(self, sequence: int) -> None:
        """Number what is accepted from now on above `sequence`, the highest of what was imported."""
        await self._inbox.go_on_after(sequence)

    async def forgetting(self) -> Forgetting:
        """What takes back episodes, once everything that was accepted is finished."""
        await self.runner.drain()
        return Forgetting(self._store, self._inbox, self._embedder, self._parts.clock)

    async def dead(self) -> list[DeadEntry]:
        """Events that were given up."""
        return await self._inbox.dead()

    async def replay(self, group_id: str, episode_id: str) -> int:
        """Try the dead events of an episode again; how many there were."""
        found = [e for e in await self.dead() if (e.group_id, e.episode_id) == (group_id, episode_id)]
        if found:
            await self.runner.replay(found)
        return len(found)

    async def rebuild(self, group_id: str) -> Rebuilt:
        """Make a group anew from the raw episodes that the file keeps. Raises RebuildRefused and Retryable."""
        # Its scratch files are locked as this package's are, so it imports this package.
        from factstream.rebuild.rebuild import Rebuild

        line = self._line
        tools = Tools(
            store=self._store,
            log=GraphLog(self._store),
            embedder=self._embedder,
            extractor=line.extract.extractor,
            clock=self._parts.clock,
            observer=self._parts.observer,
            entity_judge=line.resolve_entities.judge,
            fact_judge=line.resolve_facts.judge,
            vocabulary=line.resolve_facts.vocabulary,
        )
        folder = self.path.with_name(f"{self.path.name}-rebuild")
        return await Rebuild(group_id, tools, Options(From.raw, folder, identity=self._embedder.model)).run()

    async def rebuild_communities(self, group_id: str) -> int:
        """Draw the communities of a group anew; how many there are."""
        return await self._line.update_communities.rebuild_between(group_id)


def _line(parts: Parts, store: SqliteGraphStore, embedder: Embedder) -> Line:
    from factstream import compose

    stages = compose.build_stages(parts.settings, store, embedder, parts.observer, parts.clock)
    extract, entities = stages.extract, stages.resolve_entities
    return Line(
        store=store,
        extract=replace(extract, extractor=parts.extractor) if parts.extractor else extract,
        resolve_entities=replace(entities, judge=parts.judge) if parts.judge else entities,
        resolve_facts=stages.resolve_facts,
        update_communities=stages.update_communities,
    )
