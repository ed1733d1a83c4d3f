"""Which names and descriptions of a judge count."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipeline.model.entity import Entity
from pipeline.model.extraction import Mention
from pipeline.model.judgement import Judgement
from pipeline.stages.matching import new_entity
from pipeline.stages.telling_as_one import admitted, as_one

AT = datetime(2024, 1, 1, tzinfo=UTC)


def entity(name: str, description: str = "", *aliases: str) -> Entity:
    return new_entity(Mention(name=name, summary=description or None, aliases=aliases), "g", AT)


@pytest.mark.parametrize(
    ("standing", "mentioned", "proposed", "counts"),
    [
        ("Ana Ruiz", "Ana Ruiz Gómez", "Ana Ruiz Gómez", "Ana Ruiz Gómez"),
        ("Ana Ruiz", "Ana Ruiz Gómez", "ana  ruiz gómez", "Ana Ruiz Gómez"),
        ("Ana Ruiz", "Ana R. Gómez", "Ana Ruiz Gómez", "Ana Ruiz Gómez"),
        ("IBM", "International Business Machines", "International Business Machines", "International Business Machines"),
        ("Samsung", "三星", "三星", "三星"),
        ("川大", "四川大学", "四川大学", "四川大学"),
        # The standing name, nothing, and names of symbols change nothing.
        ("Ana Ruiz", "Ana", "ANA RUIZ", None),
        ("Ana Ruiz", "Ana", None, None),
        ("Ana Ruiz", "Ana", " \u200b ", None),
        # Less than what stands.
        ("Ana Ruiz", "Ana", "Ana", None),
        ("John Smith", "J. Smith", "J. Smith", None),
        # Of the model's own knowledge, or out of a text that speaks to it.
        ("Ana Ruiz", "Ana", "Ana Ruiz, President of Peru", None),
        ("Ana Ruiz", "Ana", "Ana Ana Ana Ruiz", None),
        ("北京大学", "北大", "清华大学", None),
        # What marks tell apart.
        ("Pump P-100", "Pump P-100 unit", "Pump P-200 unit", None),
        ("Release", "The Release 3", "Release 3", None),
        ("Phase", "Phase plan", "Phase II plan", None),
    ],
)  # fmt: skip
def test_a_name_is_at_hand_or_made_of_the_names_and_says_no_less(
    standing: str, mentioned: str, proposed: str | None, counts: str | None
) -> None:
    found = admitted(entity(standing), Mention(name=mentioned), Judgement(name=proposed))
    assert found.name == counts
    made = as_one(entity(standing), Mention(name=mentioned), Judgement(name=proposed))
    assert made.name == (counts or standing)
    # Whatever is proposed, both are still found by the names that they came under.
    assert set(entity(standing).keys) | set(entity(mentioned).keys) <= set(made.keys)
    assert made.name not in made.aliases
    assert {standing, mentioned} <= {made.name, *made.aliases}


@pytest.mark.parametrize(
    ("standing", "mentioned", "proposed", "counts"),
    [
        ("a doctor in Lima", "she plays chess", "A doctor in Lima who plays chess.", True),
        ("a doctor in Lima", "a doctor", "a doctor in Lima", True),
        ("利马的医生", "她下棋", "利马的医生，她下棋。", True),
        ("a doctor in Lima", "she plays chess", "A doctor in Lima who plays chess and golf.", False),
        ("born in 1980", "a doctor", "A doctor, born in 1981", False),
        ("", "", "A doctor", False),
        ("a doctor in Lima", "she plays chess", "", False),
        ("a doctor in Lima", "she plays chess", "doctor " * 200, False),
    ],
)
def test_a_description_is_made_of_the_words_of_both(
    standing: str, mentioned: str, proposed: str, counts: bool
) -> None:
    before, mention = entity("Ana", standing), Mention(name="Anna", summary=mentioned or None)
    found = as_one(before, mention, Judgement(summary=proposed))
    assert found.description == (proposed if counts else mentioned or standing)
    assert (admitted(before, mention, Judgement(summary=proposed)).summary is not None) == counts


def test_what_was_admitted_is_admitted_again() -> None:
    before, mention = entity("Ana Ruiz", "a doctor"), Mention(name="Ana Ruiz Gómez", summary="plays chess")
    once = admitted(before, mention, Judgement(name="ANA RUIZ GÓMEZ", summary="A  doctor plays\nchess"))
    assert once == Judgement(name="Ana Ruiz Gómez", summary="A doctor plays chess")
    assert admitted(before, mention, once) == once
