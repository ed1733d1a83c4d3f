"""The small pure parts of the client."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from email.utils import format_datetime

import pytest
from pydantic import BaseModel

from pipeline.errors import Retryable
from pipeline.llm.breaker import Breaker
from pipeline.llm.dialect import Dialect, about_model, poorer
from pipeline.llm.limits import EndpointLimits, Rates
from pipeline.llm.retry_after import retry_after
from pipeline.llm.schema import answer_schema
from pipeline.llm.tokens import estimate
from tests.llm_support import START, FakeTime


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": format_datetime(START + timedelta(seconds=30), usegmt=True)}, 30.0),
        ({"retry-after": format_datetime(START - timedelta(seconds=30), usegmt=True)}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, START) == seconds


def test_dialects_become_poorer_one_thing_at_a_time() -> None:
    rich = Dialect()
    assert poorer(rich, "Unsupported parameter: 'max_tokens'") == Dialect(limit="max_completion_tokens")
    assert poorer(Dialect(limit="max_completion_tokens"), "max_completion_tokens is unknown") == Dialect(
        limit=None
    )
    assert poorer(rich, "temperature must be 1") == Dialect(temperature=False)
    assert poorer(rich, "response_format is not supported") == Dialect(form="json_object")
    assert poorer(rich, "bad request") == Dialect(form="json_object")
    assert poorer(Dialect(form="plain"), "bad request") is None
    assert poorer(rich, "maximum context length exceeded") is None


@pytest.mark.parametrize(
    ("complaint", "missing"),
    [
        ("model 'x' not found", True),
        ("The model `x` does not exist or you do not have access", True),
        ("This model does not support response_format", False),
        ("maximum context length of the model is 8192", False),
    ],
)
def test_complaints_about_the_model(complaint: str, *, missing: bool) -> None:
    assert about_model(complaint) is missing


class Leaf(BaseModel):
    a: int = 3


class Tree(BaseModel):
    leaves: list[Leaf] = []
    title: str | None = None


class Loop(BaseModel):
    inner: Loop | None = None


def test_schemas_are_inlined_and_strict() -> None:
    leaf = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert answer_schema(Tree) == {
        "type": "object",
        "properties": {
            "leaves": {"type": "array", "items": leaf},
            "title": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["leaves", "title"],
        "additionalProperties": False,
    }
    with pytest.raises(ValueError, match="refers to itself"):
        answer_schema(Loop)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("北京大学", 4), ("ab北京", 3)]
)
def test_estimates(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


def test_the_breaker_opens_after_failures_in_a_row_only() -> None:
    time = FakeTime()
    breaker = Breaker("e", time.timing, threshold=3, pause=10)
    for _ in range(2):
        breaker.failed()
    breaker.succeeded()
    for _ in range(2):
        breaker.failed()
    breaker.check()
    breaker.failed()
    with pytest.raises(Retryable, match="next attempt in 10 s"):
        breaker.check()
    assert breaker.open


def test_one_request_tries_after_the_pause_and_may_be_abandoned() -> None:
    time = FakeTime()
    breaker = Breaker("e", time.timing, threshold=1, pause=10, longest_pause=15)
    breaker.failed()
    time.now = 10
    breaker.check()
    with pytest.raises(Retryable):
        breaker.check()
    breaker.abandoned()
    breaker.check()
    breaker.failed()
    time.now = 24.9
    with pytest.raises(Retryable):
        breaker.check()
    time.now = 25
    breaker.check()
    breaker.succeeded()
    assert not breaker.open


async def test_a_request_larger_than_the_bucket_passes_and_is_paid_off() -> None:
    time = FakeTime()
    limits = EndpointLimits(Rates(tokens_per_minute=600), time.timing)
    async with limits.slot(1200):
        assert time.now == 0
    async with limits.slot(1):
        assert time.now == pytest.approx(60.1)


async def test_places_are_given_in_order_of_arrival() -> None:
    limits = EndpointLimits(Rates(start_concurrency=1, max_concurrency=1), FakeTime().timing)
    order: list[int] = []

    async def one(number: int) -> None:
        async with limits.slot(1):
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(i) for i in range(10)))
    assert order == list(range(10))
