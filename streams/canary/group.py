"""The canary's group: one that no producer can name, since a group id of the contract has no control characters.

Each installation has its own, since several may share a graph.

What is said about it goes to nobody: no status, no change, no dead letter, no usage.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from pipeline.errors import Poison
from pipeline.model.episode import Episode
from pipeline.model.event import parse_event, to_episode
from streams.event import Event
from streams.topics import EPISODES

_START = "\x01factstream.canary "
CANARY_HEADER = "factstream-canary"
"""On the canary's raw episodes. Whoever writes to the group without it is refused like any other bad group id."""

_STAND_IN = "canary"


def canary_group(prefix: str) -> str:
    """The group of the installation whose topics have the prefix."""
    return _START + prefix


def is_canary_group(group_id: str | bytes) -> bool:
    """Whether a group, or the key of one, is a canary's."""
    if isinstance(group_id, bytes):
        return group_id.startswith(_START.encode())
    return group_id.startswith(_START)


def is_canary(event: Event) -> bool:
    """Whether a raw record is one of the canary's."""
    return is_canary_group(event.key or b"") and event.header(CANARY_HEADER) is not None


def of_canary(event: Event) -> bool:
    """Whether a record of any stage is about a canary. Between the stages only factstream writes."""
    if event.topic.endswith(EPISODES.name):
        return is_canary(event)
    return is_canary_group(event.lane)


def canary_value(group_id: str, token: str, at: datetime) -> bytes:
    """An episode whose raw text and one fact can be found by `token`, and which asks no model."""
    triple = {
        "subject": {"name": f"canary {token}", "type": "Canary"},
        "relation": "SANG",
        "object": {"name": f"song {token}", "type": "Song"},
        "fact": f"canary {token} sang",
    }
    event = {
        "id": token,
        "group_id": group_id,
        "source": "triples",
        "content": [triple],
        "reference_time": at.isoformat(),
    }
    return orjson.dumps(event)


def canary_episode(raw: Any, group_id: str, *, logged_at: datetime, sequence: int) -> Episode:
    """The episode of a canary's record. Raises Poison for what is no such episode."""
    if not isinstance(raw, Mapping) or raw.get("group_id") != group_id:
        raise Poison("the key is the canary's and the group is not", "group_id")
    parsed = parse_event({**raw, "group_id": _STAND_IN})
    episode = to_episode(raw, parsed, logged_at=logged_at, sequence=sequence)
    return episode.model_copy(update={"group_id": group_id})
