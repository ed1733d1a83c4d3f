"""What the tests of dates in texts ask by, and how they look at what was found."""

from __future__ import annotations

from datetime import UTC, datetime

from pipeline.timeline.dates import DateSpan, resolve

# a Wednesday
REFERENCE = datetime(2024, 5, 15, 12, 30, tzinfo=UTC)


def day(moment: datetime | None) -> str | None:
    """The day of a moment."""
    return None if moment is None else moment.date().isoformat()


def only(text: str, reference: datetime = REFERENCE, language: str | None = None) -> DateSpan:
    """The one date of a text."""
    spans = resolve(text, reference, language)
    assert len(spans) == 1, spans
    return spans[0]
