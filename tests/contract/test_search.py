"""Search: every scope by every method, order, scores, limits, and words that are only words."""

from __future__ import annotations

import pytest

from pipeline.errors import SettingError
from pipeline.graph.search import Method, Scope, StoredEpisode, item_key
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact
from tests.contract.kit import (
    Graph,
    community,
    cosine,
    day,
    entity,
    episode,
    fact,
    leg,
    plan,
    supported,
    vector,
)

KINDS = {
    Scope.facts: Fact,
    Scope.entities: Entity,
    Scope.episodes: StoredEpisode,
    Scope.communities: Community,
}
EVERYTHING = {"scopes": tuple(Scope), "methods": tuple(Method)}


async def _lighthouse(graph: Graph, group: str) -> None:
    """Of each kind one thing about a lighthouse and one about something else."""
    tower, sea, corn = entity(group, "Lighthouse"), entity(group, "Sea"), entity(group, "Corn")
    one = episode(group, "e1", "The lighthouse blinks")
    await graph.receive(episode(group, "e2", "Corn grows", sequence=2))
    await graph.world(
        one,
        fact(tower, "STANDS_BY", sea, support=supported(["e1"])),
        fact(corn, "GROWS_BY", sea),
        entities=(tower, sea, corn),
    )
    await graph.communities(
        group,
        one,
        community(group, "Lighthouse keepers"),
        community(group, "Corn growers"),
        moves={"lighthouse": "lighthouse keepers", "sea": "lighthouse keepers", "corn": "corn growers"},
    )


FIRST = {
    Scope.facts: "lighthouse-stands_by-sea",
    Scope.entities: "lighthouse",
    Scope.episodes: "e1",
    Scope.communities: "lighthouse keepers",
}


@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize("method", [Method.bm25, Method.cosine])
async def test_each_scope_is_found_by_words_and_by_vector(
    graph: Graph, group: str, scope: Scope, method: Method
) -> None:
    await _lighthouse(graph, group)
    found = await graph.search(group, "lighthouse", scopes=(scope,), methods=(method,))
    scores = leg(found, scope, method)
    assert next(iter(scores)) == FIRST[scope]
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert set(found.items[scope]) == {item_key(group, name) for name in scores}
    assert all(isinstance(item, KINDS[scope]) for item in found.items[scope].values())
    if method is Method.bm25:
        assert list(scores) == [FIRST[scope]]
        assert scores[FIRST[scope]] > 0


async def test_all_legs_at_once_and_each_candidate_once(graph: Graph, group: str) -> None:
    await _lighthouse(graph, group)
    found = await graph.search(group, "lighthouse", **EVERYTHING, bfs_origins=("lighthouse",))
    assert {(leg.scope, leg.method) for leg in found.legs} == {(s, m) for s in Scope for m in Method}
    assert len(found.legs) == len(Scope) * len(Method)
    for scope in Scope:
        keys = {key for one in found.legs if one.scope is scope for key, _ in one.ranked}
        assert set(found.items[scope]) == keys
    whole = found.items[Scope.facts][item_key(group, FIRST[Scope.facts])]
    assert whole == await graph.reader.fact(group, FIRST[Scope.facts])
    assert found.items[Scope.entities][item_key(group, "sea")] == await graph.reader.entity(group, "sea")
    keepers = found.items[Scope.communities][item_key(group, "lighthouse keepers")]
    assert isinstance(keepers, Community)
    assert sorted(keepers.members) == ["lighthouse", "sea"]
    assert found.degraded == ()


async def test_the_cosine_is_exact(graph: Graph, group: str) -> None:
    await _lighthouse(graph, group)
    query = "the lighthouse stands"
    found = await graph.search(group, query, scopes=(Scope.facts, Scope.episodes), methods=(Method.cosine,))
    for name, score in leg(found, Scope.facts, Method.cosine).items():
        read = await graph.reader.fact(group, name)
        assert read is not None
        assert score == pytest.approx(cosine(query, read.fact), abs=1e-5)
    assert leg(found, Scope.episodes, Method.cosine)["e1"] == pytest.approx(
        cosine(query, "The lighthouse blinks"), abs=1e-5
    )


async def test_methods_without_anything_to_go_by_find_nothing(graph: Graph, group: str) -> None:
    await _lighthouse(graph, group)
    found = await graph.search(group, **EVERYTHING)
    assert len(found.legs) == len(Scope) * len(Method)
    assert all(one.ranked == () for one in found.legs)
    assert all(not of for of in found.items.values())


async def test_groups_that_do_not_exist_have_nothing(graph: Graph, group: str, other_group: str) -> None:
    await _lighthouse(graph, group)
    for groups in ((other_group,), ()):
        wanted = plan(other_group, "lighthouse", **EVERYTHING, group_ids=groups, bfs_origins=("lighthouse",))
        found = await graph.reader.search(wanted)
        assert all(one.ranked == () for one in found.legs)


async def test_several_groups_are_one_answer(graph: Graph, group: str, other_group: str) -> None:
    await _lighthouse(graph, group)
    await _lighthouse(graph, other_group)
    groups = (group, other_group, group)
    wanted = plan(group, "lighthouse", **EVERYTHING, group_ids=groups, bfs_origins=("lighthouse",))
    found = await graph.reader.search(wanted)
    for one in found.legs:
        keys = [key for key, _ in one.ranked]
        assert len(keys) == len(set(keys))
        if one.method is not Method.bfs or one.scope in (Scope.facts, Scope.entities):
            assert {key.split("\x1f")[0] for key in keys} == {group, other_group}, one


async def test_the_limit_is_per_scope_and_method_and_takes_the_best(graph: Graph, group: str) -> None:
    hub = entity(group, "Hub")
    spokes = [entity(group, f"Spoke {n}") for n in range(30)]
    facts = [
        fact(hub, "HAS", spoke, fact="wheel " * (1 + n) + " ".join(f"w{n}x{i}" for i in range(30 - n)))
        for n, spoke in enumerate(spokes)
    ]
    await graph.world(episode(group, "e1"), *facts, entities=(hub, *spokes))
    found = await graph.search(group, "wheel", limit=3, bfs_origins=("hub",))
    for method in Method:
        assert len(leg(found, Scope.facts, method)) == 3
    best = sorted(facts, key=lambda f: -cosine("wheel", f.fact))[:3]
    assert list(leg(found, Scope.facts, Method.cosine)) == [f.id for f in best]
    assert next(iter(leg(found, Scope.facts, Method.bm25))) == facts[-1].id


async def test_more_and_rarer_words_rank_higher(graph: Graph, group: str) -> None:
    ana = entity(group, "Ana")
    others = [entity(group, f"P{n}") for n in range(12)]
    facts = [fact(ana, "SAID", other, fact=f"common words {n}") for n, other in enumerate(others)]
    rare = fact(ana, "SAID", ana, id="rare", fact="seldom words 99")
    both = fact(ana, "SAID", ana, id="both", fact="common seldom 98")
    await graph.world(episode(group, "e1"), *facts, rare, both, entities=(ana, *others))
    found = await graph.found(group, "common seldom")
    assert found[:2] == ["both", "rare"]
    assert len(found) == 14


@pytest.mark.parametrize(
    ("text", "query", "miss"),
    [
        ("Müller wohnt in Zürich", "muller ZURICH", "mull"),
        ("Él vivía en Bogotá", "vivia bogota", "viv"),
        ("清华大学在北京", "北京", "北大"),
        ("서울에 산다", "서울", "울산"),
        ("Straße ﬁnal № ５", "strasse final no 5", "stra"),
        ("version SR-2023-052", "SR-2023-052", "2024"),
        ("e-mail ana@acme.example", "acme", "exam"),
    ],
)
async def test_words_are_found_however_they_are_written(
    graph: Graph, group: str, text: str, query: str, miss: str
) -> None:
    ana, bob = entity(group, "Q1"), entity(group, "Q2")
    await graph.world(
        episode(group, "e1", text), fact(ana, "SAID", bob, fact=text, id="f1"), entities=(ana, bob)
    )
    assert await graph.found(group, query) == ["f1"]
    assert await graph.found(group, miss) == []
    assert await graph.found(group, query, scopes=(Scope.episodes,)) == ["e1"]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "((ana)",
        "ana OR",
        "AND OR NOT NEAR",
        "*",
        "ana*",
        "{scope}: 1",
        "terms:ana",
        "fs_text:ana",
        "ana\x00bob",
        "a" * 5000,
        "ana' OR '1'='1",
        "\\",
        "/ana/",
        "🦉",
        "-ana +bob ^2 ~3",
        "col : ana",
        "ana " * 2000,
    ],
)
async def test_a_query_is_only_words(graph: Graph, group: str, query: str) -> None:
    ana, bob = entity(group, "Ana"), entity(group, "Bob")
    one = fact(ana, "KNOWS", bob)
    await graph.world(episode(group, "e1"), one, entities=(ana, bob))
    expected = [one.id] if "ana" in query or "bob" in query else []
    assert await graph.found(group, query) == expected


@pytest.mark.parametrize("term", ['x"y', "x OR ana", "(ana", "ana*", "\x00", "", " ", "scope:ana", "AND"])
async def test_even_terms_that_no_analysis_gives_do_no_harm(graph: Graph, group: str, term: str) -> None:
    ana, bob = entity(group, "Ana"), entity(group, "Bob")
    one = fact(ana, "KNOWS", bob)
    await graph.world(episode(group, "e1"), one, entities=(ana, bob))
    found = await graph.search(group, methods=(Method.bm25,), terms=(term, "bob"))
    assert list(leg(found, Scope.facts, Method.bm25)) == [one.id]


async def test_a_groups_name_is_no_word_of_its_texts(graph: Graph, group: str) -> None:
    named = f"{group} marigold"
    ana, bob = entity(named, "Ana"), entity(named, "Bob")
    await graph.world(episode(named, "e1"), fact(ana, "KNOWS", bob), entities=(ana, bob))
    assert await graph.found(named, f"{named} marigold scope g g1 1 2 3") == []
    assert len(await graph.found(named, "ana")) == 1


async def test_the_longest_question_to_many_groups(graph: Graph, group: str) -> None:
    ana, bob = entity(group, "Ana"), entity(group, "Bob")
    one = fact(ana, "KNOWS", bob)
    await graph.world(episode(group, "e1"), one, entities=(ana, bob))
    words = " ".join(f"word{n}" for n in range(600)) + " ana"
    groups = (group, *(f"{group}-{n}" for n in range(100)))
    found = await graph.reader.search(plan(group, terms=("ana", *words.split()[:511]), group_ids=groups))
    assert list(leg(found, Scope.facts, Method.bm25)) == [one.id]


async def test_a_query_vector_of_another_length_is_refused(graph: Graph, group: str) -> None:
    await _lighthouse(graph, group)
    with pytest.raises(SettingError):
        await graph.search(group, vector=[1.0, 0.0])


async def test_similarities_are_the_cosines_of_each_pair(graph: Graph, group: str) -> None:
    await _lighthouse(graph, group)
    found = await graph.search(
        group, "lighthouse corn", scopes=(Scope.facts, Scope.entities), similarities=True
    )
    texts = {
        item_key(group, "lighthouse-stands_by-sea"): "Lighthouse stands by Sea",
        item_key(group, "corn-grows_by-sea"): "Corn grows by Sea",
    }
    assert set(found.similarities) == {Scope.facts, Scope.entities}
    one, other = texts
    assert set(found.similarities[Scope.facts]) == {(one, other), (other, one)}
    for pair, value in found.similarities[Scope.facts].items():
        assert value == pytest.approx(cosine(texts[pair[0]], texts[pair[1]]), abs=1e-5)
    without = await graph.search(group, "lighthouse")
    assert without.similarities == {}


async def test_things_without_a_vector_have_no_similarities(graph: Graph, group: str) -> None:
    for n in (1, 2):
        await graph.store.receive(episode(group, f"bare{n}", f"owl {n}", sequence=n), None, 0, day(1))
    await graph.receive(episode(group, "with", "owl", sequence=3))
    found = await graph.search(group, "owl", scopes=(Scope.episodes,), similarities=True)
    assert set(leg(found, Scope.episodes, Method.bm25)) == {"bare1", "bare2", "with"}
    assert list(leg(found, Scope.episodes, Method.cosine)) == ["with"]
    assert found.similarities[Scope.episodes] == {}


async def test_mentions_count_episodes(graph: Graph, group: str, other_group: str) -> None:
    ana, bob = entity(group, "Ana"), entity(group, "Bob")
    one, two, three = (episode(group, f"e{n}", sequence=n) for n in (1, 2, 3))
    await graph.receive(two, three)
    await graph.world(one, fact(ana, "KNOWS", bob, support=supported(["e1", "e2"])), entities=(ana, bob))
    await graph.entities(two, mentioned=("ana",))
    await graph.entities(three, mentioned=("ana",))
    foreign = episode(other_group, "e1")
    await graph.world(foreign, entities=(entity(other_group, "Ana"),))
    found = await graph.search(group, "ana bob", scopes=(Scope.facts, Scope.entities), mentions=True)
    assert found.mentions[Scope.facts] == {item_key(group, "ana-knows-bob"): 2}
    assert found.mentions[Scope.entities] == {item_key(group, "ana"): 3, item_key(group, "bob"): 1}
    assert (await graph.search(group, "ana")).mentions == {}


async def test_no_vector_is_a_unit_of_its_own(graph: Graph, group: str) -> None:
    """Vectors of any length are compared by their direction."""
    one, two = episode(group, "e1", "owl"), episode(group, "e2", "owl hoot", sequence=2)
    await graph.store.receive(one, [3 * value for value in vector("owl")], 0, day(1))
    await graph.store.receive(two, [0.5 * value for value in vector("owl hoot")], 0, day(1))
    found = await graph.search(group, scopes=(Scope.episodes,), vector=[9 * value for value in vector("owl")])
    assert leg(found, Scope.episodes, Method.cosine) == {
        "e1": pytest.approx(1.0, abs=1e-5),
        "e2": pytest.approx(cosine("owl", "owl hoot"), abs=1e-5),
    }


async def test_a_fact_is_found_by_what_its_relation_is_called(graph: Graph, group: str):
    """A question in one language about facts in another: the names do not tell the facts apart, the relation does."""
    diego, mill, town = entity(group, "Diego Salas"), entity(group, "Papelera Sur"), entity(group, "Sevilla")
    await graph.world(
        episode(group, "e1"),
        fact(diego, "LIVES_IN", town, fact="Diego Salas vive en Sevilla"),
        fact(diego, "WORKS_AT", mill, fact="Diego Salas trabaja en Papelera Sur"),
        entities=(diego, mill, town),
    )
    works, lives = "diego salas-works_at-papelera sur", "diego salas-lives_in-sevilla"
    assert await graph.found(group, "Where does Diego Salas work?") == [works, lives]
    assert await graph.found(group, "Where is Diego Salas living?") == [lives, works]
    assert await graph.found(group, "¿Dónde trabaja Diego Salas?") == [works, lives]


async def test_forms_of_a_word_find_each_other(graph: Graph, group: str):
    ana, sunrise = entity(group, "Ana"), entity(group, "Sunrise")
    await graph.world(
        episode(group, "e1"),
        fact(ana, "MADE", sunrise, fact="Ana painted a sunrise"),
        entities=(ana, sunrise),
    )
    assert await graph.found(group, "What is being painted?") == ["ana-made-sunrise"]
    assert await graph.found(group, "paintings") == ["ana-made-sunrise"]


async def test_episodes_have_a_vector_of_their_own(graph: Graph, group: str) -> None:
    ana, bo = entity(group, "Ana"), entity(group, "Bo")
    one, two = episode(group, "e1", "red kettle"), episode(group, "e2", "blue lamp", sequence=2)
    await graph.receive(two)
    await graph.world(one, fact(ana, "HAS", bo, id="f1", fact="red kettle"), entities=(ana, bo))
    found = await graph.search(
        group,
        "red kettle",
        scopes=(Scope.facts, Scope.episodes),
        methods=(Method.cosine,),
        episode_vector=vector("blue lamp"),
    )
    assert leg(found, Scope.facts, Method.cosine)["f1"] == pytest.approx(1.0, abs=1e-5)
    assert leg(found, Scope.episodes, Method.cosine)["e2"] == pytest.approx(1.0, abs=1e-5)
    assert list(leg(found, Scope.episodes, Method.cosine)) == ["e2", "e1"]
