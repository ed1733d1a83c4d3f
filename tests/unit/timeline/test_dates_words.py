from datetime import UTC, datetime

import pytest

from pipeline.timeline.dates import resolve

REFERENCE = datetime(2024, 5, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("in nineteen seventy eight", "1978-01-01"),
        ("in two thousand and eighteen", "2018-01-01"),
        ("in twenty twenty", "2020-01-01"),
        ("January twenty five nineteen eighty six", "1986-01-25"),
        ("September 10, nineteen zero one", "1901-09-10"),
        ("on the twenty-first of June 2020", "2020-06-21"),
        ("twenty-one days ago", "2024-04-24"),
        ("en mil novecientos noventa y nueve", "1999-01-01"),
        ("el veintiuno de mayo de dos mil dieciocho", "2018-05-21"),
        ("hace treinta y un días", "2024-04-14"),
        ("el primero de enero de 2020", "2020-01-01"),
        ("el 1.º de enero de 2020", "2020-01-01"),
        ("二零一六年", "2016-01-01"),
        ("两千零四年八月十五日", "2004-08-15"),
        ("二十一天前", "2024-04-24"),
    ],
)
def test_numbers_in_words(text: str, start: str) -> None:
    (span,) = resolve(text, REFERENCE)
    assert span.start is not None
    assert span.start.date().isoformat() == start


def test_offsets_are_characters_of_the_text_as_given() -> None:
    text = "İstanbul’da 🎉 the party is on 5 May 2021 🎉"
    (span,) = resolve(text, REFERENCE)
    assert text[span.begin : span.stop] == span.text == "5 May 2021"


@pytest.mark.parametrize("unit", ["last week ", "12-", "a-", "one ", "2 may ", "from ", "一月", "上", "三"])
def test_a_long_text_is_read_to_its_end(unit: str) -> None:
    text = unit * (4000 // len(unit)) + ". 2021-05-05."
    assert resolve(text, REFERENCE)[-1].text.endswith("2021-05-05")


def test_a_run_of_number_words_is_no_number() -> None:
    assert resolve("one two three four five six seven eight nine ten eleven twelve", REFERENCE) == []
