"""One sentence over several pairs: each pair has a timeline of its own, and readers are told the sentence once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
import pytest

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.search import Scope
from pipeline.model.changes import FactChange
from pipeline.model.episode import EpisodeRef
from pipeline.model.extraction import (
    ExtractedEpisode,
    Extraction,
    Mention,
    ResolvedEpisode,
    Statement,
    StatementKind,
)
from pipeline.observer import SilentObserver
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from search_api.answers import FactAnswer
from search_api.lookups import Lookups, Read, TimelineRead
from search_api.problems import ProblemError
from search_api.requests import ContextRequest, SearchRequest
from search_api.retrieval.search import Retrieval
from tests.contract.kit import DIMENSION, Graph, day, episode

SENTENCE = "Ana, Luis and Mei work at Acme"
Told = tuple[str, str, str, str]


def told(name: str, relation: str = "WORKS_AT", fact: str = SENTENCE, of: str = "Acme") -> Told:
    return (name, relation, of, fact)


class World:
    """A group that episodes are told to, and that is asked."""

    def __init__(self, graph: Graph, group: str) -> None:
        self.graph, self.group, self.now = graph, group, day(100)
        embedder = HashingEmbedder(DIMENSION)
        parts: dict[str, Any] = {
            "store": graph.store,
            "embedder": embedder,
            "clock": lambda: self.now,
            "observer": SilentObserver(),
        }
        self._entities = ResolveEntitiesStage(**parts)
        self._facts = ResolveFactsStage(**parts)
        self.retrieval = Retrieval(graph.reader, embedder, None, lambda: self.now)
        self.lookups = Lookups(graph.reader)

    async def tell(
        self, name: str, number: int, *said: Told, verbatim: bool = False, **more: Any
    ) -> list[FactChange]:
        """An episode of a day; answers what changed."""
        one = episode(self.group, name, reference_time=day(number), sequence=number)
        await self.graph.receive(one)
        names = list(dict.fromkeys(n for s in said for n in (s[0], s[2])))
        statements = tuple(
            Statement(
                subject=names.index(subject),
                relation=relation,
                object=names.index(of),
                fact=fact,
                verbatim=verbatim,
                **({"valid_at": day(number)} | more),
            )
            for subject, relation, of, fact in said
        )
        mentions = tuple(Mention(name=n, type="Thing") for n in names)
        extracted = ExtractedEpisode(
            episode=EpisodeRef.model_validate(one.ref.model_dump()),
            extraction=Extraction(mentions=mentions, statements=statements),
        )
        resolved = (await self._entities.run(extracted)).output
        output = (await self._facts.run(ResolvedEpisode.model_validate_json(resolved or ""))).output
        return [FactChange.model_validate(c) for c in orjson.loads(output or "")["changes"]]

    async def search(self, query: str = SENTENCE, **more: Any) -> Sequence[FactAnswer]:
        asked = {"query": query, "group_ids": [self.group], **more}
        return (await self.retrieval.search(SearchRequest.model_validate(asked))).facts

    async def context(self, **more: Any) -> tuple[str, tuple[str, ...]]:
        asked = {"query": SENTENCE, "group_ids": [self.group], "scopes": ["facts"], "max_tokens": 500, **more}
        answer = await self.retrieval.context(ContextRequest.model_validate(asked))
        return answer.context, answer.facts

    def read(self, known_at: datetime | None = None) -> Read:
        return Read(group_id=self.group, known_at=known_at)


@pytest.fixture
def world(graph: Graph, group: str) -> World:
    return World(graph, group)


def ends(fact: FactAnswer) -> list[tuple[str, str]]:
    return sorted((pair.source.name, pair.target.name) for pair in fact.pairs)


ALL = [("Ana", "Acme"), ("Luis", "Acme"), ("Mei", "Acme")]


async def test_a_sentence_over_three_pairs_is_found_once_with_its_pairs(world: World) -> None:
    changes = await world.tell("e1", 1, told("Ana"), told("Luis"), told("Mei"))
    assert len({change.fact.id for change in changes}) == 3
    (shared,) = {change.fact.hyperedge for change in changes}

    (found,) = await world.search()
    assert found.id == shared
    assert ends(found) == ALL
    first = found.pairs[0]
    assert (found.source, found.target) == (first.source, first.target)
    assert {pair.id for pair in found.pairs} == {change.fact.id for change in changes}

    context, ids = await world.context()
    assert context == f"Facts:\n- {SENTENCE} (2024-01-01 - present)"
    assert ids == (shared,)


async def test_it_is_read_once_by_episode_by_entity_and_by_either_id(world: World) -> None:
    changes = await world.tell(
        "e1", 1, told("Ana"), told("Luis"), told("Mei"), told("Ana", "LIKES", "Ana likes tea", "Tea")
    )
    shared = next(c.fact.hyperedge for c in changes if c.fact.relation == "WORKS_AT")
    seen = await world.lookups.episode("e1", world.read())
    assert sorted(fact.relation for fact in seen.facts) == ["LIKES", "WORKS_AT"]
    assert next(ends(fact) for fact in seen.facts if fact.relation == "WORKS_AT") == ALL

    acme = next(e.id for e in seen.entities if e.name == "Acme")
    timeline = await world.lookups.timeline(acme, TimelineRead(group_id=world.group))
    assert [(fact.id, ends(fact)) for fact in timeline.facts] == [(shared, ALL)]
    assert SENTENCE in (await world.lookups.entity(acme, world.read())).summary
    assert (await world.lookups.entity(acme, world.read())).summary.count(SENTENCE) == 1

    assert shared is not None
    whole = await world.lookups.fact(shared, world.read())
    assert (whole.id, ends(whole)) == (shared, ALL)
    own = await world.lookups.fact(changes[0].fact.id, world.read())
    assert (own.id, own.hyperedge, own.pairs) == (changes[0].fact.id, changes[0].fact.hyperedge, ())


async def test_ids_of_other_groups_are_not_there(world: World, other_group: str) -> None:
    changes = await world.tell("e1", 1, told("Ana"), told("Luis"))
    shared = changes[0].fact.hyperedge
    assert shared is not None
    assert await world.graph.reader.hyperedges(other_group, [shared]) == []
    with pytest.raises(ProblemError):
        await world.lookups.fact(shared, Read(group_id=other_group))
    with pytest.raises(ProblemError):
        await world.lookups.fact("nothing", world.read())


async def test_a_pair_that_is_closed_leaves_the_others(world: World) -> None:
    await world.tell("e1", 1, told("Ana"), told("Luis"), told("Mei"))
    (change,) = await world.tell(
        "e2",
        10,
        told("Luis", fact="Luis left Acme"),
        kind=StatementKind.closes,
        valid_at=None,
        invalid_at=day(10),
    )
    assert change.fact.hyperedge is not None

    (found,) = await world.search()
    assert ends(found) == [("Ana", "Acme"), ("Mei", "Acme")]
    assert found.invalid_at is None
    context, _ = await world.context()
    assert "Ana, Acme: 2024-01-01 - present" in context
    assert "Luis, Acme" not in context
    (before,) = await world.search(as_of=day(5).isoformat())
    assert ends(before) == ALL
    (ever,) = await world.search(as_of=None)
    assert {p.source.name: p.invalid_at for p in ever.pairs} == {"Ana": None, "Luis": day(10), "Mei": None}
    whole = await world.lookups.fact(change.fact.hyperedge, world.read())
    assert {p.source.name: p.invalid_at for p in whole.pairs}["Luis"] == day(10)


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
async def test_other_episodes_join_in_any_order(world: World, order: tuple[int, ...]) -> None:
    episodes = {
        1: [told("Ana"), told("Luis"), told("Mei")],
        2: [told("Ana"), told("Zoe")],
        # One pair alone is a fact of its own.
        3: [told("Eva")],
    }
    for number in order:
        await world.tell(f"e{number}", number, *episodes[number])
    alone, several = sorted(await world.search(), key=lambda fact: len(fact.pairs))
    assert (alone.source.name, alone.pairs, alone.hyperedge) == ("Eva", (), None)
    assert ends(several) == [("Ana", "Acme"), ("Luis", "Acme"), ("Mei", "Acme"), ("Zoe", "Acme")]


async def test_relations_sentences_and_triples_are_told_apart(world: World) -> None:
    await world.tell("e1", 1, told("Ana"), told("Luis", "LEADS"))
    await world.tell("e2", 2, told("Mei", fact="Mei works at Acme"), told("Zoe", fact="Zoe works at Acme"))
    await world.tell("e3", 3, told("Bo", fact="They joined"), told("Cy", fact="They joined"), verbatim=True)
    found = await world.search(limit=20)
    assert len(found) == 6
    assert all(not fact.pairs for fact in found)
    # What a producer has given three times is found three times, but a prompt is told it once.
    context, ids = await world.context(limit=20)
    assert context.count("They joined") == 1
    assert len(ids) == 6


async def test_the_past_is_told_as_it_was_known(world: World) -> None:
    world.now = day(20)
    (first,) = await world.tell("e1", 1, told("Ana"))
    world.now = day(30)
    await world.tell("e2", 2, told("Ana"), told("Luis"))
    world.now = day(40)
    (then,) = await world.search(known_at=day(25).isoformat())
    assert (then.id, then.pairs) == (first.fact.id, ())
    (now,) = await world.search()
    assert ends(now) == [("Ana", "Acme"), ("Luis", "Acme")]


async def test_the_limit_counts_sentences(world: World) -> None:
    await world.tell("e1", 1, *(told(f"P{i}") for i in range(8)))
    await world.tell("e2", 2, told("Ana", fact="Ana works at Acme"))
    found = await world.search(limit=2)
    assert sorted(len(fact.pairs) for fact in found) == [0, 8]


async def test_a_context_tells_what_each_pair_replaced(world: World) -> None:
    await world.tell("e1", 1, told("Ana", fact="Ana works at Birch", of="Birch"), cardinality="one")
    await world.tell("e2", 5, told("Luis", fact="Luis works at Cedar", of="Cedar"), cardinality="one")
    await world.tell("e3", 10, told("Ana"), told("Luis"), told("Mei"), cardinality="one")
    context, ids = await world.context(replaced=True)
    assert context.startswith(f"Facts:\n- {SENTENCE} (2024-01-10 - present) (before: ")
    assert "Ana works at Birch, 2024-01-01 - 2024-01-10" in context
    assert "Luis works at Cedar, 2024-01-05 - 2024-01-10" in context
    assert context.count("\n") == 1
    assert len(ids) == 3


async def test_scopes_without_facts_ask_nothing_more(world: World) -> None:
    await world.tell("e1", 1, told("Ana"), told("Luis"))
    answer = await world.retrieval.search(
        SearchRequest.model_validate({"query": "Ana", "group_ids": [world.group], "scopes": [Scope.entities]})
    )
    assert answer.facts == ()
    assert "Ana" in [entity.name for entity in answer.entities]
