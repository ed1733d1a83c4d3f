"""When a model is asked a second time, why, and what that brings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipeline.extraction.model.extractor import ModelExtractor
from tests.episodes import message, record
from tests.llm_support import RecordingObserver
from tests.model_server import ModelServer

Build = Callable[..., ModelExtractor]
FIRST: dict[str, list[Any]] = {"entities": ["Ana", "Acme"], "facts": [["Ana", "WORKS_AT", "Acme"]]}
MISSED: dict[str, list[Any]] = {"entities": ["Bruno Falk"], "facts": [["Ana", "KNOWS", "Bruno Falk"]]}
CONTENT = "I work at Acme. I know Bruno Falk."


async def test_what_was_left_out_is_asked_for_with_its_reason(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    server.on(FIRST, purpose="extract")
    server.on(MISSED, purpose="reflexion")
    found = await build().extract(message(CONTENT), ())
    assert [m.name for m in found.mentions] == ["Ana", "Acme", "Bruno Falk"]
    assert [s.relation for s in found.statements] == ["WORKS_AT", "KNOWS"]
    assert [r.purpose for r in server.chats] == ["extract", "reflexion"]
    assert 'name "Bruno Falk" in: I know Bruno Falk.' in server.chats[1].block("missed")
    assert found.usage.llm_calls == 2
    assert observer.events["reflexion"] == observer.events["reflexion_name"] == 1
    assert observer.events["reflexion_found"] == 1


async def test_nothing_left_out_is_not_asked_again(server: ModelServer, build: Build) -> None:
    server.on({"entities": [*FIRST["entities"], "Bruno Falk"], "facts": [*FIRST["facts"], *MISSED["facts"]]})
    await build(reflexion=3).extract(message(CONTENT), ())
    assert len(server.chats) == 1


async def test_asking_stops_when_it_brings_nothing(server: ModelServer, build: Build) -> None:
    server.on(FIRST)
    await build(reflexion=3).extract(message(CONTENT), ())
    assert len(server.chats) == 2


async def test_asking_stops_at_its_limit(server: ModelServer, build: Build) -> None:
    content = "I work at Acme. I met Bruno Falk and Clara Ruiz and Dora Sol and Emil Rot."
    server.on(FIRST, purpose="extract")
    for name in ("Bruno Falk", "Clara Ruiz", "Dora Sol", "Emil Rot"):
        server.on({"entities": [name]}, purpose="reflexion", times=1)
    await build(reflexion=2).extract(message(content), ())
    assert len(server.chats) == 3


async def test_it_can_be_switched_off(server: ModelServer, build: Build) -> None:
    server.on(FIRST)
    await build(reflexion=0).extract(message(CONTENT), ())
    assert len(server.chats) == 1


async def test_records_are_not_scanned(server: ModelServer, build: Build) -> None:
    server.on({"entities": [], "facts": []})
    await build().extract(record({"customer": "Brightwell Ltd", "seats": 1234}), ())
    assert len(server.chats) == 1
