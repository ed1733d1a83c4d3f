"""What can be wrong between factstream and Kafka at the start. `pipeline.errors` holds what can happen to an event."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.errors import FactstreamError, Retryable


class StartError(FactstreamError):
    """The worker cannot start; the message says what to change."""


class BrokerUnavailable(StartError):
    """No broker answered in the time allowed."""

    def __init__(self, bootstrap: str, seconds: float, cause: str) -> None:
        super().__init__(f"Kafka at {bootstrap} did not answer within {seconds:g} s: {cause}")


class TopicsMissing(StartError):
    """Topics that this process reads or writes do not exist."""

    def __init__(self, bootstrap: str, names: Sequence[str]) -> None:
        super().__init__(
            f"Kafka at {bootstrap} lacks the topics {', '.join(sorted(names))}: "
            "create them first (the `topics` command does), and check the topic prefix"
        )
        self.names = tuple(sorted(names))


class TopicsDiffer(StartError):
    """Topics exist with settings that would lose or misplace events; one line per difference."""

    def __init__(self, differences: Sequence[str]) -> None:
        super().__init__("topics differ from what factstream declares: " + "; ".join(differences))
        self.differences = tuple(differences)


class FaustChanged(StartError):
    """The installed faust-streaming has not the inner parts that delivery stands on."""

    def __init__(self, version: str, missing: Sequence[str]) -> None:
        super().__init__(
            f"faust-streaming {version} lacks {', '.join(missing)}: delivery overrides them; "
            "install the version that factstream pins"
        )
        self.missing = tuple(missing)


class TooSlow(Retryable):
    """An attempt was cut off, since it took longer than one may. What it had begun is whole or absent, as after a
    crash, and the next attempt finds out which."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no result within {seconds:g} s, the limit of one attempt")
