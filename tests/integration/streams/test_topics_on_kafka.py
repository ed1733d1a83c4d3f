"""Topics and the producer against a real broker."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from pipeline.errors import Poison
from streams.broker import require_topics, wait_for_broker
from streams.errors import StartError, TopicsDiffer, TopicsMissing
from streams.topic_setup import ensure_topics
from streams.topics import ALL_TOPICS, EPISODES, EXTRACTED, MIB, STATUS, partition_of, stage_key

pytestmark = pytest.mark.integration


async def test_topics_are_created_once_also_when_asked_twice_or_at_once(kafka_bootstrap):
    prefix = f"t{uuid.uuid4().hex[:8]}."
    await wait_for_broker(kafka_bootstrap, limit=30)
    with pytest.raises(TopicsMissing, match=f"{prefix}episodes.dead"):
        await require_topics(kafka_bootstrap, [topic.named(prefix) for topic in ALL_TOPICS])
    both = await asyncio.gather(*(ensure_topics(kafka_bootstrap, prefix, partitions=3) for _ in range(2)))
    assert set(both[0]) | set(both[1]) == {topic.named(prefix) for topic in ALL_TOPICS}
    assert await ensure_topics(kafka_bootstrap, prefix, partitions=3) == []
    await require_topics(kafka_bootstrap, [topic.named(prefix) for topic in ALL_TOPICS])


async def test_differences_are_refused_with_their_names(installation):
    with pytest.raises(TopicsDiffer) as caught:
        await ensure_topics(installation.bootstrap, installation.prefix, partitions=5)
    assert len(caught.value.differences) == len(ALL_TOPICS)
    assert "has 4 partitions, 5 are asked for" in caught.value.differences[0]
    renamed = [type(EPISODES)(EPISODES.name, "", "", cleanup="compact", max_bytes=5 * MIB)]
    with pytest.raises(TopicsDiffer) as caught:
        await ensure_topics(installation.bootstrap, installation.prefix, partitions=4, topics=renamed)
    text = str(caught.value)
    for part in (
        "cleanup.policy=delete",
        "max.message.bytes=4194304",
        "message.timestamp.type=LogAppendTime",
    ):
        assert part in text


async def test_a_group_is_on_its_partition_in_every_topic(installation):
    groups = ["a", "b", "清华", "müller & co"]
    for group in groups:
        await installation.send(STATUS, group.encode(), b"1")
        await installation.send(EXTRACTED, stage_key(group, "e1"), b"1")
    for topic in (STATUS, EXTRACTED):
        records = await installation.read(topic, lambda got: len(got) == len(groups))
        for record in records:
            assert record.partition == partition_of(record.key.split(b"\0")[0].decode(), 4)


async def test_a_record_that_no_topic_takes_is_poison_and_the_producer_lives_on(installation):
    for size in (STATUS.max_bytes + 1, 64 * MIB):
        with pytest.raises(Poison, match=f"{size} bytes are more"):
            await installation.send(STATUS, b"a", b"x" * size)
    await installation.send(STATUS, b"a", b"after")
    await installation.send(EPISODES, b"a", b"x" * (4 * MIB - 1000))
    assert [r.value for r in await installation.read(STATUS, lambda got: len(got) == 1)] == [b"after"]


async def test_replicas_that_must_have_a_record_are_a_setting_and_checked(kafka_bootstrap):
    prefix = f"t{uuid.uuid4().hex[:8]}."
    for replication, insync, named in (
        (1, 2, "FACTSTREAM_REPLICATION is 1"),
        (7, None, "could not be created"),
    ):
        with pytest.raises(StartError, match=named):
            await ensure_topics(kafka_bootstrap, prefix, partitions=1, replication=replication, insync=insync)
    assert await ensure_topics(kafka_bootstrap, prefix, partitions=1, insync=1)
    assert await ensure_topics(kafka_bootstrap, prefix, partitions=1, replication=1) == []
    with pytest.raises(TopicsDiffer) as caught:
        await ensure_topics(kafka_bootstrap, prefix, partitions=1, replication=3)
    text = str(caught.value)
    assert f"{prefix}episodes has 1 replicas, 3 are asked for" in text
    assert f"{prefix}episodes has min.insync.replicas=1, declared is 2" in text
