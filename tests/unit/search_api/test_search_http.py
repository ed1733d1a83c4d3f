"""POST /v1/search, POST /v1/context and GET /v1/recipes over HTTP."""

from __future__ import annotations

import json

import pytest

from pipeline.errors import Retryable

KEYS = {"facts", "entities", "episodes", "communities", "degraded", "took_ms"}


async def search(client, **fields):
    # Escaped, so that half a surrogate pair can be sent.
    body = json.dumps({"query": "ana", "group_ids": ["g"], **fields})
    return await client.post("/v1/search", content=body, headers={"Content-Type": "application/json"})


async def test_every_scope_is_in_the_answer_even_for_a_group_that_never_wrote(client):
    reply = await search(client, group_ids=["never"])
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/json"
    answer = reply.json()
    assert answer.keys() == KEYS
    assert [answer[scope] for scope in ("facts", "entities", "episodes", "communities")] == [[]] * 4


async def test_the_objects_of_the_contract(client, graph):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme", id="f1", relation="WORKS_AT")
    graph.add_entity("g", "Ana", id="ana", type="Person", aliases=("Anita",), attributes={"age": 5})
    graph.add_episode("g", "e1", "Ana said so", metadata={"vip": True, "n": 2}, thread_id="t")
    graph.add_community("g", "Ana and friends", "ana", "bo")
    answer = (await search(client, scopes=["facts", "entities", "episodes", "communities"])).json()
    (fact,) = answer["facts"]
    assert fact | {"score": 0} == {
        "id": "f1",
        "group_id": "g",
        "fact": "Ana works at Acme",
        "relation": "WORKS_AT",
        "source": {"id": "ana", "name": "ana"},
        "target": {"id": "acme", "name": "acme"},
        "valid_at": "2024-01-01T00:00:00Z",
        "valid_at_precision": None,
        "invalid_at": None,
        "invalid_at_precision": None,
        "created_at": "2024-01-01T00:00:00Z",
        "expired_at": None,
        "episodes": ["e1"],
        "attributes": {},
        "score": 0,
    }
    (entity,) = answer["entities"]
    assert entity | {"score": 0} == {
        "id": "ana",
        "group_id": "g",
        "name": "Ana",
        "aliases": ["Anita"],
        "labels": ["Entity", "Person"],
        "summary": "About Ana.",
        "attributes": {"age": 5},
        "created_at": "2024-01-01T00:00:00Z",
        "score": 0,
    }
    (episode,) = answer["episodes"]
    assert episode | {"score": 0} == {
        "id": "e1",
        "group_id": "g",
        "source": "text",
        "content": "Ana said so",
        "reference_time": "2024-01-01T00:00:00Z",
        "thread_id": "t",
        "speaker": None,
        "source_description": None,
        "metadata": {"vip": True, "n": 2},
        "state": "committed",
        "reason": None,
        "score": 0,
    }
    (community,) = answer["communities"]
    assert community["members"] == ["ana", "bo"]
    assert community["summary"] == "What Ana and friends is."


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"limit": 101}, "limit"),
        ({"recipe": "no_such_recipe"}, "recipe"),
        ({"methods": ["telepathy"]}, "methods"),
        ({"colour": "red"}, "colour"),
        ({"as_of": "soon"}, "as_of"),
        ({"filters": {"valid_at": [{"gt": "soon"}]}}, "filters.valid_at.0.gt"),
        ({"group_ids": []}, "group_ids"),
        ({"query": None}, "query"),
        ({"reranker": "node_distance"}, "center"),
    ],
)
async def test_a_mistake_is_a_problem_that_names_its_field(client, fields, named):
    reply = await search(client, **fields)
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert problem["status"] == 422
    assert problem["title"] == "Unprocessable Entity"
    assert any(error["path"].startswith(named) for error in problem["errors"])
    assert named in problem["detail"]
    assert "Traceback" not in reply.text


async def test_a_field_name_that_is_no_text_is_refused(client):
    reply = await search(client, **{"\ud800": 1})
    assert reply.status_code == 422
    assert "unicode" in reply.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b'{"limit": ' + b"9" * 5000 + b"}", 400),
    ],
)
async def test_a_body_that_is_no_json(client, body, status):
    reply = await client.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == status
    assert reply.json()["status"] == status


@pytest.mark.parametrize("body", [b"[]", b"null", b'"ana"', b"7"])
async def test_a_body_that_is_no_object(client, body):
    reply = await client.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422


async def test_many_mistakes_make_a_short_answer(client):
    reply = await search(client, group_ids=[""] * 1000)
    assert reply.status_code == 422
    assert len(reply.json()["errors"]) == 20


@pytest.mark.parametrize(
    "query",
    ['"', "(", "[1 TO", "AND OR NOT", "*:*", "\\", "/[/", "\u0000ana", "🦉", "", " ", "ana\ud800", "{}"],
)
async def test_any_text_is_a_query(client, graph, query):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    assert (await search(client, query=query)).status_code == 200


async def test_null_is_any_time_over_http(client, graph):
    graph.add_fact("g", "Ana moves to Mars", "ana", "mars", valid_at="2190-01-01T00:00:00Z")
    assert (await search(client)).json()["facts"] == []
    assert len((await search(client, as_of=None)).json()["facts"]) == 1


async def test_a_store_that_is_down_is_a_503_with_retry_after(client, graph):
    graph.trouble = Retryable("no route to the database")
    reply = await search(client)
    assert reply.status_code == 503
    assert reply.headers["retry-after"] == "1"
    assert reply.headers["content-type"] == "application/problem+json"
    assert "no route" in reply.json()["detail"]


async def test_a_defect_is_a_problem_without_a_trace(client, graph):
    graph.trouble = ZeroDivisionError("secret")
    reply = await search(client)
    assert reply.status_code == 500
    assert reply.headers["content-type"] == "application/problem+json"
    assert "secret" not in reply.text
    assert "Traceback" not in reply.text


async def test_a_context(client, graph):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme", id="f1")
    graph.add_entity("g", "Ana", id="ana")
    body = {"query": "ana", "group_ids": ["g"], "max_tokens": 100}
    answer = (await client.post("/v1/context", json=body)).json()
    assert answer["facts"] == ["f1"]
    assert answer["entities"] == ["ana"]
    assert answer["communities"] == []
    assert "- Ana works at Acme (2024-01-01 - present)\n" in answer["context"]
    assert 10 <= answer["tokens"] <= 100
    empty = (await client.post("/v1/context", json={**body, "group_ids": ["never"]})).json()
    assert (empty["context"], empty["tokens"], empty["facts"]) == ("", 0, [])


async def test_a_search_has_no_budget(client):
    assert "max_tokens" in (await search(client, max_tokens=5)).json()["detail"]


async def test_the_recipes(client):
    recipes = {one["name"]: one for one in (await client.get("/v1/recipes")).json()["recipes"]}
    assert recipes["hybrid_rrf"]["methods"] == ["bm25", "cosine"]
    assert recipes["EDGE_HYBRID_SEARCH_NODE_DISTANCE"]["scopes"] == ["facts"]
    for name, recipe in recipes.items():
        fields = {"center": "c"} if recipe["reranker"] == "node_distance" else {}
        fields |= {"bfs_origins": ["c"]} if recipe["methods"] == ["bfs"] else {}
        assert (await search(client, recipe=name, **fields)).status_code == 200
