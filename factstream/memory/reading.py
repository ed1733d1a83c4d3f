"""Reading: the questions that need nothing but the file; also for processes that only read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from pipeline.clock import Clock
from pipeline.embedding.port import Embedder
from pipeline.graph.archive import check_model
from pipeline.graph.sqlite.listing import SqliteListing
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact, view
from pipeline.model.moments import Moment
from pipeline.observer import Observer
from search_api.answers import (
    ContextAnswer,
    EntityAnswer,
    EpisodeAnswer,
    FactAnswer,
    SearchAnswer,
    entity_fields,
)
from search_api.read_answers import episode_answer, facts_answer
from search_api.requests import ContextRequest, SearchRequest
from search_api.retrieval.cross_encoder import CrossEncoder
from search_api.retrieval.search import Retrieval

PAGE = 500
_START_OF_TIME = datetime.min.replace(tzinfo=UTC)
_moment: TypeAdapter[datetime] = TypeAdapter(Moment)


class Reading:
    """Searches and reads over a graph file.

    Args:
        embedder: embeds questions; it must be the model that the file was made with.
        cross_encoder: scores candidates for the recipes that ask for it.
    """

    def __init__(
        self,
        path: Path,
        embedder: Embedder,
        clock: Clock,
        observer: Observer,
        cross_encoder: CrossEncoder | None = None,
    ) -> None:
        self._path = path
        self._embedder = embedder
        self._reader = SqliteGraphReader(path, observer=observer)
        self._listing = SqliteListing(path, observer=observer)
        self._retrieval = Retrieval(self._reader, embedder, cross_encoder, clock)
        self._open = AsyncExitStack()

    async def open(self) -> None:
        """Connect. Raises Retryable while there is no file, SettingError when it holds vectors of another model."""
        async with AsyncExitStack() as stack:
            await self._reader.open()
            stack.push_async_callback(self._reader.close)
            await self._listing.open()
            stack.push_async_callback(self._listing.close)
            await self._check_model()
            self._open = stack.pop_all()

    async def _check_model(self) -> None:
        dimension, model = await self._listing.embedding()
        check_model(self._embedder.model, model, self._embedder.dimension, dimension, str(self._path))

    async def close(self) -> None:
        """Let go of the file."""
        await self._open.aclose()

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """The items."""
        return await self._retrieval.search(request)

    async def context(self, request: ContextRequest) -> ContextAnswer:
        """The text for a prompt."""
        return await self._retrieval.context(request)

    async def episode(self, group_id: str, episode_id: str) -> EpisodeAnswer | None:
        """An episode with its facts and entities."""
        stored = await self._reader.episode(group_id, episode_id)
        return None if stored is None else await episode_answer(self._reader, stored)

    async def groups(self) -> list[str]:
        """The groups of the file."""
        return await self._listing.groups()

    async def entities(self, group_id: str) -> list[EntityAnswer]:
        """All entities of a group."""
        found = [entity async for entity in self._entities(group_id)]
        return [EntityAnswer(**entity_fields(entity)) for entity in found]

    async def facts(
        self,
        group_id: str,
        entity: str | None,
        as_of: datetime | str | None,
        known_at: datetime | str | None,
    ) -> list[FactAnswer]:
        """The facts of a group, or of one entity of it, in the order of their start."""
        known = None if known_at is None else _moment.validate_python(known_at)
        at = None if as_of is None else _moment.validate_python(as_of)
        stored = await (self._group_facts(group_id) if entity is None else self._of(group_id, entity))
        shown = [(fact, seen) for fact in stored if (seen := view(fact, known)) is not None]
        if at is not None:
            shown = [(fact, seen) for fact, seen in shown if seen.holds_at(at)]
        shown.sort(key=lambda pair: (pair[1].valid_at or _START_OF_TIME, pair[1].id))
        return list(await facts_answer(self._reader, shown, known, at))

    async def _of(self, group_id: str, entity: str) -> list[Fact]:
        """The facts of an entity by its id, else those of all entities of that name."""
        facts = await self._reader.entity_facts(group_id, entity)
        if facts is not None:
            return list(facts)
        found: dict[str, Fact] = {}
        for one in await self._listing.named(group_id, entity_key(entity)):
            some: Sequence[Fact] = await self._reader.entity_facts(group_id, one.id) or ()
            found |= {fact.id: fact for fact in some}
        return list(found.values())

    async def _group_facts(self, group_id: str) -> list[Fact]:
        facts: list[Fact] = []
        after = 0
        while page := await self._listing.facts(group_id, after, PAGE):
            after = page[-1][0]
            facts += [fact for _, fact in page]
        return facts

    async def _entities(self, group_id: str) -> AsyncIterator[Entity]:
        after = 0
        while page := await self._listing.entities(group_id, after, PAGE):
            after = page[-1][0]
            for _, entity in page:
                yield entity
