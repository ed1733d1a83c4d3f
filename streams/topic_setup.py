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
    topics: Iterable[Topic] = ALL_TOPICS,
    timing: Timing | None = None,
) -> list[str]:
    """Creates what is missing and checks what is there; the names that it created. Safe to run twice, or at once.

    With three or more replicas, one may be down while records are still taken (`min.insync.replicas`).
    Raises TopicsDiffer when a topic has another number of partitions or other settings than declared: the number is
    what places a group, so it is never changed here.
    """
    declared = {topic.named(prefix): topic for topic in topics}
    async with admin_client(bootstrap) as admin:
        missing = [name for name in declared if name not in await admin.list_topics()]
        if missing:
            insync = {"min.insync.replicas": str(max(1, replication - 1))}
            await _create(
                admin,
                [
                    NewTopic(name, partitions, replication, topic_configs=declared[name].settings() | insync)
                    for name in missing
                ],
            )
            await _wait_until_visible(admin, missing, timing or Timing())
        differences = await _differences(admin, declared, partitions)
    if differences:
        raise TopicsDiffer(differences)
    return missing


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


async def _differences(admin: AIOKafkaAdminClient, declared: dict[str, Topic], partitions: int) -> list[str]:
    found: list[str] = []
    for topic in await _describe(admin, declared):
        count = len(topic["partitions"])
        if count != partitions:
            found.append(
                f"{topic['topic']} has {count} partitions, {partitions} are asked for "
                "(all topics need the same number, or a group would be in two places)"
            )
    for name, actual in (await _settings(admin, declared)).items():
        for key, wanted in declared[name].settings().items():
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
