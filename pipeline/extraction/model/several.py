"""One call for several episodes, and what of its answer is trusted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from pipeline.cost.dividing import divided
from pipeline.errors import Poison, Retryable
from pipeline.extraction.model.answer import Found
from pipeline.extraction.model.commands import speaks_to_machine
from pipeline.extraction.model.company import Shared
from pipeline.extraction.model.mixed_up import Neighbours
from pipeline.extraction.model.prompt import MAX_CONTEXT_EACH, Passage, question_of_several
from pipeline.llm.fence import Fence, TokenSource
from pipeline.llm.port import ChatModel
from pipeline.llm.tokens import estimate
from pipeline.model.episode import Source
from pipeline.observer import Observer
from pipeline.ontology.model import Ontology

MAX_TEXT = 2_000
"""Characters of an episode that may share a call: a longer one is worth a call, and its answer is long."""
MAX_FAILURES = 3
PAUSE = 200
"""After so many failed calls in a row the model, or its endpoint, seems not to be able to do it: so many episodes are
asked about alone before it is tried again."""

_NUMBERED = re.compile(r"\b(?:episodes?|episodios?|entries|parts?)\b\W{0,3}\d|片段|第\s*\d+\s*[个条段]", re.I)


class Several:
    """Asks about several episodes at once.

    An episode is to be asked about alone when the answer has no part for it, more than one, or one that cannot be
    read; when its part may belong to a neighbour; and when the whole call has failed. Counted as
    `shared_call_part_missing`, `shared_call_part_doubted`, `shared_call_unusable`. A call of which less than half is
    trusted is a failed one, too.
    """

    def __init__(self, chat: ChatModel, observer: Observer, token: TokenSource) -> None:
        self._chat = chat
        self._observer = observer
        self._token = token
        self._failures = self._paused = 0

    def takes(self, passage: Passage) -> bool:
        """Whether a passage may share a call: it is short, and nothing in it speaks to the machine or of numbered
        episodes, so that a model that obeys its data obeys nobody who could reach a neighbour."""
        if self._paused:
            self._paused -= 1
            return False
        if len(passage.text) > MAX_TEXT:
            return False
        record = passage.episode.source is Source.json
        return not any(
            speaks_to_machine(text, record=record) or _NUMBERED.search(text) for text in passage.texts
        )

    def weight(self, passage: Passage) -> int:
        """The tokens, by estimate, of what is shown of a passage."""
        context = sum(estimate(text[:MAX_CONTEXT_EACH]) for text in passage.context)
        return context + sum(estimate(text) for text in (passage.text, *passage.speakers))

    async def ask(self, ontology: Ontology | None, passages: Sequence[Passage]) -> list[Shared]:
        """Each passage's share. A single one is not asked about here. Raises Retryable."""
        if len(passages) < 2:
            return [Shared() for _ in passages]
        fence = Fence([text for passage in passages for text in passage.texts], self._token)
        try:
            reply = await self._chat.ask(question_of_several(passages, fence, ontology))
        except Retryable:
            # Busy, away, or too slow for so long an answer.
            self._count(failed=True)
            raise
        except Poison:
            self._count(failed=True)
            self._observer.event("shared_call_unusable")
            return [Shared() for _ in passages]
        usages = divided(reply.usage, [self.weight(passage) for passage in passages])
        parts = reply.answer.sole(len(passages))
        trusted = await asyncio.to_thread(self._trusted, passages, parts)
        self._count(failed=trusted.count(None) * 2 > len(passages))
        return [Shared(found, usage) for found, usage in zip(trusted, usages, strict=True)]

    def _count(self, *, failed: bool) -> None:
        self._failures = self._failures + 1 if failed else 0
        if self._failures >= MAX_FAILURES:
            self._failures, self._paused = 0, PAUSE

    def _trusted(self, passages: Sequence[Passage], parts: Sequence[Found | None]) -> list[Found | None]:
        neighbours = Neighbours(passages)
        trusted: list[Found | None] = []
        for place, found in enumerate(parts):
            if found is None:
                self._observer.event("shared_call_part_missing")
            elif neighbours.may_own(place, found):
                self._observer.event("shared_call_part_doubted")
                found = None
            trusted.append(found)
        return trusted
