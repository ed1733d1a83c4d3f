"""What the read service is told at its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.access import AllowedGroups


@dataclass(frozen=True)
class ApiSettings:
    """Settings of the read service. Sizes are bytes, durations are seconds.

    `api_keys` maps the SHA-256 of a key, in hex, to the groups that the key may read ("*": all). Without keys every
    caller may read everything, which is refused unless `host` is a loopback address. `api_keys_file` is a JSON file of
    more such keys, read again when it changes.

    At most `max_concurrent` requests are worked on at a time and `max_waiting` more wait, each for at most
    `max_wait_seconds`; whoever finds no place is sent away with 503 and `retry_after_seconds`. What takes longer than
    `request_seconds` is cancelled and answered with 504; the time begins with the place. Requests that wait for an
    episode hold no place meanwhile; there are at most `max_awaiting` of them, more are answered without waiting.
    """

    host: str = "127.0.0.1"
    api_keys: Mapping[str, AllowedGroups] = field(default_factory=dict)
    api_keys_file: Path | None = None
    max_concurrent: int = 32
    max_waiting: int = 128
    max_wait_seconds: float = 10.0
    request_seconds: float = 10.0
    max_awaiting: int = 256
    max_body_bytes: int = 1024 * 1024
    ready_timeout_seconds: float = 5.0
    retry_after_seconds: int = 1
