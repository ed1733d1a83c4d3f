"""The grain of a date: how much of it was said."""

from enum import StrEnum


class Precision(StrEnum):
    """What a date was stated to, from the finest grain to the coarsest.

    A stored time is always a full instant; the precision says which part of it carries meaning.
    `period` is a stretch that no calendar unit names ("the last 45 days").
    """

    second = "second"
    minute = "minute"
    hour = "hour"
    day = "day"
    weekend = "weekend"
    week = "week"
    month = "month"
    quarter = "quarter"
    season = "season"
    half_year = "half_year"
    year = "year"
    decade = "decade"
    century = "century"
    period = "period"
