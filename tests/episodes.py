"""Episodes for tests, made in one line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pipeline.model.episode import Episode, Source, Speaker

REFERENCE = datetime(2024, 3, 14, 9, tzinfo=UTC)


def message(content: str, speaker: str | None = "Ana", *, role: str | None = None, **more: Any) -> Episode:
    """A chat message of Thursday, 14 March 2024."""
    said_by = Speaker(name=speaker, role=role) if speaker else None
    return _episode(Source.message, content, speaker=said_by, **more)


def text(content: str, **more: Any) -> Episode:
    """A document of that day."""
    return _episode(Source.text, content, **more)


def record(content: Any, **more: Any) -> Episode:
    """A JSON record of that day."""
    return _episode(Source.json, content, **more)


def _episode(source: Source, content: Any, **more: Any) -> Episode:
    made: dict[str, Any] = {"id": "e", "group_id": "g", "reference_time": REFERENCE, "sequence": 1} | more
    return Episode(source=source, content=content, **made)
