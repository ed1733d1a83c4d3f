"""The timeline of a slot: from the evidence about one (subject, relation) to intervals. Pure: no I/O, no clock.

A slot holds values (objects). Values stated with cardinality `many` live side by side; values of which any statement
has cardinality `one` exclude each other: each ends, at the latest, where a value with a later start begins. The
result is a function of the *set* of evidence. The order of arrival plays no part beyond its place in the total order
(reference time, sequence, index), so any arrival order gives the same timeline, and taking evidence away gives what
would have been without it.

How it works. Among statements of `one` values with the same start, the newest one decides which value stands there;
the others are outdone. The starts that stand cut time into cells, each belonging to one value, and no statement
reaches past its cell. Inside a cell, the statements of a value are folded in total order into segments: statements
that overlap or touch join; a stated end replaces an older end; an open statement made at or after the end of the
segment that it falls into opens it again, an earlier one does not; closing evidence ends the segment that covers it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import TypeVar

from pipeline.model.extraction import Cardinality, StatementKind
from pipeline.timeline.corrections import corrected
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.precision import Precision

EARLIEST = float("-inf")
LATEST = float("inf")

Value = TypeVar("Value", str, tuple[str, str])


@dataclass(frozen=True)
class Segment:
    """A stretch during which one value holds: `valid_at <= t < invalid_at`, None is unbounded; never empty.

    `support` are the ids of the asserting evidence, in total order. `closed_by` is the episode that gave the end
    and `rule` how: "stated" (it said so), "superseded" (another value of the slot starts there), or the rule of the
    closing evidence.
    """

    object: str
    valid_at: datetime | None
    valid_at_precision: Precision | None
    invalid_at: datetime | None
    invalid_at_precision: Precision | None
    support: tuple[str, ...]
    closed_by: str | None = None
    rule: str | None = None


@dataclass(frozen=True)
class _Open:
    """A segment while it is being folded. `end` None: no end known."""

    start: Evidence
    start_at: float
    end: Evidence | None
    end_at: float
    support: tuple[Evidence, ...] = field(default=())


def timeline(evidence: Iterable[Evidence]) -> list[Segment]:
    """The segments of one (subject, relation), ordered by start and then by object.

    Evidence of the same id counts once. Evidence whose end is not after its start says nothing.
    """
    ordered = total_order(evidence)
    by_object: dict[str, list[Evidence]] = defaultdict(list)
    for item in ordered:
        by_object[item.object].append(item)
    exclusive = exclusive_values(ordered, _object)
    standing = standing_starts(e for e in ordered if e.object in exclusive)
    segments: list[Segment] = []
    for value, items in by_object.items():
        segments += cells(value, items, standing, _object) if value in exclusive else additive(items)
    return sorted(segments, key=lambda s: (_at(s.valid_at, EARLIEST), s.object))


def standing_starts(statements: Iterable[Evidence]) -> list[tuple[float, Evidence]]:
    """For each start among `one` values, the newest statement there. Statements arrive in total order."""
    newest: dict[float, Evidence] = {}
    for statement in statements:
        if statement.kind is StatementKind.asserts and _sensible(statement):
            newest[_start(statement)] = statement
    return sorted(newest.items())


def cells(
    value: Value,
    items: list[Evidence],
    standing: list[tuple[float, Evidence]],
    value_of: Callable[[Evidence], Value],
) -> list[Segment]:
    """The segments of a value among those that exclude it.

    `items` is what is said of the value, in total order; `standing` the newest statement at each start, of the value
    itself or of one that excludes it; `value_of` tells of which value a statement speaks.
    """
    owner: dict[float, Value] = {at: value_of(e) for at, e in standing}
    rivals: list[tuple[float, Evidence]] = [(at, e) for at, e in standing if value_of(e) != value]
    bounds: list[float] = [EARLIEST, *(at for at, _ in rivals), LATEST]
    segments: list[Segment] = []
    for index, (low, high) in enumerate(pairwise(bounds)):
        mine = [
            e
            for e in items
            if e.kind is StatementKind.closes or (low <= _start(e) < high and owner.get(_start(e)) == value)
        ]
        rival = rivals[index][1] if index < len(rivals) else None
        segments += [_finish(o, high if rival else None, rival) for o in _fold(mine)]
    return segments


def additive(items: Iterable[Evidence]) -> list[Segment]:
    """The segments of a value that nothing excludes. Statements arrive in total order."""
    return [_finish(o, None, None) for o in _fold(items)]


def total_order(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Each evidence once, oldest first, as corrections by hand leave it."""
    distinct = {e.id: e for e in evidence}
    return corrected(sorted(distinct.values(), key=lambda e: (e.order, e.id)))


def exclusive_values(items: Iterable[Evidence], value_of: Callable[[Evidence], Value]) -> set[Value]:
    """The values of which any statement has cardinality `one`."""
    return {
        value_of(e) for e in items if e.cardinality is Cardinality.one and e.kind is StatementKind.asserts
    }


def _fold(items: Iterable[Evidence]) -> list[_Open]:
    """Statements of one value in total order to disjoint segments."""
    segments: list[_Open] = []
    for item in items:
        if item.kind is StatementKind.closes:
            segments = _close(segments, item)
        elif _sensible(item):
            segments = _assert(segments, item)
    return sorted(segments, key=lambda s: s.start_at)


def _assert(segments: list[_Open], item: Evidence) -> list[_Open]:
    start, end = _start(item), _at(item.invalid_at, LATEST)
    touched = [s for s in segments if s.start_at <= end and start <= s.end_at]
    rest = [s for s in segments if s not in touched]
    mine = _Open(item, start, item if item.invalid_at else None, end, (item,))
    if not touched:
        return [*rest, mine]
    # A known start is worth more than an unknown one; among known ones the earliest stands.
    known = [s for s in [*touched, mine] if s.start_at != EARLIEST] or [mine]
    first = min(known, key=lambda s: s.start_at)
    last = max(touched, key=lambda s: s.end_at)
    if item.invalid_at is not None or _opens_again(item, start, last.end_at):
        last = mine
    support = sorted([e for s in touched for e in s.support] + [item], key=lambda e: (e.order, e.id))
    joined = _Open(first.start, first.start_at, last.end, last.end_at, tuple(support))
    # An older start may lie behind a newer stated end; then there is nothing left of the older statement.
    return [*rest, joined if joined.start_at < joined.end_at else mine]


def _opens_again(item: Evidence, start: float, known_end: float) -> bool:
    """An open statement re-opens what has ended when it starts at the end, or was made when it had ended."""
    return known_end != LATEST and (start >= known_end or item.reference_time.timestamp() >= known_end)


def _close(segments: list[_Open], item: Evidence) -> list[_Open]:
    if item.invalid_at is None:
        return segments
    at = item.invalid_at.timestamp()
    kept: list[_Open] = []
    for segment in segments:
        if segment.start_at < at < segment.end_at:
            kept.append(replace(segment, end=item, end_at=at))
        elif segment.start_at != at:
            kept.append(segment)
    return kept


def _finish(folded: _Open, cap: float | None, rival: Evidence | None) -> Segment:
    capped = rival is not None and cap is not None and cap < folded.end_at
    open_ended = Segment(
        object=folded.start.object,
        valid_at=folded.start.valid_at,
        valid_at_precision=folded.start.valid_at_precision,
        invalid_at=None,
        invalid_at_precision=None,
        support=tuple(e.id for e in folded.support),
    )
    if capped and rival is not None:
        return replace(
            open_ended,
            invalid_at=rival.valid_at,
            invalid_at_precision=rival.valid_at_precision,
            closed_by=rival.episode_id,
            rule="superseded",
        )
    end = folded.end
    if end is None:
        return open_ended
    return replace(
        open_ended,
        invalid_at=end.invalid_at,
        invalid_at_precision=end.invalid_at_precision,
        closed_by=end.episode_id,
        rule="stated" if end.rule == "statement" else end.rule,
    )


def _object(item: Evidence) -> str:
    return item.object


def _sensible(item: Evidence) -> bool:
    return _start(item) < _at(item.invalid_at, LATEST)


def _start(item: Evidence) -> float:
    return _at(item.valid_at, EARLIEST)


def _at(moment: datetime | None, unbounded: float) -> float:
    return unbounded if moment is None else moment.timestamp()
