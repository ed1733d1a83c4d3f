"""Waiting for episodes: which one to read next, and how long to pause before."""

from __future__ import annotations

import time
from collections.abc import Sequence

from factstream.client.errors import EpisodesFailed, NotSettled
from pipeline.model.episode import FINAL_STATES, EpisodeState
from search_api.answers import EpisodeAnswer

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0


class Settling:
    """Episodes of one group on their way. The last is asked for first: a group is worked on in order, so the others
    are through when it is, and cost one read each."""

    def __init__(self, ids: str | Sequence[str], seconds: float) -> None:
        self._ids = (ids,) if isinstance(ids, str) else tuple(ids)
        self._pending = list(dict.fromkeys(self._ids))
        self._seen: dict[str, EpisodeAnswer] = {}
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._pause = FIRST_PAUSE

    @property
    def next(self) -> str | None:
        """The episode to read; None when all are through."""
        return self._pending[-1] if self._pending else None

    def saw(self, episode: EpisodeAnswer | None) -> float:
        """What was read (None: not there yet). The pause before the next read; raises NotSettled when time is up."""
        if episode is not None and episode.state in FINAL_STATES:
            self._seen[self._pending.pop()] = episode
            self._pause = FIRST_PAUSE
            return 0.0
        left = self._until - time.monotonic()
        if left <= 0:
            raise NotSettled(self._pending, self._seconds)
        pause, self._pause = min(left, self._pause), min(LONGEST_PAUSE, 1.5 * self._pause)
        return pause

    def answers(self) -> tuple[EpisodeAnswer, ...]:
        """The episodes in the order of the ids. Raises EpisodesFailed when some are dead."""
        answers = tuple(self._seen[one] for one in self._ids)
        if dead := [one for one in answers if one.state is EpisodeState.dead]:
            raise EpisodesFailed(dead)
        return answers
