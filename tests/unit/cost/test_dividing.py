"""Shares of one call."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from pipeline.cost.dividing import divided
from pipeline.model.episode import Usage


@given(
    st.integers(0, 5),
    st.integers(0, 100_000),
    st.none() | st.decimals(0, 1000, places=9),
    st.lists(st.integers(0, 5000), min_size=1, max_size=50),
)
def test_shares_add_up_exactly(calls: int, tokens: int, cost: Decimal | None, weights: list[int]) -> None:
    usage = Usage(
        llm_calls=calls,
        prompt_tokens=tokens,
        cached_tokens=tokens // 3,
        completion_tokens=tokens // 7,
        cost=cost,
    )
    shares = divided(usage, weights)
    assert len(shares) == len(weights)
    assert sum(shares, Usage()) == usage
    assert all(share.prompt_tokens >= 0 and (share.cost is None) == (cost is None) for share in shares)


def test_a_share_is_in_proportion() -> None:
    shares = divided(Usage(llm_calls=1, prompt_tokens=400, cost=Decimal("0.4")), [10, 30])
    assert [share.prompt_tokens for share in shares] == [100, 300]
    assert [share.cost for share in shares] == [Decimal("0.1"), Decimal("0.3")]
    assert [share.llm_calls for share in shares] == [0, 1]
