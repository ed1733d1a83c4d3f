"""Reads by id over HTTP: groups as walls, ids as any text, times as believed."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from pipeline.model.episode import EpisodeState
from pipeline.model.fact import Belief
from streams.agents.decoding import sequence_of

LEARNED = datetime(2024, 1, 1, tzinfo=UTC)
CHANGED = datetime(2024, 5, 1, tzinfo=UTC)
AWKWARD = [
    "a b/c",
    '"quoted"',
    "名前",
    "OR AND *",
    "back\\slash`tick",
    "é?&#%25+",
    "main:x",
    "🦉",
    "a..b",
    "%2F",
    "a//b/",
]


def segment(text):
    return quote(text, safe="")


async def test_an_episode_with_what_came_out_of_it(client, graph):
    fact = graph.add_fact("g", "Ana works at Acme", "ana", "acme", id="f1")
    ana = graph.add_entity("g", "Ana", id="ana")
    graph.add_episode("g", "e1", "Ana works at Acme", facts=(fact,), entities=(ana,))
    answer = (await client.get("/v1/episodes/e1", params={"group_id": "g"})).json()
    assert (answer["id"], answer["state"], answer["source"]) == ("e1", "committed", "text")
    assert answer["content"] == "Ana works at Acme"
    assert answer["facts"][0]["fact"] == "Ana works at Acme"
    assert answer["entities"][0]["name"] == "Ana"
    assert answer["usage"]["llm_calls"] == 0
    early = {"group_id": "g", "known_at": "2023-06-01"}
    assert (await client.get("/v1/episodes/e1", params=early)).status_code == 404


async def test_a_dead_episode_says_so(client, graph):
    graph.add_episode("g", "e1", "?", state=EpisodeState.dead)
    assert (await client.get("/v1/episodes/e1", params={"group_id": "g"})).json()["state"] == "dead"


@pytest.mark.parametrize("name", AWKWARD)
async def test_ids_and_groups_are_any_text(client, graph, name):
    graph.add_episode(name, name, "hello")
    graph.add_episode(name, "other", "hello")
    graph.add_entity(name, name)
    graph.add_fact(name, "Ana works at Acme", name, "acme", id=name)
    params = {"group_id": name}
    assert (await client.get(f"/v1/episodes/{segment(name)}", params=params)).json()["id"] == name
    assert (await client.get(f"/v1/facts/{segment(name)}", params=params)).json()["id"] == name
    assert (await client.get(f"/v1/entities/{segment(name)}", params=params)).json()["id"] == name
    facts = (await client.get(f"/v1/entities/{segment(name)}/facts", params=params)).json()["facts"]
    assert [fact["id"] for fact in facts] == [name]
    episodes = (await client.get(f"/v1/groups/{segment(name)}/episodes")).json()["episodes"]
    assert len(episodes) == 2


async def test_lower_case_escapes_are_the_same_id(client, graph):
    graph.add_episode("g", "crm/42?v=1#ä", "hello")
    for path in ("crm%2F42%3Fv%3D1%23%C3%A4", "crm%2f42%3fv=1%23%c3%a4"):
        assert (await client.get(f"/v1/episodes/{path}", params={"group_id": "g"})).status_code == 200
    assert (await client.get("/v1/episodes/crm/42", params={"group_id": "g"})).status_code == 404


@pytest.mark.parametrize("path", ["facts", "entities", "episodes", "communities"])
async def test_another_groups_id_is_a_404(client, graph, path):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme", id="x")
    graph.add_entity("g", "Ana", id="x")
    graph.add_episode("g", "x", "hello")
    graph.add_community("g", "x")
    assert (await client.get(f"/v1/{path}/x", params={"group_id": "g"})).status_code == 200
    reply = await client.get(f"/v1/{path}/x", params={"group_id": "g2"})
    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["title"] == "Not Found"
    missing = await client.get(f"/v1/{path}/x")
    assert missing.status_code == 422
    assert [error["path"] for error in missing.json()["errors"]] == ["group_id"]


async def test_a_timeline_of_an_unknown_entity_is_a_404(client):
    assert (await client.get("/v1/entities/x/facts", params={"group_id": "g"})).status_code == 404


@pytest.mark.parametrize("bad", ["a\nb", "\x00", "x" * 129, ""])
async def test_a_group_with_control_characters_is_refused(client, bad):
    reply = await client.get("/v1/facts/x", params={"group_id": bad})
    assert reply.status_code == 422
    assert reply.json()["errors"][0]["path"] == "group_id"
    if bad:
        reply = await client.get(f"/v1/groups/{segment(bad)}/episodes")
        assert reply.status_code == 422
        assert reply.json()["errors"][0]["path"] == "group"


async def test_an_unknown_parameter_is_named(client):
    reply = await client.get("/v1/facts/x", params={"group_id": "g", "colour": "red"})
    assert reply.status_code == 422
    assert reply.json()["errors"] == [{"path": "colour", "message": "there is no such field"}]


async def test_a_path_that_is_no_utf8(client):
    reply = await client.get("/v1/facts/%ff?group_id=g")
    assert reply.status_code == 400
    assert reply.headers["content-type"] == "application/problem+json"


async def test_newest_first_before_and_in_one_thread(client, graph):
    for number in range(1, 7):
        graph.add_episode(
            "g",
            f"e{number}",
            "hello",
            reference_time=datetime(2024, number, 10, 9, tzinfo=UTC),
            thread_id="odd" if number % 2 else "even",
        )

    async def ids(**params):
        reply = await client.get("/v1/groups/g/episodes", params=params)
        return [episode["id"] for episode in reply.json()["episodes"]]

    assert await ids() == ["e6", "e5", "e4", "e3", "e2", "e1"]
    assert await ids(limit=3) == ["e6", "e5", "e4"]
    assert await ids(limit=100, before="2024-04-10T09:00:00Z") == ["e3", "e2", "e1"]
    assert await ids(limit=2, before="2024-04-01") == ["e3", "e2"]
    assert await ids(thread_id="odd") == ["e5", "e3", "e1"]
    assert await ids(thread_id="none") == []
    for wrong in ({"limit": 0}, {"limit": 101}, {"before": "soon"}):
        reply = await client.get("/v1/groups/g/episodes", params=wrong)
        assert reply.status_code == 422
        assert [error["path"] for error in reply.json()["errors"]] == list(wrong)


@pytest.fixture
def plans(graph):
    """Fern had the Basic Plan, which was closed by the Pro Plan in May; both are hers."""
    graph.add_entity("g", "Fern", id="fern")
    basic = (
        Belief(known_from=LEARNED, valid_at=LEARNED),
        Belief(known_from=CHANGED, valid_at=LEARNED, invalid_at=CHANGED),
    )
    pro = (Belief(known_from=CHANGED, valid_at=CHANGED),)
    gone = (Belief(known_from=LEARNED, valid_at=LEARNED), Belief(known_from=CHANGED, holds=False))
    graph.add_fact("g", "Pro", "fern", "pro", id="pro", beliefs=pro)
    graph.add_fact("g", "Basic", "fern", "basic", id="basic", beliefs=basic)
    graph.add_fact("g", "Gone", "x", "fern", id="gone", beliefs=gone)
    return graph


async def test_a_timeline_at_any_time_then_and_as_known_then(client, plans):
    async def facts(**params):
        reply = await client.get("/v1/entities/fern/facts", params={"group_id": "g", **params})
        return [fact["fact"] for fact in reply.json()["facts"]]

    assert await facts() == ["Basic", "Pro"]
    assert await facts(as_of="2024-08-01T00:00:00Z") == ["Pro"]
    assert await facts(as_of="2024-05-01") == ["Pro"]
    assert await facts(as_of="2024-04-30T23:59:59Z") == ["Basic"]
    assert await facts(as_of="2024-08-01T00:00:00Z", known_at="2024-03-01T00:00:00Z") == ["Basic", "Gone"]
    assert await facts(known_at="2023-03-01T00:00:00Z") == []


async def test_a_time_whose_plus_sign_was_not_escaped(client, plans):
    reply = await client.get("/v1/entities/fern/facts?group_id=g&as_of=2024-05-01T02:00:00+02:00")
    assert [fact["fact"] for fact in reply.json()["facts"]] == ["Pro"]


async def test_a_fact_as_known_then(client, plans):
    now = (await client.get("/v1/facts/basic", params={"group_id": "g"})).json()
    assert (now["invalid_at"], now["expired_at"]) == ("2024-05-01T00:00:00Z", "2024-05-01T00:00:00Z")
    then = {"group_id": "g", "known_at": "2024-03-01T00:00:00Z"}
    assert (await client.get("/v1/facts/basic", params=then)).json()["invalid_at"] is None
    assert (await client.get("/v1/facts/pro", params=then)).status_code == 404


async def test_a_fact_that_is_no_longer_believed_is_shown_as_it_was(client, plans):
    gone = (await client.get("/v1/facts/gone", params={"group_id": "g"})).json()
    assert gone["fact"] == "Gone"
    assert gone["valid_at"] == "2024-01-01T00:00:00Z"
    assert gone["expired_at"] == "2024-05-01T00:00:00Z"


@pytest.mark.parametrize("first", [0, sequence_of(LEARNED, 0), 2**63 - 6])
async def test_pages_of_one_time_are_told_apart_by_the_cursor(client, graph, first):
    for number in range(1, 6):
        graph.add_episode("g", f"e{number}", "hello", reference_time=LEARNED, sequence=first + number)
    seen, params = [], {"limit": 2}
    while True:
        page = (await client.get("/v1/groups/g/episodes", params=params)).json()
        seen.append([one["id"] for one in page["episodes"]])
        if page["next"] is None:
            break
        params["cursor"] = page["next"]
    assert seen == [["e5", "e4"], ["e3", "e2"], ["e1"]]


@pytest.mark.parametrize(
    "params",
    [
        {"cursor": "e1"},
        {"cursor": "1.x"},
        {"cursor": "9" * 18 + ".1"},
        {"cursor": "1." + "9" * 19},
        {"cursor": "1.1", "before": "2024"},
    ],
)
async def test_a_cursor_that_is_none_is_refused(client, params):
    reply = await client.get("/v1/groups/g/episodes", params=params)
    assert reply.status_code == 422
    assert [error["path"] for error in reply.json()["errors"]] == ["cursor"]
