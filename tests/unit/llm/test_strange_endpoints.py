"""What OpenAI, Azure, Gemini, vLLM, Ollama and gateways do differently, one habit a test."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pipeline.errors import Poison, Retryable
from pipeline.extraction.model.answer import Found
from pipeline.llm.address import Address
from pipeline.llm.client import OpenAIChat
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import OperatorFault
from pipeline.llm.port import Question
from tests.llm_support import FakeTime, RecordingObserver
from tests.model_server import ModelServer, Raw, Status

ANSWER = {"entities": [{"name": "Ana"}], "facts": []}
At = Callable[[str], OpenAIChat]


def question(**more: Any) -> Question[Found]:
    return Question(purpose="extract", system="Extract.", user="Ana works at Acme.", answer=Found, **more)


def body(message: dict[str, Any], finish: str = "stop", **more: Any) -> Raw:
    return Raw(json.dumps({"choices": [{"message": message, "finish_reason": finish}], **more}))


@pytest.fixture
async def at(time: FakeTime, observer: RecordingObserver) -> AsyncIterator[At]:
    """A client of whatever address."""
    made: list[Endpoint] = []

    def client(address: str) -> OpenAIChat:
        made.append(Endpoint(address, "secret", timing=time.timing))
        return OpenAIChat(made[-1], "big", observer, timing=time.timing)

    yield client
    for endpoint in made:
        await endpoint.close()


@pytest.mark.parametrize(
    "tail", ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/embeddings", " "], ids=repr
)
async def test_every_way_to_write_the_address(server: ModelServer, at: At, tail: str) -> None:
    server.versioned = True
    server.on(ANSWER)
    chat = at(server.url.removesuffix("/v1") + tail)
    for _ in range(2):
        assert (await chat.ask(question())).answer.entities[0].name == "Ana"
    assert {request.target for request in server.chats} == {"/v1/chat/completions"}


async def test_an_api_at_the_root_stays_there(server: ModelServer, at: At) -> None:
    server.on(ANSWER)
    await at(server.url.removesuffix("/v1")).ask(question())
    assert [request.target for request in server.chats] == ["/chat/completions"]


async def test_an_address_without_an_api_is_the_operators_fault(server: ModelServer, at: At) -> None:
    with pytest.raises(OperatorFault, match="does not serve this address"):
        await at(server.url + "/nowhere").ask(question())


async def test_azure_has_a_query_and_a_header_of_its_own(server: ModelServer, at: At) -> None:
    server.on(ANSWER)
    await at(f"{server.url}/?api-version=2024-10-21").ask(question())
    (request,) = server.chats
    assert request.target == "/v1/chat/completions?api-version=2024-10-21"
    assert request.headers["api-key"] == "secret"


async def test_a_query_is_not_shown_in_errors(server: ModelServer, at: At) -> None:
    server.on(Status(401, "no"))
    with pytest.raises(OperatorFault) as told:
        await at(f"{server.url}?code=hush").ask(question())
    assert "hush" not in str(told.value)


def test_other_hosts_get_no_header_of_azure() -> None:
    assert not Address.read("https://api.openai.com/v1").is_azure
    assert Address.read("https://x.openai.azure.com/openai/v1").is_azure


@pytest.mark.parametrize(
    "told",
    [
        '{"error": {"code": 429, "message": "Rate limited"}}',
        '{"choices": [{"error": {"code": 502, "message": "Provider down"}, "finish_reason": "error"}]}',
        '{"object": "error", "message": "overloaded", "code": 503}',
        '{"error": {"code": "503", "message": "overloaded"}}',
        '{"error": "something"}',
    ],
)
async def test_an_error_in_an_answer_of_status_200_is_tried_again(
    server: ModelServer, chat: OpenAIChat, told: str
) -> None:
    server.on(Raw(told), times=2)
    server.on(ANSWER)
    assert (await chat.ask(question())).answer.entities
    assert len(server.chats) == 3


async def test_a_wrong_key_in_an_answer_of_status_200_is_the_operators_fault(
    server: ModelServer, chat: OpenAIChat
) -> None:
    server.on(Raw('{"error": {"code": 401, "message": "No auth credentials found"}}'))
    with pytest.raises(OperatorFault, match="No auth credentials"):
        await chat.ask(question())


async def test_an_error_field_that_is_null_is_none(server: ModelServer, chat: OpenAIChat) -> None:
    server.on(body({"content": json.dumps(ANSWER)}, error=None))
    assert (await chat.ask(question())).answer.entities


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (500, "failed to parse grammar"),
        (500, "guided decoding backend failed on json_schema"),
        (404, "No endpoints found that can handle the requested parameters."),
        (422, "response_format: extra fields not permitted"),
        (400, "Invalid JSON payload received. Unknown name additionalProperties"),
    ],
)
async def test_structured_output_that_is_refused_in_other_words(
    server: ModelServer, chat: OpenAIChat, status: int, told: str
) -> None:
    server.on(
        Status(status, told),
        when=lambda r: r.payload.get("response_format", {}).get("type") == "json_schema",
    )
    server.on(ANSWER)
    for _ in range(2):
        assert (await chat.ask(question())).answer.entities
    assert [r.payload["response_format"]["type"] for r in server.chats] == [
        "json_schema",
        "json_object",
        "json_object",
    ]


async def test_a_form_that_fails_once_in_a_while_is_given_up_and_not_the_episode(
    server: ModelServer, chat: OpenAIChat
) -> None:
    server.on(ANSWER, times=2)
    server.on(
        Status(400, "json_validate_failed Failed to generate JSON. Please adjust your prompt."), times=1
    )
    server.on(ANSWER)
    for _ in range(4):
        assert (await chat.ask(question())).answer.entities
    forms = [r.payload.get("response_format", {}).get("type") for r in server.chats]
    assert forms == ["json_schema"] * 3 + ["json_object"] * 2


@pytest.mark.parametrize(
    "told",
    [
        "System role not supported",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "After the optional system message, conversation roles must alternate user/assistant/user/assistant",
    ],
)
async def test_a_model_without_a_system_role_gets_one_message(
    server: ModelServer, chat: OpenAIChat, told: str
) -> None:
    server.on(Status(400, told), when=lambda r: r.payload["messages"][0]["role"] == "system")
    server.on("not json", times=1)
    server.on(ANSWER)
    for _ in range(2):
        await chat.ask(question())
    assert len(server.chats) == 4
    again = server.chats[2].payload["messages"]
    assert [part["role"] for part in again] == ["user", "assistant", "user"]
    assert again[0]["content"] == "Extract.\n\nAna works at Acme."


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        (
            "temperature",
            "'temperature' does not support 0 with this model. Only the default (1) is supported.",
        ),
        (
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
    ],
)
async def test_reasoning_models_are_adapted_to_once(
    server: ModelServer, chat: OpenAIChat, refused: str, told: str
) -> None:
    server.on(Status(400, told), when=lambda r: refused in r.payload)
    server.on(ANSWER)
    for _ in range(3):
        await chat.ask(question(max_tokens=500))
    assert [refused in r.payload for r in server.chats] == [True, False, False, False]


@pytest.mark.parametrize(
    "told",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 8842 tokens (842 in the messages, "
        "8000 in the completion). Please reduce the length of the messages or completion.",
        "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 4096 tokens "
        "and your request has 842 input tokens",
        "max_tokens is too large: 8000. This model supports at most 4096 completion tokens, whereas you provided 8000.",
        "max_tokens: 8000 > 4096, which is the maximum allowed number of output tokens for this model",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 4096] and 8000 is out of range",
    ],
)
async def test_a_context_without_room_for_the_limit_is_asked_without_one(
    server: ModelServer, chat: OpenAIChat, told: str
) -> None:
    server.on(Status(400, told), when=lambda r: "max_tokens" in r.payload)
    server.on(ANSWER)
    for _ in range(2):
        assert (await chat.ask(question(max_tokens=8000))).answer.entities
    assert ["max_tokens" in r.payload for r in server.chats] == [True, False, False]
    assert server.chats[-1].payload["response_format"]["type"] == "json_schema"


async def test_thoughts_that_use_up_the_limit_are_asked_again_without_one(
    server: ModelServer, chat: OpenAIChat, observer: RecordingObserver
) -> None:
    spent = {"prompt_tokens": 10, "completion_tokens": 500}
    server.on(body({"content": ""}, "length", usage=spent), when=lambda r: "max_tokens" in r.payload)
    server.on(ANSWER)
    reply = await chat.ask(question(max_tokens=500))
    assert reply.usage.llm_calls == 2
    assert reply.usage.completion_tokens > 500
    await chat.ask(question(max_tokens=500))
    assert ["max_tokens" in r.payload for r in server.chats] == [True, False, False]
    assert observer.outcomes == {("extract", "starved"): 1, ("extract", "ok"): 2}


async def test_a_model_that_never_begins_is_poison_that_says_so(
    server: ModelServer, chat: OpenAIChat
) -> None:
    server.on(body({"content": None}, "length"))
    with pytest.raises(Poison, match="cut off at the length limit before it began"):
        await chat.ask(question(max_tokens=500))
    assert len(server.chats) == 3


async def test_an_answer_among_the_thoughts_is_read(server: ModelServer, chat: OpenAIChat) -> None:
    server.on(body({"content": None, "reasoning_content": json.dumps(ANSWER)}))
    assert (await chat.ask(question())).answer.entities[0].name == "Ana"


async def test_a_filtered_question_is_poison_at_once(server: ModelServer, chat: OpenAIChat) -> None:
    server.on(
        Status(
            400, "The response was filtered due to the prompt triggering Azure's content management policy"
        )
    )
    with pytest.raises(Poison, match="content management policy"):
        await chat.ask(question())
    assert len(server.chats) == 1


async def test_a_filtered_answer_is_poison_after_a_second_try(server: ModelServer, chat: OpenAIChat) -> None:
    server.on(body({"content": ""}, "content_filter"))
    with pytest.raises(Poison, match="the model refused: content filter"):
        await chat.ask(question())
    assert len(server.chats) == 2


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ('[{"error": {"code": 429, "details": [{"retryDelay": "34s"}], "message": "quota"}}]', 34.0),
        ('{"error": {"message": "Rate limit reached. Please try again in 7.66s."}}', 7.66),
        ('{"error": {"message": "Please retry after 22 seconds."}}', 22.0),
        ('{"error": {"message": "Please try again in 1m3.5s."}}', None),
        ('{"error": {"message": "Please try again in 250ms."}}', 0.25),
    ],
)
async def test_a_wait_that_only_the_body_tells_is_kept(
    server: ModelServer, chat: OpenAIChat, time: FakeTime, told: str, seconds: float | None
) -> None:
    server.on(Raw(told, 429), times=1)
    server.on(ANSWER)
    if seconds is None:
        # Longer than a call may wait: it goes back to the lane.
        with pytest.raises(Retryable, match="wait 64 s"):
            await chat.ask(question())
        return
    await chat.ask(question())
    assert time.now == pytest.approx(seconds)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": None},
        {"prompt_tokens": "7", "prompt_tokens_details": {"cached_tokens": "x"}},
    ],
)
async def test_a_usage_that_tells_nothing_is_estimated(
    server: ModelServer, chat: OpenAIChat, usage: dict[str, Any] | None
) -> None:
    server.on(body({"content": json.dumps(ANSWER)}, usage=usage))
    spent = (await chat.ask(question())).usage
    assert spent.prompt_tokens > 0
    assert spent.completion_tokens > 0
    assert spent.cached_tokens == 0
