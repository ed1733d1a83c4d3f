"""Company: episodes of one group that are read side by side, so that what they ask can go into few calls.

There are no timers: a call is made when it is full, or when everyone who might still come has come or has left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from pipeline.extraction.model.answer import Found
from pipeline.extraction.model.prompt import Passage
from pipeline.model.episode import Usage

T = TypeVar("T")

MAX_TOKENS = 6_000
"""Of the texts that go into one call, by estimate."""


@dataclass(frozen=True)
class Shared:
    """What one of several gets out of a call: what was found, None when it must be asked alone, and its share of the
    cost."""

    found: Found | None = None
    usage: Usage = field(default_factory=Usage)


Call = Callable[[Sequence[Passage]], Awaitable[Sequence[Shared]]]
_Key = tuple[str, str | None]


@dataclass(frozen=True, eq=False)
class _Waiting:
    passage: Passage
    weight: int
    call: Call
    answer: asyncio.Future[Shared]


class Company:
    """Brings questions of its members together.

    Args:
        members: how many there are; `read` must be called once for each.
        size: episodes that one call may hold.
        tokens: estimated tokens of their texts that one call may hold.

    Episodes of different groups or ontologies never share a call.
    """

    def __init__(self, members: int, size: int, tokens: int = MAX_TOKENS) -> None:
        self._expected = self._reading = members
        self._size = size
        self._tokens = tokens
        self._waiting: dict[_Key, list[_Waiting]] = {}
        self._calls: set[asyncio.Task[None]] = set()

    async def read(self, reading: Callable[[], Awaitable[T]]) -> T:
        """What a member's reading gives. To be run in a task of its own; the others wait for nobody who has ended."""
        seat = Seat(self)
        before = _current.set(seat)
        try:
            return await reading()
        finally:
            _current.reset(before)
            seat.leave()
            self._reading -= 1
            if not self._reading:
                for call in self._calls:
                    call.cancel()

    def come(self, passage: Passage, weight: int, call: Call) -> asyncio.Future[Shared]:
        """A member asks; its place is used up."""
        key = (passage.episode.group_id, passage.episode.ontology)
        if sum(one.weight for one in self._waiting.get(key, ())) + weight > self._tokens:
            self._send(key)
        answer: asyncio.Future[Shared] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(key, [])
        waiting.append(_Waiting(passage, weight, call, answer))
        if len(waiting) >= self._size:
            self._send(key)
        self.expect_one_less()
        return answer

    def expect_one_less(self) -> None:
        """A member has come, or will not."""
        self._expected -= 1
        if not self._expected:
            for key in list(self._waiting):
                self._send(key)

    def _send(self, key: _Key) -> None:
        if waiting := self._waiting.pop(key, None):
            task = asyncio.create_task(_asked(waiting))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)


class Seat:
    """A member's place in a company; good for one question."""

    def __init__(self, company: Company) -> None:
        self._company = company
        self._used = False

    @classmethod
    def taken(cls) -> Seat | None:
        """The place of the episode that is read in this task; None when it is read alone."""
        return _current.get()

    def leave(self) -> None:
        """The others need not wait for this member any longer."""
        if not self._used:
            self._used = True
            self._company.expect_one_less()

    async def ask(self, passage: Passage, weight: int, call: Call) -> Shared:
        """The member's share of a call with others; nothing when its place is used up. Raises what the call raises."""
        if self._used:
            return Shared()
        self._used = True
        return await self._company.come(passage, weight, call)


_current: ContextVar[Seat | None] = ContextVar("factstream_seat", default=None)


async def _asked(waiting: Sequence[_Waiting]) -> None:
    try:
        shares = await waiting[0].call([one.passage for one in waiting])
    except BaseException as error:
        for one in waiting:
            if not one.answer.done() and isinstance(error, Exception):
                one.answer.set_exception(error)
            else:
                one.answer.cancel()
        if not isinstance(error, Exception):
            raise
        return
    for one, share in zip(waiting, shares, strict=True):
        if not one.answer.done():
            one.answer.set_result(share)
