"""What an expression means before it has been put on the calendar for good."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta

from pipeline.timeline.datelang import calendar
from pipeline.timeline.datelang.calendar import Period
from pipeline.timeline.precision import Precision


@dataclass(frozen=True)
class Fixed:
    """A period that the words and the reference time settle. `loose`: its end was not stated."""

    period: Period
    loose: bool = False


@dataclass(frozen=True)
class Recurring:
    """A period that comes back ("March", "the 21st", "Thursday"): one candidate per `scale`.

    `make(k)` answers the candidate of the k-th year, month, week or century, or None where there is none.
    """

    scale: Precision
    make: Callable[[int], Period | None] = field(compare=False)

    def near(self, at: date, low: int, high: int) -> list[Period]:
        """The candidates `low`..`high` scales around a day, in order."""
        found = []
        for k in range(self._index(at) + low, self._index(at) + high + 1):
            try:
                period = self.make(k)
            except (ValueError, OverflowError):
                # no such day there: the 31st of April, 29 February, beyond year 9999
                continue
            if period is not None:
                found.append(period)
        return found

    def latest(self, until: date) -> Period | None:
        """The last candidate that starts on that day or before it."""
        return max(
            (p for p in self.near(until, -self._reach(), 1) if p.start <= until), key=_start, default=None
        )

    def next(self, after: date) -> Period | None:
        """The first candidate that starts after that day."""
        return min(
            (p for p in self.near(after, -1, self._reach()) if p.start > after), key=_start, default=None
        )

    def first_in(self, period: Period) -> Period | None:
        """The first candidate that starts inside the period."""
        inside = (p for p in self.near(period.start, -1, 13) if period.start <= p.start < period.end)
        return min(inside, key=_start, default=None)

    def map(self, change: Callable[[Period], Period | None]) -> "Recurring":
        def made(k: int) -> Period | None:
            period = self.make(k)
            return None if period is None else change(period)

        return Recurring(self.scale, made)

    def _reach(self) -> int:
        # 29 February may be eight years away, a Monday the 21st over a year
        return {Precision.year: 8, Precision.month: 14}.get(self.scale, 2)

    def _index(self, at: date) -> int:
        match self.scale:
            case Precision.year:
                return at.year
            case Precision.month:
                return at.year * 12 + at.month - 1
            case Precision.week:
                return (at - timedelta(days=at.weekday())).toordinal() // 7
        return at.year // 100


@dataclass(frozen=True)
class Relation:
    """since, until or range over values that are not settled yet."""

    role: str
    left: "Fixed | Recurring | None" = None
    right: "Fixed | Recurring | None" = None
    after: bool = False
    inclusive: bool = False


Value = Fixed | Recurring | Relation


def yearly(make: Callable[[int], Period]) -> Recurring:
    return Recurring(Precision.year, make)


def month(number: int) -> Recurring:
    return yearly(lambda y: calendar.month(y, number))


def month_day(month_number: int, day: int) -> Recurring:
    return yearly(lambda y: calendar.day(date(y, month_number, day)))


def day_of_month(day: int) -> Recurring:
    return Recurring(Precision.month, lambda k: calendar.day(date(k // 12, k % 12 + 1, day)))


def weekday(number: int) -> Recurring:
    """0 is Monday. Week k starts on the Monday with ordinal 7k + 1."""
    return Recurring(Precision.week, lambda k: calendar.day(date.fromordinal(7 * k + 1 + number)))


def weekday_day(number: int, day: int) -> Recurring:
    """A month in which that day of the month is that weekday ("Monday the 21st")."""

    def made(k: int) -> Period | None:
        at = date(k // 12, k % 12 + 1, day)
        return calendar.day(at) if at.weekday() == number else None

    return Recurring(Precision.month, made)


def decade(tens: int) -> Recurring:
    """ "the 90s": tens is 90."""
    return Recurring(Precision.century, lambda k: calendar.decade(100 * k + tens))


def _start(period: Period) -> date:
    return period.start
