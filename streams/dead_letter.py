"""A dead letter as it is read back, and which ones are asked for."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson


@dataclass(frozen=True)
class DeadLetter:
    """One dead letter. `id` is its place in the dead letter topic ("partition-offset")."""

    id: str
    group_id: str
    key: bytes
    letter: dict[str, Any]
    headers: tuple[tuple[str, bytes], ...]

    @property
    def at(self) -> datetime:
        """When it died."""
        return datetime.fromisoformat(self.letter["at"])

    @property
    def place(self) -> tuple[str, int, int, str]:
        """Which record has died: topic, partition, offset and the record's own time, since a topic may be made anew."""
        told = self.letter
        return (told["topic"], told["partition"], told["offset"], told.get("logged_at", ""))

    @property
    def episode_id(self) -> str | None:
        """The episode's id as far as the original tells it."""
        event = self.letter.get("event")
        if not isinstance(event, dict):
            return None
        inner = event.get("episode", event)
        found = inner.get("id") or inner.get("episode_id") if isinstance(inner, dict) else None
        return str(found) if found is not None else None

    @property
    def value(self) -> bytes | None:
        """The original record's value as it was sent (JSON keeps its meaning, not its spacing); None: a tombstone."""
        if "event_base64" in self.letter:
            return base64.b64decode(self.letter["event_base64"])
        event = self.letter["event"]
        return None if event is None else orjson.dumps(event)


@dataclass(frozen=True)
class DeadFilter:
    """Which dead letters: all that fit every condition that is given. `reason` is found in the error, whatever its
    case; `since` is inclusive, `until` exclusive."""

    group_id: str | None = None
    stage: str | None = None
    reason: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, letter: DeadLetter) -> bool:
        """Whether it is asked for."""
        return (
            (self.group_id is None or letter.group_id == self.group_id)
            and (self.stage is None or letter.letter["stage"] == self.stage)
            and (self.reason is None or self.reason.casefold() in str(letter.letter["error"]).casefold())
            and (self.since is None or letter.at >= self.since)
            and (self.until is None or letter.at < self.until)
        )
