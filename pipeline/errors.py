"""The vocabulary of failure. Each name says what the caller does next."""

from __future__ import annotations

from datetime import datetime


class FactstreamError(Exception):
    """Base of every error that factstream raises on purpose."""


class Retryable(FactstreamError):
    """Something outside is down (database, model endpoint, broker): try again for as long as it takes."""


class Parked(Retryable):
    """Nothing is down, but this may not go on before a moment: wait until then, holding nothing meanwhile.

    `until` is when to try again (UTC), `reason` says what it waits for, in words for an operator.
    """

    def __init__(self, reason: str, until: datetime) -> None:
        super().__init__(f"{reason}; parked until {until.isoformat()}")
        self.reason = reason
        self.until = until


class Poison(FactstreamError):
    """This input can never succeed: dead-letter it at once.

    `field` is the path of the field at fault ("content.0.valid_at"), or empty when no field is to blame.
    """

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.reason = reason
        self.field = field


class Fenced(FactstreamError):
    """Someone else committed for this group since we read: forget what was decided and read again."""


class SettingError(FactstreamError):
    """A setting is wrong: the start stops with a message that names it."""


class NewerFormat(SettingError):
    """A graph or an event has a format that a newer program made: this one must stop, and write nothing more."""
