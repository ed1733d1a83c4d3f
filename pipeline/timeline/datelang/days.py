"""Builders of single days: weekdays, days of a month, days counted from today."""

from collections.abc import Callable
from datetime import date, timedelta

from pipeline.timeline.datelang import calendar, values
from pipeline.timeline.datelang.calendar import Period
from pipeline.timeline.datelang.cascade import Hit, Made, token
from pipeline.timeline.datelang.common import dead, inside, unit_of, year_of
from pipeline.timeline.datelang.values import Fixed, Recurring
from pipeline.timeline.precision import Precision


def month_day(hit: Hit) -> Made:
    day, month = hit.number("day"), hit.number("month")
    date(2000, month, day)
    if "word" in hit and hit.get("word") is not Precision.day:
        # "the first week of October"
        return None
    said = hit.item("day")
    if (
        hit.item("month").code == "m"
        and not hit.item("month").proper
        and said.code in "NS"
        and not said.proper
    ):
        # "one may", "second march": only digits make a month of these words
        return None
    recurring = values.month_day(month, day)
    if "year" not in hit:
        return recurring
    return Fixed(calendar.day(date(year_of(hit.item("year")), month, day)))


def month_day_of(month_number: int, day: int) -> Recurring:
    date(2000, month_number, day)
    return values.month_day(month_number, day)


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


def today(hit: Hit) -> Made:
    return Fixed(calendar.day(hit.today))


def modified_weekday(hit: Hit) -> Made:
    """ "next Thursday" is the Thursday of next week, "last Thursday" that of last week."""
    monday = calendar.week(hit.today).start + timedelta(days=7 * hit.number("mod") + hit.number("wd"))
    return Fixed(calendar.day(monday))


def nearest_weekday(hit: Hit) -> Made:
    """ "this coming Friday", "this past Wednesday": the nearest one, today excluded."""
    days = (hit.number("wd") - hit.today.weekday()) % 7
    ahead = hit.number("mod") > 0
    return Fixed(calendar.day(hit.today + timedelta(days=(days or 7) if ahead else days - 7)))


def weekday_beside(side: int) -> Callable[[Hit], Made]:
    """ "the Friday before 22 October 2023"."""

    def built(hit: Hit) -> Made:
        value, number = hit.get("value"), hit.number("wd")

        def change(period: Period) -> Period:
            if side > 0:
                return calendar.day(period.end + timedelta(days=(number - period.end.weekday()) % 7))
            return calendar.day(period.start - timedelta(days=(period.start.weekday() - number - 1) % 7 + 1))

        if isinstance(value, Fixed):
            return Fixed(change(value.period))
        return value.map(change) if isinstance(value, Recurring) else None

    return built


def day_within(hit: Hit) -> Made:
    """ "the 20th of next month"."""
    outer = hit.get("outer")
    if not isinstance(outer, Fixed) or outer.period.grain is not Precision.month:
        return None
    # a month too short for the day names no date at all
    return inside(values.day_of_month(hit.number("day")), outer) or dead(hit)


def day_named(hit: Hit) -> Made:
    """ "el día 4"."""
    return day_of_month(hit) if hit.get("unit") is Precision.day else None


def day_of_this(hit: Hit) -> Made:
    """ "the 26th day of the month"."""
    if unit_of(hit) is not Precision.month:
        return None
    here = Fixed(calendar.unit_period(hit.today, Precision.month))
    return inside(values.day_of_month(hit.number("day")), here)


def repeated(hit: Hit) -> Made:
    """ "los lunes": a plural article before a weekday."""
    return token("x") if hit.get("the") == "s" else None
