"""Several episodes in one call: what each gets is what it would have got alone, whatever the model does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.errors import Poison, Retryable
from pipeline.extraction.model import several
from pipeline.extraction.model.company import Company
from pipeline.extraction.model.extractor import ModelExtractor
from pipeline.model.episode import Episode, Usage
from pipeline.model.extraction import Extraction
from tests.episodes import message, record, text
from tests.llm_support import RecordingObserver
from tests.model_server import ModelServer, RecordedRequest, Status, toy

Build = Callable[..., ModelExtractor]
Answer = Callable[[RecordedRequest], Any]

SAID = (
    ("Ana", "I work at Acme."),
    ("Ben", "I bought a Tesla last week."),
    ("Clara", "I moved to Lima yesterday."),
    ("Dan", "I no longer work at Globex."),
)


def episodes() -> list[Episode]:
    return [message(words, speaker, id=f"e{n}") for n, (speaker, words) in enumerate(SAID)]


async def together(
    extractor: ModelExtractor, given: Sequence[Episode], *, size: int = 8, **more: Any
) -> list[Extraction | BaseException]:
    """All of them in one company; errors stand in their places."""
    company = Company(len(given), size, **more)
    readings = [company.read(lambda e=e: extractor.extract(e, ())) for e in given]  # type: ignore[misc]
    return await asyncio.gather(*readings, return_exceptions=True)


async def alone(extractor: ModelExtractor, given: Sequence[Episode]) -> list[Extraction]:
    return [await extractor.extract(episode, ()) for episode in given]


def shown(extractions: Sequence[Extraction | BaseException]) -> list[Any]:
    return [(e.mentions, e.statements) for e in extractions if isinstance(e, Extraction)]


def purposes(server: ModelServer) -> list[str]:
    return sorted(request.purpose for request in server.chats)


def changed(change: Callable[[list[dict[str, Any]]], list[Any]]) -> Answer:
    """The right parts, changed."""
    return lambda request: {"episodes": change(toy.answer(request)["episodes"])}


async def test_one_call_gives_what_one_call_each_gives(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    extractor = build()
    wanted = await alone(extractor, episodes())
    server.clear()
    found = await together(extractor, episodes())
    assert shown(found) == shown(wanted)
    assert [len(e.statements) for e in wanted] == [1, 1, 1, 1]
    (request,) = server.chats
    assert request.purpose == "extract_several"
    assert [request.block(f"episode_{n}") for n in range(1, 5)] == [words for _, words in SAID]
    assert request.block("about_3") == "speaker: Clara"
    usages = [e.usage for e in found if isinstance(e, Extraction)]
    assert sum(usages, Usage()) == Usage(
        llm_calls=1,
        prompt_tokens=request.prompt_tokens,
        completion_tokens=sum(u.completion_tokens for u in usages),
    )
    assert all(u.prompt_tokens and u.completion_tokens for u in usages)
    assert not any(name.startswith("shared_call") for name in observer.events)


async def test_each_has_its_own_reference_time_speaker_and_context(server: ModelServer, build: Build) -> None:
    days = [datetime(2024, month, 10, tzinfo=UTC) for month in (3, 7)]
    given = [
        message("I moved to Lima yesterday.", name, id=name, reference_time=day)
        for name, day in zip(("Ana", "Ben"), days, strict=True)
    ]
    extractor = build()
    company = Company(2, 8)
    before = message("Where is Clara?", "Zoe", id="0")
    first, second = await asyncio.gather(
        company.read(lambda: extractor.extract(given[0], [before])),
        company.read(lambda: extractor.extract(given[1], ())),
    )
    assert [e.statements[0].valid_at for e in (first, second)] == [
        datetime(2024, 3, 9, tzinfo=UTC),
        datetime(2024, 7, 9, tzinfo=UTC),
    ]
    (request,) = server.chats
    assert "Clara" in request.block("context_1")
    assert request.block("context_2") == ""
    assert request.user.count("Reference time: 2024-07-10") == 1


@pytest.mark.parametrize(
    ("change", "asked_again", "event"),
    [
        (lambda parts: [p for p in parts if p["episode"] != 2], 1, "shared_call_part_missing"),
        (lambda parts: [*parts, {**parts[0], "facts": []}], 1, "shared_call_part_missing"),
        (lambda parts: [{**p, "episode": 99 if p["episode"] == 1 else p["episode"]} for p in parts], 1, "shared_call_part_missing"),
        (lambda parts: [{**p, "episode": {1: 2, 2: 1}.get(p["episode"], p["episode"])} for p in parts], 2, "shared_call_part_doubted"),
        (lambda parts: [{**p, "episode": p["episode"] - 1} for p in parts], 4, "shared_call_part_doubted"),
        (lambda parts: [{"episode": 3}, *(p for p in parts if p["episode"] != 3)], 1, "shared_call_part_missing"),
        (lambda parts: [{"episode": 3, "facts": [{"no": "fact"}]}, *(p for p in parts if p["episode"] != 3)], 1, "shared_call_part_missing"),
        (lambda parts: [{**parts[0], "facts": parts[0]["facts"] + parts[1]["facts"]}, *parts[1:]], 1, "shared_call_part_doubted"),
    ],
    ids=["missing", "twice", "unknown number", "swapped", "from nought", "empty", "unreadable", "a neighbour's fact too"],
)  # fmt: skip
async def test_a_wrong_part_is_asked_for_alone(
    server: ModelServer,
    build: Build,
    observer: RecordingObserver,
    change: Callable[[list[dict[str, Any]]], list[Any]],
    asked_again: int,
    event: str,
) -> None:
    extractor = build(reflexion=0)
    wanted = await alone(extractor, episodes())
    server.clear()
    server.on(changed(change), purpose="extract_several")
    found = await together(extractor, episodes())
    assert shown(found) == shown(wanted)
    assert purposes(server) == ["extract"] * asked_again + ["extract_several"]
    assert observer.events[event] >= 1
    usages = [e.usage for e in found if isinstance(e, Extraction)]
    assert sum(u.llm_calls for u in usages) == 1 + asked_again
    assert sum(u.prompt_tokens for u in usages) == sum(r.prompt_tokens for r in server.chats)


@pytest.mark.parametrize(
    "shape",
    [
        lambda parts: parts,
        lambda parts: {"episodes": {p["episode"]: {k: p[k] for k in ("entities", "facts")} for p in parts}},
        lambda parts: {"results": [{"number": p["episode"], "nodes": p["entities"], "edges": p["facts"]} for p in parts]},
    ],
    ids=["bare list", "map by number", "other names"],
)  # fmt: skip
async def test_parts_are_read_in_other_shapes(server: ModelServer, build: Build, shape: Any) -> None:
    extractor = build(reflexion=0)
    wanted = await alone(extractor, episodes())
    server.clear()
    server.on(lambda request: shape(toy.answer(request)["episodes"]), purpose="extract_several")
    assert shown(await together(extractor, episodes())) == shown(wanted)
    assert purposes(server) == ["extract_several"]


async def test_a_call_that_fails_as_a_whole_falls_back_to_single_calls(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    extractor = build(reflexion=0)
    wanted = await alone(extractor, episodes())
    server.clear()
    server.on("I cannot do that.", purpose="extract_several")
    assert shown(await together(extractor, episodes())) == shown(wanted)
    assert purposes(server) == ["extract"] * 4 + ["extract_several"] * 2
    assert observer.events["shared_call_unusable"] == 1


@pytest.mark.parametrize("doubted", [False, True])
async def test_a_model_that_cannot_do_it_is_asked_seldom(
    server: ModelServer, build: Build, monkeypatch: pytest.MonkeyPatch, doubted: bool
) -> None:
    monkeypatch.setattr(several, "PAUSE", 8)
    wrong = changed(lambda parts: parts[:1]) if doubted else "I cannot do that."
    server.on(wrong, purpose="extract_several")
    extractor = build(reflexion=0)
    calls = []
    for _ in range(6):
        await together(extractor, episodes())
        calls.append(purposes(server).count("extract_several"))
    once = 1 if doubted else 2
    assert calls == [once, 2 * once, 3 * once, 3 * once, 3 * once, 4 * once]


async def test_a_form_that_is_rejected_leaves_other_questions_their_form(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    server.on(Status(400, "response_format: the schema is too deep"), purpose="extract_several")
    extractor = build(reflexion=0)
    assert len(shown(await together(extractor, episodes()))) == 4
    assert purposes(server) == ["extract"] * 4 + ["extract_several"]
    forms = {r.payload["response_format"]["type"] for r in server.chats}
    assert forms == {"json_schema"}
    assert observer.events["shared_call_unusable"] == 1


async def test_an_endpoint_without_schemas_is_asked_together_once_that_is_known(
    server: ModelServer, build: Build
) -> None:
    server.json_schema = False
    extractor = build(reflexion=0)
    for _ in range(2):
        assert len(shown(await together(extractor, episodes()))) == 4
    assert [r.purpose for r in server.chats][-1] == "extract_several"
    assert server.chats[-1].payload["response_format"] == {"type": "json_object"}


async def test_an_endpoint_that_is_away_is_no_reason_to_ask_it_eight_times(
    server: ModelServer, build: Build
) -> None:
    server.on(Status(503))
    found = await together(build(), episodes())
    assert [type(error) for error in found] == [Retryable] * 4
    assert set(purposes(server)) == {"extract_several"}


async def test_one_that_is_poison_alone_takes_nobody_with_it(server: ModelServer, build: Build) -> None:
    server.on("nonsense", purpose="extract", contains="Tesla")
    server.on(
        changed(lambda parts: [p for p in parts if p["episode"] != 2]),
        purpose="extract_several",
    )
    found = await together(build(reflexion=0), episodes())
    assert isinstance(found[1], Poison)
    assert len(shown(found)) == 3


async def test_groups_and_ontologies_never_share_a_call(server: ModelServer, build: Build) -> None:
    given = [message(words, name, id=name, group_id=f"g{n % 2}") for n, (name, words) in enumerate(SAID)]
    extractor = build()
    wanted = await alone(extractor, given)
    server.clear()
    assert shown(await together(extractor, given)) == shown(wanted)
    assert purposes(server) == ["extract_several"] * 2
    for request in server.chats:
        assert ("Acme" in request.user) != ("Tesla" in request.user)


async def test_what_costs_nothing_alone_costs_nothing_in_company(server: ModelServer, build: Build) -> None:
    found = await together(build(), [message("ok, thanks!", id="t"), *episodes()[:1], text("Hi.", id="x")])
    assert [type(e) for e in found] == [Extraction] * 3
    assert purposes(server) == ["extract_several"]
    assert isinstance(found[0], Extraction)
    assert found[0].usage == Usage()
    server.clear()
    await together(build(), [message("ok, thanks!", id="t"), episodes()[0], message("hello", id="u")])
    assert purposes(server) == ["extract"]


async def test_calls_are_bounded_by_episodes_and_by_tokens(server: ModelServer, build: Build) -> None:
    given = [message(f"I bought a Thing{n:02}.", id=f"e{n}") for n in range(10)]
    await together(build(), given, size=4)
    assert sorted(len(r.numbers("episode")) for r in server.chats) == [2, 4, 4]
    server.clear()
    await together(build(), given, size=50, tokens=20)
    assert max(len(r.numbers("episode")) for r in server.chats) < 5
    server.clear()
    found = await together(build(), [*given[:2], text("Ana works at Acme. " * 200, id="long")])
    assert len(shown(found)) == 3
    assert purposes(server) == ["extract", "extract_several"]


async def test_records_share_calls_too(server: ModelServer, build: Build) -> None:
    given = [record({"name": f"Ana{n}", "city": f"Town{n}"}, id=f"e{n}") for n in range(3)]
    extractor = build()
    wanted = await alone(extractor, given)
    server.clear()
    assert shown(await together(extractor, given)) == shown(wanted)
    assert purposes(server) == ["extract_several"]


async def test_what_a_part_leaves_out_is_looked_for_as_ever(server: ModelServer, build: Build) -> None:
    """The second question is the episode's own."""
    server.on(
        changed(
            lambda parts: [{**p, "entities": [], "facts": []} if p["episode"] == 2 else p for p in parts]
        ),
        purpose="extract_several",
    )
    server.on(
        lambda request: toy._extracted(request.block("episode"), request.block("about")), purpose="reflexion"
    )
    found = await together(build(), episodes())
    assert purposes(server) == ["extract_several", "reflexion"]
    assert [len(e.statements) for e in found if isinstance(e, Extraction)] == [1, 1, 1, 1]


async def test_a_member_that_is_cancelled_holds_up_nobody(server: ModelServer, build: Build) -> None:
    company = Company(2, 8)

    async def never() -> None:
        await asyncio.Event().wait()

    extractor = build()
    stuck = asyncio.create_task(company.read(never))
    reading = asyncio.create_task(company.read(lambda: extractor.extract(episodes()[0], ())))
    while not stuck.done():
        await asyncio.sleep(0)
        stuck.cancel()
    assert len((await reading).statements) == 1
    assert purposes(server) == ["extract"]
