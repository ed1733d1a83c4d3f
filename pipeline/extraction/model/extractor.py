"""The extractor that asks a chat model, once for an episode and a second time only where something is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pipeline.extraction.local.lines import utterances
from pipeline.extraction.model.answer import Found
from pipeline.extraction.model.assemble import Assembled, Assembler
from pipeline.extraction.model.chunks import chunks, record_chunks
from pipeline.extraction.model.company import Seat
from pipeline.extraction.model.prompt import Passage, question
from pipeline.extraction.model.scan import Covered, Lead, leads
from pipeline.extraction.model.several import Several
from pipeline.extraction.model.small_talk import is_small_talk
from pipeline.llm.fence import Fence, TokenSource, random_token
from pipeline.llm.port import ChatModel
from pipeline.llm.reading import joined
from pipeline.model.episode import Episode, Source, Usage
from pipeline.model.extraction import Extraction
from pipeline.observer import Observer
from pipeline.ontology.conformity import conform
from pipeline.ontology.model import Ontology
from pipeline.ontology.registry import OntologyRegistry


@dataclass(frozen=True)
class ExtractionSize:
    """Characters of one question's text, and of the overlap between two; episodes of context that are shown."""

    chunk: int = 12_000
    overlap: int = 400
    context: int = 4


class ModelExtractor:
    """Implements `Extractor` for messages, texts and JSON records.

    Episodes that are read in company (`Company`) share calls for their first question, as far as `Several` lets them.

    Args:
        chat: the model.
        observer: told of everything that was dropped, corrected or asked again.
        reflexion: how often a passage may be asked about again (MAX_REFLEXION_ITERATIONS); 0 switches it off.
        ontologies: what an episode's `ontology` may name.
        size: how much goes into one question.
        token: where the fences' tokens come from.
    """

    def __init__(
        self,
        chat: ChatModel,
        observer: Observer,
        *,
        reflexion: int = 1,
        ontologies: OntologyRegistry | None = None,
        size: ExtractionSize | None = None,
        token: TokenSource = random_token,
    ) -> None:
        self._chat = chat
        self._observer = observer
        self._reflexion = reflexion
        self._ontologies = ontologies or OntologyRegistry()
        self._size = size or ExtractionSize()
        self._token = token
        self._several = Several(chat, observer, token)

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        """One question for a message, one for each piece of a long text; none when the words state nothing.

        Raises Retryable when the model cannot be reached, Poison when its answers cannot be used.
        """
        speakers, roles = _speakers(episode)
        ontology = self._ontologies.get(episode.ontology)
        assembler = Assembler(
            speakers,
            roles,
            self._observer,
            record=episode.source is Source.json,
            typed=ontology is not None and bool(ontology.entity_types),
        )
        usage = Usage()
        if self._states_nothing(episode, context):
            self._observer.event("small_talk")
        else:
            passages = self._passages(episode, context, speakers)
            alone = len(passages) > 1
            answers = await asyncio.gather(*(self._ask(passage, ontology, alone) for passage in passages))
            for passage, (found, spent) in zip(passages, answers, strict=True):
                # Seconds of work for a long document, which must not hold up the heartbeats of the event loop.
                await asyncio.to_thread(assembler.add, passage, found)
                usage += spent
        return self._conforming(ontology, assembler.result(), usage)

    def _conforming(self, ontology: Ontology | None, made: Assembled, usage: Usage) -> Extraction:
        extraction = Extraction(mentions=made.mentions, statements=made.statements, usage=usage)
        if ontology is None:
            return extraction
        return conform(extraction, ontology, self._observer, frozenset(range(made.speakers)))

    async def _ask(self, passage: Passage, ontology: Ontology | None, alone: bool) -> tuple[Found, Usage]:
        found, usage = await self._first(passage, ontology, alone)
        for _ in range(self._reflexion):
            missed = await asyncio.to_thread(self._missed, passage, found)
            if not missed:
                break
            self._observer.event("reflexion")
            for lead in missed:
                self._observer.event(f"reflexion_{lead.kind}")
            reasons = [lead.reason for lead in missed]
            fence = self._fence(passage, reasons)
            again = await self._chat.ask(question(passage, fence, ontology, reasons))
            usage += again.usage
            more = joined(found, again.answer)
            if more == found:
                break
            self._observer.event("reflexion_found")
            found = more
        return found, usage

    async def _first(self, passage: Passage, ontology: Ontology | None, alone: bool) -> tuple[Found, Usage]:
        usage = Usage()
        if (seat := Seat.taken()) is not None:
            if alone or not await asyncio.to_thread(self._several.takes, passage):
                seat.leave()
            else:
                call = partial(self._several.ask, ontology)
                shared = await seat.ask(passage, self._several.weight(passage), call)
                if shared.found is not None:
                    return shared.found, shared.usage
                usage = shared.usage
        reply = await self._chat.ask(question(passage, self._fence(passage), ontology))
        return reply.answer, usage + reply.usage

    def _missed(self, passage: Passage, found: Found) -> list[Lead]:
        """Leads in a message or text; a record's keys and values are too regular to be looked through like prose."""
        if passage.episode.source is Source.json:
            return []
        facts = [f"{f.subject} {f.object or ''} {f.fact} {f.when or ''}" for f in found.facts]
        entities = [
            " ".join([e.name, e.summary or "", *(str(a.value) for a in e.attributes)]) for e in found.entities
        ]
        dated = any(f.valid_at or f.invalid_at or f.when for f in found.facts)
        words = " ".join([*facts, *entities, *passage.speakers])
        return leads(passage.text, Covered(words, facts, dated), passage.episode.reference_time)

    def _fence(self, passage: Passage, more: Sequence[str] = ()) -> Fence:
        return Fence([*passage.texts, *more], self._token)

    def _passages(
        self, episode: Episode, context: Sequence[Episode], speakers: Sequence[str]
    ) -> list[Passage]:
        size = self._size
        if episode.source is Source.json:
            texts = record_chunks(episode.content, size.chunk)
        else:
            texts = chunks(str(episode.content), size.chunk, size.overlap)
        before = tuple(earlier.text for earlier in context[-size.context :]) if size.context else ()
        return [Passage(episode, text, tuple(speakers), before) for text in texts]

    def _states_nothing(self, episode: Episode, context: Sequence[Episode]) -> bool:
        if episode.source is not Source.message:
            return False
        asked = bool(context) and context[-1].text.rstrip().endswith(("?", "？"))
        return all(is_small_talk(said.text, asked) for said in utterances(episode))


def _speakers(episode: Episode) -> tuple[list[str], list[str | None]]:
    """The speakers of a message, each once, and their roles where the event tells one."""
    names = dict.fromkeys(said.speaker for said in utterances(episode) if said.speaker)
    role = episode.speaker.role if episode.speaker else None
    return list(names), [role] * len(names)
