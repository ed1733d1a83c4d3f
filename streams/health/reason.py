"""Why a worker is not ready."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STARTING = frozenset({"graph_away", "broker_away", "no_partitions"})
"""Codes without which a worker has started: what it needs is there, and it holds partitions."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: `code` for machines (stable), `detail` for people; `seconds` and `limit` where it is about a time.

    | code | meaning |
    |---|---|
    | graph_away | the graph does not answer |
    | broker_away | no broker answers |
    | no_partitions | the consumer holds no partition |
    | not_polling | the consumer has not asked for records for longer than its limit |
    | handler_stuck | one attempt of one event runs for longer than its limit |
    | nothing_finished | events wait in a stage, and none was finished for longer than its limit |
    | oldest_event | the oldest event that is not parked is older than its limit |
    | halted | a stage has stopped itself, since too many of its events die |
    | model_away | the breaker of a model endpoint is open |
    | canary | no canary episode came through for longer than its limit |
    """

    code: str
    detail: str
    stage: str | None = None
    seconds: float | None = None
    limit: float | None = None

    def told(self) -> dict[str, Any]:
        """As JSON, without what it does not have."""
        pairs = {
            "code": self.code,
            "detail": self.detail,
            "stage": self.stage,
            "seconds": None if self.seconds is None else round(self.seconds, 1),
            "limit": self.limit,
        }
        return {key: value for key, value in pairs.items() if value is not None}
