"""What is found in a text, and what is no date."""

from __future__ import annotations

import pytest

from pipeline.timeline.dates import resolve
from tests.unit.timeline.dates_kit import REFERENCE, day, only


@pytest.mark.parametrize(
    ("text", "expression", "role", "start", "end", "precision"),
    [
        ("I moved here on 5 May 2021.", "5 May 2021", "point", "2021-05-05", "2021-05-06", "day"),
        ("We talked today", "today", "point", "2024-05-15", "2024-05-16", "day"),
        ("She left a fortnight ago", "a fortnight ago", "point", "2024-05-01", "2024-05-02", "week"),
        ("She left two weeks ago", "two weeks ago", "point", "2024-05-01", "2024-05-02", "week"),
        ("It began three years ago", "three years ago", "point", "2021-05-15", "2021-05-16", "year"),
        (
            "two and a half years ago",
            "two and a half years ago",
            "point",
            "2021-11-15",
            "2021-11-16",
            "month",
        ),
        ("See you next Thursday", "next Thursday", "point", "2024-05-23", "2024-05-24", "day"),
        ("We met on the 11th", "on the 11th", "point", "2024-05-11", "2024-05-12", "day"),
        ("I broke my phone last week", "last week", "period", "2024-05-06", "2024-05-13", "week"),
        ("in the summer of 2021", "summer of 2021", "period", "2021-06-01", "2021-09-01", "season"),
        ("in 2019 we moved", "2019", "period", "2019-01-01", "2020-01-01", "year"),
        (
            "the second quarter of 2023",
            "the second quarter of 2023",
            "period",
            "2023-04-01",
            "2023-07-01",
            "quarter",
        ),
        ("He was born in the 90s", "the 90s", "period", "1990-01-01", "2000-01-01", "decade"),
        ("a trip this weekend", "this weekend", "period", "2024-05-18", "2024-05-20", "weekend"),
        (
            "the first Friday of July 2023",
            "the first Friday of July 2023",
            "point",
            "2023-07-07",
            "2023-07-08",
            "day",
        ),
        (
            "the week before 9 June 2023",
            "the week before 9 June 2023",
            "period",
            "2023-05-29",
            "2023-06-05",
            "week",
        ),
        (
            "the Friday before 22 October 2023",
            "the Friday before 22 October 2023",
            "point",
            "2023-10-20",
            "2023-10-21",
            "day",
        ),
        (
            "the weekend after 3 June 2022",
            "the weekend after 3 June 2022",
            "period",
            "2022-06-04",
            "2022-06-06",
            "weekend",
        ),
        ("I work here since March", "since March", "since", "2024-03-01", None, "month"),
        ("until yesterday", "until yesterday", "until", None, "2024-05-14", "day"),
        ("prior to 2010", "prior to 2010", "until", None, "2010-01-01", "year"),
        ("through 2021", "through 2021", "until", None, "2022-01-01", "year"),
        ("after 2016", "after 2016", "since", "2017-01-01", None, "year"),
        ("from March to June 2015", "from March to June 2015", "range", "2015-03-01", "2015-06-01", "month"),
        (
            "between 2015 and 5 May 2018",
            "between 2015 and 5 May 2018",
            "range",
            "2015-01-01",
            "2018-05-05",
            "year",
        ),
        (
            "from 4 to 22 January 1995",
            "from 4 to 22 January 1995",
            "range",
            "1995-01-04",
            "1995-01-22",
            "day",
        ),
        ("5 de mayo", "5 de mayo", "point", "2024-05-05", "2024-05-06", "day"),
        ("Llegó el mes pasado", "el mes pasado", "period", "2024-04-01", "2024-05-01", "month"),
        ("hace dos semanas", "hace dos semanas", "point", "2024-05-01", "2024-05-02", "week"),
        ("desde hace dos años", "desde hace dos años", "since", "2022-05-15", None, "year"),
        ("Vive en Lima desde 2019", "desde 2019", "since", "2019-01-01", None, "year"),
        (
            "desde marzo de 2010 hasta 2015",
            "desde marzo de 2010 hasta 2015",
            "range",
            "2010-03-01",
            "2015-01-01",
            "month",
        ),
        ("en los años 90", "los años 90", "period", "1990-01-01", "2000-01-01", "decade"),
        (
            "el primer trimestre de 2023",
            "el primer trimestre de 2023",
            "period",
            "2023-01-01",
            "2023-04-01",
            "quarter",
        ),
        ("antes de ayer", "antes de ayer", "point", "2024-05-13", "2024-05-14", "day"),
        ("2021年5月5日", "2021年5月5日", "point", "2021-05-05", "2021-05-06", "day"),
        ("她三年前搬到上海", "三年前", "point", "2021-05-15", "2021-05-16", "year"),
        ("两周后", "两周后", "point", "2024-05-29", "2024-05-30", "week"),
        ("上个月", "上个月", "period", "2024-04-01", "2024-05-01", "month"),
        ("下周四", "下周四", "point", "2024-05-23", "2024-05-24", "day"),
        ("上週四", "上週四", "point", "2024-05-09", "2024-05-10", "day"),
        ("从2019年开始在北京", "从2019年开始", "since", "2019-01-01", None, "year"),
        ("从3月到6月", "从3月到6月", "range", "2024-03-01", "2024-06-01", "month"),
        ("到2022年底", "到2022年底", "until", None, "2023-01-01", "year"),
        ("二零一六年夏天", "二零一六年夏天", "period", "2016-06-01", "2016-09-01", "season"),
        ("20世纪80年代", "20世纪80年代", "period", "1980-01-01", "1990-01-01", "decade"),
    ],
)
def test_resolves(
    text: str, expression: str, role: str, start: str | None, end: str | None, precision: str
) -> None:
    span = only(text)
    assert (span.text, span.role, day(span.start), day(span.end), span.precision) == (
        expression,
        role,
        start,
        end,
        precision,
    )
    assert text[span.begin : span.stop] == expression


@pytest.mark.parametrize(
    "text",
    [
        "You may call me, they march on, wait a second, the sun is out.",
        "One may ask. May I? April said hi to June.",
        "version 2.0.1, ticket SR-2023-052, COVID-19, 192.168.0.1, v1.2.3",
        "call 555-2019 or +86 138-2010-2015, ssn 123-12-1234",
        "It cost $2000, 1500 euros and 20% more; deliver 2000 pieces to Room 2019",
        "in twenty minutes, at 5, at 17:30, for two hours, two weeks long",
        "every Monday, each week, on Friday mornings, every other Friday",
        "a 24/7 service, half of it 1/2, chapter 3/4",
        "the second floor, the last one, next to me, it will last three weekends",
        "Feb 30, 2015-1-32, 2/29/2019, 2019-13",
        "mailto:ana@2019.org https://example.org/2019/05/17/x",
        "Black Friday",
        "dos semanas, un segundo, los lunes, cada mes, el segundo intento, por la mañana",
        "Julio habló con Abril, vi a Julio en la casa de Julio",
        "三个月, 两百个人, 百年孤独, 每周一, 五角大楼, 《明日之后》, 3号线, 2月30日",
    ],
)
def test_finds_no_date(text: str) -> None:
    assert resolve(text, REFERENCE) == []
