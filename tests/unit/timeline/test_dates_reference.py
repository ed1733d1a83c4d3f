"""What a date depends on: the reference time, the sentence, the language; and the interval that it gives a fact."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from pipeline.timeline.dates import resolve, to_interval
from tests.unit.timeline.dates_kit import REFERENCE, day, only


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("We met on Thursday", "2024-05-09"),
        ("I will call you on Thursday", "2024-05-16"),
        ("They married on 20 May", "2023-05-20"),
        ("They're going to marry on 20 May", "2024-05-20"),
        ("nos vimos el jueves", "2024-05-09"),
        ("nos veremos el jueves", "2024-05-16"),
        ("我周四见了他", "2024-05-09"),
        ("我打算周四见他", "2024-05-16"),
    ],
)
def test_past_unless_the_sentence_speaks_of_the_future(text: str, start: str) -> None:
    assert day(only(text).start) == start


def test_only_the_own_sentence_decides() -> None:
    met, call = resolve("We met on Thursday. I will call you on Friday.", REFERENCE)
    assert (day(met.start), day(call.start)) == ("2024-05-09", "2024-05-17")


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("since March", ("2024-03-01", "month", None, None)),
        ("until May 2023", (None, None, "2023-05-01", "month")),
        ("in 2019", ("2019-01-01", "year", None, None)),
        ("last week", ("2024-05-06", "week", None, None)),
        ("from March 2019 to 5 June 2020", ("2019-03-01", "month", "2020-06-05", "day")),
    ],
)
def test_interval_of_a_fact(text: str, interval: tuple[str | None, ...]) -> None:
    valid_at, precision, invalid_at, end_precision = to_interval(only(text))
    assert (day(valid_at), precision, day(invalid_at), end_precision) == interval


def test_today_is_the_day_in_the_zone_of_the_reference_time() -> None:
    late = datetime(2024, 5, 15, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    assert only("today", late).start == datetime(2024, 5, 15, tzinfo=UTC)


def test_a_naive_reference_time_is_refused() -> None:
    with pytest.raises(ValueError, match="must be aware"):
        resolve("today", datetime(2024, 5, 15))


def test_languages_mix() -> None:
    spans = resolve("昨天 and on 5 May 2021", REFERENCE)
    assert [day(span.start) for span in spans] == ["2024-05-14", "2021-05-05"]


def test_a_named_language_is_the_only_one_read() -> None:
    assert resolve("ayer", REFERENCE, "en") == []
    assert day(only("ayer", language="es-MX").start) == "2024-05-14"
    assert day(only("3/7/2017", language="en").start) == "2017-03-07"
    assert day(only("3/7/2017", language="es").start) == "2017-07-03"
