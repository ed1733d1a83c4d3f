from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.extraction.local.extractor import LocalExtractor
from pipeline.model.episode import Episode, Source, Speaker
from pipeline.model.extraction import Extraction

REFERENCE = datetime(2024, 3, 1, 9, tzinfo=UTC)
Read = Callable[..., Coroutine[Any, Any, Extraction]]


def episode(
    content: Any, source: Source = Source.message, speaker: str | None = None, **more: Any
) -> Episode:
    fields: dict[str, Any] = {"id": "e", "group_id": "g", "reference_time": REFERENCE, "sequence": 1} | more
    return Episode(
        source=source, content=content, speaker=Speaker(name=speaker) if speaker else None, **fields
    )


@pytest.fixture(scope="session")
def local() -> LocalExtractor:
    """One extractor for all tests: loading the language models is what takes time."""
    return LocalExtractor()


@pytest.fixture
def say(local: LocalExtractor) -> Read:
    """Reads a message of Ana's."""

    async def read(text: str, speaker: str | None = "Ana", context: tuple[Episode, ...] = ()) -> Extraction:
        return await local.extract(episode(text, speaker=speaker), context)

    return read


def facts(found: Extraction) -> set[tuple[str, str, str, str]]:
    """(kind, subject, relation, object) of each statement."""
    return {
        (s.kind.value, found.mentions[s.subject].name, s.relation, found.mentions[s.object].name)
        for s in found.statements
    }
