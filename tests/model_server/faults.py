"""What a script may answer instead of an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Status:
    """An HTTP error. `retry_after` is put into the header as it stands: seconds or an HTTP date."""

    code: int
    message: str = "scripted"
    retry_after: str | float | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hang:
    """No answer for so many seconds, then the connection is closed."""

    seconds: float = 3600.0


@dataclass(frozen=True)
class Drop:
    """The connection is closed; after half of an answer when `midway`."""

    midway: bool = False


@dataclass(frozen=True)
class Cut:
    """An answer that stops after so many characters, with finish_reason "length"."""

    answer: Any
    characters: int


@dataclass(frozen=True)
class Raw:
    """A whole HTTP body, whatever it is."""

    body: str
    status: int = 200
