"""Reads the dead letters, and sends them again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import orjson

from streams.agents.decoding import LOGGED_AT_HEADER, SEQUENCE_HEADER, sequence_of
from streams.agents.outbox import Sender
from streams.dead_letter import DeadFilter, DeadLetter
from streams.reading import read_to_end
from streams.topics import DEAD, EPISODES


async def read_dead_letters(
    bootstrap: str, prefix: str = "", wanted: DeadFilter | None = None
) -> AsyncIterator[DeadLetter]:
    """All dead letters up to now that are wanted, oldest first inside a group, one for each event.

    A worker that dies between a dead letter and its acknowledgement writes the letter again when it comes back; only
    the first is answered. Raises KafkaError when the broker does not answer.
    """
    wanted = wanted or DeadFilter()
    buried: set[tuple[str, int, int, str]] = set()
    async for record in read_to_end(bootstrap, DEAD.named(prefix)):
        found = _letter(record)
        if found.place in buried:
            continue
        buried.add(found.place)
        if wanted.takes(found):
            yield found


async def replay(letter: DeadLetter, sender: Sender) -> None:
    """Send the original again to the topic that it came from, so that it takes the turn that it would have had."""
    headers = dict(letter.headers)
    is_raw = str(letter.letter["topic"]).endswith(EPISODES.name)
    if is_raw and SEQUENCE_HEADER not in headers and "logged_at" in letter.letter:
        logged_at = datetime.fromisoformat(letter.letter["logged_at"])
        sequence = sequence_of(logged_at, int(letter.letter["offset"]))
        headers |= {SEQUENCE_HEADER: str(sequence).encode(), LOGGED_AT_HEADER: logged_at.isoformat().encode()}
    key = str(letter.letter["key"]).encode() if "key" in letter.letter else letter.key
    await sender.send(str(letter.letter["topic"]), key, letter.value, list(headers.items()))


def _letter(record: Any) -> DeadLetter:
    key = record.key or b""
    return DeadLetter(
        id=f"{record.partition}-{record.offset}",
        group_id=key.decode("utf-8", "replace"),
        key=key,
        letter=orjson.loads(record.value),
        headers=tuple((name, bytes(value or b"")) for name, value in record.headers or ()),
    )
