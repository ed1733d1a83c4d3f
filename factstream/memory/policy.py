"""How much a runner does at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from factstream.memory.retrying import RetryPolicy


@dataclass(frozen=True, slots=True)
class RunnerPolicy:
    """Frozen settings of a runner.

    concurrency: groups that are resolved at once. ahead: extractions that run at once. batch: events taken from the
    inbox at a time. max_pending: events in memory; beyond, the rest waits in the inbox. together: episodes of a group
    whose communities are brought up to date in one pass, when more of them wait. asked: waiting episodes of a group that
    may share a call of the chat model; 1: each has its own. A round of such episodes counts as one of `ahead`.
    """

    concurrency: int = 16
    ahead: int = 16
    batch: int = 64
    max_pending: int = 512
    together: int = 32
    asked: int = 1
    retry: RetryPolicy = field(default_factory=RetryPolicy)
