"""Which names can only be two things, and which a judge may be asked about."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.model.entity import Entity
from pipeline.model.extraction import Mention
from pipeline.stages.judging import may_be_same
from pipeline.stages.name_marks import tell_apart
from tests.contract.kit import day

APART = [
    # serial numbers, years, amounts
    ("SR-2023-052", "SR-2023-053"),
    ("SR-2023-052", "SR-2023-52"),
    ("Ticket 1042", "Ticket 1043"),
    ("Harbor Summit 2023", "Harbor Summit 2024"),
    ("Cumbre de Lima 2023", "Cumbre de Lima 2024"),
    ("2023年年会", "2024年年会"),
    ("Order 1,000", "Order 1,001"),
    ("Sala ٣", "Sala ٤"),
    ("Ｒｏｏｍ　１２", "Room 13"),
    # versions and revisions
    ("Python", "Python 3"),
    ("Router v2", "Router v3"),
    ("Router 2.0", "Router 2.1"),
    ("Pump P-100 Rev A", "Pump P-100 Rev B"),
    ("Pump P-100 Rev A", "Pump P-100"),
    ("Bomba P-100 revisión A", "Bomba P-100 revisión B"),
    ("GPT-4", "GPT-4o"),
    ("Phase II", "Phase III"),
    ("Fase II", "Fase III"),
    ("Part I", "Part II"),
    ("Henry V", "Henry VI"),
    ("Pius XI", "Pius XII"),
    ("World War I", "World War 2"),
    ("Phase Two", "Phase Three"),
    ("Terminal dos", "Terminal tres"),
    # letters and codes
    ("eu-west-1a", "eu-west-1b"),
    ("eu-west-1", "us-west-1"),
    ("BMW X3", "BMW M3"),
    ("Gate A", "Gate B"),
    ("Gate A Lounge", "Gate B Lounge"),
    ("Puerta A Salida", "Puerta B Salida"),
    ("Vitamin C cream", "Vitamin E cream"),
    ("Hepatitis B", "Hepatitis C"),
    ("Hepatitis", "Hepatitis B"),
    ("John A. Smith", "John B. Smith"),
    ("U.S. Army", "U.K. Army"),
    # calendar, generation, direction
    ("March report", "April report"),
    ("Informe de marzo", "Informe de abril"),
    ("Monday standup", "Tuesday standup"),
    ("Martin King Jr.", "Martin King Sr."),
    ("North Wing", "South Wing"),
    ("Ala norte", "Ala sur"),
    # Chinese
    ("10月", "11月"),
    ("十月", "十一月"),
    ("第三中学", "第四中学"),
    ("北京大学第一医院", "北京大学第三医院"),
    ("地铁一号线", "地铁二号线"),
    ("二〇二三年计划", "二〇二四年计划"),
    ("第二十三届大会", "第二十四届大会"),
    ("河南", "河北"),
    ("山东大学", "山西大学"),
    ("东门", "西门"),
    ("甲班", "乙班"),
]

TOGETHER = [
    ("Acme Inc.", "Acme Incorporated"),
    ("Müller", "Muller"),
    ("Maria Perez", "María Pérez"),
    ("漢語大學", "汉语大学"),
    ("Samsung", "三星"),
    ("三星电子", "三星電子"),
    ("北京大学", "北大"),
    ("四川大学", "川大"),
    ("百度", "Baidu"),
    ("第三医院", "Third Hospital"),
    ("二〇二三年计划", "2023年计划"),
    ("十月", "10月"),
    ("东门", "東门"),
    ("World War II", "World War 2"),
    ("Phase Two", "Phase 2"),
    ("One World Trade Center", "1 World Trade Center"),
    ("Formula One", "Formula 1"),
    ("Formula 1", "F1"),
    ("Router v2", "Router 2"),
    ("F-16", "F16"),
    ("P-100 pump", "P100 pump"),
    ("COVID-19", "covid 19"),
    ("John F. Kennedy", "John Kennedy"),
    ("John F Kennedy", "John Fitzgerald Kennedy"),
    ("J. Smith", "John R. Smith"),
    ("Jayant R. Haritsa", "Jayant Haritsa"),
    ("O'Brien", "OBrien"),
    ("Yujean Kang's", "Yujean Kang"),
    ("AT&T", "ATT"),
    ("U.S.", "US"),
    ("U.S. Army", "US Army"),
    ("A Beautiful Mind", "Beautiful Mind"),
    ("Pérez y Gómez", "Pérez Gómez"),
    ("Xi Jinping", "Jinping Xi"),
    ("Martin King Jr.", "Martin King"),
    ("Order 1,000", "Order 1000"),
    ("Ｒｏｏｍ　１２", "Room 12"),
    ("April Jones", "A. Jones"),
    ("Wing North", "North Wing"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_names_that_can_only_be_two_things(one: str, other: str) -> None:
    assert tell_apart(one, other)
    assert tell_apart(other, one)


@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_names_that_a_judge_may_be_asked_about(one: str, other: str) -> None:
    assert not tell_apart(one, other)
    assert not tell_apart(other, one)


@settings(deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_it_does_not_matter_which_comes_first(one: str, other: str) -> None:
    assert tell_apart(one, other) == tell_apart(other, one)
    assert not tell_apart(one, one)


@settings(deadline=None)
@given(st.text(alphabet="ab -#", min_size=1, max_size=8), st.integers(0, 9999), st.integers(0, 9999))
def test_names_that_differ_in_digits_only_are_always_apart(text: str, one: int, other: int) -> None:
    assert tell_apart(f"{text}{one}", f"{text}{other}") == (one != other)


def entity(name: str, *aliases: str, kind: str | None = None) -> Entity:
    return Entity(id="e", group_id="g", name=name, aliases=aliases, keys=(), type=kind, created_at=day(1))


def test_an_alias_counts_like_the_name() -> None:
    assert not may_be_same(Mention(name="Route 9"), entity("Old Mill Road"))
    assert may_be_same(Mention(name="Route 9 bypass"), entity("Old Mill Road", "Route 9"))


def test_types_that_differ_are_never_the_same() -> None:
    assert not may_be_same(Mention(name="Java", type="Place"), entity("Java", kind="Language"))
    assert may_be_same(Mention(name="Java", type="place"), entity("Java", kind="Place"))
    assert may_be_same(Mention(name="Java"), entity("Java", kind="Place"))
    assert may_be_same(Mention(name="Java", type="Entity"), entity("Java", kind="Place"))
