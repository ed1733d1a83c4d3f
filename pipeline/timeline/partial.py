"""Strict partial ISO 8601 dates: the form in which callers and models hand times over."""

import re
from datetime import UTC, datetime, timedelta, timezone

from pipeline.timeline.precision import Precision

_FORM = re.compile(
    r"(?P<year>[0-9]{4})"
    r"(?:-(?P<month>[0-9]{2})"
    r"(?:-(?P<day>[0-9]{2})"
    r"(?:[Tt ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r"(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?"
    r")?)?)?"
)


def parse_partial(value: str) -> tuple[datetime, Precision]:
    """Read "2019", "2019-05", "2019-05-17" or a full ISO 8601 time.

    Answers the aware UTC instant at which the stated period starts ("2019" is 2019-01-01T00:00:00Z)
    and how much of it was stated. Without an offset the time is UTC. Digits beyond the microsecond are cut.

    Raises ValueError that names the value and what is wrong with it; TypeError when it is no string.
    """
    if not isinstance(value, str):
        raise TypeError(f"a date must be a string, not {type(value).__name__}")
    match = _FORM.fullmatch(value.strip())
    if match is None:
        raise ValueError(
            f"{_shown(value)} is not a date: expected YYYY, YYYY-MM, YYYY-MM-DD or an ISO 8601 time "
            "such as 2019-05-17T08:30:00Z"
        )
    part = {name: text or "" for name, text in match.groupdict().items()}
    try:
        moment = datetime(
            int(part["year"]),
            int(part["month"] or 1),
            int(part["day"] or 1),
            int(part["hour"] or 0),
            int(part["minute"] or 0),
            int(part["second"] or 0),
            int(part["fraction"][:6].ljust(6, "0")),
            tzinfo=_zone(part["zone"]),
        ).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{_shown(value)} is not a date: {error}") from None
    return moment, _precision(part)


def _precision(part: dict[str, str]) -> Precision:
    for name, precision in (
        ("second", Precision.second),
        ("hour", Precision.minute),
        ("day", Precision.day),
        ("month", Precision.month),
    ):
        if part[name]:
            return precision
    return Precision.year


def _zone(text: str) -> timezone:
    if not text or text in "Zz":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        raise ValueError(f"offset {text} is out of range")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)


def _shown(value: str) -> str:
    return repr(value if len(value) <= 60 else value[:57] + "...")
