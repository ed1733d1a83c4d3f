"""What the runner keeps of a group while episodes of it are on their way."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from factstream.memory.inbox import Entry
from factstream.memory.retrying import GivenUp
from pipeline.graph.extraction_port import Received
from pipeline.model.episode import Episode, EpisodeRef
from pipeline.model.extraction import Extraction

Ahead = tuple[Received, Extraction | None] | GivenUp


@dataclass(eq=False)
class Ticket:
    """An episode that was taken from the inbox. `ahead` is set when its extraction is done or given up."""

    entry: Entry
    episode: Episode
    ahead: asyncio.Future[Ahead]
    warmed: bool = False


@dataclass(eq=False)
class Lane:
    """The tickets of a group in their order, and the two tasks that work on them.

    `unadmitted` are tickets whose raw episode is not stored yet. `behind` are episodes that are committed, whose
    communities are not. `turn` is held by the round of extractions that runs side by side.
    """

    group_id: str
    tickets: deque[Ticket] = field(default_factory=deque)
    unadmitted: deque[Ticket] = field(default_factory=deque)
    behind: list[tuple[Ticket, EpisodeRef, tuple[str, ...]]] = field(default_factory=list)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    worker: asyncio.Task[None] | None = None
    admitter: asyncio.Task[None] | None = None
