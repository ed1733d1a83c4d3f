"""Nothing crosses from one group to another: every endpoint, scope, method and order over two groups of one text.

The two differ in their ids only, so that whatever crosses is seen, and a search that confuses them would have every
reason to answer with the other's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import product
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from pipeline.graph.search import Method, Scope
from search_api.recipes import RECIPES, Reranker
from tests.contract.kit import Graph
from tests.contract.leak_kit import HERE, TEXT, THERE, own, service


@pytest_asyncio.fixture
async def app(graph: Graph, group: str, other_group: str) -> FastAPI:
    """The service over both groups."""
    return await service(graph, group, other_group)


@pytest_asyncio.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://search", timeout=60) as made:
        yield made


READS = {
    "/v1/episodes/{episode_id}": "e1",
    "/v1/facts/{fact_id}": "f1",
    "/v1/entities/{entity_id}": "owl",
    "/v1/entities/{entity_id}/facts": "owl",
    "/v1/communities/{community_id}": "c",
}
SEARCHES = {"/v1/search", "/v1/context"}
LISTS = {"/v1/groups/{group}/episodes"}
OF_NO_GROUP = {"/v1/recipes", "/healthz", "/readyz", "/metrics"}


async def test_every_endpoint_is_asked_here(app: FastAPI) -> None:
    assert set(app.openapi()["paths"]) == {*READS, *SEARCHES, *LISTS, *OF_NO_GROUP}


def _requests(group: str, reranker: str) -> list[dict[str, Any]]:
    """For each scope and method a request that names things of both groups wherever ids can be given."""
    return [
        {
            "query": TEXT,
            "group_ids": [group],
            "scopes": [scope],
            "methods": [method],
            "reranker": reranker,
            "center": f"owl-{HERE}",
            "bfs_origins": [f"owl-{HERE}", f"owl-{THERE}", f"e1-{HERE}", f"e1-{THERE}"],
            "bfs_depth": 3,
        }
        for scope, method in product(Scope, Method)
    ]


FOUND = {
    (scope, method)
    for scope, method in product(Scope, Method)
    if method is not Method.bfs or scope in (Scope.facts, Scope.entities)
}


@pytest.mark.parametrize("reranker", list(Reranker))
async def test_no_search_crosses(
    client: httpx.AsyncClient, group: str, other_group: str, reranker: Reranker
) -> None:
    for request in _requests(group, reranker):
        answer = await client.post("/v1/search", json=request)
        assert answer.status_code == 200, answer.text
        assert own(answer.text, other_group), request
        (scope,), (method,) = request["scopes"], request["methods"]
        assert bool(answer.json()[scope]) is ((scope, method) in FOUND), (request, answer.text)
        told = await client.post("/v1/context", json=request)
        assert told.status_code == 200, told.text
        assert own(told.text, other_group), request
        assert bool(told.json()[scope]) is ((scope, method) in FOUND), (request, told.text)


async def test_a_centre_of_another_group_leads_nowhere(
    client: httpx.AsyncClient, group: str, other_group: str
) -> None:
    for given in ({"center": f"owl-{THERE}"}, {"bfs_origins": [f"owl-{THERE}", f"e1-{THERE}"]}):
        request = {"group_ids": [group], "scopes": list(Scope), "bfs_depth": 3, **given}
        answer = await client.post("/v1/search", json=request)
        assert not any(answer.json()[scope] for scope in Scope)
        assert other_group not in answer.text


@pytest.mark.parametrize("recipe", sorted(RECIPES))
async def test_no_recipe_crosses(
    client: httpx.AsyncClient, group: str, other_group: str, recipe: str
) -> None:
    request = {"query": TEXT, "group_ids": [group], "recipe": recipe, "center": f"owl-{HERE}"}
    found = await client.post("/v1/search", json=request)
    told = await client.post("/v1/context", json=request)
    for answer in (found, told):
        assert answer.status_code == 200, answer.text
        assert own(answer.text, other_group)
        assert HERE in answer.text


async def test_every_scope_at_once_with_its_context(
    client: httpx.AsyncClient, group: str, other_group: str
) -> None:
    request = {"query": TEXT, "group_ids": [group], "recipe": "memory", "scopes": list(Scope)}
    found = (await client.post("/v1/search", json=request)).json()
    ids = {scope: {each["id"] for each in found[scope]} for scope in Scope}
    assert ids[Scope.episodes] == {f"e{place}-{HERE}" for place in range(3)}
    assert ids[Scope.facts] == {f"f1-{HERE}", f"f2-{HERE}"}
    assert all(each["group_id"] == group for scope in Scope for each in found[scope])
    both = (await client.post("/v1/search", json={**request, "group_ids": [group, other_group]})).json()
    for scope in Scope:
        assert {each["group_id"] for each in both[scope]} == {group, other_group}
        assert all((HERE in each["id"]) is (each["group_id"] == group) for each in both[scope])


async def test_no_read_crosses(client: httpx.AsyncClient, group: str, other_group: str) -> None:
    for path, name in READS.items():
        start, rest = path.split("{")[0], path.split("}")[1]
        mine = await client.get(f"{start}{name}-{HERE}{rest}", params={"group_id": group})
        assert mine.status_code == 200, mine.text
        assert HERE in mine.text
        assert own(mine.text, other_group)
        foreign = await client.get(f"{start}{name}-{THERE}{rest}", params={"group_id": group})
        assert foreign.status_code == 404
        assert other_group not in foreign.text


async def test_no_page_of_a_list_crosses(client: httpx.AsyncClient, group: str, other_group: str) -> None:
    listed = f"/v1/groups/{quote(group, safe='')}/episodes"
    seen: list[str] = []
    params: dict[str, Any] = {"limit": 1}
    while True:
        page = await client.get(listed, params=params)
        assert own(page.text, other_group)
        seen += [each["id"] for each in page.json()["episodes"]]
        if page.json()["next"] is None:
            break
        params["cursor"] = page.json()["next"]
    assert seen == [f"e{place}-{HERE}" for place in (2, 1, 0)]


async def test_waiting_for_an_episode_of_another_group_sees_nothing_of_it(
    client: httpx.AsyncClient, group: str, other_group: str
) -> None:
    request = {"query": TEXT, "group_ids": [group], "wait_for": f"e1-{THERE}", "wait_for_seconds": 0.1}
    for path in SEARCHES:
        answer = (await client.post(path, json=request)).json()
        (told,) = [each for each in answer["degraded"] if each.startswith("wait_for")]
        assert "not there" in told
        assert own(str({**answer, "degraded": []}), other_group)


async def test_what_belongs_to_no_group_names_none(
    client: httpx.AsyncClient, group: str, other_group: str
) -> None:
    await client.post("/v1/search", json={"query": TEXT, "group_ids": [group, other_group]})
    for path in OF_NO_GROUP:
        answer = await client.get(path)
        assert not any(name in answer.text for name in (HERE, THERE, group, other_group)), path
