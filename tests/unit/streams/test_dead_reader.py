"""Reading the dead letters, with a topic that is given as a list."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

import streams.dead_reader
from streams.dead_letter import DeadFilter
from streams.dead_reader import read_dead_letters


@dataclass
class Record:
    value: bytes
    offset: int
    key: bytes = b"acme"
    partition: int = 0
    headers: tuple[Any, ...] = ()


def letter(offset: int, logged_at: str = "2026-03-01T12:00:00+00:00", stage: str = "extract") -> bytes:
    told = {"event": {"id": f"e{offset}"}, "stage": stage, "error": "no", "topic": "episodes", "partition": 1}
    return orjson.dumps(told | {"offset": offset, "logged_at": logged_at, "at": "2026-03-01T12:00:01+00:00"})


async def read(
    monkeypatch: pytest.MonkeyPatch, values: list[bytes], wanted: DeadFilter | None = None
) -> list[str]:
    async def records(*_: Any) -> AsyncIterator[Record]:
        for offset, value in enumerate(values):
            yield Record(value, offset)

    monkeypatch.setattr(streams.dead_reader, "read_to_end", records)
    return [one.id async for one in read_dead_letters("nowhere", "", wanted)]


async def test_a_letter_that_a_crash_has_written_twice_is_read_once(monkeypatch):
    assert await read(monkeypatch, [letter(7), letter(8), letter(7)]) == ["0-0", "0-1"]


async def test_the_same_offset_of_a_topic_that_was_made_anew_is_another_event(monkeypatch):
    assert await read(monkeypatch, [letter(7), letter(7, "2026-04-01T12:00:00+00:00")]) == ["0-0", "0-1"]


async def test_only_wanted_letters_are_answered(monkeypatch):
    values = [letter(1), letter(2, stage="resolve_facts")]
    assert await read(monkeypatch, values, DeadFilter(stage="resolve_facts")) == ["0-1"]
