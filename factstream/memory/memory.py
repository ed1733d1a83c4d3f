"""Memory: factstream in one process, on one file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from pydantic import BaseModel

from factstream.memory.engine import Engine, Parts
from factstream.memory.inbox import DeadEntry
from factstream.memory.options import ContextOptions, InvalidRequest, SearchOptions, Time, request_of
from factstream.memory.policy import RunnerPolicy
from factstream.memory.reading import Reading
from factstream.memory.results import Added, EpisodeDied, Forgotten
from factstream.rebuild.parts import Rebuilt
from factstream.settings import Settings, load_settings
from pipeline.clock import Clock, system_clock
from pipeline.embedding.port import Embedder
from pipeline.errors import SettingError
from pipeline.extraction.port import Extractor
from pipeline.model.episode import EpisodeState
from pipeline.model.event import EpisodeEvent, InvalidEvent
from pipeline.observer import Observer, SilentObserver
from pipeline.stages.judging import EntityJudge
from search_api.answers import ContextAnswer, EntityAnswer, EpisodeAnswer, FactAnswer, SearchAnswer
from search_api.requests import ContextRequest, SearchRequest
from search_api.retrieval.cross_encoder import CrossEncoder
from streams.gateway.intake import Record, to_record

Event = Mapping[str, Any] | EpisodeEvent
"""An episode event of the contract: as a mapping, or as its model from `pipeline.model.event`."""


class Memory:
    """A temporal knowledge graph in one SQLite file: the stages, the contracts and the answers of the services.

        async with Memory("support.db") as memory:
            await memory.add({"group_id": "acme", "source": "text", "content": "Ana works at Acme."})
            print((await memory.context("Where does Ana work?", group_ids="acme")).context)

    One process writes to a file; any number read it with `read_only=True` meanwhile. What `add` has returned for
    survives a kill and a power cut.

    Args:
        path: the file; it is created when its folder exists.
        read_only: only read, beside the process that writes. Needs an existing file.
        settings: who reads text and who embeds; from the environment (FACTSTREAM_…) when left out.
        extractor, embedder, judge, cross_encoder: instead of what the settings name.
        ontologies: the names that an event's `ontology` may have; those of the settings when left out.
        observer: hears of model calls, embeddings and round trips.
        clock: what time it is for T', the time of knowing.
        policy: how much runs at once.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        read_only: bool = False,
        settings: Settings | None = None,
        extractor: Extractor | None = None,
        embedder: Embedder | None = None,
        judge: EntityJudge | None = None,
        cross_encoder: CrossEncoder | None = None,
        ontologies: Collection[str] | None = None,
        observer: Observer | None = None,
        clock: Clock = system_clock,
        policy: RunnerPolicy | None = None,
    ) -> None:
        parts = Parts(
            settings=settings or load_settings(),
            clock=clock,
            observer=observer or SilentObserver(),
            extractor=extractor,
            embedder=embedder,
            judge=judge,
            ontologies=ontologies,
            policy=policy,
        )
        self._path = Path(path)
        self._clock = clock
        self._ontologies = parts.ontology_names()
        vectors = parts.caching_embedder()
        self._reading = Reading(self._path, vectors, clock, parts.observer, cross_encoder)
        self._written = None if read_only else Engine(self._path, parts, vectors)
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Take the file; interrupted episodes go on at once, in the order of their groups.

        Raises SettingError when it cannot be used: another process writes to it, it is no graph, it holds vectors of
        another model's length. Raises Retryable when it is to be read and is not there yet.
        """
        async with AsyncExitStack() as stack:
            if self._written is not None:
                await self._written.open()
                stack.push_async_callback(self._written.close)
            await self._reading.open()
            stack.push_async_callback(self._reading.close)
            self._open = stack.pop_all()

    async def close(self) -> None:
        """Let go of the file. Does not wait for what `wait=False` has left: that is finished at the next start."""
        await self._open.aclose()

    async def add(self, episode: Event, *, wait: bool = True) -> Added:
        """Add one episode.

        Returns when it is through all stages: every later search sees it. With `wait=False` as soon as the raw event
        is durable; a background task finishes it, after a crash at the next start. The same id twice is one episode,
        and the first content wins.

        Raises:
            InvalidEvent: it breaks the contract; nothing is stored. `errors` names each field.
            EpisodeDied: it was given up (only with `wait`).
            Retryable: the file cannot be written (disk full, locked).
        """
        added = (await self.add_many([episode], wait=wait))[0]
        if added.state is EpisodeState.dead:
            raise EpisodeDied(added)
        return added

    async def add_many(self, episodes: Iterable[Event], *, wait: bool = True) -> list[Added]:
        """Add episodes, in order; what becomes of each, in that order. A dead one has its `reason`.

        The texts of a batch are embedded together. One invalid event refuses all of them, nothing stored: `errors`
        of InvalidEvent starts each path with the place of the event.
        """
        listed = list(episodes)
        records: list[Record] = []
        faults: list[tuple[str, str]] = []
        for place, event in enumerate(listed):
            try:
                records.append(to_record(_plain(event), self._clock, self._ontologies))
            except InvalidEvent as error:
                path = f"{place}." if len(listed) > 1 else ""
                faults += [(f"{path}{field}".rstrip("."), text) for field, text in error.errors]
        if faults:
            raise InvalidEvent(faults)
        if not records:
            return []
        if wait:
            return await self._engine.finish(records)
        await self._engine.accept(records)
        return [Added(r.id, r.group_id, EpisodeState.received) for r in records]

    async def drain(self) -> None:
        """Wait until everything that was added is through all stages."""
        await self._engine.runner.drain()

    async def dead(self) -> list[DeadEntry]:
        """Episodes that were given up, with their events and reasons."""
        return await self._engine.dead()

    async def replay(self, group_id: str, episode_id: str) -> int:
        """Try a dead episode again, at its old place in the order; 0 when it is not dead. See `drain`."""
        return await self._engine.replay(group_id, episode_id)

    async def forget(
        self,
        group_id: str,
        *,
        episode: str | Sequence[str] | None = None,
        entity: str | None = None,
        everything: bool = False,
    ) -> Forgotten:
        """Take back for good, as if it had never come: episodes by their ids, every episode that tells of an entity
        (its id or name), or everything of a group. One of the three.

        Text, what was read out of it and what rested on it alone go, and facts that it had closed are open again. The
        same ids are not taken in again. Waits for what is under way.

        Raises:
            InvalidRequest: none, or more than one, of the three is given.
            Poison: the group has no such episode or entity, or nothing at all.
        """
        if sum([episode is not None, entity is not None, everything]) != 1:
            raise InvalidRequest([("", "give one of episode, entity, everything")])
        forgetting = await self._engine.forgetting()
        if entity is not None:
            return await forgetting.entity(group_id, entity)
        if episode is not None:
            return await forgetting.episodes(group_id, [episode] if isinstance(episode, str) else episode)
        return await forgetting.group(group_id)

    async def rebuild(self, group_id: str) -> Rebuilt:
        """Make a group anew from the raw episodes that the file keeps, and swap it in at once: after a change of the
        extractor, the ontology or the rules, or when the graph was damaged.

        Reads and `add` go on meanwhile. What was forgotten stays forgotten, corrections and merges by hand are done
        again, judges answer from their records. Called again after a kill it goes on where it was.

        Raises:
            RebuildRefused: another rebuild of the group runs, or episodes that the graph has cannot be read any more;
                nothing is changed.
            Retryable: a model cannot be reached, or the file cannot be written.
        """
        return await self._engine.rebuild(group_id)

    async def rebuild_communities(self, group_id: str) -> int:
        """Draw the communities of a group anew from its facts; how many there are then."""
        return await self._engine.rebuild_communities(group_id)

    async def search(
        self,
        query: str | None = None,
        *,
        group_ids: str | Sequence[str],
        **options: Unpack[SearchOptions],
    ) -> SearchAnswer:
        """What POST /v1/search answers to the same fields. Raises InvalidRequest that names each field at fault."""
        return await self._reading.search(request_of(SearchRequest, query, group_ids, options))

    async def context(
        self,
        query: str | None = None,
        *,
        group_ids: str | Sequence[str],
        **options: Unpack[ContextOptions],
    ) -> ContextAnswer:
        """What POST /v1/context answers to the same fields. Raises InvalidRequest."""
        return await self._reading.context(request_of(ContextRequest, query, group_ids, options))

    async def facts(
        self,
        group_id: str,
        entity: str | None = None,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
    ) -> list[FactAnswer]:
        """The timeline of a group, or of one entity by its id or name, in the order of the facts' starts.

        `as_of` keeps the facts that hold at that time (left out: any time); `known_at` shows what was believed then.
        """
        return await self._reading.facts(group_id, entity, as_of, known_at)

    async def entities(self, group_id: str) -> list[EntityAnswer]:
        """All entities of a group, in the order in which they came."""
        return await self._reading.entities(group_id)

    async def episode(self, group_id: str, episode_id: str) -> EpisodeAnswer | None:
        """An episode with its state, facts, entities and cost; None when the group has none of that id."""
        return await self._reading.episode(group_id, episode_id)

    async def groups(self) -> list[str]:
        """The groups of the file."""
        return await self._reading.groups()

    @property
    def _engine(self) -> Engine:
        if self._written is None:
            raise SettingError(f"{self._path} was opened with read_only=True: it cannot be written here")
        return self._written


def _plain(event: Event) -> Any:
    return event.model_dump(mode="json", exclude_unset=True) if isinstance(event, BaseModel) else event
