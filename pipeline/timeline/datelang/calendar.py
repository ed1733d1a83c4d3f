"""Calendar arithmetic on half-open periods of whole days. Weeks start on Monday (ISO 8601)."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from pipeline.timeline.precision import Precision

_MONTHS = {Precision.month: 1, Precision.quarter: 3, Precision.season: 3, Precision.half_year: 6}
_YEARS = {Precision.year: 1, Precision.decade: 10, Precision.century: 100}


@dataclass(frozen=True)
class Period:
    """The days `start <= day < end`, stated to `grain`."""

    start: date
    end: date
    grain: Precision


def day(start: date) -> Period:
    return Period(start, start + timedelta(days=1), Precision.day)


def week(inside: date) -> Period:
    start = inside - timedelta(days=inside.weekday())
    return Period(start, start + timedelta(days=7), Precision.week)


def weekend(inside: date) -> Period:
    start = week(inside).start + timedelta(days=5)
    return Period(start, start + timedelta(days=2), Precision.weekend)


def months(year_number: int, first: int, count: int, grain: Precision) -> Period:
    """`count` months from month `first`, which may lie outside 1..12."""
    start = _month_start(year_number * 12 + first - 1)
    return Period(start, _month_start(year_number * 12 + first - 1 + count), grain)


def month(year_number: int, number: int) -> Period:
    return months(year_number, number, 1, Precision.month)


def quarter(year_number: int, number: int) -> Period:
    return months(year_number, 3 * number - 2, 3, Precision.quarter)


def half(year_number: int, number: int) -> Period:
    return months(year_number, 6 * number - 5, 6, Precision.half_year)


def season(year_number: int, number: int) -> Period:
    """Meteorological, northern: 1 spring March-May, 2 summer, 3 autumn, 4 winter December-February."""
    return months(year_number, 3 * number, 3, Precision.season)


def year(number: int) -> Period:
    return Period(date(number, 1, 1), date(number + 1, 1, 1), Precision.year)


def decade(first_year: int) -> Period:
    return Period(date(first_year, 1, 1), date(first_year + 10, 1, 1), Precision.decade)


def century(number: int) -> Period:
    first = max(1, 100 * (number - 1))
    return Period(date(first, 1, 1), date(100 * number, 1, 1), Precision.century)


def shift(start: date, unit: Precision, count: int) -> date:
    """`count` units later (or earlier), clamped to the end of a shorter month."""
    if unit is Precision.day:
        return start + timedelta(days=count)
    if unit in (Precision.week, Precision.weekend):
        return start + timedelta(days=7 * count)
    total = start.year * 12 + start.month - 1 + count * (_MONTHS.get(unit) or 12 * _YEARS[unit])
    first = _month_start(total)
    return first.replace(day=min(start.day, monthrange(first.year, first.month)[1]))


def workdays(start: date, count: int) -> date:
    """`count` days of Monday to Friday later, or earlier."""
    step = 1 if count > 0 else -1
    if abs(count) > 3660:
        raise ValueError("too many business days")
    for _ in range(abs(count)):
        start += timedelta(days=step)
        while start.weekday() > 4:
            start += timedelta(days=step)
    return start


def unit_period(inside: date, unit: Precision, offset: int = 0) -> Period:
    """The unit that holds a day, or the one `offset` units from it ("last month" is -1)."""
    at = shift(inside, unit, offset)
    match unit:
        case Precision.day:
            return day(at)
        case Precision.week:
            return week(at)
        case Precision.weekend:
            return weekend(at)
        case Precision.month:
            return month(at.year, at.month)
        case Precision.quarter:
            return quarter(at.year, (at.month + 2) // 3)
        case Precision.half_year:
            return half(at.year, (at.month + 5) // 6)
        case Precision.year:
            return year(at.year)
        case Precision.decade:
            return decade(at.year // 10 * 10)
        case Precision.century:
            return century(at.year // 100 + 1)
    raise ValueError(f"no period of {unit}")


def nth_unit(inside: Period, unit: Precision, number: int, count: int = 1) -> Period:
    """The `number`-th unit of a period, or the last (-1); several from there on when `count` is above 1.

    A week belongs to the period that holds its Thursday, as in ISO 8601.
    """
    if unit is Precision.week:
        first = week(inside.start + timedelta(days=3))
        last = week(inside.end - timedelta(days=4))
    elif unit is Precision.weekend:
        first = weekend(inside.start)
        last = weekend(inside.end - timedelta(days=7))
    else:
        first = unit_period(inside.start, unit)
        last = unit_period(inside.end - timedelta(days=1), unit)
    if number < 0:
        start, end = shift(last.start, unit, 1 - count), last.end
    else:
        start = shift(first.start, unit, number - 1)
        end = shift(start, unit, count) if unit is not Precision.weekend else start + timedelta(days=2)
    if start >= inside.end:
        raise ValueError(f"no {unit} {number} in {inside}")
    return Period(start, end, unit)


def nth_weekday(inside: Period, weekday: int, number: int) -> Period:
    """The `number`-th Monday (0) to Sunday (6) of a period, or the last (-1)."""
    if number < 0:
        back = (inside.end.weekday() - 1 - weekday) % 7
        return day(inside.end - timedelta(days=1 + back))
    found = inside.start + timedelta(days=(weekday - inside.start.weekday()) % 7 + 7 * (number - 1))
    if found >= inside.end:
        raise ValueError(f"no weekday {number} in {inside}")
    return day(found)


def part(inside: Period, which: int) -> Period:
    """The early (1), middle (2) or late (3) part, the first (4) or second (5) half of a week, a month or more."""
    start, end, days = inside.start, inside.end, timedelta(days=1)
    if which > 3:
        middle = start + (end - start) // 2
        if inside.grain in (Precision.week, Precision.month):
            middle = start + days * (3 if inside.grain is Precision.week else 15)
        elif inside.grain is Precision.year:
            middle = start.replace(month=7)
        ends = (start, middle) if which == 4 else (middle, end)
        return Period(*ends, Precision.half_year if inside.grain is Precision.year else Precision.period)
    if inside.grain is Precision.week:
        bounds = {1: (0, 3), 2: (1, 5), 3: (3, 7)}[which]
        return Period(start + days * bounds[0], start + days * bounds[1], Precision.period)
    if inside.grain is Precision.month:
        if which == 2:
            return Period(start + days * 9, start + days * 20, Precision.period)
        middle = start + days * 15
        return (
            Period(start, middle, Precision.period) if which == 1 else Period(middle, end, Precision.period)
        )
    if inside.grain is Precision.year:
        cut = [start, start.replace(month=5), start.replace(month=9), end]
        return Period(cut[which - 1], cut[which], Precision.period)
    third = (end - start) // 3
    cut = [start, start + third, start + 2 * third, end]
    return Period(cut[which - 1], cut[which], Precision.period)


def _month_start(total: int) -> date:
    return date(total // 12, total % 12 + 1, 1)
