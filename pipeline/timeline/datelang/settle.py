"""From what an expression means to days: the choice between past and future, and between open ends."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from pipeline.timeline.datelang.calendar import Period
from pipeline.timeline.datelang.values import Fixed, Recurring, Relation
from pipeline.timeline.precision import Precision


@dataclass(frozen=True)
class Settled:
    """`start <= day < end`; None is open. `grain` is that of the start, or of the end when there is no start."""

    role: Literal["point", "period", "since", "until", "range"]
    start: date | None
    end: date | None
    grain: Precision
    end_grain: Precision | None = None


def settle(value: Fixed | Recurring | Relation, today: date, *, future: bool, past: bool) -> Settled | None:
    """`future` and `past` say what the sentence speaks of. None when the calendar has no such day."""
    if isinstance(value, Relation):
        return _relation(value, today, future=future, past=past)
    period = _choose(value, today, future=future)
    if period is None:
        return None
    point = period.end.toordinal() - period.start.toordinal() == 1
    return Settled("point" if point else "period", period.start, period.end, period.grain)


def _relation(value: Relation, today: date, *, future: bool, past: bool) -> Settled | None:
    if value.left is not None and value.right is not None:
        return _range(value.left, value.right, today, value.inclusive, future=future)
    if value.left is not None:
        start = _choose(value.left, today, future=future)
        if start is None:
            return None
        # "after 2016" begins when the year is over, "after 5 May" on the day
        late = value.after and start.grain is not Precision.day
        return Settled("since", start.end if late else start.start, None, start.grain)
    if value.right is not None:
        # what is said to last until May has mostly not ended yet
        end = _choose(value.right, today, future=future or not past)
        if end is not None:
            return Settled("until", None, end.end if value.inclusive else end.start, end.grain)
    return None


def _range(
    left: Fixed | Recurring, right: Fixed | Recurring, today: date, inclusive: bool, *, future: bool
) -> Settled | None:
    if isinstance(left, Recurring) and isinstance(right, Recurring):
        pairs = [(a, b) for a in left.near(today, -9, 9) if (b := right.next(a.start)) is not None]
        if future:
            chosen = min((p for p in pairs if p[1].end > today), key=_starts, default=None)
        else:
            chosen = max((p for p in pairs if p[0].start <= today), key=_starts, default=None)
        if chosen is None:
            return None
        first, last = chosen
    else:
        start = left.period if isinstance(left, Fixed) else None
        stop = right.period if isinstance(right, Fixed) else None
        if start is None and stop is not None and isinstance(left, Recurring):
            start = left.latest(stop.start)
        if stop is None and start is not None and isinstance(right, Recurring):
            stop = right.next(start.start)
        if start is None or stop is None:
            return None
        first, last = start, stop
    end = last.end if inclusive else last.start
    if first.start >= end:
        return None
    return Settled("range", first.start, end, first.grain, last.grain)


def _choose(value: Fixed | Recurring, today: date, *, future: bool) -> Period | None:
    if isinstance(value, Fixed):
        return value.period
    if future:
        return value.next(today) or value.latest(today)
    return value.latest(today) or value.next(today)


def _starts(pair: tuple[Period, Period]) -> date:
    return pair[0].start
