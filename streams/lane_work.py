"""What a stage does with an event: the one class that an agent derives from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar, cast

from streams.event import Event
from streams.failure import Failure

A = TypeVar("A")
P = TypeVar("P")


class LaneWork(ABC, Generic[A, P]):
    """The phases of an event, A what admission gives and P what preparation gives (None where there is no such phase).

    | phase | order inside a group | waits for |
    |---|---|---|
    | admit | strictly in order | the admission of the group's previous event |
    | prepare | any, in parallel | its own admission |
    | handle | strictly in order | the handling of the group's previous event, its own preparation |

    Each may run again after an error, a restart or a rebalance, so each must be idempotent. Each raises
    `pipeline.errors.Retryable`, `Parked`, `Poison` or `Fenced` to say what to do; any other error is tried a few times, then
    dead-lettered. An event whose preparation is parked lets the later ones of its group pass. What failed in an earlier phase is dead-lettered in its turn, in order. Each may be cancelled while
    it waits; what must not be cut in two belongs into one transaction.
    """

    async def admit(self, event: Event) -> A:
        """In order, as soon as the event is queued, not waiting for anyone's preparation."""
        return cast(A, None)

    async def prepare(self, event: Event, admitted: A) -> P:
        """Ahead of the group's turn, in parallel: the slow part that depends on this event only."""
        return cast(P, None)

    @abstractmethod
    async def handle(self, event: Event, admitted: A, prepared: P) -> None:
        """In its turn. When it returns, the event counts as done: everything must be durable and confirmed by then."""

    async def on_dead(self, event: Event, failure: Failure) -> None:
        """After the dead letter is durable, before the event is acknowledged: tell others (a status, say)."""

    @property
    def runs_ahead(self) -> bool:
        """Whether there is anything to do before an event's turn."""
        kind = type(self)
        return kind.admit is not LaneWork.admit or kind.prepare is not LaneWork.prepare
