from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipeline.extraction.local.extractor import LocalExtractor
from pipeline.model.episode import Source
from pipeline.model.extraction import Cardinality
from pipeline.timeline.precision import Precision
from tests.unit.extraction.conftest import REFERENCE, Read, episode, facts

STATED = [
    ("I work at Acme.", "Ana WORKS_AT Acme"),
    ("I'm a nurse at City Hospital.", "Ana HAS_ROLE nurse; Ana WORKS_AT City Hospital"),
    ("Bruno, who lives in Oslo, works at Globex.", "Bruno LIVES_IN Oslo; Bruno WORKS_AT Globex"),
    ("Carla and Ben work at Globex.", "Carla WORKS_AT Globex; Ben WORKS_AT Globex"),
    ("My sister Marta is married to Tom.", "Ana SIBLING_OF Marta; Marta MARRIED_TO Tom"),
    ("My son Leo lives in Cusco.", "Ana PARENT_OF Leo; Leo LIVES_IN Cusco"),
    ("Tom is my father.", "Tom PARENT_OF Ana"),
    ("I love sushi and hate mushrooms.", "Ana LIKES sushi; Ana DISLIKES mushrooms"),
    ("I don't like coffee.", "Ana DISLIKES coffee"),
    ("I prefer tea over coffee.", "Ana PREFERS tea"),
    ("I use Python, Rust and Go.", "Ana USES Python; Ana USES Rust; Ana USES Go"),
    ("My printer prints ghost images.", "Ana's printer HAS_PROBLEM ghost images"),
    ("I jog every morning.", "Ana JOGS Ana"),
    ("I'm on the Pro plan.", "Ana HAS_PLAN Pro plan"),
    ("I am originally from Peru.", "Ana IS_FROM Peru"),
    ("I have a dog named Rex.", "Ana OWNS Rex"),
    ("I bought a red rug last week for my mother.", "Ana BOUGHT red rug"),
    ("Acme is based in Berlin.", "Acme BASED_IN Berlin"),
    ("Trabajo en Acme.", "Ana WORKS_AT Acme"),
    ("Soy enfermera en el Hospital Central.", "Ana HAS_ROLE enfermera; Ana WORKS_AT Hospital Central"),
    ("Me gusta el café pero no me gusta el té.", "Ana LIKES café; Ana DISLIKES té"),
    ("Mi hermana Marta vive en Madrid.", "Ana SIBLING_OF Marta; Marta LIVES_IN Madrid"),
    ("Corro todas las mañanas.", "Ana RUNS Ana"),
    ("Mi impresora imprime imágenes fantasma.", "impresora de Ana HAS_PROBLEM imágenes fantasma"),
    ("Tengo el plan Pro.", "Ana HAS_PLAN plan Pro"),
    ("Bruno Falk trabaja en Globex y vive en Oslo.", "Bruno Falk WORKS_AT Globex; Bruno Falk LIVES_IN Oslo"),
    ("我在Acme工作。", "Ana WORKS_AT Acme"),
    ("我姐姐王丽住在广州。", "Ana SIBLING_OF 王丽; 王丽 LIVES_IN 广州"),
    ("我喜欢喝咖啡，不喜欢茶。", "Ana LIKES 喝咖啡; Ana DISLIKES 茶"),
    ("我每天早上跑步。", "Ana RUNS Ana"),
    ("我的打印机打印重影。", "Ana的打印机 HAS_PROBLEM 重影"),
    ("我和李明结婚了。", "Ana MARRIED_TO 李明"),
    ("我是一名护士。", "Ana HAS_ROLE 护士"),
]


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("Ana Ruiz, Luis Gil y Mei Wu fundaron Acme.", {"Ana Ruiz", "Luis Gil", "Mei Wu"}),
        ("Ana Ruiz y Luis Gil trabajan en Globex.", {"Ana Ruiz", "Luis Gil"}),
        ("Conozco a Ana Ruiz y Luis Gil trabaja en Globex.", {"Luis Gil"}),
        ("Ana Ruiz, Luis Gil and Mei Wu founded Acme.", {"Ana Ruiz", "Luis Gil", "Mei Wu"}),
        ("王丽和李明在Acme工作。", {"王丽", "李明"}),
        ("王丽、陈刚和李明住在广州。", {"王丽", "陈刚", "李明"}),
        ("我认识王丽，李明在Acme工作。", {"李明"}),
    ],
)
async def test_what_is_said_of_several_together_is_a_fact_of_each(
    say: Read, text: str, subjects: set[str]
) -> None:
    found = {(s, r) for _, s, r, _ in facts(await say(text)) if r in ("FOUNDED", "WORKS_AT", "LIVES_IN")}
    assert {s for s, _ in found} == subjects
    assert len({r for _, r in found}) == 1


@pytest.mark.parametrize(("text", "expected"), STATED)
async def test_a_plain_statement_is_a_fact(say: Read, text: str, expected: str) -> None:
    found = {f"{s} {r} {o}" for kind, s, r, o in facts(await say(text)) if kind == "asserts"}
    assert found == set(expected.split("; "))


@pytest.mark.parametrize(
    "text",
    [
        "Ok, thanks!",
        "Good morning!",
        "Do you work at Acme?",
        "Where does Bruno work",
        "If I worked at Acme, I would live in Berlin.",
        "I want to move to Paris.",
        "Maybe Tom works at Acme.",
        "I will join Globex.",
        "She never lived in Lima.",
        "I love it!",
        "I work from home.",
        "Gracias, ¡hasta luego!",
        "¿Trabajas en Acme?",
        "Si trabajara en Acme sería feliz.",
        "Quiero vivir en París.",
        "谢谢！",
        "你在Acme工作吗？",
        "如果我在Acme工作就好了。",
        "我想搬到上海。",
        "我没有在Acme工作过。",
    ],
)
async def test_talk_questions_and_wishes_state_nothing(say: Read, text: str) -> None:
    assert (await say(text)).statements == ()


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("I don't work at Acme any more.", "WORKS_AT"),
        ("I no longer work at Acme.", "WORKS_AT"),
        ("I don't live in Acme Town.", "LIVES_IN"),
        ("I left Acme.", "WORKS_AT"),
        ("Ya no trabajo en Acme.", "WORKS_AT"),
        ("Dejé Acme.", "WORKS_AT"),
        ("我不再在Acme工作了。", "WORKS_AT"),
        ("我离开了Acme。", "WORKS_AT"),
    ],
)
async def test_what_is_denied_or_left_ends_at_the_reference_time(say: Read, text: str, relation: str) -> None:
    (s,) = (await say(text)).statements
    assert (s.kind.value, s.relation) == ("closes", relation)
    assert (s.valid_at, s.invalid_at) == (None, REFERENCE)


@pytest.mark.parametrize(
    "text", ["I used to live in Lima.", "I lived in Lima.", "Antes vivía en Lima.", "我以前住在利马。"]
)
async def test_the_past_without_a_date_has_ended_and_began_nobody_knows_when(say: Read, text: str) -> None:
    (s,) = (await say(text)).statements
    assert (s.kind.value, s.relation, s.valid_at, s.invalid_at) == ("asserts", "LIVES_IN", None, REFERENCE)


@pytest.mark.parametrize(
    ("text", "start", "precision", "end"),
    [
        ("I joined Acme today.", datetime(2024, 3, 1, tzinfo=UTC), Precision.day, None),
        ("I work at Acme since 2019.", datetime(2019, 1, 1, tzinfo=UTC), Precision.year, None),
        (
            "I worked at Acme in 2015.",
            datetime(2015, 1, 1, tzinfo=UTC),
            Precision.year,
            datetime(2016, 1, 1, tzinfo=UTC),
        ),
        (
            "I worked at Acme from 2019 to 2021.",
            datetime(2019, 1, 1, tzinfo=UTC),
            Precision.year,
            datetime(2021, 1, 1, tzinfo=UTC),
        ),
        ("I'll join Acme on 3 June.", datetime(2024, 6, 3, tzinfo=UTC), Precision.day, None),
        (
            "Empecé a trabajar en Acme en mayo de 2021.",
            datetime(2021, 5, 1, tzinfo=UTC),
            Precision.month,
            None,
        ),
        ("我2021年5月加入了Acme。", datetime(2021, 5, 1, tzinfo=UTC), Precision.month, None),
        ("I work at Acme.", REFERENCE, Precision.second, None),
    ],
)
async def test_a_date_belongs_to_the_fact_of_its_clause(
    say: Read, text: str, start: datetime, precision: Precision, end: datetime | None
) -> None:
    (s,) = (await say(text)).statements
    assert (s.valid_at, s.valid_at_precision, s.invalid_at) == (start, precision, end)


async def test_each_clause_keeps_its_own_date(say: Read) -> None:
    found = await say("I used to live in Lima, but I moved to Quito last week.")
    by_place = {found.mentions[s.object].name: s for s in found.statements}
    assert by_place["Lima"].invalid_at == REFERENCE
    assert by_place["Quito"].valid_at == datetime(2024, 2, 19, tzinfo=UTC)
    assert by_place["Quito"].cardinality is Cardinality.one


async def test_sentences_are_self_contained_and_in_the_language_of_the_text(say: Read) -> None:
    sentences = [
        (await say(t)).statements[0].fact for t in ("I work at Acme.", "Trabajo en Acme.", "我在Acme工作。")
    ]
    assert sentences == ["Ana works at Acme", "Ana trabaja en Acme", "Ana在Acme工作"]
    assert (await say("I bought a red rug.")).statements[0].fact == "Ana bought a red rug"


async def test_relations_with_one_value_and_with_many(say: Read) -> None:
    assert (await say("I live in Lima.")).statements[0].cardinality is Cardinality.one
    assert (await say("I like tea.")).statements[0].cardinality is Cardinality.many


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bruno Falk presented the budget to the board.", "Bruno Falk presented the budget to the board"),
        ("I adopted a dog from the shelter yesterday.", "Ana adopted a dog from the shelter yesterday"),
        ("I've finished my thesis on soil erosion.", "Ana has finished their thesis on soil erosion"),
        ("I repaired the old engine and sold it to Tom Reyes.", "Ana repaired the old engine"),
        # Nothing of these: no deed, no object, denied, asked, wished, told by others, pronouns, orders.
        ("I laughed.", ""),
        ("I didn't paint the fence.", ""),
        ("Did you paint the fence?", ""),
        ("I might have painted the fence.", ""),
        ("I thought about the fence.", ""),
        ("I painted it for you.", ""),
        ("I painted this.", ""),
        ("The fence was painted by the neighbours.", ""),
        ("Please record that Bob Stone robbed a bank.", ""),
        ("I will paint the fence.", ""),
    ],
)
async def test_deeds_without_a_relation_of_their_own_are_facts_about_who_did_them(
    say: Read, text: str, expected: str
) -> None:
    pytest.importorskip("spacy")
    found = await say(text)
    assert [s.fact for s in found.statements] == ([expected] if expected else [])


async def test_a_deed_joins_two_names(say: Read) -> None:
    pytest.importorskip("spacy")
    found = await say("Maria Lopez hired Omar Haddad in 2019.")
    assert facts(found) == {("asserts", "Maria Lopez", "HIRED", "Omar Haddad")}
    assert found.statements[0].valid_at == datetime(2019, 1, 1, tzinfo=UTC)


async def test_a_pronoun_means_the_only_person_named_before(local: LocalExtractor) -> None:
    found = await local.extract(episode("Bruno Falk works at Globex. He lives in Oslo.", Source.text), ())
    assert ("asserts", "Bruno Falk", "LIVES_IN", "Oslo") in facts(found)


async def test_a_pronoun_is_resolved_through_the_context(say: Read) -> None:
    before = (episode("My friend Bruno Falk called.", speaker="Ana"),)
    assert facts(await say("He lives in Oslo.", context=before)) == {
        ("asserts", "Bruno Falk", "LIVES_IN", "Oslo")
    }


async def test_a_pronoun_with_two_candidates_means_nobody(say: Read) -> None:
    before = (episode("Bruno Falk met Carla Reyes.", Source.text),)
    assert (await say("He lives in Oslo.", context=before)).statements == ()
    assert (await say("He lives in Oslo.")).statements == ()


async def test_only_the_last_four_episodes_explain_a_pronoun(say: Read) -> None:
    named, rest = (
        episode("My friend Bruno Falk called.", speaker="Ana"),
        episode("Nice weather.", speaker="Ana"),
    )
    assert (await say("He lives in Oslo.", context=(named, rest, rest, rest))).statements != ()
    assert (await say("He lives in Oslo.", context=(named, rest, rest, rest, rest))).statements == ()
