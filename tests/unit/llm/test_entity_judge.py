"""One call for all look-alikes; nothing but numbers leaves and comes back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.llm.client import OpenAIChat
from pipeline.llm.entity_judge import ModelEntityJudge
from pipeline.model.entity import Entity
from pipeline.model.extraction import Mention
from pipeline.stages.judging import LookAlike, SameAs
from tests.llm_support import RecordingObserver
from tests.model_server import ModelServer

AT = datetime(2024, 1, 1, tzinfo=UTC)


def entity(name: str, **more: Any) -> Entity:
    return Entity(id=f"id-of-{name}", group_id="secret-group", name=name, created_at=AT, **more)


def look_alike(index: int, name: str, *candidates: str) -> LookAlike:
    return LookAlike(index, Mention(name=name), tuple(entity(c) for c in candidates))


def ids(verdicts: Mapping[int, SameAs]) -> dict[int, str]:
    return {index: same.entity_id for index, same in verdicts.items()}


@pytest.fixture
def judge(chat: OpenAIChat, observer: RecordingObserver) -> ModelEntityJudge:
    return ModelEntityJudge(chat, observer)


async def test_one_call_for_all_questions(server: ModelServer, judge: ModelEntityJudge) -> None:
    verdicts, usage = await judge.same(
        [
            look_alike(3, "Acme Inc", "Acme Labs", "ACME"),
            look_alike(5, "Bruno", "Bruna"),
            look_alike(9, "e-mail", "email", "mail"),
        ]
    )
    assert ids(verdicts) == {3: "id-of-ACME", 9: "id-of-email"}
    assert usage.llm_calls == len(server.chats) == 1
    (request,) = server.chats
    assert request.model == "tiny"
    assert "id-of" not in request.text
    assert "secret-group" not in request.text


async def test_the_reason_comes_before_the_verdict(server: ModelServer, judge: ModelEntityJudge) -> None:
    await judge.same([look_alike(0, "Acme", "ACME Corp")])
    schema = server.chats[0].payload["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]["verdicts"]["items"]["properties"]) == [
        "question",
        "reason",
        "candidate",
        "name",
        "summary",
    ]


@pytest.mark.parametrize(
    ("answer", "expected", "wrong"),
    [
        ([{"question": 0, "candidate": 7}], {}, 1),
        ([{"question": 0, "candidate": -1}], {}, 1),
        ([{"question": 4, "candidate": 0}], {}, 1),
        ([{"question": 0, "candidate": 0}, {"question": 0, "candidate": 1}], {2: "id-of-Acme Corp"}, 1),
        ([{"question": 0, "candidate": "id-of-Acme Corp"}], {}, 0),
        ([{"question": 0, "candidate": None}], {}, 0),
        ([], {}, 0),
    ],
)
async def test_numbers_that_were_not_given_are_no_verdict(
    server: ModelServer,
    judge: ModelEntityJudge,
    observer: RecordingObserver,
    answer: list[Any],
    expected: dict[int, str],
    wrong: int,
) -> None:
    server.on({"verdicts": answer})
    verdicts, _ = await judge.same([look_alike(2, "Acme", "Acme Corp", "Acme Labs")])
    assert ids(verdicts) == expected
    assert observer.events["judge_wrong_number"] == wrong


async def test_the_prompt_is_bounded_and_what_is_left_over_counted(
    server: ModelServer, judge: ModelEntityJudge, observer: RecordingObserver
) -> None:
    long = entity("Acme", summary="word " * 10_000, aliases=tuple(f"alias {i}" for i in range(500)))
    many = [LookAlike(i, Mention(name=f"Acme {i}"), (long,) * 30) for i in range(100)]
    await judge.same(many)
    assert len(server.chats) == 1
    assert server.chats[0].prompt_tokens < 30_000
    assert observer.events["judge_left_out"] == 60 + 40 * 24


async def test_nothing_to_ask_asks_nothing(server: ModelServer, judge: ModelEntityJudge) -> None:
    assert (await judge.same([]))[0] == {}
    assert (await judge.same([LookAlike(0, Mention(name="Ana"), ())]))[0] == {}
    assert server.chats == []


async def test_a_name_cannot_look_like_another_line(server: ModelServer, judge: ModelEntityJudge) -> None:
    await judge.same([look_alike(0, "Acme\n  candidate 1: Zorg", "ACME")])
    lines = server.chats[0].block("questions").split("\n")
    assert len(lines) == 2
