"""When a found fact holds: the model's dates, checked against the words of the text. Pure.

Where the text has a date expression for the fact, the rules of `pipeline.timeline.dates` decide; the model's date
counts where they find none. A time that is nowhere is the reference time, except for what is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pipeline.extraction.local.sentences import sentences
from pipeline.extraction.model.answer import FoundFact
from pipeline.text.analysis import terms
from pipeline.timeline.dates import DateSpan, Interval, resolve, to_interval
from pipeline.timeline.partial import parse_partial
from pipeline.timeline.precision import Precision

Agreement = Literal["none", "same", "supplied", "disagrees"]
_Dated = tuple[datetime | None, Precision | None]


@dataclass(frozen=True)
class Dating:
    """The interval of a fact, and how rules and model agreed: no rule applied, the same, the model gave nothing, or
    the model gave another day (the rule's stands)."""

    interval: Interval
    agreement: Agreement


class DateChecker:
    """Dates the facts of one text. Sentences and their expressions are read once."""

    def __init__(self, text: str, reference_time: datetime) -> None:
        self._text = text
        self._reference = reference_time
        self._spans = resolve(text, reference_time)
        self._sentences = [(start, end, frozenset(terms(text[start:end]))) for start, end in sentences(text)]

    def date(self, fact: FoundFact, alone: bool) -> Dating:
        """The interval of a fact. `alone`: no other fact comes from its sentence, so that the date there is its own."""
        begins, ends = _parsed(fact.valid_at), _parsed(fact.invalid_at)
        span = self._span(fact, alone, begins[0] is not None or ends[0] is not None)
        if span is None:
            return Dating(self._by_model(fact, begins, ends), "none")
        stated = ends if fact.status == "ended" or span.role == "until" else begins
        stated = stated if stated[0] is not None else (ends if begins[0] is None else begins)
        agreement: Agreement = (
            "supplied" if stated[0] is None else "same" if _within(stated, span) else "disagrees"
        )
        return Dating(self._by_rule(fact, span, begins, ends), agreement)

    def sentence_of(self, fact: FoundFact) -> int | None:
        """The index of the sentence that a fact was most likely taken from; None when none resembles it."""
        words = frozenset(terms(f"{fact.fact} {fact.subject} {fact.object or ''} {fact.when or ''}"))
        scores = [len(words & own) for _, _, own in self._sentences]
        best = max(scores, default=0)
        return scores.index(best) if best else None

    def sentence_text(self, index: int) -> str:
        """The words of a sentence."""
        start, end, _ = self._sentences[index]
        return self._text[start:end]

    def sentences_naming(self, name: str) -> list[str]:
        """The sentences in which most of a name's words stand."""
        words = frozenset(terms(name))
        shared = [len(words & own) for _, _, own in self._sentences]
        most = max(shared, default=0)
        return [self.sentence_text(i) for i, n in enumerate(shared) if n and n == most]

    @property
    def sentences(self) -> list[str]:
        """All sentences, in order."""
        return [self.sentence_text(i) for i in range(len(self._sentences))]

    def _span(self, fact: FoundFact, alone: bool, dated: bool) -> DateSpan | None:
        if fact.when:
            at = self._text.casefold().find(fact.when.casefold())
            if at >= 0:
                return _best(s for s in self._spans if s.begin < at + len(fact.when) and at < s.stop)
        index = self.sentence_of(fact)
        if index is None:
            return None
        start, end, _ = self._sentences[index]
        inside = [s for s in self._spans if start <= s.begin < end]
        return inside[0] if len(inside) == 1 and (alone or dated) else None

    def _by_model(self, fact: FoundFact, begins: _Dated, ends: _Dated) -> Interval:
        now: _Dated = (self._reference, Precision.second)
        if fact.status == "ended":
            return (None, None, *(ends if ends[0] else begins if begins[0] else now))
        if fact.status == "held":
            return (*begins, *(ends if ends[0] else now if begins[0] is None else (None, None)))
        if begins[0] is None and (ends[0] is None or ends[0] > self._reference):
            begins = now
        return (*begins, *ends)

    def _by_rule(self, fact: FoundFact, span: DateSpan, begins: _Dated, ends: _Dated) -> Interval:
        start, start_precision, end, end_precision = to_interval(span)
        if fact.status == "ended":
            at = span.end if span.role == "until" else start or end
            return None, None, at, span.precision
        if fact.status == "held" and end is None and span.role in ("point", "period"):
            # "I lived there in 2019": over at the end of what was said, or by now.
            end, end_precision = span.end, span.precision
            if end is not None and end > self._reference:
                end, end_precision = self._reference, Precision.second
        if (
            end is None
            and ends[0] is not None
            and (start is None or ends[0] > start)
            and not _within(ends, span)
        ):
            end, end_precision = ends
        if start is None and begins[0] is not None and (end is None or begins[0] < end):
            start, start_precision = begins
        if start is None and (end is None or end > self._reference):
            start, start_precision = self._reference, Precision.second
        return start, start_precision, end, end_precision


def _best(spans: Iterable[DateSpan]) -> DateSpan | None:
    found = list(spans)
    return max(found, key=lambda s: s.stop - s.begin) if found else None


def _parsed(value: str | None) -> _Dated:
    if not value:
        return None, None
    try:
        return parse_partial(value)
    except ValueError:
        return None, None


def _within(dated: _Dated, span: DateSpan) -> bool:
    """Whether a date says the same as the expression, or less, or more of what lies inside it."""
    moment, precision = dated
    bounds = [bound for bound in (span.start, span.end) if bound is not None]
    if moment is None or not bounds:
        return False
    if precision is Precision.year:
        return any(moment.year == bound.year for bound in bounds)
    if precision is Precision.month:
        return any((moment.year, moment.month) == (bound.year, bound.month) for bound in bounds[:1]) or (
            bounds[0] <= moment < bounds[-1]
        )
    if span.role in ("point", "period") and span.start and span.end:
        return span.start <= moment < span.end
    return any(moment.date() == bound.date() for bound in bounds)
