"""From the gateway through Kafka, the worker and Neo4j to the search service, with what can go wrong on the way."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from pipeline.graph.digest import digest, summary
from streams.dead_letter import DeadFilter
from streams.dead_reader import read_dead_letters, replay
from streams.topics import CHANGES, EPISODES, STATUS
from tests.integration.pipeline.checks import last_states
from tests.integration.pipeline.running import running
from tests.integration.pipeline.services import serving
from tests.integration.pipeline.story import knows, works_at

pytestmark = pytest.mark.integration


def triples(group: str, name: str, *content: dict[str, Any], at: str = "2024-03-01") -> dict[str, Any]:
    return {
        "id": name,
        "group_id": group,
        "source": "triples",
        "reference_time": f"{at}T09:00:00Z",
        "content": list(content),
    }


async def test_all_four_sources_become_searchable(kafka_bootstrap: str, bolt_uri: str, group: str) -> None:
    events: list[dict[str, Any]] = [
        {
            "id": "said",
            "group_id": group,
            "source": "message",
            "speaker": {"name": "Mireille", "role": "user"},
            "content": "I moved to Lisbon and I work at Hooli now.",
            "thread_id": "t1",
        },
        {
            "group_id": group,
            "source": "text",
            "content": "Hooli opened an office in Lisbon in March 2024.",
            "reference_time": "2024-04-01T00:00:00Z",
        },
        {
            "id": "crm/7",
            "group_id": group,
            "source": "json",
            "content": {"customer": {"name": "Hooli"}, "tier": "gold", "contact": {"name": "Mireille"}},
        },
        triples(group, "known", works_at("Ana", "Acme", "2024-01-15")),
    ]
    async with running(kafka_bootstrap, bolt_uri) as installation, serving(installation) as (services, _):
        ids = await services.publish(*events)
        assert [ids[0], *ids[2:]] == ["said", "crm/7", "known"]
        states = await services.until_final(group, ids[0], ids[1], "crm%2F7", ids[3])
        assert set(states.values()) == {"committed"}
        for episode, words in zip(ids, ("moved Lisbon", "opened office", "gold", "Ana Acme"), strict=True):
            assert episode in [found["id"] for found in await services.find(group, words, "episodes")]
        fact = (await services.find(group, "where does Ana work", "facts"))[0]
        assert (fact["source"]["name"], fact["relation"], fact["target"]["name"]) == (
            "Ana",
            "WORKS_AT",
            "Acme",
        )
        assert fact["valid_at"] == "2024-01-15T00:00:00Z"
        assert fact["episodes"] == ["known"]
        assert "Mireille" in [e["name"] for e in await services.find(group, "Mireille", "entities")]
        assert await services.find(f"{group}-other", "Ana", "facts") == []


async def test_an_invalid_event_is_a_dead_letter_and_its_neighbours_pass(
    kafka_bootstrap: str, bolt_uri: str, group: str
) -> None:
    async with running(kafka_bootstrap, bolt_uri) as installation, serving(installation) as (services, _):
        bad = triples(group, "bad", {**knows("Ana", "Ben"), "valid_at": "someday"})
        not_json = b'{"group_id": '
        await services.publish(triples(group, "before", knows("Ana", "Ben")))
        for value in (orjson.dumps(bad), not_json):
            await installation.producer.send(EPISODES.named(installation.prefix), group.encode(), value)
        await services.publish(triples(group, "after", knows("Ben", "Carla")))
        states = await services.until_final(group, "before", "after")
        assert states == {"before": "committed", "after": "committed"}
        letters = [
            letter
            async for letter in read_dead_letters(kafka_bootstrap, installation.prefix, DeadFilter(group))
        ]
        assert [letter.letter.get("field") for letter in letters] == ["content.0.valid_at", None]
        assert letters[0].letter["event"] == bad
        assert letters[1].value == not_json
        assert {letter.letter["stage"] for letter in letters} == {"extract"}
        assert await services.episode(group, "bad") == {}


async def test_a_repeated_event_does_nothing_and_its_first_content_wins(
    kafka_bootstrap: str, bolt_uri: str, group: str
) -> None:
    async with running(kafka_bootstrap, bolt_uri) as installation, serving(installation) as (services, _):
        event = triples(group, "once", knows("Ana", "Ben"))
        await services.publish(event)
        await services.until_final(group, "once")
        await installation.until_done([group], 1)
        before, changes = await installation.dump(group), await installation.records(CHANGES)
        await services.publish(event, {**event, "content": [knows("Eve", "Mallory")]})
        await services.publish(triples(group, "marker", knows("Ben", "Carla")))
        await services.until_final(group, "marker")
        await installation.until_done([group], 2)
        told = [orjson.loads(record.value) for record in await installation.records(CHANGES)]
        assert [c["episode_id"] for c in told[len(changes) :]] == ["marker"]
        after = await installation.dump(group)
        assert {e.name for e in after.entities} == {"Ana", "Ben", "Carla"}
        assert [f for f in summary(after)["facts"] if f["episodes"] == ["once"]] == summary(before)["facts"]
        assert [v for v in after.evidence if v.episode_id == "once"] == list(before.evidence)


@pytest.mark.parametrize(
    ("operation", "stage"),
    [("receive", "extract"), ("entity_view", "resolve_entities"), ("fact_graph", "resolve_facts")],
)
async def test_a_dead_letter_that_is_sent_again_takes_its_turn(
    operation: str, stage: str, kafka_bootstrap: str, bolt_uri: str, group: str
) -> None:
    def events(of: str) -> list[dict[str, Any]]:
        # Two values of one slot from the same day: the later statement stands, also when the earlier one comes late.
        return [
            triples(of, "first", works_at("Ana", "Acme", "2024-01-01"), knows("Ana", "Ben")),
            triples(of, "second", works_at("Ana", "Globex", "2024-01-01")),
        ]

    control = f"{group}-control"
    async with (
        running(kafka_bootstrap, bolt_uri) as installation,
        serving(installation, (operation, "first")) as (services, store),
    ):
        await services.publish(*events(group))
        assert await services.until_final(group, "second") == {"second": "committed"}
        await installation.until_done([group], 1)
        (letter,) = [found async for found in read_dead_letters(kafka_bootstrap, installation.prefix)]
        assert (letter.letter["stage"], letter.letter["attempts"]) == (stage, 2)
        assert f"ValueError: the {operation} of first is broken" in letter.letter["error"]
        assert letter.episode_id == "first"
        if operation != "receive":
            dead = await services.episode(group, "first")
            assert dead["state"] == "dead"
        store.broken = False
        await replay(letter, installation.producer)
        await services.publish(*events(control))
        await installation.until_done([group, control], 2)
        assert await services.until_final(group, "first") == {"first": "committed"}
        for one in (group, control):
            await installation.rebuild_communities(one)
        dumps = [await installation.dump(one) for one in (group, control)]
        assert summary(dumps[0]) == summary(dumps[1])
        assert digest(dumps[0]) == digest(dumps[1])
        states = last_states(await installation.records(STATUS))
        assert states[group, "first"] == states[group, "second"] == "committed"
