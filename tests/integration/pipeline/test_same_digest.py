"""One history through Kafka, workers and Neo4j, and through the embedded memory: the graphs say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factstream.demo.story import LATE_ADDRESS, chat, crm, late_address
from factstream.memory import Memory
from pipeline.clock import system_clock
from pipeline.curation.operator import Operator
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.local.extractor import LocalExtractor
from pipeline.extraction.router import RoutingExtractor
from pipeline.graph.digest import digest, summary
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.graph.sqlite.dump import SqliteDump
from tests.integration.pipeline.running import DIMENSION, running
from tests.integration.pipeline.services import serving

pytestmark = pytest.mark.integration


def triples(group: str, name: str, at: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "group_id": group,
        "source": "triples",
        "reference_time": f"{at}T09:00:00Z",
        "content": list(content),
    }


def triple(subject: str, relation: str, value: str, **more: Any) -> dict[str, Any]:
    return {"subject": {"name": subject}, "relation": relation, "object": {"name": value}, **more}


def history(group: str) -> list[dict[str, Any]]:
    """A CRM and chats in three languages, then what makes timelines hard: late, repeated, ended, returned, both ends
    of one day, an empty message, documents and JSON, and what will be forgotten."""
    one = {"cardinality": "one"}
    return [
        *crm(group),
        *chat(group),
        late_address(group),
        # The same id again, with other words: the first content wins.
        {**late_address(group), "content": [triple("Lucía Ferrer", "LIVES_IN", "Nowhere", **one)]},
        triples(group, "x1", "2024-01-01", triple("Ana", "WORKS_AT", "Acme", valid_at="2020-01-01", **one)),
        triples(group, "x2", "2024-01-02", triple("Ana", "WORKS_AT", "Globex", valid_at="2022-01-01", **one)),
        triples(group, "x3", "2024-01-03", triple("Ana", "WORKS_AT", "Acme", valid_at="2023-01-01", **one)),
        triples(group, "x4", "2024-01-04", triple("Ana", "WORKS_AT", "Initech", valid_at="2021-06", **one)),
        triples(group, "x5", "2024-01-05", triple("Ana", "KNOWS", "Zoë Müller", invalid_at="2024-06-01")),
        triples(group, "x6", "2024-01-06", triple("ANA", "KNOWS", "zoë  müller", attributes={"since": 2019})),
        triples(group, "x7", "2024-01-07", triple("Ana", "OWNS", "SR-2023-052"), triple("Ana", "OWNS", "SR-2023-053")),
        triples(group, "same-day-1", "2024-02-01", triple("Bo", "HAS_PLAN", "Basic", valid_at="2024-02-01", **one)),
        triples(group, "same-day-2", "2024-02-01", triple("Bo", "HAS_PLAN", "Pro", valid_at="2024-02-01", **one)),
        {
            "id": "doc",
            "group_id": group,
            "source": "text",
            "reference_time": "2024-04-01T00:00:00Z",
            "content": "Hooli opened an office in Lisbon in March 2024. Maria Santos works at Hooli since 2021.",
        },
        {
            "id": "json",
            "group_id": group,
            "source": "json",
            "reference_time": "2024-04-02T00:00:00Z",
            "content": {"customer": {"name": "Hooli"}, "tier": "gold"},
        },
        {
            "id": "nothing",
            "group_id": group,
            "source": "message",
            "speaker": {"name": "Bo"},
            "reference_time": "2024-04-03T00:00:00Z",
            "content": "ok",
        },
        triples(group, "gone-1", "2024-05-01", triple("Ana", "WORKS_AT", "Umbrella", valid_at="2023-06-01", **one)),
        triples(group, "gone-2", "2024-05-02", triple("Mallory", "KNOWS", "Ana")),
    ]  # fmt: skip


async def test_a_history_has_one_digest_on_both_lines(
    kafka_bootstrap: str, bolt_uri: str, group: str, tmp_path: Path
) -> None:
    events = history(group)
    ids = list(dict.fromkeys(event["id"] for event in events))
    assert ids.count(LATE_ADDRESS) == 1
    async with running(kafka_bootstrap, bolt_uri) as installation, serving(installation) as (services, _):
        await services.publish(*events)
        states = await services.until_final(group, *ids)
        assert set(states.values()) == {"committed"}
        await installation.until_done([group], len(ids))
        store = Neo4jGraphStore(bolt_uri, dimension=DIMENSION)
        await store.open()
        try:
            operator = Operator(store, HashingEmbedder(DIMENSION), system_clock)
            await operator.forget_episodes(group, ["gone-1", "gone-2"])
        finally:
            await store.close()
        await installation.rebuild_communities(group)
        there = await installation.dump(group)

    file = tmp_path / "embedded.db"
    extractor = RoutingExtractor(LocalExtractor())
    async with Memory(file, embedder=HashingEmbedder(DIMENSION), extractor=extractor) as memory:
        await memory.add_many(events[:9])
        for event in events[9:14]:
            await memory.add(event)
        await memory.add_many(events[14:], wait=False)
        await memory.drain()
        await memory.forget(group, episode=["gone-1", "gone-2"])
        await memory.rebuild(group)
    here = await SqliteDump(file).dump(group)
    assert summary(here) == summary(there)
    assert digest(here) == digest(there)
    told = summary(here)
    assert len(told["facts"]) > 20
    assert not [f for f in told["facts"] if "Umbrella" in f["text"] or "Nowhere" in f["text"]]
