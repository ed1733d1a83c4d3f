"""The note beside a committed position: which groups were set aside, and from where each is to be read again.

Kafka keeps a text of at most 4,096 bytes with each committed position of a consumer group, and writes the two as one.
The position says: everything below it is finished, but for the events of the groups in the note, each from its own
offset on. Without a note the position says what it always says.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

import orjson

VERSION = 1
MOST_GROUPS = 64
"""Groups in one note; each takes about 40 bytes."""


def tag_of(lane: bytes) -> str:
    """A group's short name in a note: 96 bits of its SHA-256, in 16 characters."""
    return base64.urlsafe_b64encode(hashlib.sha256(lane).digest()[:12]).decode()


def write_note(aside: Mapping[str, int]) -> str:
    """The note; empty when no group is aside."""
    return orjson.dumps({"v": VERSION, "aside": dict(aside)}).decode() if aside else ""


def read_note(note: str) -> dict[str, int]:
    """From tag to offset. What is no note of ours (another tool has committed) has none.

    Raises ValueError for a note of a later version: going on without it would lose events.
    """
    try:
        told = orjson.loads(note) if note else {}
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(told, dict) or "aside" not in told:
        return {}
    if told.get("v") != VERSION:
        raise ValueError(
            f"the note beside a committed position has version {told.get('v')}, known is {VERSION}"
        )
    return {str(tag): int(offset) for tag, offset in told["aside"].items()}


def lowest(position: int, note: str) -> int:
    """The lowest offset that may be unfinished, so that what is left counts at least what waits."""
    return min([position, *read_note(note).values()])
