"""Stage 1: keep the raw episode, then find out what it says.

Three steps, because a runner may overlap them: `admit` stores the episode and reads its thread (in the order of the
group), `prepare` asks the extractor (any number side by side), `commit` records the result (in order again).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pipeline.clock import Clock
from pipeline.cost.metering import Meter
from pipeline.embedding.port import Embedder
from pipeline.errors import Parked, Poison, Retryable
from pipeline.extraction.port import Extractor
from pipeline.graph.extraction_port import ExtractionCommit, Received
from pipeline.graph.mark import Mark
from pipeline.graph.port import GraphStore
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.model.extraction import ExtractedEpisode, Extraction, Statement
from pipeline.observer import Observer
from pipeline.stages.outcome import Outcome, repeat_of

CONTEXT_SIZE = 4
MAX_EMBEDDED_CHARACTERS = 2000


@dataclass(frozen=True)
class ExtractStage:
    """Turns a raw episode into mentions and statements.

    Sends on an `ExtractedEpisode`; nothing when the episode says nothing (state `skipped`). With `embeds_ahead` the
    names and sentences that the next stages will need are embedded in one call, which helps when the embedder keeps
    vectors and asks an endpoint.
    """

    name: ClassVar[str] = "extract"
    store: GraphStore
    extractor: Extractor
    embedder: Embedder
    clock: Clock
    observer: Observer
    embeds_ahead: bool = False

    async def admit(self, episode: Episode) -> Received:
        """Store the episode, searchable at once, unless it is known; read what stands before it in its thread."""
        meter = Meter.begin()
        vectors = await self.embedder.embed([episode.text[:MAX_EMBEDDED_CHARACTERS]])
        received = await self.store.receive(episode, vectors[0], CONTEXT_SIZE, self.clock())
        return replace(received, spent=meter.usage)

    async def prepare(self, received: Received) -> Extraction | None:
        """Ask the extractor; None when the episode was extracted before. One that is parked is said to be so."""
        if received.mark is not None:
            return None
        meter = Meter.begin()
        episode = received.stored
        try:
            extraction = await self.extractor.extract(episode, received.context)
        except Parked as parked:
            await self.store.hold(episode.group_id, episode.id, str(parked))
            raise
        statements = tuple(self._checked(s, len(extraction.mentions)) for s in extraction.statements)
        if self.embeds_ahead:
            await self._embed_ahead(extraction)
        # The raw text was embedded on admission; that belongs to the cost of the episode.
        usage = extraction.usage + meter.usage + received.spent + Usage(embeddings=1)
        return extraction.model_copy(update={"statements": statements, "usage": usage})

    async def commit(self, received: Received, extraction: Extraction | None) -> Outcome:
        """Record what was found and say what to send on. A second commit sends on what the first did."""
        episode = received.stored
        if extraction is None:
            return repeat_of(received.mark or Mark(None), received.state, Usage())
        state = EpisodeState.skipped if extraction.empty else EpisodeState.extracted
        output = None
        if extraction.empty:
            self.observer.event("empty_extraction")
        else:
            output = ExtractedEpisode(episode=episode.ref, extraction=extraction).model_dump_json()
        commit = ExtractionCommit(
            episode=episode.ref, state=state, output=output, usage=extraction.usage, at=self.clock()
        )
        mark = await self.store.commit_extraction(commit)
        self.observer.spent(episode.group_id, extraction.usage)
        return Outcome(
            state, mark.output, usage=extraction.usage, repeated=mark.stood, forgotten=mark.forgotten
        )

    async def run(self, episode: Episode) -> Outcome:
        """All three steps, one after the other."""
        received = await self.admit(episode)
        return await self.commit(received, await self.prepare(received))

    async def _embed_ahead(self, extraction: Extraction) -> None:
        texts = [m.name for m in extraction.mentions] + [s.fact for s in extraction.statements]
        try:
            if texts:
                await self.embedder.embed(list(dict.fromkeys(texts)))
        except Retryable:
            # The stages ask again. To fail here would throw away an answer that a model was paid for.
            self.observer.event("embedding_ahead_failed")

    def _checked(self, statement: Statement, mentions: int) -> Statement:
        if not (0 <= statement.subject < mentions and 0 <= statement.object < mentions):
            raise Poison("a statement points to an entity that was not extracted", "statements")
        ends, starts = statement.invalid_at, statement.valid_at
        if ends is not None and starts is not None and ends <= starts:
            # "In 2019" gives both ends the same instant: what is known then is the start.
            self.observer.event("inverted_interval")
            return statement.model_copy(update={"invalid_at": None, "invalid_at_precision": None})
        return statement
