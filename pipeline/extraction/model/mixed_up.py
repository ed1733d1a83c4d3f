"""Whether a part of an answer about several episodes may have come from another one of them. Pure.

It may doubt too much: a part in doubt costs a call of its own, a part under the wrong number would be a wrong memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.extraction.model.answer import Found, FoundEntity, FoundFact
from pipeline.extraction.model.commands import tells_an_ending
from pipeline.extraction.model.grounding import NEEDED_SHARE, Ground
from pipeline.extraction.model.prompt import Passage
from pipeline.model.moments import iso
from pipeline.timeline.dates import resolve

_PAST = re.compile(
    r"\b(?:\w{2,}ed|was|were|had|been|did|went|got|\w+aba[ns]?|\w+ía[ns]?|fu[eié]\w*|era[ns]?)\b|过|曾|当时|原来",
    re.I,
)


class Neighbours:
    """Passages that were asked about in one call."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        # Without the context: it may be the text of a neighbour.
        self._own = [Ground("\n".join([p.text, *p.speakers])) for p in passages]
        self._shown = [Ground("\n".join(p.texts)) for p in passages]

    def may_own(self, place: int, found: Found) -> bool:
        """Whether something that was found for the passage at `place` fits a neighbour's words better, or has an
        ending or a date that none of the passage's own words gives."""
        return any(self._is_strange(place, entity) for entity in found.entities) or any(
            self._fits_better(place, f"{fact.fact} {fact.subject} {fact.object or ''}")
            or self._fits_better(place, fact.when or "")
            or self._gives_more(place, fact)
            for fact in found.facts
        )

    def _is_strange(self, place: int, entity: FoundEntity) -> bool:
        told = " ".join([entity.summary or "", *(str(a.value) for a in entity.attributes)])
        if self._fits_better(place, told):
            return True
        return not self._shown[place].has_name(entity.name) and any(
            ground.covers(entity.name) >= NEEDED_SHARE for ground in self._others(place)
        )

    def _fits_better(self, place: int, told: str) -> bool:
        own = self._own[place].covers(told)
        return any(ground.covers(told) > own for ground in self._others(place))

    def _gives_more(self, place: int, fact: FoundFact) -> bool:
        passage = self._passages[place]
        over = tells_an_ending(passage.text) or (fact.status == "held" and _PAST.search(passage.text))
        if fact.status != "holds" and not over:
            return True
        today = iso(passage.episode.reference_time)[:10]
        given = [date for date in (fact.valid_at, fact.invalid_at) if date and date[:10] != today]
        return bool(given) and not resolve(passage.text, passage.episode.reference_time)

    def _others(self, place: int) -> list[Ground]:
        return [ground for other, ground in enumerate(self._own) if other != place]
