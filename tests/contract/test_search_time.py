"""Search in both times: what holds when, as believed when."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pytest

from pipeline.graph.search import Method, Scope
from pipeline.model.fact import Fact
from tests.contract.kit import (
    MICROSECOND,
    Graph,
    belief,
    community,
    day,
    entity,
    episode,
    leg,
)
from tests.contract.owls import between_ana_and_bob, owl, owls


async def test_intervals_are_half_open_to_the_microsecond(graph: Graph, group: str) -> None:
    await between_ana_and_bob(
        graph,
        group,
        owl(group, "closed", belief(1, 5, 8)),
        owl(group, "open", belief(1, 5)),
        owl(group, "ended", belief(1, None, 8)),
        owl(group, "always", belief(1, None)),
    )
    for moment, expected in (
        (day(5) - MICROSECOND, ["always", "ended"]),
        (day(5), ["always", "closed", "ended", "open"]),
        (day(8) - MICROSECOND, ["always", "closed", "ended", "open"]),
        (day(8), ["always", "open"]),
        (None, ["always", "closed", "ended", "open"]),
    ):
        assert await owls(graph, group, as_of=moment) == [expected] * 3, moment


async def test_what_is_not_believed_is_not_found_at_any_time(graph: Graph, group: str) -> None:
    await between_ana_and_bob(
        graph,
        group,
        owl(group, "retracted", belief(1), belief(3, holds=False)),
        owl(group, "again", belief(1), belief(2, holds=False), belief(4)),
    )
    assert await owls(graph, group) == [["again"]] * 3
    assert await owls(graph, group, known_at=day(3)) == [[]] * 3
    assert await owls(graph, group, known_at=day(3) - MICROSECOND) == [["retracted"]] * 3
    assert await owls(graph, group, known_at=day(4), as_of=day(9)) == [["again"]] * 3


async def test_several_revisions_answer_as_they_were_believed(graph: Graph, group: str) -> None:
    history = (belief(1, 5), belief(2, 5, 8), belief(3, 6, 8), belief(4, 6, None))
    await between_ana_and_bob(graph, group, owl(group, "owl", *history))
    for known, moment, expected in (
        (0, 6, False),
        (1, 5, True),
        (1, 9, True),
        (2, 5, True),
        (2, 8, False),
        (3, 5, False),
        (3, 6, True),
        (3, 9, False),
        (4, 9, True),
        (None, 9, True),
        (None, 5, False),
    ):
        known_at = None if known is None else day(known)
        found = await owls(graph, group, as_of=day(moment), known_at=known_at)
        assert found == [["owl"] if expected else []] * 3, (known, moment)
    found_items = (await graph.search(group, "owl", known_at=day(2))).items[Scope.facts]
    assert [item.beliefs for item in found_items.values() if isinstance(item, Fact)] == [history]


async def test_of_beliefs_formed_at_one_moment_the_last_counts(graph: Graph, group: str) -> None:
    await between_ana_and_bob(graph, group, owl(group, "owl", belief(1, 5), belief(2, 6), belief(2, 9)))
    assert await owls(graph, group, as_of=day(7)) == [[]] * 3
    assert await owls(graph, group, as_of=day(7), known_at=day(2)) == [[]] * 3
    assert await owls(graph, group, as_of=day(7), known_at=day(1)) == [["owl"]] * 3


def _random_fact(group: str, number: int, rng: random.Random) -> Fact:
    beliefs = []
    known = day(1)
    for _ in range(rng.randint(1, 4)):
        known += timedelta(hours=rng.randint(1, 60))
        start = rng.choice([None, rng.randint(1, 9)])
        end = rng.choice([None, (start or 1) + rng.randint(1, 6)])
        beliefs.append(
            belief(1, start, end, holds=rng.random() < 0.8).model_copy(update={"known_from": known})
        )
    return owl(group, f"f{number}", *beliefs)


def _holds(each: Fact, as_of: datetime | None, known_at: datetime | None) -> bool:
    """The model's own answer."""
    now = each.belief_at(known_at)
    if now is None or not now.holds:
        return False
    if as_of is None:
        return True
    return (now.valid_at is None or now.valid_at <= as_of) and (
        now.invalid_at is None or as_of < now.invalid_at
    )


@pytest.mark.parametrize("seed", range(3))
async def test_random_histories_answer_like_the_model(graph: Graph, group: str, seed: int) -> None:
    rng = random.Random(seed)
    facts = [_random_fact(group, n, rng) for n in range(20)]
    await between_ana_and_bob(graph, group, *facts)
    for _ in range(12):
        as_of = rng.choice([None, day(rng.randint(0, 16))])
        known_at = rng.choice([None, day(1) + timedelta(hours=rng.randint(0, 200))])
        expected = sorted(each.id for each in facts if _holds(each, as_of, known_at))
        assert await owls(graph, group, as_of=as_of, known_at=known_at) == [expected] * 3, (as_of, known_at)


async def test_what_was_stored_later_was_not_known_in_any_scope(graph: Graph, group: str) -> None:
    early, late = episode(group, "early", "owl one"), episode(group, "late", "owl two", sequence=2)
    await graph.receive(early, at=day(1))
    await graph.receive(late, at=day(5))
    bird, other = entity(group, "Owl", created_at=day(1)), entity(group, "Owl Two", created_at=day(5))
    await graph.entities(early, bird, other)
    await graph.facts(early)
    await graph.communities(
        group,
        early,
        community(group, "Owls"),
        community(group, "Owl watchers", created_at=day(5)),
        moves={"owl": "owls", "owl two": "owl watchers"},
    )
    for known_at, expected in (
        (day(5), {"early", "late", "owl", "owl two", "owls", "owl watchers"}),
        (day(5) - MICROSECOND, {"early", "owl", "owls"}),
        (day(1) - MICROSECOND, set()),
    ):
        scopes = (Scope.episodes, Scope.entities, Scope.communities)
        found = await graph.search(
            group, "owl owls", scopes=scopes, methods=(Method.cosine,), known_at=known_at
        )
        assert {name for scope in scopes for name in leg(found, scope, Method.cosine)} == expected
