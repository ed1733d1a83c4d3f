"""Rate limits, outages and slowness: what the lanes hear of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime

import pytest

from pipeline.errors import Retryable
from pipeline.extraction.model.answer import Found
from pipeline.llm.client import OpenAIChat
from pipeline.llm.endpoint import Endpoint, EndpointPolicy
from pipeline.llm.limits import Rates
from pipeline.llm.port import Question
from tests.llm_support import START, FakeTime, RecordingObserver
from tests.model_server import Drop, Hang, ModelServer, Raw, Status

QUESTION = Question(purpose="extract", system="s", user="u", answer=Found)
Connect = Callable[..., Endpoint]


@pytest.mark.parametrize(
    ("header", "waited"),
    [
        ("7", 7.0),
        ("0.25", 0.25),
        (format_datetime(START + timedelta(seconds=9), usegmt=True), 9.0),
        (None, 0.5),
    ],
)
async def test_a_429_waits_as_long_as_it_says(
    server: ModelServer, chat: OpenAIChat, time: FakeTime, header: str | None, waited: float
) -> None:
    server.on(Status(429, retry_after=header), times=1)
    await chat.ask(QUESTION)
    assert sum(time.slept) == pytest.approx(waited)
    assert len(server.chats) == 2


async def test_a_long_wait_goes_back_to_the_lane_and_holds_the_others(
    server: ModelServer, chat: OpenAIChat, time: FakeTime
) -> None:
    server.on(Status(429, retry_after=900), times=1)
    with pytest.raises(Retryable, match="wait 900 s"):
        await chat.ask(QUESTION)
    await chat.ask(QUESTION)
    assert time.now == pytest.approx(900)


async def test_endless_429_is_retryable_in_the_end(server: ModelServer, chat: OpenAIChat) -> None:
    server.on(Status(429, retry_after=1))
    with pytest.raises(Retryable, match="overloaded"):
        await chat.ask(QUESTION)
    assert len(server.chats) == 9


FAULTS = {
    "500": (Status(500), "500"),
    "503": (Status(503, retry_after=2), "503"),
    "529": (Status(529), "529"),
    "408": (Status(408), "408"),
    "drop": (Drop(), "connection"),
    "drop midway": (Drop(midway=True), "connection"),
    "a page instead of JSON": (Raw("<html>Bad gateway</html>"), "garbled"),
    "an error with status 200": (Raw('{"error": {"message": "busy"}}'), "garbled"),
}


@pytest.mark.parametrize(("fault", "outcome"), FAULTS.values(), ids=FAULTS)
async def test_a_short_outage_is_waited_out(
    server: ModelServer, chat: OpenAIChat, observer: RecordingObserver, fault: object, outcome: str
) -> None:
    server.on(fault, times=2)
    await chat.ask(QUESTION)
    assert observer.outcomes == {("extract", outcome): 2, ("extract", "ok"): 1}


@pytest.mark.parametrize(("fault", "outcome"), FAULTS.values(), ids=FAULTS)
async def test_a_long_outage_is_retryable(
    server: ModelServer, chat: OpenAIChat, fault: object, outcome: str
) -> None:
    server.on(fault)
    with pytest.raises(Retryable, match="failed 3 times"):
        await chat.ask(QUESTION)


async def test_a_call_that_hangs_is_given_up(
    server: ModelServer, connect: Connect, observer: RecordingObserver
) -> None:
    server.on(Hang())
    chat = OpenAIChat(connect(server, policy=EndpointPolicy(timeout=0.05)), "big", observer)
    with pytest.raises(Retryable, match=r"no answer within 0\.05 s"):
        await chat.ask(QUESTION)
    assert observer.outcomes == {("extract", "timeout"): 3}


async def test_nobody_listening_is_retryable(connect: Connect, observer: RecordingObserver) -> None:
    gone = ModelServer()
    await gone.start()
    chat = OpenAIChat(connect(gone), "big", observer)
    await gone.stop()
    with pytest.raises(Retryable, match="connection failed"):
        await chat.ask(QUESTION)


async def test_while_the_endpoint_is_down_nothing_is_sent(
    server: ModelServer, chat: OpenAIChat, time: FakeTime
) -> None:
    server.on(Status(503), times=6)
    for _ in range(2):
        with pytest.raises(Retryable):
            await chat.ask(QUESTION)
    sent = len(server.chats)
    assert sent == 5
    for _ in range(20):
        with pytest.raises(Retryable, match="is down: paused"):
            await chat.ask(QUESTION)
    assert len(server.chats) == sent
    time.now += 5.1
    # One request tries, fails, and the pause is twice as long.
    with pytest.raises(Retryable, match="is down"):
        await chat.ask(QUESTION)
    assert len(server.chats) == sent + 1
    time.now += 5.1
    with pytest.raises(Retryable, match="is down"):
        await chat.ask(QUESTION)
    assert len(server.chats) == sent + 1
    time.now += 5.1
    await chat.ask(QUESTION)
    await chat.ask(QUESTION)
    assert len(server.chats) == sent + 3


async def test_concurrency_grows_one_by_one_and_halves_on_429(
    server: ModelServer, connect: Connect, observer: RecordingObserver
) -> None:
    endpoint = connect(server, rates=Rates(start_concurrency=4, max_concurrency=8))
    chat = OpenAIChat(endpoint, "big", observer)
    server.latency = 0.01
    await asyncio.gather(*(chat.ask(QUESTION) for _ in range(60)))
    assert endpoint.limits.concurrency == 8
    assert 4 <= server.most_running <= 8
    server.on(Status(429, retry_after=0.01), times=5)
    await asyncio.gather(*(chat.ask(QUESTION) for _ in range(8)))
    # Five refusals of one burst halve once or twice, not five times.
    assert 2 <= endpoint.limits.concurrency <= 6


async def test_a_cancelled_question_gives_its_place_back(
    server: ModelServer, connect: Connect, observer: RecordingObserver
) -> None:
    endpoint = connect(server, rates=Rates(start_concurrency=1, max_concurrency=1))
    chat = OpenAIChat(endpoint, "big", observer)
    server.on(Hang(), times=1)
    first = asyncio.create_task(chat.ask(QUESTION))
    await asyncio.wait_for(server.received.wait(), 10)
    waiting = asyncio.create_task(chat.ask(QUESTION))
    await asyncio.sleep(0)
    waiting.cancel()
    first.cancel()
    await asyncio.gather(first, waiting, return_exceptions=True)
    await asyncio.wait_for(chat.ask(QUESTION), 10)


async def test_request_and_token_rates_are_kept(
    server: ModelServer, connect: Connect, observer: RecordingObserver, time: FakeTime
) -> None:
    endpoint = connect(server, rates=Rates(requests_per_minute=60))
    chat = OpenAIChat(endpoint, "big", observer)
    for _ in range(90):
        await chat.ask(QUESTION)
    assert time.now == pytest.approx(30, abs=0.5)

    tokens = connect(server, rates=Rates(tokens_per_minute=3000))
    small = OpenAIChat(tokens, "big", observer)
    started = time.now
    spent = 0
    for _ in range(20):
        usage = (await small.ask(QUESTION)).usage
        spent += usage.prompt_tokens + usage.completion_tokens
    # The bucket pays what was used, not what was feared: all of it fits into the first minute's worth, but for the
    # thousand tokens that each answer might have taken.
    assert spent < 3000
    assert time.now - started < 25


async def test_429_on_every_third_call_loses_nothing(
    server: ModelServer, chat: OpenAIChat, observer: RecordingObserver, time: FakeTime
) -> None:
    server.on(Status(429, retry_after=2), when=lambda request: request.number % 3 == 0)
    server.on({"entities": [{"name": "Ana"}, {"name": "Acme"}]})
    replies = await asyncio.gather(*(chat.ask(QUESTION) for _ in range(200)))
    assert len(replies) == 200
    assert all(len(r.answer.entities) == 2 and r.complete for r in replies)
    assert observer.outcomes["extract", "ok"] == 200
    assert observer.outcomes["extract", "429"] >= 90
