"""The vocabulary of failure. Each name says what the caller does next."""

from __future__ import annotations


class FactstreamError(Exception):
    """Base of every error that factstream raises on purpose."""


class Retryable(FactstreamError):
    """Something outside is down (database, model endpoint, broker): try again for as long as it takes."""


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
