"""Nothing crosses from one group to another: every endpoint, scope, method and order over two groups of one text.

The two differ in their ids only, so that whatever crosses is seen, and a search that confuses them would have every
reason to answer with the other's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import product
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio

from pipeline.graph.search import Method, Scope
from search_api.app import create_app
from search_api.recipes import RECIPES, Reranker
from search_api.settings import ApiSettings
from tests.contract.kit import DIMENSION, Graph, community, day, entity, episode, fact, supported, vector

TEXT = "The owl watches the old barn"
HERE, THERE = "qqhere", "qqthere"


class Embedder:
    """The vectors of the kit."""

    model = "kit"
    dimension = DIMENSION

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        return [vector(text) for text in texts]


class Encoder:
    """Likes long texts."""

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in texts]

    async def close(self) -> None:
        return None


async def _fill(graph: Graph, group: str, mark: str) -> None:
    owl, barn = (entity(group, name, id=f"{name.lower()}-{mark}") for name in ("Owl", "Barn"))
    told = [
        episode(group, f"e{place}-{mark}", TEXT, sequence=place, thread_id="talk", metadata={"k": "v"})
        for place in range(3)
    ]
    await graph.receive(*told)
    for each in told:
        await graph.entities(each, owl, barn)
    await graph.facts(
        told[1],
        fact(owl, "WATCHES", barn, id=f"f1-{mark}", fact=TEXT, support=supported([told[1].id])),
        fact(barn, "SHELTERS", owl, id=f"f2-{mark}", fact=TEXT, support=supported([told[2].id])),
    )
    await graph.communities(
        group,
        told[2],
        community(group, TEXT, id=f"c-{mark}"),
        moves={owl.id: f"c-{mark}", barn.id: f"c-{mark}"},
    )


@pytest_asyncio.fixture
async def client(graph: Graph, group: str, other_group: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the service over both groups."""
    await _fill(graph, group, HERE)
    await _fill(graph, other_group, THERE)
    app = create_app(ApiSettings(), graph.reader, Embedder(), Encoder(), clock=lambda: day(9))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://search", timeout=60) as made:
        yield made


def _own(text: str, other_group: str) -> bool:
    return THERE not in text and other_group not in text


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
        assert _own(answer.text, other_group), request
        (scope,), (method,) = request["scopes"], request["methods"]
        assert bool(answer.json()[scope]) is ((scope, method) in FOUND), (request, answer.text)


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
        assert _own(answer.text, other_group)
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
    paths = [
        f"/v1/{kind}/{name}-{{mark}}{rest}"
        for kind, name, rest in (
            ("episodes", "e1", ""),
            ("facts", "f1", ""),
            ("entities", "owl", ""),
            ("entities", "owl", "/facts"),
            ("communities", "c", ""),
        )
    ]
    for path in paths:
        own = await client.get(path.format(mark=HERE), params={"group_id": group})
        assert own.status_code == 200, own.text
        assert HERE in own.text
        assert _own(own.text, other_group)
        foreign = await client.get(path.format(mark=THERE), params={"group_id": group})
        assert foreign.status_code == 404
        assert other_group not in foreign.text
    listed = await client.get(f"/v1/groups/{quote(group, safe='')}/episodes")
    assert len(listed.json()["episodes"]) == 3
    assert _own(listed.text, other_group)
