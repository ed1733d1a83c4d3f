"""Moments as text: ISO 8601 with an offset, UTC when there is none, always aware in memory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, PlainSerializer

from pipeline.timeline.partial import parse_partial


def as_utc(moment: datetime) -> datetime:
    """The same instant in UTC; a naive datetime is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with a Z: "2024-03-01T12:00:00Z", with microseconds only when there are any."""
    return as_utc(moment).isoformat().replace("+00:00", "Z")


def _read(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("must be a time as text, such as 2024-03-01T12:00:00Z")
    # As `iso` writes it, which is what stored objects are full of; the general reader takes ten times as long.
    if len(value) in (20, 27) and value[10] == "T" and value[-1] == "Z" and value[:4].isdigit():
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass
    return parse_partial(value)[0]


Moment = Annotated[
    datetime,
    BeforeValidator(_read),
    AfterValidator(as_utc),
    PlainSerializer(iso, return_type=str, when_used="json"),
]
"""A pydantic field type: reads ISO 8601 text (partial dates start at their first instant), writes UTC with a Z."""
