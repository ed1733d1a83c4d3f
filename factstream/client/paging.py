"""Paging through the episodes of a group, newest first, when several may have happened at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from factstream.client.errors import ClientError
from factstream.client.options import Time
from search_api.answers import EpisodeSummary

PAGE = 100
_STEP = timedelta(microseconds=1)


class Pages:
    """Where the next page begins. `before` is exclusive and a time, so a page is asked for from just after the time of
    the last episode, and those of that time that were seen are left out."""

    def __init__(self, before: Time | None) -> None:
        self.before = before
        self.done = False
        self._edge_time: datetime | None = None
        self._edge: set[str] = set()

    def take(self, page: Sequence[EpisodeSummary]) -> list[EpisodeSummary]:
        """The new ones of a page.

        Raises ClientError when more episodes have one and the same reference time than a page holds: those behind them
        cannot be reached by time.
        """
        new = [one for one in page if one.id not in self._edge]
        if len(page) < PAGE:
            self.done = True
            return new
        last = page[-1].reference_time
        if not new:
            raise ClientError(
                f"more than {PAGE} episodes happened at {last}: they cannot be told apart by time"
            )
        if last != self._edge_time:
            self._edge = set()
        self._edge |= {one.id for one in page if one.reference_time == last}
        self._edge_time = last
        self.before = last + _STEP
        return new
