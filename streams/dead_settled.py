"""What an operator did with dead letters: replayed or dropped, on a topic of its own, since a dead letter never changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import orjson

from streams.agents.outbox import Sender
from streams.dead_letter import DeadLetter
from streams.reading import read_to_end
from streams.topics import DEAD_SETTLED, stage_key

Action = Literal["replayed", "dropped"]


@dataclass(frozen=True)
class Settled:
    """What was done with a dead letter last, when, and the operator's note."""

    letter_id: str
    action: Action
    at: datetime
    note: str = ""


async def settle(
    letter: DeadLetter, action: Action, at: datetime, sender: Sender, prefix: str, note: str
) -> None:
    """Returns when it is durable. Raises Retryable when Kafka does not take it."""
    told = {"letter": letter.id, "action": action, "at": at.isoformat(), "note": note}
    key = stage_key(letter.group_id, letter.id)
    await sender.send(DEAD_SETTLED.named(prefix), key, orjson.dumps(told))


async def read_settled(bootstrap: str, prefix: str = "") -> dict[str, Settled]:
    """By id of the dead letter, the last thing that was done with it. Raises KafkaError."""
    found: dict[str, Settled] = {}
    async for record in read_to_end(bootstrap, DEAD_SETTLED.named(prefix)):
        if record.value is None:
            continue
        told = orjson.loads(record.value)
        at = datetime.fromisoformat(told["at"])
        found[told["letter"]] = Settled(told["letter"], told["action"], at, told["note"])
    return found
