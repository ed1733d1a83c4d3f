"""Creates the topics that are missing, and refuses those that differ from their declaration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import TopicAlreadyExistsError, for_code

from streams.broker import admin_client
from streams.errors import StartError, TopicsDiffer
from streams.timing import Timing
from streams.topics import ALL_TOPICS, Topic

VISIBLE_WITHIN = 30.0
"""Seconds that a new topic may take until the brokers tell of all its partitions."""


async def ensure_topics(
    bootstrap: str,
    prefix: str = "",
    *,
    partitions: int = 12,
    replication: int = 1,
    insync: int | None = None,
    topics: Iterable[Topic] = ALL_TOPICS,
    timing: Timing | None = None,
) -> list[str]:
    """Creates what is missing and checks what is there; the names that it created. Safe to run twice, or at once.

    `insync` is how many replicas must have a record before it counts as taken (`min.insync.replicas`); None: all but
    one, so that one may be down. Raises TopicsDiffer when a topic has another number of partitions, another replication
    or other settings than declared: nothing that is there is ever changed here, since the number of partitions is what
    places a group, and the rest is the operator's to decide. Raises StartError when the brokers cannot hold so many
    replicas.
    """
    wanted = replicated(replication, insync)
    declared = {topic.named(prefix): topic for topic in topics}
    async with admin_client(bootstrap) as admin:
        missing = [name for name in declared if name not in await admin.list_topics()]
        if missing:
            await _create(
                admin,
                [
                    NewTopic(name, partitions, replication, topic_configs=declared[name].settings() | wanted)
                    for name in missing
                ],
            )
            await _wait_until_visible(admin, missing, timing or Timing())
        differences = await _differences(admin, declared, partitions, replication, wanted)
    if differences:
        raise TopicsDiffer(differences)
    return missing


def replicated(replication: int, insync: int | None) -> dict[str, str]:
    """Kafka's settings that follow from the replication. Raises StartError when `insync` is more than there are."""
    if insync is not None and insync > replication:
        raise StartError(
            f"FACTSTREAM_MIN_INSYNC_REPLICAS is {insync}, but FACTSTREAM_REPLICATION is {replication}: no record could "
            "ever be taken"
        )
    return {"min.insync.replicas": str(max(1, replication - 1) if insync is None else insync)}


async def _create(admin: AIOKafkaAdminClient, topics: list[NewTopic]) -> None:
    response = await admin.create_topics(topics)
    for name, code, *message in response.topic_errors:
        error = for_code(code)
        if code and error is not TopicAlreadyExistsError:
            raise StartError(
                f"topic {name} could not be created: {error.__name__} {' '.join(map(str, message))}"
            )


async def _wait_until_visible(admin: AIOKafkaAdminClient, names: list[str], timing: Timing) -> None:
    deadline = timing.monotonic() + VISIBLE_WITHIN
    while True:
        seen = {topic["topic"] for topic in await _describe(admin, names) if _is_ready(topic)}
        if seen.issuperset(names):
            return
        if timing.monotonic() > deadline:
            raise StartError(f"topics {sorted(set(names) - seen)} were created but are not ready")
        await timing.sleep(0.2)


async def _describe(admin: AIOKafkaAdminClient, names: Iterable[str]) -> list[dict[str, Any]]:
    existing = set(await admin.list_topics())
    return list(await admin.describe_topics([name for name in names if name in existing]))


def _is_ready(topic: dict[str, Any]) -> bool:
    parts = topic["partitions"]
    return not topic["error_code"] and bool(parts) and all(part["leader"] >= 0 for part in parts)


async def _differences(
    admin: AIOKafkaAdminClient,
    declared: dict[str, Topic],
    partitions: int,
    replication: int,
    replicated: dict[str, str],
) -> list[str]:
    found: list[str] = []
    for topic in await _describe(admin, declared):
        count = len(topic["partitions"])
        if count != partitions:
            found.append(
                f"{topic['topic']} has {count} partitions, {partitions} are asked for "
                "(all topics need the same number, or a group would be in two places)"
            )
        replicas = min((len(part["replicas"]) for part in topic["partitions"]), default=replication)
        if replicas < replication:
            found.append(
                f"{topic['topic']} has {replicas} replicas, {replication} are asked for "
                "(kafka-reassign-partitions adds them; FACTSTREAM_REPLICATION accepts fewer)"
            )
    for name, actual in (await _settings(admin, declared)).items():
        for key, wanted in (declared[name].settings() | replicated).items():
            if actual.get(key) != wanted:
                found.append(f"{name} has {key}={actual.get(key)}, declared is {wanted}")
    return found


async def _settings(admin: AIOKafkaAdminClient, names: Iterable[str]) -> dict[str, dict[str, str]]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    settings: dict[str, dict[str, str]] = {}
    for response in await admin.describe_configs(resources):
        for code, message, _kind, name, entries in response.resources:
            if code:
                raise StartError(f"the settings of topic {name} could not be read: {message}")
            settings[name] = {entry[0]: entry[1] for entry in entries}
    return settings
