"""What a judge says of two names that are one: the fuller name, one description; and all of it can be taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from pipeline.curation.operator import Operator
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.search import Method, Scope
from pipeline.model.changes import Change
from pipeline.model.entity import Entity
from pipeline.model.episode import Usage
from pipeline.model.extraction import Extraction, Mention, Statement
from pipeline.model.judgement import Judgement
from pipeline.stages.judging import LookAlike, SameAs
from tests.contract.kit import DIMENSION, Graph, episode
from tests.contract.replay_kit import History, Stages, lived_with, said

FIRST = Mention(name="Ana Ruiz", type="Person", summary="a doctor in Lima")
FULL = Mention(name="Ana Ruiz Gómez", type="Person", summary="a doctor who plays chess")
TOLD = Judgement(name="Ana Ruiz Gómez", summary="A doctor in Lima who plays chess.")


@dataclass
class Namer:
    """A judge that joins everything, and says the same of each."""

    says: Judgement = field(default_factory=lambda: TOLD)
    only: str | None = None

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        asked = [q for q in questions if self.only in (None, q.mention.name)]
        return {q.index: SameAs(q.candidates[0].id, self.says) for q in asked}, Usage(llm_calls=1)


def history(group: str, *mentions: Mention) -> History:
    episodes = [episode(group, f"e{n}", f"text {n}", sequence=n) for n in range(1, len(mentions) + 1)]
    return History(episodes, {f"e{n}": Extraction(mentions=(m,)) for n, m in enumerate(mentions, start=1)})


def operator(graph: Graph, stages: Stages) -> Operator:
    return Operator(graph.store, HashingEmbedder(DIMENSION), stages.clock)


async def entities(graph: Graph, group: str) -> list[Entity]:
    return list((await graph.store.ledger(group)).entities.values())


async def only(graph: Graph, group: str) -> Entity:
    (entity,) = (await graph.store.ledger(group)).entities.values()
    return entity


async def test_the_fuller_name_and_the_one_description_stand_and_every_key_stays(
    graph: Graph, group: str
) -> None:
    written = history(group, FIRST, FULL, Mention(name="ana ruiz"), Mention(name="ANA RUIZ GÓMEZ"))
    await lived_with(graph, written, Namer())
    ana = await only(graph, group)
    assert (ana.name, ana.aliases, ana.type) == ("Ana Ruiz Gómez", ("Ana Ruiz",), "Person")
    assert (ana.description, ana.summary) == (TOLD.summary, TOLD.summary)
    assert set(ana.keys) == {"ana ruiz", "ana ruiz gómez"}
    found = await graph.found(group, "gómez", scopes=(Scope.entities,), methods=(Method.bm25,))
    assert found == [ana.id]


async def test_the_facts_of_an_entity_bear_its_fuller_name(graph: Graph, group: str) -> None:
    tea = Mention(name="Tea", type="Drink")

    def likes(who: Mention) -> Extraction:
        said = Statement(subject=0, relation="LIKES", object=1, fact=f"{who.name} likes tea", verbatim=True)
        return Extraction(mentions=(who, tea), statements=(said,))

    written = history(group, FIRST, FULL, FULL)
    written.found["e1"] = likes(FIRST)
    # The second episode says nothing of tea; the third is the same again.
    stages = await lived_with(graph, written, Namer(only=FULL.name))
    (fact,) = await graph.store.facts_of(group, [e.id for e in await entities(graph, group)])
    assert (fact.source.name, fact.target.name, fact.revision) == ("Ana Ruiz Gómez", "Tea", 2)
    assert await graph.found(group, "gómez tea") == [fact.id]
    (told,) = [c for c in written.changes if c.change is Change.supported]
    assert (told.fact.id, told.fact.source.name, told.revision) == (fact.id, "Ana Ruiz Gómez", 2)
    assert await graph.store.facts_of(group, ["nobody"]) == ()
    await operator(graph, stages).forget_episodes(group, ["e2", "e3"])
    (fact,) = await graph.store.facts_of(group, [e.id for e in await entities(graph, group)])
    assert fact.source.name == "Ana Ruiz"
    assert await graph.store.traces(group, "Gómez") == ()


@pytest.mark.parametrize("forgotten", ["e1", "e2"])
async def test_what_a_judge_made_of_a_forgotten_episode_is_forgotten(
    graph: Graph, group: str, forgotten: str
) -> None:
    written = history(group, FIRST, FULL)
    stages = await lived_with(graph, written, Namer())
    done = await operator(graph, stages).forget_episodes(group, [forgotten])
    left, gone = (FULL, "Lima") if forgotten == "e1" else (FIRST, "chess")
    ana = await only(graph, group)
    assert (ana.name, ana.aliases, ana.summary) == (left.name, (), left.summary)
    assert await graph.store.traces(group, gone) == ()
    assert gone not in "".join(str(record) for record in done.judged.values())
    record = (await graph.store.ledger(group)).judged.get(("e2", "resolve_entities"))
    if forgotten == "e2":
        assert record is None
    else:
        assert record is not None
        assert (record.mentions[0].judgement.summary, done.judged) == (
            None,
            {("e2", "resolve_entities"): record},
        )


async def test_when_the_two_part_each_has_its_name_and_a_replay_keeps_them_apart(
    graph: Graph, group: str
) -> None:
    written = history(group, FIRST, FULL, Mention(name="Ana Ruiz Gómez", type="Person"))
    stages = await lived_with(graph, written, Namer())
    (merge,) = (await graph.store.ledger(group)).merges.values()
    await operator(graph, stages).undo_merge(group, merge.id)
    ledger = await graph.store.ledger(group)
    assert sorted((e.name, e.aliases, e.summary) for e in ledger.entities.values()) == [
        ("Ana Ruiz", (), "a doctor in Lima"),
        ("Ana Ruiz Gómez", (), "a doctor who plays chess"),
    ]
    parted = await said(graph, group)
    await graph.wipe(group)
    replay = Stages(graph.store, stages.extractor).replay
    await replay.run(written.log(), ledger.judged.values())
    assert await said(graph, group) == parted
