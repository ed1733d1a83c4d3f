"""Builders of periods of the calendar: years, months, weeks, quarters, decades, and parts of them."""

from collections.abc import Callable
from datetime import date, timedelta

from pipeline.timeline.datelang import calendar, values
from pipeline.timeline.datelang.calendar import Period
from pipeline.timeline.datelang.cascade import Hit, Made
from pipeline.timeline.datelang.common import Duration, inside, moved, unit_of, year_of
from pipeline.timeline.datelang.values import Fixed, Recurring
from pipeline.timeline.precision import Precision


def year(hit: Hit) -> Made:
    return Fixed(calendar.year(year_of(hit.item("year"))))


def month(hit: Hit) -> Made:
    number = hit.number("month")
    date(2000, number, 1)
    if "year" not in hit:
        return values.month(number)
    return Fixed(calendar.month(year_of(hit.item("year")), number))


def unit(hit: Hit) -> Made:
    """ "last month", "this week", "next year"."""
    if isinstance(hit.get("unit"), tuple):
        count, sign = hit.get("unit")[1], 1 if hit.number("mod") > 0 else -1
        ends = sorted((hit.today, moved(hit.today, [(count, hit.get("unit")[0])], sign)))
        return Fixed(Period(ends[0], ends[1], Precision.period))
    return Fixed(calendar.unit_period(hit.today, unit_of(hit), hit.number("mod")))


def unit_twice(hit: Hit) -> Made:
    """ "the week after next", "the month before last"."""
    return Fixed(calendar.unit_period(hit.today, unit_of(hit), 2 * hit.number("mod")))


def modified(hit: Hit) -> Made:
    """ "last September", "next 6 April", "this summer": by the year of the reference time."""
    value, step = hit.get("value"), hit.number("mod")
    if not isinstance(value, Recurring):
        return None
    if step == 0:
        here = value.first_in(calendar.unit_period(hit.today, _around(value)))
        return Fixed(here) if here else None
    if step > 0:
        found = value.next(hit.today)
    else:
        found = max((p for p in value.near(hit.today, -8, 0) if p.end <= hit.today), key=_start, default=None)
    return Fixed(found) if found else None


def within(hit: Hit) -> Made:
    """ "March of last year", "Friday next week", "Q3 2019": the first of the inner inside the outer."""
    inner, outer = hit.get("inner"), hit.get("outer")
    return inside(inner, outer)


def select(choose: Callable[[Hit, Period], Period]) -> Callable[[Hit], Made]:
    """ "the first Friday of July", "the last three weeks of 2019": part of another period."""

    def built(hit: Hit) -> Made:
        value = hit.get("value")
        if isinstance(value, Fixed) and value.period.grain is not Precision.day and not value.loose:
            return Fixed(choose(hit, value.period))
        if isinstance(value, Recurring):
            return value.map(lambda period: choose(hit, period))
        return None

    return built


def part(hit: Hit) -> Made:
    """ "early March", "the end of 2019"."""
    value, which = hit.get("value"), hit.number("part")
    if isinstance(value, Fixed):
        if value.loose or value.period.grain is Precision.day:
            return None
        return Fixed(calendar.part(value.period, which))
    if isinstance(value, Recurring) and value.scale is not Precision.week:
        return value.map(lambda p: None if p.grain is Precision.day else calendar.part(p, which))
    return None


def edge(hit: Hit) -> Made:
    """ "until the end of June": the end itself, not the last part of the month."""
    value, which = hit.get("value"), hit.number("part")

    def change(period: Period) -> Period:
        at = (
            period.start
            if which == 1
            else period.end
            if which == 3
            else period.start + (period.end - period.start) / 2
        )
        return Period(at, at + timedelta(days=1), period.grain)

    if isinstance(value, Fixed) and not value.loose:
        return Fixed(change(value.period))
    return value.map(change) if isinstance(value, Recurring) else None


def unit_part(hit: Hit) -> Made:
    """ "the end of the year": of the current one."""
    return Fixed(calendar.part(calendar.unit_period(hit.today, unit_of(hit)), hit.number("part")))


def rest(side: int) -> Callable[[Hit], Made]:
    """ "later this week" runs from the reference day, "earlier this month" up to it."""

    def built(hit: Hit) -> Made:
        period = calendar.unit_period(hit.today, unit_of(hit))
        ends = (hit.today, period.end) if side > 0 else (period.start, hit.today)
        return Fixed(Period(*ends, Precision.period)) if ends[0] < ends[1] else None

    return built


def week_number(hit: Hit) -> Made:
    number = hit.number("number")
    if hit.get("unit") is not Precision.week or not 1 <= number <= 53:
        return None
    if "year" in hit:
        return Fixed(calendar.nth_unit(calendar.year(year_of(hit.item("year"))), Precision.week, number))
    return Fixed(calendar.nth_unit(calendar.year(hit.today.year), Precision.week, number))


def nth(hit: Hit, outer: Period) -> Period:
    """The `number`-th weekday or unit of a period; `count` of them from the start or up to the end."""
    number = hit.number("number")
    if "wd" in hit:
        return calendar.nth_weekday(outer, hit.number("wd"), number)
    if "dur" not in hit:
        return calendar.nth_unit(outer, unit_of(hit), number)
    parts: Duration = hit.get("dur")
    if len(parts) != 1 or number not in (1, -1) or parts[0][0] < 1 or parts[0][1] == "workday":
        raise ValueError("not a stretch of one unit")
    return calendar.nth_unit(outer, parts[0][1], number, parts[0][0])


def quarter(hit: Hit) -> Made:
    """Q1 to Q4, H1 and H2."""
    unit_, number = hit.get("part")
    if unit_ is Precision.quarter:
        return values.yearly(lambda y: calendar.quarter(y, number))
    return values.yearly(lambda y: calendar.half(y, number))


def unit_number(hit: Hit) -> Made:
    """ "the first quarter", "the second half-year": of a year."""
    unit_, number = unit_of(hit), hit.number("number")
    size = {Precision.quarter: 4, Precision.half_year: 2}.get(unit_, 0)
    if not 1 <= number <= size:
        return None
    return values.yearly(lambda y: calendar.nth_unit(calendar.year(y), unit_, number))


def season(hit: Hit) -> Made:
    number = hit.number("season")
    return values.yearly(lambda y: calendar.season(y, number))


def decade(hit: Hit) -> Made:
    """ "the 90s" comes back every century, "the 1990s" does not."""
    value = hit.number("decade")
    if value % 10 or 100 <= value < 1000:
        return None
    return Fixed(calendar.decade(value)) if value >= 1000 else values.decade(value)


def decade_named(hit: Hit) -> Made:
    """ "los 1970": a plural article before a year."""
    return decade(hit) if hit.get("the") == "s" else None


def century(hit: Hit) -> Made:
    unit_ = hit.match.groupdict().get("unit")
    if unit_ is not None and hit.get("unit") is not Precision.century:
        return None
    return Fixed(calendar.century(hit.number("number")))


def century_decade(hit: Hit) -> Made:
    """ "20世纪80年代": the eighties of the twentieth century."""
    tens = hit.number("decade")
    if tens % 10 or tens >= 100:
        return None
    number = hit.number("century") if "century" in hit else hit.today.year // 100 + 1 + hit.number("mod")
    return Fixed(calendar.decade(100 * (number - 1) + tens))


def plain_year(hit: Hit) -> Made:
    """A bare number in a place where a year stands: 1900 to 2099, or any where the word year says so."""
    if "unit" in hit:
        known = hit.get("unit") is Precision.year and (
            hit.item("year").code != "N" or hit.number("year") >= 100
        )
        return year(hit) if known else None
    return year(hit) if 1900 <= year_of(hit.item("year")) <= 2099 else None


def unit_beside(side: int) -> Callable[[Hit], Made]:
    """ "the week before 9 June 2023": the calendar week before that of the day; "the year after 2015"."""

    def built(hit: Hit) -> Made:
        value, unit_ = hit.get("value"), unit_of(hit)

        def change(period: Period) -> Period:
            if unit_ is Precision.weekend:
                # the nearest whole one, which may lie in the same week
                ahead = calendar.weekend(period.end if side > 0 else period.start - timedelta(days=6))
                return ahead if side < 0 or ahead.start >= period.end else calendar.weekend(ahead.end)
            return calendar.unit_period(period.start, unit_, side)

        if isinstance(value, Fixed) and value.period.grain in (Precision.day, unit_):
            return Fixed(change(value.period))
        return value.map(change) if isinstance(value, Recurring) and value.scale is Precision.year else None

    return built


def week_of(hit: Hit) -> Made:
    value = hit.get("value")
    if isinstance(value, Fixed):
        return Fixed(calendar.week(value.period.start))
    return value.map(lambda period: calendar.week(period.start)) if isinstance(value, Recurring) else None


def unit_of_day(hit: Hit) -> Made:
    """ "the week of the 18th"."""
    day, unit_ = hit.number("day"), unit_of(hit)
    date(2000, 1, day)
    return values.day_of_month(day).map(lambda p: calendar.unit_period(p.start, unit_))


def unit_around(hit: Hit) -> Made:
    """ "the week of the 18th", "the month of 16 September"."""
    value, unit_ = hit.get("value"), unit_of(hit)
    if unit_ is Precision.day:
        return None
    if isinstance(value, Fixed):
        day = value.period.grain is Precision.day
        return Fixed(calendar.unit_period(value.period.start, unit_)) if day else None
    if not isinstance(value, Recurring):
        return None
    return value.map(lambda p: calendar.unit_period(p.start, unit_) if p.grain is Precision.day else None)


def _around(value: Recurring) -> Precision:
    return value.scale if value.scale is not Precision.week else Precision.week


def _start(period: Period) -> date:
    return period.start
