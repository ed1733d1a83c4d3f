"""LoggedEpisode: what the log holds of one episode, and the order in which a replay takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.errors import Poison
from pipeline.model.episode import Episode
from pipeline.model.extraction import ExtractedEpisode, Extraction


@dataclass(frozen=True)
class LoggedEpisode:
    """A raw episode and what an extractor said about it.

    `extraction` None: nothing is kept of it. Then a replay without an extractor takes the episode for one that says
    nothing (`skipped`), unless `dead` gives the reason for which it died.
    `at` is when the system learned of it (T'); None: the time of the replay.
    """

    episode: Episode
    extraction: Extraction | None = None
    dead: str | None = None
    at: datetime | None = None


def logged(
    episodes: Iterable[Episode], extracted: Iterable[ExtractedEpisode], *, into: str | None = None
) -> list[LoggedEpisode]:
    """Raw episodes with their extractions, in the order of the log.

    Both may come in any order, as a compacted topic or several partitions give them: the order is that of the
    episodes' own `sequence`. Of several episodes under one id the first in the log stands, of several extractions the
    last given.

    Args:
        into: the group to write to, where that is another one than was read.

    Raises Poison when an extraction has no raw episode.
    """
    raw: dict[tuple[str, str], Episode] = {}
    for one in episodes:
        standing = raw.get((one.group_id, one.id))
        if standing is None or one.sequence < standing.sequence:
            raw[one.group_id, one.id] = one
    said: dict[tuple[str, str], Extraction] = {}
    for event in extracted:
        key = (event.episode.group_id, event.episode.id)
        if key not in raw:
            raise Poison(
                f"episode {event.episode.id!r} was extracted, but its raw event is not there", "episode"
            )
        said[key] = event.extraction
    found = in_log_order(LoggedEpisode(one, said.get(key)) for key, one in raw.items())
    if into is None:
        return found
    return [replace(one, episode=one.episode.model_copy(update={"group_id": into})) for one in found]


def in_log_order(episodes: Iterable[LoggedEpisode]) -> list[LoggedEpisode]:
    """By group, then by arrival in the log; the id decides between equal places."""
    return sorted(episodes, key=lambda one: (one.episode.group_id, one.episode.sequence, one.episode.id))
