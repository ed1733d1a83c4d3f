"""Builders that the rules of all languages share: from the items of a match to a value."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from pipeline.timeline.datelang import calendar, values
from pipeline.timeline.datelang.calendar import Period
from pipeline.timeline.datelang.cascade import Hit, Item, Made, token
from pipeline.timeline.datelang.latin import full_year
from pipeline.timeline.datelang.values import Fixed, Recurring, Relation
from pipeline.timeline.precision import Precision

Duration = list[tuple[int, Any]]
_ALIGNED = (Precision.quarter, Precision.decade, Precision.century)


def year_of(item: Item) -> int:
    number = int(item.value)
    return full_year(number) if item.code in "yN" and number < 100 else number


def year(hit: Hit) -> Made:
    return Fixed(calendar.year(year_of(hit.item("year"))))


def month_day(hit: Hit) -> Made:
    day, month = hit.number("day"), hit.number("month")
    date(2000, month, day)
    said = hit.item("day")
    if hit.item("month").code == "m" and not hit.item("month").proper and said.code in "NS" and not said.proper:
        # "one may", "second march": only digits make a month of these words
        return None
    recurring = values.month_day(month, day)
    if "year" not in hit:
        return recurring
    return Fixed(calendar.day(date(year_of(hit.item("year")), month, day)))


def month_day_of(month_number: int, day: int) -> Recurring:
    date(2000, month_number, day)
    return values.month_day(month_number, day)


def days_of_month(hit: Hit) -> Made:
    """ "from 4 to 22 January 1995"."""
    first, last, number = hit.number("first"), hit.number("last"), hit.number("month")
    if not first < last:
        return None
    left, right = month_day_of(number, first), month_day_of(number, last)
    if "year" not in hit:
        return Relation("range", left, right)
    whole = calendar.year(year_of(hit.item("year")))
    return Relation("range", *(Fixed(p) for p in (left.first_in(whole), right.first_in(whole)) if p))


def month(hit: Hit) -> Made:
    number = hit.number("month")
    date(2000, number, 1)
    if "year" not in hit:
        return values.month(number)
    return Fixed(calendar.month(year_of(hit.item("year")), number))


def day_of_month(hit: Hit) -> Made:
    day = hit.number("day")
    date(2000, 1, day)
    return values.day_of_month(day)


def weekday(hit: Hit) -> Made:
    return values.weekday(hit.number("wd"))


def weekday_day(hit: Hit) -> Made:
    """ "Friday the 11th": in the month of the reference time if it fits, else the nearest months that fit."""
    number = hit.number("wd")
    day = hit.number("day2" if "day2" in hit else "day")
    date(2000, 1, day)
    here = calendar.month(hit.today.year, hit.today.month).start + timedelta(days=day - 1)
    if here.weekday() == number and here.month == hit.today.month:
        return Fixed(calendar.day(here))
    return values.weekday_day(number, day)


def offset_day(hit: Hit) -> Made:
    return Fixed(calendar.day(hit.today + timedelta(days=hit.number("offset"))))


def unit(hit: Hit) -> Made:
    """ "last month", "this week", "next year"."""
    if isinstance(hit.get("unit"), tuple):
        count, sign = hit.get("unit")[1], 1 if hit.number("mod") > 0 else -1
        ends = sorted((hit.today, moved(hit.today, [(count, hit.get("unit")[0])], sign)))
        return Fixed(Period(ends[0], ends[1], Precision.period))
    return Fixed(calendar.unit_period(hit.today, _unit(hit), hit.number("mod")))


def unit_twice(hit: Hit) -> Made:
    """ "the week after next", "the month before last"."""
    return Fixed(calendar.unit_period(hit.today, _unit(hit), 2 * hit.number("mod")))


def modified_weekday(hit: Hit) -> Made:
    """ "next Thursday" is the Thursday of next week, "last Thursday" that of last week."""
    monday = calendar.week(hit.today).start + timedelta(days=7 * hit.number("mod") + hit.number("wd"))
    return Fixed(calendar.day(monday))


def nearest_weekday(hit: Hit) -> Made:
    """ "this coming Friday", "this past Wednesday": the nearest one, today excluded."""
    days = (hit.number("wd") - hit.today.weekday()) % 7
    ahead = hit.number("mod") > 0
    return Fixed(calendar.day(hit.today + timedelta(days=(days or 7) if ahead else days - 7)))


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


def _around(value: Recurring) -> Precision:
    return value.scale if value.scale is not Precision.week else Precision.week


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


def _unit(hit: Hit) -> Precision:
    unit_ = hit.get("unit")
    if not isinstance(unit_, Precision):
        raise ValueError(f"{unit_} is no unit of the calendar")
    return unit_


def and_a_half(hit: Hit) -> Made:
    """ "two and a half years"."""
    count, unit_ = hit.number("count"), _unit(hit)
    halves = {Precision.year: (6, Precision.month), Precision.month: (15, Precision.day), Precision.week: (3, Precision.day)}
    return token("d", [(count, unit_), halves[unit_]]) if unit_ in halves else None


def moved(start: date, parts: Duration, sign: int) -> date:
    for count, unit_ in sorted(parts, key=lambda part: part[1] is not Precision.year):
        start = calendar.workdays(start, sign * count) if unit_ == "workday" else calendar.shift(start, unit_, sign * count)
    return start


def grain(parts: Duration) -> Precision:
    """The finest unit that was said."""
    order = list(Precision)
    return min((Precision.day if u == "workday" else u for _, u in parts), key=order.index)


def ago(sign: int) -> Callable[[Hit], Made]:
    """ "two weeks ago", "in three years": a day, known to the grain of its unit."""

    def built(hit: Hit) -> Made:
        parts = hit.get("dur")
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
    ends = sorted((start, moved(start, [(hit.number("count"), _unit(hit))], sign)))
    return Fixed(Period(ends[0], ends[1], Precision.period))


def day_within(hit: Hit) -> Made:
    """ "the 20th of next month"."""
    outer = hit.get("outer")
    if not isinstance(outer, Fixed) or outer.period.grain is not Precision.month:
        return None
    return inside(values.day_of_month(hit.number("day")), outer)


def within(hit: Hit) -> Made:
    """ "March of last year", "Friday next week", "Q3 2019": the first of the inner inside the outer."""
    inner, outer = hit.get("inner"), hit.get("outer")
    return inside(inner, outer)


def inside(inner: object, outer: object) -> Made:
    if not isinstance(inner, Recurring):
        return None
    if isinstance(outer, Fixed):
        if outer.period.grain is Precision.day or outer.loose or outer.period.end - outer.period.start < timedelta(days=7):
            return None
        found = inner.first_in(outer.period)
        return Fixed(found) if found else None
    if isinstance(outer, Recurring) and outer.scale is Precision.year and inner.scale is not Precision.year:
        return outer.map(inner.first_in)
    return None


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
        at = period.start if which == 1 else period.end if which == 3 else period.start + (period.end - period.start) / 2
        return Period(at, at + timedelta(days=1), period.grain)

    if isinstance(value, Fixed) and not value.loose:
        return Fixed(change(value.period))
    return value.map(change) if isinstance(value, Recurring) else None


def unit_part(hit: Hit) -> Made:
    """ "the end of the year": of the current one."""
    return Fixed(calendar.part(calendar.unit_period(hit.today, _unit(hit)), hit.number("part")))


def rest(side: int) -> Callable[[Hit], Made]:
    """ "later this week" runs from the reference day, "earlier this month" up to it."""

    def built(hit: Hit) -> Made:
        period = calendar.unit_period(hit.today, _unit(hit))
        ends = (hit.today, period.end) if side > 0 else (period.start, hit.today)
        return Fixed(Period(*ends, Precision.period)) if ends[0] < ends[1] else None

    return built


def day_range(hit: Hit) -> Made:
    """ "from 10 January to the 12th": the last day is of the month of the first."""
    left, last = hit.get("left"), hit.number("last")

    def change(period: Period) -> Period:
        return calendar.day(period.start.replace(day=last))

    if isinstance(left, Fixed):
        return Relation("range", left, Fixed(change(left.period)))
    return Relation("range", left, left.map(change)) if isinstance(left, Recurring) else None


def same_day(hit: Hit) -> Made:
    """ "12 October, Monday": the weekday adds nothing."""
    value: Fixed | Recurring = hit.get("value")
    return value


def century_decade(hit: Hit) -> Made:
    """ "20世纪80年代": the eighties of the twentieth century."""
    tens = hit.number("decade")
    if tens % 10 or tens >= 100:
        return None
    number = hit.number("century") if "century" in hit else hit.today.year // 100 + 1 + hit.number("mod")
    return Fixed(calendar.decade(100 * (number - 1) + tens))


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
        return calendar.nth_unit(outer, _unit(hit), number)
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
    unit_, number = _unit(hit), hit.number("number")
    size = {Precision.quarter: 4, Precision.half_year: 2}.get(unit_, 0)
    if not 1 <= number <= size:
        return None
    return values.yearly(lambda y: calendar.nth_unit(calendar.year(y), unit_, number))


def decade_named(hit: Hit) -> Made:
    """ "los 1970": a plural article before a year."""
    return decade(hit) if hit.get("the") == "s" else None


def day_named(hit: Hit) -> Made:
    """ "el día 4"."""
    return day_of_month(hit) if hit.get("unit") is Precision.day else None


def repeated(hit: Hit) -> Made:
    """ "los lunes": a plural article before a weekday."""
    return token("x") if hit.get("the") == "s" else None


def season(hit: Hit) -> Made:
    number = hit.number("season")
    return values.yearly(lambda y: calendar.season(y, number))


def decade(hit: Hit) -> Made:
    """ "the 90s" comes back every century, "the 1990s" does not."""
    value = hit.number("decade")
    if value % 10 or 100 <= value < 1000:
        return None
    return Fixed(calendar.decade(value)) if value >= 1000 else values.decade(value)


def century(hit: Hit) -> Made:
    unit_ = hit.match.groupdict().get("unit")
    if unit_ is not None and hit.get("unit") is not Precision.century:
        return None
    return Fixed(calendar.century(hit.number("number")))


def plain_year(hit: Hit) -> Made:
    """A bare number in a place where a year stands: 1900 to 2099, or any where the word year says so."""
    if "unit" in hit:
        known = hit.get("unit") is Precision.year and (hit.item("year").code != "N" or hit.number("year") >= 100)
        return year(hit) if known else None
    return year(hit) if 1900 <= year_of(hit.item("year")) <= 2099 else None


def year_pair(hit: Hit) -> Made:
    """ "2014-2018"."""
    first, last = hit.number("first"), hit.number("last")
    if not 1900 <= first < last <= 2099:
        return None
    return Relation("range", Fixed(calendar.year(first)), Fixed(calendar.year(last)))


def today(hit: Hit) -> Made:
    return Fixed(calendar.day(hit.today))


def day_of_this(hit: Hit) -> Made:
    """ "the 26th day of the month"."""
    if _unit(hit) is not Precision.month:
        return None
    here = Fixed(calendar.unit_period(hit.today, Precision.month))
    return inside(values.day_of_month(hit.number("day")), here)


def stretch(hit: Hit) -> Made:
    """ "two weeks starting 20 May"."""
    parts, value = hit.get("dur"), hit.get("value")

    def change(period: Period) -> Period:
        return Period(period.start, moved(period.start, parts, 1), Precision.period)

    if isinstance(value, Fixed):
        return Fixed(change(value.period))
    return value.map(change) if isinstance(value, Recurring) else None


def unit_around(hit: Hit) -> Made:
    """ "the week of the 18th", "the month of 16 September"."""
    value, unit_ = hit.get("value"), _unit(hit)
    if isinstance(value, Fixed):
        day = value.period.grain is Precision.day
        return Fixed(calendar.unit_period(value.period.start, unit_)) if day else None
    if not isinstance(value, Recurring):
        return None
    return value.map(lambda p: calendar.unit_period(p.start, unit_) if p.grain is Precision.day else None)


def unit_of_day(hit: Hit) -> Made:
    """ "the week of the 18th"."""
    day, unit_ = hit.number("day"), _unit(hit)
    date(2000, 1, day)
    return values.day_of_month(day).map(lambda p: calendar.unit_period(p.start, unit_))


def week_of(hit: Hit) -> Made:
    value = hit.get("value")
    if isinstance(value, Fixed):
        return Fixed(calendar.week(value.period.start))
    return value.map(lambda period: calendar.week(period.start)) if isinstance(value, Recurring) else None


def month_range(hit: Hit) -> Made:
    """ "from 4 to 22 January 1995": two days of one month, the end being the day named last."""
    first, last = hit.number("first"), hit.number("last")
    outer = hit.get("outer")
    if not 1 <= first < last <= 31 or (isinstance(outer, Fixed) and outer.period.grain is not Precision.month):
        return None
    left, right = inside(values.day_of_month(first), outer), inside(values.day_of_month(last), outer)
    if isinstance(left, Fixed | Recurring) and isinstance(right, Fixed | Recurring):
        return Relation("range", left, right)
    return None


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


def dead(hit: Hit) -> Made:
    """What looks like a date and is none ("every Monday")."""
    return token("x")


def _start(period: Period) -> date:
    return period.start
