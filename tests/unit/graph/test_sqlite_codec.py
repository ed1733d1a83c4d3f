"""Columns of the SQLite store: exact times, beliefs as stretches of knowledge, metadata by JSON value."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import SettingError
from pipeline.graph.sqlite.codec import UNBOUNDED_FROM, UNBOUNDED_TO, belief_rows, micros, moment, pack, tag
from pipeline.model.fact import Belief, EntityRef, Fact

MOMENTS = st.datetimes(timezones=st.just(UTC))
START = datetime(2024, 1, 1, tzinfo=UTC)


@given(MOMENTS, MOMENTS)
def test_moments_are_exact_and_keep_their_order(one: datetime, other: datetime) -> None:
    assert moment(micros(one)) == one
    assert (micros(one) < micros(other)) == (one < other)
    assert UNBOUNDED_FROM < micros(one) < UNBOUNDED_TO


def _fact(days: list[tuple[int, bool, int | None, int | None]]) -> Fact:
    beliefs = tuple(
        Belief(
            known_from=START + timedelta(days=known),
            holds=holds,
            valid_at=None if start is None else START + timedelta(days=start),
            invalid_at=None if length is None else START + timedelta(days=(start or 0) + length),
        )
        for known, holds, start, length in days
    )
    end = EntityRef(id="a", name="A")
    return Fact(id="f", group_id="g", source=end, target=end, relation="R", fact="A", beliefs=beliefs)


SMALL = st.integers(0, 5)
HISTORIES = st.lists(
    st.tuples(SMALL, st.booleans(), st.none() | SMALL, st.none() | st.integers(1, 5)), min_size=1, max_size=6
)


@given(HISTORIES, st.integers(-1, 6))
def test_at_every_moment_the_row_that_is_known_is_the_belief_of_the_model(
    history: list[tuple[int, bool, int | None, int | None]], day: int
) -> None:
    """Even where the clock went back between two beliefs."""
    fact = _fact(history)
    known_at = START + timedelta(days=day)
    known = [row for row in belief_rows(fact) if row[1] <= micros(known_at) < row[2]]
    expected = fact.belief_at(known_at)
    assert [fact.beliefs[row[0]] for row in known] == ([] if expected is None else [expected])
    for place, _, _, holds, start, end in known:
        belief = fact.beliefs[place]
        assert bool(holds) == belief.holds
        assert start == (UNBOUNDED_FROM if belief.valid_at is None else micros(belief.valid_at))
        assert end == (UNBOUNDED_TO if belief.invalid_at is None else micros(belief.invalid_at))


@given(HISTORIES)
def test_the_last_row_is_what_is_believed_now(
    history: list[tuple[int, bool, int | None, int | None]],
) -> None:
    fact = _fact(history)
    assert [row[0] for row in belief_rows(fact) if row[2] == UNBOUNDED_TO] == [len(fact.beliefs) - 1]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (1, "1", False),
        ("true", True, False),
        (1.5, "1.5", False),
        (2**53 + 1, 2**53 + 1, True),
        ("ü", "\u00fc", True),
        ("a\x00b", "a", False),
    ],
)
def test_metadata_values_are_compared_as_json(one: Any, other: Any, same: bool) -> None:
    assert (tag(one) == tag(other)) is same


def test_vectors_are_stored_as_directions() -> None:
    assert np.frombuffer(pack([3.0, 4.0], 2), dtype=np.float32).tolist() == pytest.approx([0.6, 0.8])
    assert np.frombuffer(pack([0.0, 0.0], 2), dtype=np.float32).tolist() == [0.0, 0.0]
    with pytest.raises(SettingError, match="3 dimensions"):
        pack([1.0, 2.0, 3.0], 2)
