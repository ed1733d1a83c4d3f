"""Both timelines: what holds at a time, as it was believed at another."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime

from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.search import (
    Filters,
    Method,
    Scope,
    TimeRange,
    item_key,
)
from pipeline.model.community import Community
from pipeline.model.fact import Belief, Fact, Support
from tests.integration.graph.reader_graph import (
    MICROSECOND,
    NOW,
    GraphWriter,
    at_cosine,
    day,
    entity,
    episode,
    fact,
    facts_found,
    ids,
    plan,
)


async def test_what_was_not_believed_does_not_take_the_place_of_what_was(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    revised = [
        Belief(known_from=day(1), valid_at=day(1)),
        Belief(known_from=day(10), holds=False),
        Belief(known_from=day(100), valid_at=day(1)),
    ]
    await write.facts(
        *(fact(group, f"d{n}", "Ana", "Acme", "kayak kayak", beliefs=revised) for n in range(230)),
        fact(group, "wanted", "Ana", "Acme", "somebody may once have had a kayak"),
        vectors=[*(at_cosine(0.99, 2 + n) for n in range(230)), at_cosine(0.1)],
    )
    wanted = plan(group, "kayak", limit=2)
    assert await facts_found(reader, replace(wanted, known_at=day(50))) == [["wanted"], ["wanted"]]
    assert await facts_found(reader, replace(wanted, known_at=day(50), as_of=None)) == [
        ["wanted"],
        ["wanted"],
    ]
    assert [len(leg) for leg in await facts_found(reader, wanted)] == [2, 2]


async def test_ends_of_intervals_are_half_open_to_the_microsecond(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.facts(
        fact(group, "bounded", "Ana", "Acme", "kayak", start=day(10), end=day(20)),
        fact(group, "open", "Ana", "Acme", "kayak", start=day(20)),
        fact(group, "unknown-start", "Ana", "Acme", "kayak", start=None, end=day(10)),
        fact(group, "disbelieved", "Ana", "Acme", "kayak", beliefs=[Belief(known_from=day(1), holds=False)]),
    )
    for known_at in (None, NOW):
        for moment, expected in (
            (day(10) - MICROSECOND, ["unknown-start"]),
            (day(10), ["bounded"]),
            (day(20) - MICROSECOND, ["bounded"]),
            (day(20), ["open"]),
            (NOW, ["open"]),
            (None, ["bounded", "open", "unknown-start"]),
        ):
            asked = plan(
                group, "kayak", as_of=moment, known_at=known_at, methods=tuple(Method), bfs_origins=("acme",)
            )
            assert await facts_found(reader, asked) == [expected] * 3, (moment, known_at)


async def test_three_revisions_answer_as_they_were_believed(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.facts(
        fact(
            group,
            "f",
            "Ana",
            "Acme",
            "kayak",
            beliefs=[
                Belief(known_from=day(10), valid_at=day(5)),
                Belief(known_from=day(20), valid_at=day(5), invalid_at=day(15)),
                Belief(known_from=day(30), holds=False),
            ],
        )
    )
    for known_at, as_of, expected in (
        (day(10) - MICROSECOND, day(12), []),
        (day(10) - MICROSECOND, None, []),
        (day(10), day(12), ["f"]),
        (day(10), day(4), []),
        (day(10), day(200), ["f"]),
        (day(20) - MICROSECOND, day(200), ["f"]),
        (day(20), day(200), []),
        (day(20), day(15), []),
        (day(20), day(15) - MICROSECOND, ["f"]),
        (day(20), None, ["f"]),
        (day(30), day(12), []),
        (day(30), None, []),
        (None, day(12), []),
        (None, None, []),
    ):
        asked = plan(
            group, "kayak", as_of=as_of, known_at=known_at, methods=tuple(Method), bfs_origins=("ana",)
        )
        assert await facts_found(reader, asked) == [expected] * 3, (known_at, as_of)
        ends = Filters(invalid_at=(TimeRange(gte=day(15), lte=day(15)),))
        closed = expected if known_at == day(20) else []
        assert await facts_found(reader, replace(asked, filters=ends)) == [closed] * 3, (known_at, as_of)


def _random_fact(group: str, number: int, rng: random.Random) -> Fact:
    beliefs = []
    for known_from in sorted(rng.sample(range(1, 60), rng.randint(1, 4))):
        start = rng.choice([None, *range(1, 60)])
        end = rng.choice([None, None, *range((start or 1) + 1, 70)])
        beliefs.append(
            Belief(
                known_from=day(known_from),
                holds=rng.random() > 0.2,
                valid_at=None if start is None else day(start),
                invalid_at=None if end is None else day(end),
            )
        )
    return fact(group, f"f{number}", "Ana", "Acme", "kayak", beliefs=beliefs)


def _holds(each: Fact, as_of: datetime | None, known_at: datetime | None) -> bool:
    belief = each.belief_at(known_at)
    if belief is None or not belief.holds:
        return False
    if as_of is None:
        return True
    return (belief.valid_at is None or belief.valid_at <= as_of) and (
        belief.invalid_at is None or as_of < belief.invalid_at
    )


async def test_random_histories_answer_like_the_model(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    rng = random.Random(7)
    written = [_random_fact(group, number, rng) for number in range(60)]
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    write.at = day(70)
    await write.facts(*written, vectors=[at_cosine(rng.uniform(-1, 1), 2 + n) for n in range(60)])
    moments = [None, *(day(rng.randint(1, 72)) for _ in range(5)), NOW]
    for as_of in moments:
        for known_at in moments:
            expected = sorted(each.id for each in written if _holds(each, as_of, known_at))
            asked = plan(
                group,
                "kayak",
                as_of=as_of,
                known_at=known_at,
                limit=70,
                methods=tuple(Method),
                bfs_origins=("ana",),
            )
            assert await facts_found(reader, asked) == [expected] * 3, (as_of, known_at)


async def test_support_that_moved_counts_as_it_did_then(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.episodes(episode(group, "e", "kayak", metadata={"c": "chat"}))
    moved = fact(group, "f", "Ana", "Acme", "kayak").model_copy(
        update={"support": (Support(episode_id="e", known_from=day(2), known_to=day(9)),)}
    )
    await write.facts(moved)
    asked = plan(group, "kayak", filters=Filters(metadata={"c": "chat"}), mentions=True)
    for known_at, expected in ((day(1), []), (day(2), ["f"]), (day(9), []), (None, [])):
        assert await facts_found(reader, replace(asked, known_at=known_at)) == [expected] * 2, known_at
    then = await reader.search(replace(asked, known_at=day(2)))
    assert then.mentions[Scope.facts] == {item_key(group, "f"): 1}


async def test_what_was_stored_later_was_not_known(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.episodes(episode(group, "old", "kayak", reference=day(50)), at=day(3))
    await write.episodes(episode(group, "new", "kayak", reference=day(1)), at=day(6))
    await write.entities(entity(group, "Kayak", at=day(3)), entity(group, "Kayak2", at=day(6)))
    await write.mentions(group, "old", "kayak", at=day(3))
    await write.mentions(group, "new", "kayak", at=day(6))
    await write.community(Community(id="late", group_id=group, name="kayak", summary="", created_at=day(6)))
    asked = plan(
        group,
        "kayak kayak2",
        scopes=(Scope.entities, Scope.episodes, Scope.communities),
        mentions=True,
        as_of=day(2),
    )
    everything = await reader.search(asked)
    assert [sorted(ids(of)) for of in everything.items.values()] == [
        ["kayak", "kayak2"],
        ["new", "old"],
        ["late"],
    ]
    assert everything.mentions[Scope.entities][item_key(group, "kayak")] == 2
    then = await reader.search(replace(asked, known_at=day(5)))
    assert [sorted(ids(of)) for of in then.items.values()] == [["kayak"], ["old"], []]
    assert then.mentions[Scope.entities] == {item_key(group, "kayak"): 1}
    by_reference = Filters(valid_at=(TimeRange(gte=day(50)),))
    filtered = await reader.search(replace(asked, filters=by_reference))
    assert ids(filtered.items[Scope.episodes]) == ["old"]
