"""The read side on a real Neo4j: groups stay apart, one round trip each, reads by id, deadlines."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from pipeline.errors import Retryable
from pipeline.graph.neo4j.connection import Neo4jConnection, Row
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.search import (
    Filters,
    Item,
    Method,
    Scope,
    StoredEpisode,
    item_key,
)
from pipeline.model.fact import Belief
from pipeline.observer import SilentObserver
from tests.integration.graph.reader_graph import (
    LEARNED,
    NOW,
    GraphWriter,
    RoundTrips,
    day,
    episode,
    fact,
    plan,
    small_world,
)

AWKWARD = ('a:b OR c) +fs_scope:*~"', "组/группа 🦉 `}) RETURN 1 //", " \\'-^0 NOT ", "É\u0301\u200b")


@pytest.mark.parametrize("awkward", AWKWARD)
async def test_groups_with_the_same_words_and_ids_do_not_see_each_other(
    reader: Neo4jGraphReader, write: GraphWriter, group: str, awkward: str
) -> None:
    mine, other = f"{awkward}{group}", f"{awkward}{group}2"
    for each in (mine, other):
        await small_world(write, each)
    for groups in ((mine,), (other,), (mine, other), (other, mine, mine)):
        candidates = await reader.search(
            plan(
                mine,
                "Ana tarpaulin",
                group_ids=groups,
                scopes=tuple(Scope),
                methods=tuple(Method),
                bfs_origins=("ana", "e1"),
                distances_from="ana",
                similarities=True,
                mentions=True,
            )
        )
        for leg in candidates.legs:
            seen = {key.split("\x1f")[0] for key, _ in leg.ranked}
            graph_only = leg.method is Method.bfs and leg.scope in (Scope.episodes, Scope.communities)
            assert seen == (set() if graph_only else set(groups)), (leg.scope, leg.method)
            assert len(dict(leg.ranked)) == len(leg.ranked)
            assert {key for key, _ in leg.ranked} <= candidates.items[leg.scope].keys()
        for scope, items in candidates.items.items():
            assert {
                item_key(_group_of(item), key.split("\x1f")[1]) for key, item in items.items()
            } == items.keys(), scope
    stranger = await reader.search(
        plan(
            f"{group}3",
            "Ana tarpaulin",
            scopes=tuple(Scope),
            methods=tuple(Method),
            bfs_origins=("ana", "e1"),
        )
    )
    assert not any(leg.ranked for leg in stranger.legs)


def _group_of(item: Item) -> str:
    return item.episode.group_id if isinstance(item, StoredEpisode) else item.group_id


async def test_a_search_is_one_round_trip_whatever_it_asks(
    reader: Neo4jGraphReader, write: GraphWriter, group: str, trips: RoundTrips
) -> None:
    await small_world(write, group)
    trips.seen.clear()
    await reader.search(
        plan(
            group,
            "Ana",
            scopes=tuple(Scope),
            methods=tuple(Method),
            bfs_origins=("ana",),
            bfs_depth=3,
            distances_from="ana",
            similarities=True,
            mentions=True,
            known_at=NOW,
            filters=Filters(
                metadata={"a": 1}, entity_types=("Person", "Company"), relations=("KNOWS", "OWNS")
            ),
        )
    )
    assert trips.seen == ["search"]
    trips.seen.clear()
    nothing = await reader.search(plan(group, "?!", vector=None, methods=tuple(Method)))
    assert [leg.ranked for leg in nothing.legs] == [(), (), ()]
    assert nothing.items == {Scope.facts: {}}
    assert trips.seen == []


async def test_reads_by_id(
    reader: Neo4jGraphReader, write: GraphWriter, group: str, trips: RoundTrips
) -> None:
    await small_world(write, group)
    await write.facts(
        fact(group, "f0", "Acme", "Ana", "once", start=None),
        fact(
            group, "f2", "Ana", "Ana", "later", start=day(9), beliefs=[Belief(known_from=day(3), holds=False)]
        ),
        fact(group, "f3", "Ana", "Acme", "last", start=day(20)),
    )
    trips.seen.clear()
    told = await reader.episode(group, "e1")
    assert told is not None
    assert (told.episode.content, told.state) == ("Ana bought a tarpaulin", "received")
    assert [each.id for each in told.facts] == ["f1"]
    assert [each.name for each in told.entities] == ["Acme", "Ana"]
    assert told.created_at == LEARNED

    one = await reader.fact(group, "f1")
    assert one is not None
    assert one.episodes_at() == ("e1",)
    who = await reader.entity(group, "ana")
    assert who is not None
    assert (who.name, who.type, who.keys, who.community_id) == ("Ana", "Person", ("ana",), "c1")
    timeline = await reader.entity_facts(group, "ana")
    assert timeline is not None
    assert [each.id for each in timeline] == ["f0", "f2", "f1", "f3"]
    joined = await reader.community(group, "c1")
    assert joined is not None
    assert joined.members == ("acme", "ana")
    assert len(trips.seen) == 5

    foreign = f"{group}x"
    assert await reader.episode(foreign, "e1") is None
    assert await reader.fact(foreign, "f1") is None
    assert await reader.entity(foreign, "ana") is None
    assert await reader.entity_facts(foreign, "ana") is None
    assert await reader.community(foreign, "c1") is None
    assert await reader.entity_facts(group, "nobody") is None
    assert list(await reader.episodes(foreign, before=None, limit=10, thread_id=None)) == []


async def test_episodes_newest_first(reader: Neo4jGraphReader, write: GraphWriter, group: str) -> None:
    await write.episodes(
        episode(group, "late", "x", reference=day(9), sequence=1, thread="t"),
        episode(group, "tie-1", "x", reference=day(5), sequence=2, thread="t"),
        episode(group, "tie-2", "x", reference=day(5), sequence=3),
        episode(group, "early", "x", reference=day(2), sequence=4, thread="t" * 1500),
    )

    async def listed(before: datetime | None = None, limit: int = 10, thread: str | None = None) -> list[str]:
        answer = await reader.episodes(group, before=before, limit=limit, thread_id=thread)
        return [each.episode.id for each in answer]

    assert await listed() == ["late", "tie-2", "tie-1", "early"]
    assert await listed(limit=2) == ["late", "tie-2"]
    assert await listed(before=day(9)) == ["tie-2", "tie-1", "early"]
    assert await listed(before=day(5)) == ["early"]
    assert await listed(thread="t") == ["late", "tie-1"]
    assert await listed(thread="t" * 1500) == ["early"]


async def test_ping_answers_on_a_complete_schema(reader: Neo4jGraphReader) -> None:
    await reader.ping()


class SlowConnection(Neo4jConnection):
    """Asks the database for something that takes minutes instead of a fact, within the same time."""

    async def run(
        self, operation: str, query: str, params: Mapping[str, Any], seconds: float | None = None
    ) -> list[Row]:
        if operation == "read_fact":
            query = "UNWIND range(1, 4000000000) AS i RETURN count(i) AS n"
        return await super().run(operation, query, params, seconds)


async def test_the_database_ends_what_takes_too_long(bolt_uri: str) -> None:
    reader = Neo4jGraphReader(SlowConnection(bolt_uri, None, None, "neo4j", SilentObserver()), timeout=0.2)
    await reader.open()
    try:
        with pytest.raises(Retryable, match="TransactionTimedOut"):
            await reader.fact(uuid.uuid4().hex, "f")
    finally:
        await reader.close()


async def test_a_database_that_is_not_there_is_retryable() -> None:
    reader = Neo4jGraphReader(Neo4jConnection("bolt://127.0.0.1:9", None, None, "neo4j", SilentObserver()))
    with pytest.raises(Retryable):
        await reader.open()
    with pytest.raises(Retryable):
        await reader.ping()
