from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.timeline.partial import parse_partial
from pipeline.timeline.precision import Precision


@pytest.mark.parametrize(
    ("value", "moment", "precision"),
    [
        ("2019", datetime(2019, 1, 1, tzinfo=UTC), Precision.year),
        ("2019-05", datetime(2019, 5, 1, tzinfo=UTC), Precision.month),
        ("2019-05-17", datetime(2019, 5, 17, tzinfo=UTC), Precision.day),
        (" 2019-05-17 ", datetime(2019, 5, 17, tzinfo=UTC), Precision.day),
        ("2019-05-17T08:30", datetime(2019, 5, 17, 8, 30, tzinfo=UTC), Precision.minute),
        ("2019-05-17 08:30:15", datetime(2019, 5, 17, 8, 30, 15, tzinfo=UTC), Precision.second),
        ("2019-05-17T08:30:15Z", datetime(2019, 5, 17, 8, 30, 15, tzinfo=UTC), Precision.second),
        ("2019-05-17T08:30:15.25+02:00", datetime(2019, 5, 17, 6, 30, 15, 250000, UTC), Precision.second),
        ("2019-05-17T23:30-0530", datetime(2019, 5, 18, 5, 0, tzinfo=UTC), Precision.minute),
        ("2019-05-17T00:00+08", datetime(2019, 5, 16, 16, tzinfo=UTC), Precision.minute),
        ("2019-05-17T08:30:15.123456789Z", datetime(2019, 5, 17, 8, 30, 15, 123456, UTC), Precision.second),
    ],
)
def test_reads_each_grain(value: str, moment: datetime, precision: Precision) -> None:
    assert parse_partial(value) == (moment, precision)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "expected YYYY"),
        ("19", "expected YYYY"),
        ("2019-5", "expected YYYY"),
        ("2019-13", "month must be in 1..12"),
        ("2019-02-30", "day is out of range"),
        ("2019-05-17T25:00", "hour must be in 0..23"),
        ("2019-05-17T08:00+25:00", "offset"),
        ("0000", "year 0 is out of range"),
        ("0001-01-01T00:00+05:00", "out of range"),
        ("last May", "expected YYYY"),
        ("2019-05-17T08:30:15Zulu", "expected YYYY"),
        ("٢٠١٩", "expected YYYY"),
    ],
)
def test_names_what_is_wrong(value: str, reason: str) -> None:
    with pytest.raises(ValueError, match="is not a date") as caught:
        parse_partial(value)
    assert reason in str(caught.value)
    assert repr(value) in str(caught.value)


def test_refuses_a_number() -> None:
    with pytest.raises(TypeError, match="must be a string, not int"):
        parse_partial(2019)  # type: ignore[arg-type]


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_isoformat_writes_is_read_back(moment: datetime) -> None:
    assert parse_partial(moment.isoformat())[0] == moment


@given(st.text(max_size=40))
def test_any_text_is_a_date_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        moment, precision = parse_partial(text)
        assert moment.utcoffset() is not None
        assert isinstance(precision, Precision)
