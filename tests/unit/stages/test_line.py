"""Episodes through all four stages, on a real store, without Kafka."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.errors import Fenced
from pipeline.graph.search import StoredEpisode
from pipeline.model.changes import Change
from pipeline.model.episode import EpisodeState
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.model.fact import view
from tests.unit.stages.conftest import Line, triple


async def stored(line: Line, episode_id: str, group: str = "g") -> StoredEpisode:
    found = await line.reader.episode(group, episode_id)
    assert found is not None
    return found


async def test_an_episode_becomes_entities_and_a_fact_and_is_committed(line: Line) -> None:
    ref = await line.say(triple("Ana", "WORKS_AT", "Acme", types=("Person", "Company")))
    found = await stored(line, ref.id)
    assert found.state is EpisodeState.committed
    assert sorted(e.name for e in found.entities) == ["Acme", "Ana"]
    assert [f.fact for f in found.facts] == ["Ana works at Acme"]
    assert found.usage.embeddings > 0
    assert found.usage.llm_calls == 0


async def test_a_superseded_fact_leaves_the_summaries_of_both_its_ends(line: Line) -> None:
    first = await line.say(triple("Ana", "WORKS_AT", "Acme", valid_at="2023-01-01", cardinality="one"))
    before = {e.name: e.summary for e in (await stored(line, first.id)).entities}
    assert before == {"Ana": "Ana works at Acme.", "Acme": "Ana works at Acme."}
    await line.say(triple("Ana", "WORKS_AT", "Globex", valid_at="2024-01-01", cardinality="one"))
    after = {e.name: e.summary for e in (await stored(line, first.id)).entities}
    assert after == {"Ana": "Ana works at Globex.", "Acme": ""}


async def test_late_news_may_split_a_fact_of_an_entity_that_it_does_not_name(line: Line) -> None:
    await line.say(
        triple("Alec", "ON_TEAM", "Payments", valid_at="2024-01-01", cardinality="one"), at="2024-01-01"
    )
    await line.say(
        triple("Alec", "ON_TEAM", "Payments", valid_at="2024-06-01", cardinality="one"), at="2024-06-01"
    )
    ref = await line.say(
        triple("Alec", "ON_TEAM", "Lookup", valid_at="2024-04-01", cardinality="one"), at="2024-04-01"
    )
    alec = next(e for e in (await stored(line, ref.id)).entities if e.name == "Alec")
    facts = await line.reader.entity_facts("g", alec.id)
    assert facts is not None
    shown = [view(f) for f in facts]
    told = sorted((str(v.valid_at)[:10], v.target.name, str(v.invalid_at)[:10]) for v in shown if v)
    assert told == [
        ("2024-01-01", "Payments", "2024-04-01"),
        ("2024-04-01", "Lookup", "2024-06-01"),
        ("2024-06-01", "Payments", "None"),
    ]


async def test_running_a_stage_again_sends_the_same_and_changes_nothing(line: Line) -> None:
    episode = line.episode([triple("Ana", "WORKS_AT", "Acme")])
    extracted = await line.extract.run(episode)
    assert (await line.extract.run(episode)).output == extracted.output
    event = ExtractedEpisode.model_validate_json(extracted.output or "")
    resolved = await line.entities.run(event)
    again = await line.entities.run(event)
    assert (again.output, again.repeated) == (resolved.output, True)
    done = await line.facts.run(ResolvedEpisode.model_validate_json(resolved.output or ""))
    repeat = await line.facts.run(ResolvedEpisode.model_validate_json(resolved.output or ""))
    assert (repeat.output, repeat.repeated) == (done.output, True)
    found = await stored(line, episode.id)
    assert len(found.facts) == 1
    assert len(found.facts[0].support) == 1


async def test_the_first_content_of_an_id_wins(line: Line) -> None:
    first = line.episode([triple("Ana", "WORKS_AT", "Acme")])
    await line.run(first)
    second = first.model_copy(update={"content": [triple("Ben", "WORKS_AT", "Globex")]})
    received = await line.extract.admit(second)
    assert received.stored.content == first.content
    assert received.mark is not None


async def test_a_typed_mention_gives_its_type_to_the_untyped_entity_of_its_name(line: Line) -> None:
    await line.say(triple("Ana", "KNOWS", "Ben"))
    ref = await line.say(triple("ana", "LIKES", "Tea", types=("Person", None)))
    people = [e for e in (await stored(line, ref.id)).entities if e.name == "Ana"]
    assert [e.type for e in people] == ["Person"]


async def test_an_untyped_mention_joins_the_one_typed_entity_but_not_one_of_two(line: Line) -> None:
    await line.say(triple("Java", "IN", "Indonesia", types=("Place", "Country")))
    one = await line.say(triple("Java", "HAS", "Volcanoes"))
    assert [e.type for e in (await stored(line, one.id)).entities if e.name == "Java"] == ["Place"]
    await line.say(triple("Java", "RUNS_ON", "JVM", types=("Language", "Software")))
    two = await line.say(triple("Java", "IS", "Popular"))
    assert [e.type for e in (await stored(line, two.id)).entities if e.name == "Java"] == [None]


async def test_attributes_are_merged_key_by_key_and_never_wiped(line: Line) -> None:
    first = triple("Palm Hotel", "IN", "Nerja")
    first["subject"]["attributes"] = {"tier": "gold", "address": {"lines": ["a", "b"]}}
    await line.say(first)
    await line.say(triple("Palm Hotel", "BOUGHT", "Linen"))
    third = triple("Palm Hotel", "BOUGHT", "Towels")
    third["subject"]["attributes"] = {"tier": "platinum"}
    ref = await line.say(third)
    hotel = next(e for e in (await stored(line, ref.id)).entities if e.name == "Palm Hotel")
    assert hotel.attributes == {"tier": "platinum", "address": {"lines": ["a", "b"]}}


async def test_two_groups_never_meet(line: Line) -> None:
    one = await line.say(triple("Ana", "WORKS_AT", "Acme"), group="g")
    two = await line.say(triple("Ana", "WORKS_AT", "Acme"), group="h")
    first, second = await stored(line, one.id), await stored(line, two.id, "h")
    assert {e.id for e in first.entities}.isdisjoint({e.id for e in second.entities})
    assert await line.reader.fact("h", first.facts[0].id) is None


async def test_changes_tell_each_step_with_a_growing_revision(line: Line) -> None:
    await line.say(
        triple("Ana", "LIVES_IN", "Lima", valid_at="2022-01-01", cardinality="one"), at="2022-01-01"
    )
    await line.say(
        triple("Ana", "LIVES_IN", "Lima", valid_at="2022-01-01", cardinality="one"), at="2022-02-01"
    )
    await line.say(
        triple("Ana", "LIVES_IN", "Quito", valid_at="2023-01-01", cardinality="one"), at="2023-01-01"
    )
    of_lima = [(c.change, c.revision) for c in line.changes if c.fact.target.name == "Lima"]
    assert of_lima == [(Change.asserted, 1), (Change.supported, 2), (Change.invalidated, 3)]


async def test_a_stage_that_read_before_another_committed_is_fenced(make_line: Any) -> None:
    line: Line = await make_line()
    first = line.episode([triple("Ana", "WORKS_AT", "Acme")])
    second = line.episode([triple("Ben", "WORKS_AT", "Acme")])
    events = []
    for episode in (first, second):
        extracted = await line.extract.run(episode)
        events.append(ExtractedEpisode.model_validate_json(extracted.output or ""))
    # The embedder is where a stage waits between its view and its commit: meanwhile the other one commits.
    original = line.entities.embedder

    class Slow:
        model, dimension, done = original.model, original.dimension, False

        async def embed(self, texts: Any, *, query: bool = False) -> list[list[float]]:
            if not self.done:
                self.done = True
                await line.entities.run(events[1])
            return await original.embed(texts, query=query)

    from dataclasses import replace

    with pytest.raises(Fenced):
        await replace(line.entities, embedder=Slow()).run(events[0])
    outcome = await line.entities.run(events[0])
    assert not outcome.repeated


async def test_communities_join_what_facts_join(line: Line) -> None:
    ref = await line.say(
        triple("Ana", "WORKS_AT", "Acme"), triple("Ben", "WORKS_AT", "Acme"), triple("Zoe", "PLAYS", "Oboe")
    )
    communities = {e.name: e.community_id for e in (await stored(line, ref.id)).entities}
    assert communities["Ana"] == communities["Acme"] == communities["Ben"] is not None
    assert communities["Zoe"] == communities["Oboe"] != communities["Ana"]
    assert communities["Ana"] is not None
    community = await line.reader.community("g", communities["Ana"])
    assert community is not None
    assert len(community.members) == 3
    assert "Ana works at Acme." in community.summary


async def test_a_rebuild_gives_the_same_partition_and_can_be_repeated(line: Line) -> None:
    ref = await line.say(triple("Ana", "WORKS_AT", "Acme"), triple("Ben", "WORKS_AT", "Acme"))
    assert await line.communities.rebuild("g") == 1
    assert await line.communities.rebuild("g") == 1
    communities = {e.community_id for e in (await stored(line, ref.id)).entities}
    assert len(communities) == 1


async def test_a_rebuild_does_not_depend_on_the_name_of_the_group(line: Line) -> None:
    parts = set()
    for n in range(12):
        group = f"g{n}"
        people = ("Ana", "Ben", "Carla", "Dora", "Edo")
        ring = zip(people, (*people[1:], people[0]), strict=True)
        ref = await line.say(*(triple(a, "KNOWS", b) for a, b in ring), group=group)
        await line.communities.rebuild(group)
        together: dict[str | None, set[str]] = {}
        for entity in (await stored(line, ref.id, group)).entities:
            together.setdefault(entity.community_id, set()).add(entity.name)
        parts.add(frozenset(frozenset(names) for names in together.values()))
    assert len(parts) == 1
