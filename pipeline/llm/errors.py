"""What can go wrong between us and a model endpoint, beyond `pipeline.errors`."""

from __future__ import annotations

from pipeline.errors import FactstreamError, Retryable, SettingError


class OperatorFault(SettingError, Retryable):
    """A setting is wrong (key, address, model name, dimension), not the input.

    A start-up check stops with its message. In a running lane it is retried until someone corrects the setting: no
    episode is dead-lettered because a key has expired.
    """


class Rejected(FactstreamError):
    """The endpoint will not take this very request (4xx): another form of it may do, repeating it will not."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason
