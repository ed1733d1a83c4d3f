"""Prices, and sums that are exact."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cost.prices import Prices
from pipeline.errors import SettingError
from pipeline.model.episode import Usage

GIVEN = {
    "big": {"prompt": 2, "cached": "0.5", "completion": 8},
    "small": {"prompt": 0.1, "completion": 0.4},
    "vectors": {"embedding": 0.02},
}


def test_a_call_costs_what_its_tokens_cost() -> None:
    prices = Prices.read(GIVEN)
    usage = Usage(llm_calls=1, prompt_tokens=1000, cached_tokens=600, completion_tokens=100)
    assert prices.chat("big", usage) == Decimal("0.0019")  # 400 x 2 + 600 x 0.5 + 100 x 8 for a million
    assert prices.embedding("vectors", 7) == Decimal("0.00000014")


def test_cached_tokens_cost_as_much_as_others_when_nothing_else_is_said() -> None:
    usage = Usage(prompt_tokens=1000, cached_tokens=600)
    assert Prices.read(GIVEN).chat("small", usage) == Decimal("0.0001")


def test_more_cached_tokens_than_prompt_tokens_are_no_discount() -> None:
    usage = Usage(prompt_tokens=100, cached_tokens=600)
    assert Prices.read(GIVEN).chat("big", usage) == Decimal("0.00005")


def test_a_model_without_a_price_has_no_cost() -> None:
    prices = Prices.read(GIVEN)
    assert prices.chat("other", Usage(prompt_tokens=10)) is None
    assert prices.embedding("other", 10) is None
    assert prices.missing(["big", "other", "other"]) == ["other"]


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"big": {"prompt": -1}}, "big.prompt"),
        ({"big": {"prompt": "cheap"}}, "big.prompt"),
        ({"big": {"promt": 1}}, "big.promt"),
        ({"big": {"prompt": "0.0000001"}}, "big.prompt"),
        ({"big": 3}, "big"),
    ],
)
def test_a_wrong_price_is_named(given: dict[str, object], place: str) -> None:
    with pytest.raises(SettingError, match=place):
        Prices.read(given)


def test_a_cost_that_is_not_known_is_left_out_and_adds_nothing() -> None:
    assert "cost" not in Usage(llm_calls=1).model_dump_json()
    assert (Usage() + Usage()).cost is None
    assert (Usage(cost=Decimal("0.1")) + Usage(llm_calls=1)).cost == Decimal("0.1")
    assert (Usage(cost=Decimal("0.1")) + Usage(cost=Decimal("0.2"))).cost == Decimal("0.3")
    assert Usage(cost=Decimal("0.25")).model_dump_json().endswith('"cost":0.25}')


_tokens = st.integers(0, 300_000)
_usages = st.builds(
    lambda p, c, n: Usage(
        llm_calls=1,
        prompt_tokens=p,
        completion_tokens=c,
        cost=Prices.read(GIVEN).chat(n, Usage(prompt_tokens=p, completion_tokens=c)),
    ),
    _tokens,
    _tokens,
    st.sampled_from(["big", "small", "other"]),
)


@given(st.lists(_usages, max_size=20))
def test_adding_up_through_json_loses_nothing(usages: list[Usage]) -> None:
    stored = Usage().model_dump_json()
    for usage in usages:
        stored = (Usage.model_validate_json(stored) + usage).model_dump_json()
    total = Usage.model_validate_json(stored)
    costs = [usage.cost for usage in usages if usage.cost is not None]
    assert total.cost == (sum(costs) if costs else None)
    assert total.prompt_tokens == sum(usage.prompt_tokens for usage in usages)
    assert total.llm_calls == len(usages)
