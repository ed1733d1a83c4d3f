"""How much the gateway holds at once: requests, and bytes of their bodies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class NoRoom(Exception):
    """There is more under way than may be; the text says of what."""


@dataclass(slots=True)
class Held:
    """What one request holds."""

    room: Room
    bytes: int = 0

    def add(self, size: int) -> None:
        """So many bytes more. Raises NoRoom when all requests together then hold too many; a single one never does."""
        if self.room.bytes + size > self.room.max_bytes and self.room.bytes > self.bytes:
            raise NoRoom(f"more than {self.room.max_bytes} bytes of episodes wait for Kafka")
        self.room.bytes += size
        self.bytes += size


class Room:
    """Counts what is under way. Nothing waits for room: a producer that is told to come back is the buffer."""

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        self.max_requests = max_requests
        self.max_bytes = max_bytes
        self.requests = 0
        self.bytes = 0

    @contextmanager
    def request(self) -> Iterator[Held]:
        """One request. Raises NoRoom when there are too many."""
        if self.requests >= self.max_requests:
            raise NoRoom("too many requests wait for Kafka")
        self.requests += 1
        held = Held(self)
        try:
            yield held
        finally:
            self.requests -= 1
            self.bytes -= held.bytes
