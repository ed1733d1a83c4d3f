"""Poison of every kind among good events, and a dead-letter topic that cannot be written."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from streams.broker import admin_client
from streams.topic_setup import ensure_topics
from streams.topics import CHANGES, DEAD, EXTRACTED, RESOLVED, stage_key
from tests.faults.ground import Ground
from tests.faults.judging import judged
from tests.faults.load import Sent, histories, slices
from tests.faults.scale import Scale
from tests.faults.site import Site, site
from tests.integration.pipeline.running import PARTITIONS


def poison(group: str) -> list[Sent]:
    """Everything that can be wrong with a record of `episodes`; each with a value that no other has."""

    def event(**fields: Any) -> bytes:
        return orjson.dumps(
            {"id": "poisoned", "group_id": group, "source": "text", "content": "Ana knows Ben."} | fields
        )

    triple = {"subject": {"name": "Ana"}, "relation": "KNOWS", "object": {"name": "Ben"}}
    key = group.encode()
    values = [
        b"",
        b"not json",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b"7",
        b'{"content": NaN}',
        b"[" * 5_000,
        b'{"id": "half", "group_id": "' + key,
        event(source="telegram"),
        event(surprise=1),
        event(content=""),
        event(content={"a": 1}),
        event(content="x" * (1024 * 1024 + 1)),
        event(reference_time="next Tuesday"),
        event(reference_time=17),
        event(group_id=""),
        event(group_id=7),
        event(group_id="an\nother"),
        event(group_id=f"{group}-other"),
        event(id=""),
        event(id="x" * 201),
        event(metadata={"a": {"b": 1}}),
        event(ontology="unheard-of"),
        event(source="triples", content="Ana"),
        event(source="triples", content=[{**triple, "relation": ""}]),
        event(source="triples", content=[{**triple, "valid_at": 2024}]),
        event(source="triples", content=[{**triple, "valid_at": "2024", "invalid_at": "2023"}]),
        event(source="triples", content=[{**triple, "cardinality": "two"}]),
        event(source="message", speaker={"name": "Ana", "role": "king"}),
        orjson.dumps({"id": "poisoned", "source": "text", "content": "x"}),
    ]
    made = [Sent(key, value, None) for value in values]
    good = orjson.dumps({"id": "keyless", "group_id": group, "source": "text", "content": "Ana knows Ben."})
    return [*made, Sent(b"", good, None), Sent(b"\xff\xfe", good + b" ", None), Sent(key, None, None)]


async def poison_between_stages(made: Site, group: str) -> list[tuple[str, bytes]]:
    """Records that something else wrote to the inner topics; (topic, value)."""
    key = stage_key(group, "foreign")
    sent = [
        (EXTRACTED, key, b"not json", ()),
        (EXTRACTED, key, b'{"episode": {"id": "foreign", "group_id": 7}}', ()),
        (RESOLVED, key, b'{"nothing": "here"}', ()),
        (CHANGES, group.encode(), b"{}", [("factstream-last-of-episode", b"not json")]),
    ]
    for topic, name, value, headers in sent:
        await made.producer.send(topic.named(made.prefix), name, value, headers)
    return [(topic.named(made.prefix), value) for topic, _, value, _ in sent]


async def test_poison_of_every_kind(scale: Scale, servers: Ground, expected: Any, report: Any) -> None:
    wanted = await expected(scale.events)
    # A stage would rather stop than bury so much at once; here all of it is to be buried.
    patient = {"halt_consecutive": 0, "halt_ratio": 0.0}
    async with (
        report("poison of every kind") as r,
        site(servers, **patient) as made,
        made.worker() as worker,
    ):
        groups = made.groups(scale.groups)
        victims = groups[: 6 if scale.full else 2]
        parts = list(slices(histories(groups, scale.events), 3))
        await made.tell(parts[0])
        for victim in victims:
            await made.tell(poison(victim))
        await made.tell(parts[1])
        foreign = [place for victim in victims for place in await poison_between_stages(made, victim)]
        await made.tell(parts[2])
        await made.until_all_done()
        assert await worker.stopped() == 0
        letters = [orjson.loads(record.value) for record in await made.records(DEAD)]
        buried = [letter["topic"] for letter in letters if letter["topic"] != f"{made.prefix}episodes"]
        r.rounds, r.faults = len(victims), len(victims) * len(poison("g")) + len(foreign)
        await judged(r, made, groups, wanted)
        for topic, value in foreign:
            if buried.count(topic) != sum(other == topic for other, _ in foreign):
                r.lost.append(f"no dead letter for {value!r} of {topic}")


async def limit_dead_letters(made: Site, size: int) -> None:
    """The largest record that the dead letter topic takes."""
    settings = DEAD.settings() | {"max.message.bytes": str(size), "min.insync.replicas": "1"}
    resource = ConfigResource(ConfigResourceType.TOPIC, DEAD.named(made.prefix), configs=settings)
    async with admin_client(made.bootstrap) as admin:
        await admin.alter_configs([resource])


async def delete_dead_letters(made: Site) -> None:
    """The topic is not there at all."""
    async with admin_client(made.bootstrap) as admin:
        await admin.delete_topics([DEAD.named(made.prefix)])


async def test_a_dead_letter_topic_that_cannot_be_written(
    scale: Scale, servers: Ground, expected: Any, report: Any
) -> None:
    """The group of the dead event waits, the others go on, and so does it when the topic takes records again."""
    wanted = await expected(scale.events)
    async with report("dead letters cannot be written") as r, site(servers) as made, made.worker() as worker:
        for number, broken in enumerate(("too small", "deleted")):
            groups = made.groups(2 * (scale.groups // 4) + 2)
            waiting, free = groups[::2], groups[1::2]
            if broken == "deleted":
                await delete_dead_letters(made)
            else:
                await limit_dead_letters(made, 1)
            parts = histories(groups, scale.events)
            free_parts = [[s for s in part if s.episode is not None] for part in parts[1::2]]
            await made.tell([s for part in parts[::2] for s in part])
            await made.tell([s for part in free_parts for s in part])
            published, made.published = made.published, [s for part in free_parts for s in part]
            await made.some_done(sum(len({s.episode for s in part}) for part in free_parts))
            made.published = published
            await asyncio.sleep(scale.outage / 10)
            stuck = [await made.dump(group) for group in waiting]
            for dump in stuck:
                if {e.state.value for e in dump.episodes} <= {"committed", "skipped"}:
                    r.untrue.append(f"{dump.group_id} did not wait for its dead letter")
            if broken == "deleted":
                await ensure_topics(made.bootstrap, made.prefix, partitions=PARTITIONS)
            else:
                await limit_dead_letters(made, DEAD.max_bytes)
            await made.until_all_done()
            r.rounds, r.faults = number + 1, number + 1
            r.note = f"{len(free)} other groups went on meanwhile"
        assert await worker.stopped() == 0
        # The letters of the first round went with the deleted topic, so only the second round is compared as a whole.
        made.published = [s for s in made.published if s.group in groups]
        await judged(r, made, groups, wanted)
