"""Dead letters: an event that no attempt could finish, kept whole, with what is needed to find and repeat it."""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Protocol

import orjson

from pipeline.clock import Clock, system_clock
from streams.canary.group import of_canary
from streams.event import Event
from streams.failure import Failure

log = logging.getLogger(__name__)

REASON_LIMIT = 2000
"""Characters of an error's text that are kept; an event must never outgrow the topic because of its error."""


class Sender(Protocol):
    """What is needed of a producer."""

    async def send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()
    ) -> None:
        """Returns when the record is durable."""


class DeadLetters:
    """Writes dead letters to their topic, under the group's key and with the event's own headers."""

    def __init__(self, sender: Sender, topic: str, clock: Clock = system_clock) -> None:
        self._sender = sender
        self._topic = topic
        self._clock = clock

    async def bury(self, event: Event, failure: Failure) -> None:
        """Returns when the dead letter is durable; raises what the sender raises. A canary leaves none: that it did
        not come through is told by health and metrics."""
        if of_canary(event):
            log.error("the canary %s died in %s: %s", event.place, failure.stage, failure.reason)
            return
        record = dead_letter(event, failure, self._clock())
        await self._sender.send(self._topic, event.lane or event.key, record, event.headers)


def dead_letter(event: Event, failure: Failure, at: datetime) -> bytes:
    """The dead letter as JSON.

    `event` holds the original byte for byte where it is JSON (null for a tombstone); what is not JSON is under
    `event_base64` instead. `logged_at` is the record's own time, so that a replay takes its turn. `key` appears when the original's key is more than the group, `field` when one is at fault.
    """
    letter: dict[str, Any] = {}
    if _is_json(event.value):
        letter["event"] = orjson.Fragment(event.value or b"null")
    else:
        letter["event_base64"] = base64.b64encode(event.value or b"").decode()
    if event.key is not None and event.key != event.lane:
        letter["key"] = _clean(event.key.decode("utf-8", "replace"))
    letter |= {
        "stage": failure.stage,
        "attempts": failure.attempts,
        "error": _clean(failure.reason)[:REASON_LIMIT],
        "topic": event.topic,
        "partition": event.partition,
        "offset": event.offset,
        "logged_at": event.timestamp.isoformat(),
        "at": at.isoformat(),
    }
    if failure.field:
        letter["field"] = _clean(failure.field)[:REASON_LIMIT]
    return orjson.dumps(letter)


def _is_json(value: bytes | None) -> bool:
    if value is None:
        return True
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        return False
    return True


def _clean(text: str) -> str:
    """Without lone surrogates, which are no UTF-8."""
    return text.encode("utf-8", "replace").decode()
