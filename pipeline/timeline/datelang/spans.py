"""Builders of durations, and of stretches that have a start, an end or both."""

from collections.abc import Callable
from datetime import timedelta

from pipeline.timeline.datelang import calendar, days, values
from pipeline.timeline.datelang.calendar import Period
from pipeline.timeline.datelang.cascade import Hit, Made, token
from pipeline.timeline.datelang.common import Duration, grain, inside, moved, unit_of, year_of
from pipeline.timeline.datelang.values import Fixed, Recurring, Relation
from pipeline.timeline.precision import Precision

_ALIGNED = (Precision.quarter, Precision.decade, Precision.century)


def duration(hit: Hit) -> Made:
    """`N U` pairs in a row, as a list of (count, unit)."""
    parts: Duration = []
    count, working = 1, False
    for item in hit.all("parts"):
        if item.code in "N1":
            count = int(item.value)
        elif item.code == "%":
            working = True
            if parts:
                parts[-1] = (parts[-1][0], "workday")
        elif item.code in "Uu":
            unit_, times = item.value if isinstance(item.value, tuple) else (item.value, 1)
            parts.append((count * times, "workday" if working else unit_))
    if any(abs(number) > 9999 for number, _ in parts):
        return None
    return token("d", parts)


def and_a_half(hit: Hit) -> Made:
    """ "two and a half years"."""
    count, unit_ = hit.number("count"), unit_of(hit)
    halves = {
        Precision.year: (6, Precision.month),
        Precision.month: (15, Precision.day),
        Precision.week: (3, Precision.day),
    }
    return token("d", [(count, unit_), halves[unit_]]) if unit_ in halves else None


def ago(sign: int) -> Callable[[Hit], Made]:
    """ "two weeks ago", "in three years": a day, known to the grain of its unit."""

    def built(hit: Hit) -> Made:
        parts: Duration = hit.get("dur")
        if parts[0][1] is Precision.weekend:
            return Fixed(calendar.unit_period(hit.today, Precision.weekend, sign * parts[0][0]))
        at = moved(hit.today, parts, sign)
        return Fixed(Period(at, at + timedelta(days=1), grain(parts)), loose=True)

    return built


def shifted(sign: int) -> Callable[[Hit], Made]:
    """ "three days after 12 January", "two weeks before yesterday"."""

    def built(hit: Hit) -> Made:
        parts, value = hit.get("dur"), hit.get("value")

        def change(period: Period) -> Period:
            at = moved(period.start, parts, sign)
            return Period(at, at + timedelta(days=1), grain(parts))

        if isinstance(value, Fixed):
            return Fixed(change(value.period), loose=True)
        return value.map(change) if isinstance(value, Recurring) else None

    return built


def span(side: int = 0, *, from_today: bool = False) -> Callable[[Hit], Made]:
    """ "the last three years" up to today, "the next three days" from tomorrow, "within 5 days" from today."""

    def built(hit: Hit) -> Made:
        parts: Duration = hit.get("dur")
        sign = side or hit.number("mod")
        if len(parts) == 1 and parts[0][1] in _ALIGNED:
            count, unit_ = parts[0]
            edge = calendar.unit_period(hit.today, unit_, 1 if sign > 0 else 0).start
            ends = sorted((edge, calendar.shift(edge, unit_, sign * count)))
            return Fixed(Period(ends[0], ends[1], Precision.period))
        start = hit.today + timedelta(days=1 if sign > 0 and not from_today else 0)
        ends = sorted((start, moved(start, parts, sign)))
        return Fixed(Period(ends[0], ends[1], Precision.period))

    return built


def count_span(hit: Hit) -> Made:
    """ "the five past years": a number, a word for the direction, a unit."""
    sign = hit.number("mod")
    start = hit.today + timedelta(days=1 if sign > 0 else 0)
    ends = sorted((start, moved(start, [(hit.number("count"), unit_of(hit))], sign)))
    return Fixed(Period(ends[0], ends[1], Precision.period))


def stretch(hit: Hit) -> Made:
    """ "two weeks starting 20 May"."""
    parts, value = hit.get("dur"), hit.get("value")

    def change(period: Period) -> Period:
        return Period(period.start, moved(period.start, parts, 1), Precision.period)

    if isinstance(value, Fixed):
        return Fixed(change(value.period))
    return value.map(change) if isinstance(value, Recurring) else None


def days_of_month(hit: Hit) -> Made:
    """ "from 4 to 22 January 1995"."""
    first, last, number = hit.number("first"), hit.number("last"), hit.number("month")
    if not first < last:
        return None
    left, right = days.month_day_of(number, first), days.month_day_of(number, last)
    if "year" not in hit:
        return Relation("range", left, right)
    whole = calendar.year(year_of(hit.item("year")))
    start, end = left.first_in(whole), right.first_in(whole)
    return Relation("range", Fixed(start), Fixed(end)) if start and end else None


def day_range(hit: Hit) -> Made:
    """ "from 10 January to the 12th": the last day is of the month of the first."""
    left, last = hit.get("left"), hit.number("last")

    def change(period: Period) -> Period:
        return calendar.day(period.start.replace(day=last))

    if isinstance(left, Fixed):
        return Relation("range", left, Fixed(change(left.period)))
    return Relation("range", left, left.map(change)) if isinstance(left, Recurring) else None


def month_range(hit: Hit) -> Made:
    """ "from 4 to 22 January 1995": two days of one month, the end being the day named last."""
    first, last = hit.number("first"), hit.number("last")
    outer = hit.get("outer")
    if not 1 <= first < last <= 31 or (
        isinstance(outer, Fixed) and outer.period.grain is not Precision.month
    ):
        return None
    left, right = inside(values.day_of_month(first), outer), inside(values.day_of_month(last), outer)
    if isinstance(left, Fixed | Recurring) and isinstance(right, Fixed | Recurring):
        return Relation("range", left, right)
    return None


def year_pair(hit: Hit) -> Made:
    """ "2014-2018"."""
    first, last = hit.number("first"), hit.number("last")
    if not 1900 <= first < last <= 2099:
        return None
    return Relation("range", Fixed(calendar.year(first)), Fixed(calendar.year(last)))


def relation(role: str, *, after: bool = False, inclusive: bool = False) -> Callable[[Hit], Made]:
    """since and until; `after` starts behind the period that is named, `inclusive` ends with it."""

    def built(hit: Hit) -> Made:
        value = hit.get("value")
        if not isinstance(value, Fixed | Recurring):
            return None
        if role == "since":
            return Relation(role, left=value, after=after)
        return Relation(role, right=value, inclusive=inclusive)

    return built


def through(hit: Hit) -> Made:
    """ "through 2021" without a start."""
    return relation("until", inclusive=True)(hit) if hit.get("to") == "through" else None


def between(hit: Hit) -> Made:
    left, right = hit.get("left"), hit.get("right")
    if not isinstance(left, Fixed | Recurring) or not isinstance(right, Fixed | Recurring):
        return None
    through = "to" in hit and hit.get("to") == "through"
    return Relation("range", left, right, inclusive=through)
