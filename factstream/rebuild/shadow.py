"""Shadow: a group told again into a graph of its own, at the times at which it was learned."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from factstream.memory.line import Line
from factstream.memory.retrying import GivenUp, RetryPolicy, persist
from factstream.rebuild.parts import Tools
from factstream.rebuild.said import Said
from pipeline.curation.difference import Occurrence, difference, texts_to_embed
from pipeline.curation.operator import Operator
from pipeline.curation.telling import retold
from pipeline.embedding.port import Embedder
from pipeline.graph.extraction_port import Received
from pipeline.graph.ledger import KnownEpisode, Ledger
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.episode import Episode, EpisodeRef
from pipeline.model.extraction import Extraction
from pipeline.rebuild.acts import Act, done_again
from pipeline.rebuild.times import Learned
from pipeline.replay.counting import Counting
from pipeline.stages.extract import ExtractStage
from pipeline.stages.recorded import Records
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage


class Moment:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = datetime(1970, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class IdleEmbedder:
    """Vectors of zeros, where nothing is ever compared by them."""

    def __init__(self, like: Embedder) -> None:
        self.dimension = like.dimension
        self.model = like.model

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One of zeros for each text."""
        return [[0.0] * self.dimension for _ in texts]


class KeptExtractor:
    """Answers what was said before, and asks another where nothing is kept."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self.kept: Mapping[str, Extraction] = {}

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        """What is kept of the episode, else what the extractor says."""
        kept = self.kept.get(episode.id)
        return kept if kept is not None else await self._tools.extractor.extract(episode, tuple(context))


class Shadow:
    """One group in a SQLite file. What is in it survives a kill; telling it again does nothing. With `said`, so does
    what the extractor answered.

    The stages are those of the live line. Vectors are made only where a judge is asked about look-alikes.
    """

    def __init__(self, path: Path, group_id: str, tools: Tools, said: Said | None = None) -> None:
        self.group_id = group_id
        self._tools = tools
        self._received, self._entities, self._facts = Moment(), Moment(), Moment()
        self._said = said
        self._records = Records()
        self._extractor = KeptExtractor(tools)
        self.store = SqliteGraphStore(
            path, dimension=tools.embedder.dimension, clock=self._facts, durable=False
        )
        idle: Embedder = IdleEmbedder(tools.embedder)
        judged = tools.entity_judge is not None or tools.fact_judge is not None
        self._compared = compared = tools.embedder if judged else idle
        observer = self._counting = Counting(tools.observer)
        self._line = Line(
            store=self.store,
            extract=ExtractStage(self.store, self._extractor, idle, self._received, observer),
            resolve_entities=ResolveEntitiesStage(
                self.store, compared, self._entities, observer, tools.entity_judge
            ),
            resolve_facts=ResolveFactsStage(
                self.store, compared, self._facts, observer, tools.fact_judge, tools.vocabulary
            ),
            update_communities=UpdateCommunitiesStage(self.store, idle, self._facts, observer),
        )
        self._retry = RetryPolicy()

    async def open(self) -> None:
        """Create the file, or go on with it."""
        await self.store.open()

    async def close(self) -> None:
        """Let go of the file."""
        await self.store.close()

    async def known(self) -> dict[str, KnownEpisode]:
        """What is in it, by episode id."""
        return {k.id: k for k in await self.store.known_episodes(self.group_id)}

    async def ledger(self) -> Ledger:
        """All of it."""
        return await self.store.ledger(self.group_id)

    async def draw_communities(self, now: datetime) -> None:
        """Communities of the whole group, from its facts that hold now. They depend on nothing else."""
        self._facts.now = now
        await self._line.update_communities.rebuild(self.group_id)

    async def tell(
        self,
        episodes: Sequence[Episode],
        kept: Mapping[str, Extraction],
        times: Mapping[str, Learned],
        records: Records | None = None,
    ) -> None:
        """Some episodes, in order: extraction side by side, everything else one after the other. One that no attempt
        can finish is `dead` in the shadow."""
        self._records = records or Records()
        before = self._said.of({e.id for e in episodes}) if self._said else {}
        self._extractor.kept = {**kept, **before}
        places = asyncio.Semaphore(self._tools.ahead)
        admitted: list[tuple[Received, asyncio.Task[Extraction | None]]] = []

        async def prepare(received: Received) -> Extraction | None:
            async def once() -> Extraction | None:
                async with places:
                    return await self._line.prepare(received)

            found = await persist("extract", once, self._retry)
            if self._said is not None and found is not None and received.stored.id not in self._said:
                self._said.add(received.stored.id, found)
            return found

        try:
            for episode in episodes:
                self._received.now = times[episode.id].received
                received = await self._line.admit(episode)
                admitted.append((received, asyncio.create_task(prepare(received))))
            for received, extraction in admitted:
                await self._finish(received, extraction, times[received.stored.id])
        finally:
            for _, task in admitted:
                task.cancel()
            await asyncio.gather(*(task for _, task in admitted), return_exceptions=True)

    async def _finish(
        self, received: Received, extraction: asyncio.Task[Extraction | None], at: Learned
    ) -> None:
        ref = received.stored.ref
        self._received.now, self._entities.now, self._facts.now = at.received, at.entities, at.facts
        try:
            found = await extraction
            line = self._with_records(ref)
            await persist("resolve", lambda: line.resolve(received, found), self._retry)
        except GivenUp as given_up:
            await self.store.mark_dead(ref.group_id, ref.id, given_up.reason)

    def _with_records(self, episode: EpisodeRef) -> Line:
        """The line, with the record before the judges where there is anything to answer or to ask."""
        line, judged = self._line, self._tools.entity_judge is not None or self._tools.fact_judge is not None
        stages = (line.resolve_entities, line.resolve_facts)
        if not judged and all(self._records.of(episode.id, stage.name) is None for stage in stages):
            return line
        return replace(
            line,
            resolve_entities=replace(line.resolve_entities, records=self._records),
            resolve_facts=replace(line.resolve_facts, records=self._records),
        )

    @property
    def unrecorded(self) -> int:
        """Questions of judges, in this run, that had no record."""
        return self._counting.events["judge_unrecorded"]

    async def redo(self, act: Act, original: Ledger) -> None:
        """What an operator did, done here. Raises Poison when there is nothing that it could be done to."""
        ledger = await self.ledger()
        after = retold(ledger, done_again(act, ledger, original), act.at)
        occurrence = Occurrence(at=act.at, added=(act.episode,) if act.episode else ())
        texts = texts_to_embed(ledger, after, occurrence)
        vectors = dict(zip(texts, await self._compared.embed(texts), strict=True))
        await self.store.commit_curation(difference(ledger, after, vectors, occurrence))

    async def forget(self, episodes: Sequence[str]) -> None:
        """Take back what was forgotten in the live graph since it was told here."""
        operator = Operator(self.store, self._compared, self._facts)
        await operator.sent(await operator.forget_episodes(self.group_id, episodes))
