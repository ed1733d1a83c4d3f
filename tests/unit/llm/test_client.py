"""The chat client against a real HTTP endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.errors import Poison, Retryable, SettingError
from pipeline.extraction.model.answer import Found
from pipeline.llm.client import OpenAIChat
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.port import Question
from tests.llm_support import FakeTime, RecordingObserver
from tests.model_server import Cut, ModelServer, RecordedRequest

ANSWER = {"entities": [{"name": f"Name{i}"} for i in range(6)], "facts": []}
Connect = Callable[..., Endpoint]


def question(**more: Any) -> Question[Found]:
    return Question(purpose="extract", system="Extract.", user="Ana works at Acme.", answer=Found, **more)


async def test_structured_output_is_asked_for_and_paid_once(
    server: ModelServer, chat: OpenAIChat, observer: RecordingObserver
) -> None:
    server.on(ANSWER)
    reply = await chat.ask(question(max_tokens=500))
    assert [e.name for e in reply.answer.entities] == [f"Name{i}" for i in range(6)]
    assert reply.complete
    (request,) = server.chats
    assert request.model == "big"
    assert request.payload["max_tokens"] == 500
    schema = request.payload["response_format"]["json_schema"]
    assert schema["name"] == "extract"
    assert schema["strict"]
    assert schema["schema"]["required"] == ["entities", "facts"]
    assert "$ref" not in json.dumps(schema)
    assert reply.usage.llm_calls == 1
    assert reply.usage.prompt_tokens == request.prompt_tokens
    assert reply.usage.completion_tokens > 0
    assert observer.outcomes == {("extract", "ok"): 1}
    assert observer.tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


async def test_the_small_model_answers_small_questions(server: ModelServer, chat: OpenAIChat) -> None:
    await chat.ask(question(size="small"))
    assert server.chats[0].model == "tiny"


@pytest.mark.parametrize(
    ("json_schema", "json_object", "forms"),
    [
        (False, True, ["json_schema", "json_object", "json_object"]),
        (False, False, ["json_schema", "json_object", None, None]),
        (True, True, ["json_schema", "json_schema"]),
    ],
)
async def test_what_the_endpoint_understands_is_found_out_once(
    server: ModelServer, chat: OpenAIChat, *, json_schema: bool, json_object: bool, forms: list[str | None]
) -> None:
    server.json_schema, server.json_object = json_schema, json_object
    server.on(ANSWER)
    for _ in range(2):
        assert len((await chat.ask(question())).answer.entities) == 6
    assert [r.payload.get("response_format", {}).get("type") for r in server.chats] == forms
    if not json_schema:
        # Without structured output, the form stands in the instructions.
        assert '"subject"' in server.chats[-1].system


async def test_parameters_that_a_model_refuses_are_left_out(server: ModelServer, chat: OpenAIChat) -> None:
    server.refused = ("max_tokens", "temperature")
    server.on(ANSWER)
    for _ in range(2):
        await chat.ask(question(max_tokens=100))
    assert len(server.chats) == 4
    last = server.chats[-1].payload
    assert last["max_completion_tokens"] == 100
    assert "temperature" not in last
    assert last["response_format"]["type"] == "json_schema"


async def test_a_bad_answer_is_asked_for_again_with_the_reason(
    server: ModelServer, chat: OpenAIChat, observer: RecordingObserver
) -> None:
    server.on("I would rather not.", times=1)
    server.on(ANSWER)
    reply = await chat.ask(question())
    assert len(reply.answer.entities) == 6
    assert reply.usage.llm_calls == 2
    told = server.chats[1].payload["messages"]
    assert told[-2]["content"] == "I would rather not."
    assert "no JSON object" in told[-1]["content"]
    assert observer.outcomes == {("extract", "malformed"): 1, ("extract", "ok"): 1}


async def test_two_bad_answers_are_poison_that_names_prompt_model_and_reason(
    server: ModelServer, chat: OpenAIChat
) -> None:
    server.on("No.")
    with pytest.raises(
        Poison, match=r"extract: model big gave no usable answer twice: there is no JSON object"
    ):
        await chat.ask(question())
    assert len(server.chats) == 2


@pytest.mark.parametrize(
    "body", ['{"choices": []}', '{"choices": [{"message": null}]}', "{}", '{"choices": 7}']
)
async def test_a_body_without_an_answer_is_a_bad_answer(
    server: ModelServer, chat: OpenAIChat, body: str
) -> None:
    from tests.model_server import Raw

    server.on(Raw(body), times=1)
    server.on(ANSWER)
    assert len((await chat.ask(question())).answer.entities) == 6


async def test_the_rest_of_a_cut_answer_is_asked_for(
    server: ModelServer, chat: OpenAIChat, observer: RecordingObserver
) -> None:
    server.on(Cut(ANSWER, 70), times=1)
    server.on({"entities": ANSWER["entities"][2:], "facts": []})
    reply = await chat.ask(question())
    assert reply.complete
    assert [e.name for e in reply.answer.entities] == [f"Name{i}" for i in range(6)]
    noted = json.loads(server.chats[1].payload["messages"][-2]["content"])
    assert noted["entities"][0]["name"] == "Name0"
    assert observer.outcomes == {("extract", "truncated"): 1, ("extract", "ok"): 1}


async def test_an_answer_that_never_ends_is_kept_as_far_as_it_goes(
    server: ModelServer, chat: OpenAIChat, observer: RecordingObserver
) -> None:
    server.on(Cut({"entities": [{"name": "Ana"}] * 500}, 4000))
    reply = await chat.ask(question())
    assert [e.name for e in reply.answer.entities] == ["Ana"]
    assert not reply.complete
    assert len(server.chats) == 2
    assert observer.events["answer_cut_off"] == 1


async def test_a_refusal_is_poison_with_its_reason(server: ModelServer, chat: OpenAIChat) -> None:
    from tests.model_server import Raw

    server.on(Raw(json.dumps({"choices": [{"message": {"content": None, "refusal": "not allowed"}}]})))
    with pytest.raises(Poison, match="the model refused: not allowed"):
        await chat.ask(question())


async def test_content_in_parts_is_read(server: ModelServer, chat: OpenAIChat) -> None:
    from tests.model_server import Raw

    parts = [{"type": "text", "text": '{"entities": ["Ana"'}, {"type": "text", "text": "]}"}]
    server.on(Raw(json.dumps({"choices": [{"message": {"content": parts}}], "usage": None})))
    reply = await chat.ask(question())
    assert [e.name for e in reply.answer.entities] == ["Ana"]
    assert reply.usage.prompt_tokens > 0


async def test_cached_tokens_are_counted(server: ModelServer, chat: OpenAIChat) -> None:
    from tests.model_server import Raw

    usage = {"prompt_tokens": 900, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 800}}
    server.on(Raw(json.dumps({"choices": [{"message": {"content": "{}"}}], "usage": usage})))
    spent = (await chat.ask(question())).usage
    assert (spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens) == (900, 800, 5)


async def test_a_wrong_key_is_the_operators_fault_and_no_dead_letter(
    server: ModelServer, connect: Connect, observer: RecordingObserver
) -> None:
    server.key = "right"
    chat = OpenAIChat(connect(server, "wrong"), "big", observer)
    with pytest.raises(Retryable, match="refuses the key") as raised:
        await chat.ask(question())
    assert isinstance(raised.value, SettingError)
    assert len(server.requests) == 0
    assert observer.outcomes == {("extract", "401"): 1}
    good = OpenAIChat(connect(server, "right"), "big", observer)
    await good.ask(question())


@pytest.mark.parametrize("code", [404, 400])
async def test_a_model_that_is_not_there_is_the_operators_fault(
    server: ModelServer, chat: OpenAIChat, code: int
) -> None:
    from tests.model_server import Status

    server.on(Status(code, "model 'big' not found, try pulling it first"))
    with pytest.raises(SettingError, match="big"):
        await chat.ask(question())
    assert len(server.chats) == 1


async def test_a_request_that_is_too_long_is_poison(server: ModelServer, chat: OpenAIChat) -> None:
    from tests.model_server import Status

    server.on(Status(400, "This model's maximum context length is 8192 tokens"))
    with pytest.raises(Poison, match="rejects the request"):
        await chat.ask(question())
    assert len(server.chats) == 1


async def test_the_prompt_of_every_question_begins_alike(server: ModelServer, chat: OpenAIChat) -> None:
    await chat.ask(question())
    await chat.ask(Question("extract", "Extract.", "Bob lives in Lima.", Found))
    first, second = (r.payload["messages"][0] for r in server.chats)
    assert first == second


def obedient(request: RecordedRequest) -> dict[str, Any]:
    return ANSWER


async def test_an_answer_may_be_computed_from_the_request(
    server: ModelServer, chat: OpenAIChat, time: FakeTime
) -> None:
    server.on(obedient, contains="Acme")
    assert len((await chat.ask(question())).answer.entities) == 6
    assert time.slept == []
