"""What the builders of all kinds share."""

from datetime import date, timedelta
from typing import Any

from pipeline.timeline.datelang import calendar
from pipeline.timeline.datelang.cascade import Hit, Item, Made, token
from pipeline.timeline.datelang.latin import full_year
from pipeline.timeline.datelang.values import Fixed, Recurring
from pipeline.timeline.precision import Precision

Duration = list[tuple[int, Any]]


def year_of(item: Item) -> int:
    number = int(item.value)
    return full_year(number) if item.code in "yN" and number < 100 else number


def unit_of(hit: Hit) -> Precision:
    unit_ = hit.get("unit")
    if not isinstance(unit_, Precision):
        raise ValueError(f"{unit_} is no unit of the calendar")
    return unit_


def inside(inner: object, outer: object) -> Made:
    if not isinstance(inner, Recurring):
        return None
    if isinstance(outer, Fixed):
        if outer.loose and inner.scale is Precision.week and outer.period.grain is not Precision.day:
            # "Monday two weeks from now": that of the week
            here = inner.first_in(calendar.week(outer.period.start))
            return Fixed(here) if here else None
        if (
            outer.period.grain is Precision.day
            or outer.loose
            or outer.period.end - outer.period.start < timedelta(days=7)
        ):
            return None
        found = inner.first_in(outer.period)
        return Fixed(found) if found else None
    if isinstance(outer, Recurring) and outer.scale is Precision.year and inner.scale is not Precision.year:
        return outer.map(inner.first_in)
    return None


def dead(hit: Hit) -> Made:
    """What looks like a date and is none ("every Monday")."""
    return token("x")


def moved(start: date, parts: Duration, sign: int) -> date:
    for count, unit_ in sorted(parts, key=lambda part: part[1] is not Precision.year):
        start = (
            calendar.workdays(start, sign * count)
            if unit_ == "workday"
            else calendar.shift(start, unit_, sign * count)
        )
    return start


def grain(parts: Duration) -> Precision:
    """The finest unit that was said."""
    order = list(Precision)
    return min((Precision.day if u == "workday" else u for _, u in parts), key=order.index)
