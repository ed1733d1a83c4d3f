"""The service over a real store: what the stages wrote to a SQLite file is found and read over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import httpx
import orjson
import pytest

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.event import parse_event, to_episode
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from search_api.app import create_app
from search_api.settings import ApiSettings


class Memory:
    """The stages over one file, one event after the other, and a clock that tests set."""

    def __init__(self, store, embedder):
        self.now = datetime(2024, 6, 1, tzinfo=UTC)
        self._sequence = 0
        parts = (lambda: self.now, SilentObserver())
        self._extract = ExtractStage(store, TriplesExtractor(), embedder, *parts)
        self._entities = ResolveEntitiesStage(store, embedder, *parts)
        self._facts = ResolveFactsStage(store, embedder, *parts)
        self._communities = UpdateCommunitiesStage(store, embedder, *parts)

    async def tell(self, group, episode_id, *triples, **given):
        """Each triple is (subject, type, relation, object, type, valid_at, more)."""
        content = [
            {
                "subject": {"name": subject, "type": subject_type},
                "relation": relation,
                "object": {"name": target, "type": target_type},
                "valid_at": valid_at,
                **more,
            }
            for subject, subject_type, relation, target, target_type, valid_at, more in triples
        ]
        raw = {"id": episode_id, "group_id": group, "source": "triples", "content": content, **given}
        self._sequence += 1
        episode = to_episode(raw, parse_event(raw), logged_at=self.now, sequence=self._sequence)
        extracted = ExtractedEpisode.model_validate_json((await self._extract.run(episode)).output)
        resolved = ResolvedEpisode.model_validate_json((await self._entities.run(extracted)).output)
        changes = orjson.loads((await self._facts.run(resolved)).output)
        await self._communities.run(episode.ref, changes["touched"])


@pytest.fixture
async def parts(tmp_path):
    embedder = HashingEmbedder()
    store = SqliteGraphStore(tmp_path / "graph.db", dimension=embedder.dimension)
    await store.open()
    memory = Memory(store, embedder)
    reader = SqliteGraphReader(tmp_path / "graph.db")
    app = create_app(ApiSettings(), reader, embedder, clock=lambda: memory.now)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://search") as client,
    ):
        yield memory, client
    await store.close()


async def search(client, group, query=None, **fields):
    reply = await client.post("/v1/search", json={"query": query, "group_ids": [group], **fields})
    assert reply.status_code == 200, reply.text
    return reply.json()


PLANS = ("Fern Cafe", "Customer", "HAS_PLAN")


async def test_a_plan_that_changed_now_then_and_as_known_then(parts):
    memory, client = parts
    one = {"cardinality": "one"}
    await memory.tell("g", "e1", (*PLANS, "Basic Plan", "Plan", "2024-01-01T00:00:00Z", one))
    before = memory.now
    memory.now += timedelta(days=1)
    await memory.tell("g", "e2", (*PLANS, "Pro Plan", "Plan", "2024-05-01T00:00:00Z", one))

    async def names(**fields):
        found = await search(client, "g", "Fern Cafe plan", **fields)
        return [fact["target"]["name"] for fact in found["facts"]]

    assert await names() == ["Pro Plan"]
    assert await names(as_of="2024-03-01T00:00:00Z") == ["Basic Plan"]
    assert sorted(await names(as_of=None)) == ["Basic Plan", "Pro Plan"]
    assert await names(known_at=before.isoformat()) == ["Basic Plan"]
    fact = (await search(client, "g", "Fern Cafe plan", as_of="2024-03-01"))["facts"][0]
    assert fact["invalid_at"] == "2024-05-01T00:00:00Z"
    timeline = f"/v1/entities/{fact['source']['id']}/facts"
    told = (await client.get(timeline, params={"group_id": "g"})).json()["facts"]
    assert [one["target"]["name"] for one in told] == ["Basic Plan", "Pro Plan"]
    then = {"group_id": "g", "known_at": before.isoformat()}
    told = (await client.get(timeline, params=then)).json()["facts"]
    assert [(one["target"]["name"], one["invalid_at"]) for one in told] == [("Basic Plan", None)]


async def test_groups_are_walls_for_every_scope_and_read(parts):
    memory, client = parts
    start = "2024-01-10T00:00:00Z"
    await memory.tell("g", "same", ("Larkspur", "Company", "MAKES", "Blue Dye", "Product", start, {}))
    await memory.tell("g2", "same", ("Nettle", "Company", "MAKES", "Green Dye", "Product", start, {}))
    every = {"scopes": ["facts", "entities", "episodes", "communities"]}
    mine = await search(client, "g", "Larkspur makes dye", **every)
    assert [fact["group_id"] for fact in mine["facts"]] == ["g"]
    for order in ({}, {"reranker": "mmr"}, {"reranker": "episode_mentions"}, {"as_of": None}):
        assert "Blue Dye" not in str(await search(client, "g2", "Larkspur makes dye", **every, **order))
    fact = mine["facts"][0]["id"]
    assert (await client.get(f"/v1/facts/{fact}", params={"group_id": "g"})).status_code == 200
    assert (await client.get(f"/v1/facts/{fact}", params={"group_id": "g2"})).status_code == 404
    both = await client.post("/v1/search", json={"query": "dye", "group_ids": ["g2", "g"]})
    assert {one["group_id"] for one in both.json()["facts"]} == {"g", "g2"}


async def test_an_episode_with_an_awkward_name_leads_to_its_facts_and_back(parts):
    memory, client = parts
    group, name = "a b/c 🦉", "crm/42?v=1#ä"
    start = "2024-01-10T00:00:00Z"
    await memory.tell(group, name, ("Ana", "Person", "WORKS_AT", "Acme", "Company", start, {}))
    reply = await client.get(f"/v1/episodes/{quote(name, safe='')}", params={"group_id": group})
    episode = reply.json()
    assert episode["state"] == "committed"
    assert episode["facts"][0]["episodes"] == [name]
    assert {entity["name"] for entity in episode["entities"]} == {"Ana", "Acme"}
    listed = (await client.get(f"/v1/groups/{quote(group, safe='')}/episodes")).json()["episodes"]
    assert [one["id"] for one in listed] == [name]


async def test_filters_walks_distances_and_contexts(parts):
    memory, client = parts
    start = "2024-01-10T00:00:00Z"
    await memory.tell(
        "g",
        "e1",
        ("Relay Birch", "Relay", "SHIPS_TO", "Depot", "Site", start, {}),
        ("Relay Xenon", "Relay", "FEEDS", "Relay Amber", "Relay", start, {}),
        ("Relay Xenon", "Relay", "FEEDS", "Relay Yarrow", "Relay", start, {}),
        metadata={"channel": "chat", "vip": True},
    )
    await memory.tell(
        "g",
        "e2",
        ("Relay Zinc", "Relay", "FEEDS", "Relay Yarrow", "Relay", "2024-02-01T00:00:00Z", {}),
        metadata={"channel": "mail", "vip": False},
    )
    entities = (await search(client, "g", "Relay Zinc", scopes=["entities"]))["entities"]
    zinc = next(one["id"] for one in entities if one["name"] == "Relay Zinc")

    async def facts(query="Relay", **fields):
        return [fact["fact"] for fact in (await search(client, "g", query, **fields))["facts"]]

    assert await facts(filters={"metadata": {"vip": False}}) == ["Relay Zinc feeds Relay Yarrow"]
    assert await facts(filters={"metadata": {"vip": True, "channel": "mail"}}) == []
    assert await facts(filters={"relations": ["SHIPS_TO"]}) == ["Relay Birch ships to Depot"]
    assert await facts(filters={"entity_types": ["Site"]}) == ["Relay Birch ships to Depot"]
    assert await facts(filters={"valid_at": [{"lt": "2023"}, {"gte": "2024-02"}]}) == [
        "Relay Zinc feeds Relay Yarrow"
    ]
    for depth, count in ((1, 1), (2, 2), (3, 3)):
        assert len(await facts(None, bfs_origins=[zinc], bfs_depth=depth)) == count
    near = await search(client, "g", "Relay", scopes=["entities"], center=zinc, limit=4)
    assert [one["name"] for one in near["entities"]] == [
        "Relay Zinc",
        "Relay Yarrow",
        "Relay Xenon",
        "Relay Amber",
    ]
    body = {"query": "Relay Zinc", "group_ids": ["g"], "max_tokens": 60}
    context = (await client.post("/v1/context", json=body)).json()
    assert "- Relay Zinc feeds Relay Yarrow (2024-02-01 - present)\n" in context["context"]
    assert context["tokens"] <= 60
    assert (await client.get("/readyz")).status_code == 200
