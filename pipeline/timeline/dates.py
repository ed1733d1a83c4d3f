"""Finds the dates in a sentence and puts them on the calendar of its reference time.

English, Spanish and Chinese; relative ("two weeks ago"), partial ("March") and absolute dates, open and closed
stretches ("since March", "from March to June"). Pure: the result depends on the arguments only.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Literal

from pipeline.timeline.datelang import settle
from pipeline.timeline.datelang.languages import LANGUAGES, Language, guess
from pipeline.timeline.datelang.latin import fold
from pipeline.timeline.partial import parse_partial
from pipeline.timeline.precision import Precision

__all__ = ["DateSpan", "Precision", "Role", "parse_partial", "resolve", "to_interval"]

Role = Literal["point", "period", "since", "until", "range"]
Interval = tuple[datetime | None, Precision | None, datetime | None, Precision | None]

_SENTENCE_END = re.compile(r"[.!?;。！？；\n](?=\s|$|[^\x00-\x7f])")


@dataclass(frozen=True)
class DateSpan:
    """One date expression: `text[begin:stop]`, in characters.

    `start` and `end` are midnights in UTC. For a point or a period, `end` is the exclusive end of what was said.
    For a range, `end` is where the period that was named last begins ("from March to June" ends on 1 June), unless
    the words include it ("through June"). An open end is None. `precision` belongs to `start`, or to `end` when
    there is no start; `end_precision` belongs to the end of a range.
    """

    start: datetime | None
    end: datetime | None
    precision: Precision
    text: str
    begin: int
    stop: int
    role: Role
    end_precision: Precision | None = None


def resolve(text: str, reference_time: datetime, language: str | None = None) -> list[DateSpan]:
    """All date expressions of a text, in order, resolved against an aware reference time.

    `language` is "en", "es" or "zh" (a region after it is ignored); None or another one: told by script and words.
    "Today" is the calendar day of the reference time in its own zone. A date that comes back every week, month or
    year ("Thursday", "5 May") is the last one up to the reference day, or the next one when the sentence speaks of
    the future. Time of day, durations and repetitions ("at 5", "two hours", "every Monday") give no date.

    Raises ValueError when the reference time is naive; no text makes it raise.
    """
    if reference_time.utcoffset() is None:
        raise ValueError("reference_time must be aware: it has no UTC offset")
    folded = fold(text)
    named = (language or "").lower().partition("-")[0]
    spans: list[DateSpan] = []
    for code in [named] if named in LANGUAGES else guess(folded):
        found = list(_read(LANGUAGES[code], text, folded, reference_time.date()))
        spans = _merged(spans, found) if spans else found
    return spans


def _merged(spans: list[DateSpan], more: list[DateSpan]) -> list[DateSpan]:
    """Both in order; where two overlap, the one of the likelier language."""
    begins = [span.begin for span in spans]
    kept = list(spans)
    for span in more:
        at = bisect_right(begins, span.begin)
        after_left = at == 0 or spans[at - 1].stop <= span.begin
        before_right = at == len(spans) or span.stop <= spans[at].begin
        if after_left and before_right:
            kept.append(span)
    return sorted(kept, key=lambda span: span.begin)


def _read(grammar: Language, text: str, folded: str, today: date) -> Iterator[DateSpan]:
    sentences = _Sentences(text, grammar)
    for item in grammar.read(text, folded, today):
        future, past = sentences.speak_of(item.begin)
        found = settle.settle(item.value, today, future=future, past=past)
        if found is not None:
            yield DateSpan(
                start=_midnight(found.start),
                end=_midnight(found.end),
                precision=found.grain,
                text=text[item.begin : item.stop],
                begin=item.begin,
                stop=item.stop,
                role=found.role,
                end_precision=found.end_grain,
            )


class _Sentences:
    """What each sentence of a text speaks of, looked up once."""

    def __init__(self, text: str, grammar: Language) -> None:
        self._text, self._grammar = text, grammar
        self._starts = [0] + [match.end() for match in _SENTENCE_END.finditer(text)]
        self._known: dict[int, tuple[bool, bool]] = {}

    def speak_of(self, at: int) -> tuple[bool, bool]:
        """Whether the sentence around a character has words of the future, and words of the past."""
        number = bisect_right(self._starts, at)
        if number not in self._known:
            stop = self._starts[number] if number < len(self._starts) else len(self._text)
            sentence = self._text[self._starts[number - 1] : stop].lower()
            grammar = self._grammar
            self._known[number] = bool(grammar.future.search(sentence)), bool(grammar.past.search(sentence))
        return self._known[number]


def to_interval(span: DateSpan) -> Interval:
    """(valid_at, its precision, invalid_at, its precision) of a fact that holds at, since, until or over the span.

    A point or a period says when something was true, not when it stopped: it gives only `valid_at`.
    """
    match span.role:
        case "until":
            return None, None, span.end, span.precision
        case "range":
            return span.start, span.precision, span.end, span.end_precision or span.precision
    return span.start, span.precision, None, None


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)
