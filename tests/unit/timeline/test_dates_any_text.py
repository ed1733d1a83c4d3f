"""Any text at any time: nothing raises, and what is found stands in the text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.timeline.dates import resolve, to_interval
from pipeline.timeline.precision import Precision


@pytest.mark.parametrize(
    "edge", [datetime.min.replace(tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)], ids=["first", "last"]
)
@pytest.mark.parametrize(
    "text",
    [
        "last century",
        "in 9999 years",
        "next decade",
        "since Monday",
        "two weeks ago",
        "去年",
        "hace 3 siglos",
    ],
)
def test_the_edges_of_the_calendar(text: str, edge: datetime) -> None:
    for span in resolve(text, edge):
        assert span.start is not None or span.end is not None


WORDS = st.sampled_from(
    [
        "since",
        "until",
        "from",
        "to",
        "between",
        "and",
        "the",
        "of",
        "in",
        "on",
        "last",
        "next",
        "this",
        "May",
        "march",
        "Monday",
        "21st",
        "5",
        "31",
        "2019",
        "99",
        "000",
        "week",
        "year",
        "days",
        "ago",
        "Q3",
        "summer",
        "90s",
        "century",
        "first",
        "second",
        "now",
        "today",
        "desde",
        "hasta",
        "el",
        "de",
        "mes",
        "hace",
        "años",
        "3/4",
        "2020-02-30",
        "mil",
        "tres",
        "上",
        "下",
        "个",
        "月",
        "日",
        "年",
        "周",
        "一",
        "二十",
        "千",
        "前",
        "后",
        "从",
        "到",
        "第",
        "季度",
        "世纪",
        "年代",
        "-",
        ",",
        ".",
        "(",
        ")",
        "'",
        ":",
    ]
)
TIMES = st.datetimes(timezones=st.just(UTC))


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=14).map(" ".join), st.lists(WORDS).map("".join)),
    TIMES,
)
def test_no_text_makes_it_raise(text: str, reference: datetime) -> None:
    stop = 0
    for language in (None, "en", "es", "zh"):
        stop = 0
        for span in resolve(text, reference, language):
            assert stop <= span.begin < span.stop <= len(text)
            assert span.text == text[span.begin : span.stop]
            assert span.start is not None or span.end is not None
            assert span.start is None or span.end is None or span.start < span.end
            assert isinstance(span.precision, Precision)
            to_interval(span)
            stop = span.stop
