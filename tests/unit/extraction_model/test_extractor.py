"""From an episode through a real HTTP endpoint to mentions and statements."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.errors import Poison
from pipeline.extraction.model.extractor import ExtractionSize, ModelExtractor
from pipeline.model.extraction import Cardinality, Extraction, StatementKind
from pipeline.timeline.precision import Precision
from tests.episodes import REFERENCE, message, record, text
from tests.llm_support import RecordingObserver
from tests.model_server import ModelServer, Status

Build = Callable[..., ModelExtractor]


def told(extraction: Extraction) -> list[tuple[str, str, str]]:
    names = [m.name for m in extraction.mentions]
    return [(names[s.subject], s.relation, names[s.object]) for s in extraction.statements]


def fact(subject: str, relation: str, target: str | None, **more: Any) -> dict[str, Any]:
    return {
        "subject": subject,
        "relation": relation,
        "object": target,
        "fact": f"{subject} {relation} {target}",
    } | more


async def test_a_message_is_one_call(server: ModelServer, build: Build, observer: RecordingObserver) -> None:
    found = await build().extract(message("I work at Acme."), ())
    assert [(m.name, m.type) for m in found.mentions] == [("Ana", "Person"), ("Acme", "Organization")]
    assert told(found) == [("Ana", "WORKS_AT", "Acme")]
    (statement,) = found.statements
    assert (statement.valid_at, statement.valid_at_precision) == (REFERENCE, Precision.second)
    assert statement.cardinality is Cardinality.one
    assert found.usage.llm_calls == len(server.chats) == 1
    assert found.usage.prompt_tokens == server.chats[0].prompt_tokens
    assert observer.events == {}


async def test_six_entities_and_six_facts_are_one_call(server: ModelServer, build: Build) -> None:
    content = (
        "Bruno Falk works at Globex. Bruno Falk lives in Lima since 2019. Bruno Falk bought a Tesla last week. "
        "Clara Ruiz founded Initech. Clara Ruiz knows Bruno Falk. Globex is based in Lima."
    )
    found = await build().extract(message(content, speaker="Clara Ruiz"), ())
    assert len(found.statements) == 6
    assert {m.name for m in found.mentions} == {
        "Bruno Falk",
        "Globex",
        "Lima",
        "Tesla",
        "Clara Ruiz",
        "Initech",
    }
    assert len(server.chats) == 1
    by_relation = {s.relation: s for s in found.statements}
    assert by_relation["LIVES_IN"].valid_at == datetime(2019, 1, 1, tzinfo=UTC)
    assert by_relation["LIVES_IN"].valid_at_precision is Precision.year
    assert by_relation["BOUGHT"].valid_at == datetime(2024, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "speakers"),
    [
        ("Ok, thanks!", ["Ana"]),
        ("Good morning!", ["Ana"]),
        ("¡Muchas gracias!", ["Ana"]),
        ("好的，谢谢！", ["Ana"]),
        ("👍", ["Ana"]),
    ],
)
async def test_small_talk_costs_nothing_and_mentions_the_speaker(
    server: ModelServer, build: Build, content: str, speakers: list[str]
) -> None:
    found = await build().extract(message(content), ())
    assert [m.name for m in found.mentions] == speakers
    assert found.statements == ()
    assert found.usage.llm_calls == len(server.chats) == 0


async def test_every_speaker_of_a_transcript_is_an_entity(server: ModelServer, build: Build) -> None:
    found = await build().extract(
        message("Priya (assistant): Good morning!\nTarek (user): Good morning to you!", speaker=None), ()
    )
    assert [m.name for m in found.mentions] == ["Priya", "Tarek"]


async def test_yes_to_a_question_is_no_small_talk(server: ModelServer, build: Build) -> None:
    server.on(
        {"entities": ["Ana", "Acme"], "facts": [fact("Ana", "WORKS_AT", "Acme", fact="Ana works at Acme")]}
    )
    asked = message("Do you work at Acme?", speaker="Bob", id="before")
    found = await build().extract(message("Yes, I do."), (asked,))
    assert told(found) == [("Ana", "WORKS_AT", "Acme")]


async def test_what_only_the_context_says_is_not_said_again(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    server.on(
        {
            "entities": ["Bob", "Acme", "Ana"],
            "facts": [fact("Bob", "WORKS_AT", "Acme", fact="Bob works at Acme")],
        }
    )
    before = message("I work at Acme.", speaker="Bob", id="before")
    found = await build().extract(message("That sounds interesting, tell me more"), (before,))
    assert [m.name for m in found.mentions] == ["Ana"]
    assert found.statements == ()
    assert observer.events["ungrounded_fact"] == 1


async def test_a_pronoun_is_resolved_through_the_context(server: ModelServer, build: Build) -> None:
    server.on(
        {"entities": ["Bob", "Lima"], "facts": [fact("Bob", "LIVES_IN", "Lima", fact="Bob lives in Lima")]}
    )
    before = message("Do you know Bob?", speaker="Carl", id="before")
    found = await build().extract(message("Sure, he lives in Lima."), (before,))
    assert told(found) == [("Bob", "LIVES_IN", "Lima")]
    assert [m.name for m in found.mentions] == ["Ana", "Lima", "Bob"]


async def test_only_the_last_four_of_a_thread_are_shown(server: ModelServer, build: Build) -> None:
    before = [message(f"Line number {i}", speaker="Bob", id=str(i)) for i in range(6)]
    await build().extract(message("Bob works at Acme."), before)
    assert server.chats[0].block("context") == "\n".join(f"Bob: Line number {i}" for i in range(2, 6))


async def test_the_speaker_is_meant_by_i(server: ModelServer, build: Build) -> None:
    server.on(
        {"entities": ["I", "Acme"], "facts": [fact("I", "WORKS_AT", "Acme"), fact("she", "LIKES", "Acme")]}
    )
    found = await build().extract(message("I work at Acme."), ())
    assert told(found) == [("Ana", "WORKS_AT", "Acme")]


async def test_a_fact_about_one_entity_is_kept(server: ModelServer, build: Build) -> None:
    server.on(
        {
            "entities": ["Deborah"],
            "facts": [fact("Deborah", "jogs-every morning", None, fact="Deborah jogs every morning")],
        }
    )
    found = await build().extract(message("Deborah jogs every morning."), ())
    assert told(found) == [("Deborah", "JOGS_EVERY_MORNING", "Deborah")]


async def test_names_out_of_nowhere_are_dropped_and_counted(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    server.on(
        {
            "entities": ["Ana", "Acme", "Alice Smith", "New Delhi"],
            "facts": [
                fact("Ana", "WORKS_AT", "Acme", fact="Ana works at Acme"),
                fact("Alice Smith", "LIVES_IN", "New Delhi"),
                fact("Ana", "KNOWS", "Alice Smith"),
            ],
        }
    )
    found = await build().extract(message("I work at Acme, on a new desk."), ())
    assert [m.name for m in found.mentions] == ["Ana", "Acme"]
    assert told(found) == [("Ana", "WORKS_AT", "Acme")]
    assert observer.events["ungrounded_entity"] == 2
    assert observer.events["fact_without_entity"] == 2


@pytest.mark.parametrize(
    ("subject", "target", "kept"), [("0", "1", True), ("0", "7", False), ("Ana", "-1", False)]
)
async def test_ends_by_number(
    server: ModelServer, build: Build, observer: RecordingObserver, subject: str, target: str, *, kept: bool
) -> None:
    server.on(
        {"entities": ["Ana", "Acme"], "facts": [fact(subject, "WORKS_AT", target, fact="Ana works at Acme")]}
    )
    found = await build().extract(message("I work at Acme."), ())
    assert told(found) == ([("Ana", "WORKS_AT", "Acme")] if kept else [])
    assert observer.events["fact_without_entity"] == (0 if kept else 1)


async def test_an_end_that_was_not_listed_becomes_a_mention(server: ModelServer, build: Build) -> None:
    server.on({"entities": [], "facts": [fact("Ana", "WORKS_AT", "Acme", fact="Ana works at Acme")]})
    found = await build().extract(message("I work at Acme."), ())
    assert told(found) == [("Ana", "WORKS_AT", "Acme")]


async def test_an_ending_closes(server: ModelServer, build: Build) -> None:
    found = await build().extract(message("I left Acme last week."), ())
    (statement,) = found.statements
    assert statement.kind is StatementKind.closes
    assert statement.valid_at is None
    assert statement.invalid_at == datetime(2024, 3, 4, tzinfo=UTC)
    assert statement.invalid_at_precision is Precision.week


async def test_what_is_over_has_no_invented_beginning(server: ModelServer, build: Build) -> None:
    found = await build().extract(message("I lived in Lima."), ())
    (statement,) = found.statements
    assert (statement.kind, statement.valid_at, statement.invalid_at) == (
        StatementKind.asserts,
        None,
        REFERENCE,
    )


async def test_the_rule_decides_about_dates(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    server.on(
        {
            "entities": ["Ana", "Acme"],
            "facts": [
                fact(
                    "Ana",
                    "WORKS_AT",
                    "Acme",
                    fact="Ana joined Acme",
                    when="two weeks ago",
                    valid_at="2024-02-20",
                )
            ],
        }
    )
    found = await build().extract(message("I joined Acme two weeks ago."), ())
    assert found.statements[0].valid_at == datetime(2024, 2, 29, tzinfo=UTC)
    assert observer.events["date_disagreement"] == 1


async def test_a_long_text_is_read_in_pieces_and_merged(server: ModelServer, build: Build) -> None:
    names = [f"Person{chr(65 + i // 26)}{chr(97 + i % 26)}" for i in range(60)]
    content = " ".join(f"{name} works at Acme." for name in names)
    found = await build(size=ExtractionSize(chunk=500, overlap=60)).extract(text(content), ())
    assert len(server.chats) > 2
    assert sorted(told(found)) == sorted((name, "WORKS_AT", "Acme") for name in names)
    assert [m.name for m in found.mentions].count("Acme") == 1
    assert found.usage.llm_calls == len(server.chats)


async def test_a_record_is_read(server: ModelServer, build: Build) -> None:
    found = await build().extract(
        record({"customer": "Brightwell Ltd", "account_manager": "Sofia Reyes", "n": 3}), ()
    )
    assert ("Brightwell Ltd", "ACCOUNT_MANAGER", "Sofia Reyes") in told(found)
    assert len(server.chats) == 1


async def test_attributes_and_summary_are_kept(server: ModelServer, build: Build) -> None:
    server.on(
        {
            "entities": [
                {
                    "name": "Acme",
                    "type": "software company",
                    "summary": "makes anvils",
                    "attributes": {"size": 40},
                }
            ]
        }
    )
    found = await build().extract(message("Acme makes anvils with 40 people."), ())
    assert found.mentions[1].type == "SoftwareCompany"
    assert found.mentions[1].summary == "makes anvils"
    assert found.mentions[1].attributes == {"size": 40}


async def test_names_stay_in_the_language_of_the_text(server: ModelServer, build: Build) -> None:
    server.on(
        {
            "entities": [{"name": "王芳", "type": "Person"}, {"name": "北京大学"}, "Peking University"],
            "facts": [fact("王芳", "WORKS_AT", "北京大学", fact="王芳在北京大学工作", when="上个月")],
        }
    )
    found = await build().extract(message("我上个月开始在北京大学工作。", speaker="王芳"), ())
    assert [m.name for m in found.mentions] == ["王芳", "北京大学"]
    assert found.statements[0].fact == "王芳在北京大学工作"
    assert found.statements[0].valid_at == datetime(2024, 2, 1, tzinfo=UTC)


async def test_useless_answers_are_poison(server: ModelServer, build: Build) -> None:
    server.on("Sorry.")
    with pytest.raises(Poison, match="extract: model big"):
        await build().extract(message("I work at Acme."), ())


async def test_two_hundred_episodes_under_429_are_complete(server: ModelServer, build: Build) -> None:
    server.on(Status(429, retry_after=1), when=lambda request: request.number % 3 == 0)
    extractor = build()
    found = await asyncio.gather(
        *(extractor.extract(message(f"I bought a Thing{i:03}."), ()) for i in range(200))
    )
    assert [told(f) for f in found] == [[("Ana", "BOUGHT", f"Thing{i:03}")] for i in range(200)]
