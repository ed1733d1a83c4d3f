"""Remembered: what is known of a group from the rows that were read, for those that come after them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from factstream.graphiti.report import Report
from factstream.graphiti.values import moment
from pipeline.graph.archive import EpisodeRecord, packed
from pipeline.model.episode import Episode, EpisodeState, Source
from pipeline.model.extraction import Mention

MAX_EPISODE_ID = 200


@dataclass(frozen=True)
class _Known:
    """What later rows need of an episode."""

    reference_time: datetime
    sequence: int
    created_at: datetime


class Remembered:
    """One group while it is read: its episodes, the mentions by entity, and what each episode told of each entity.

    Args:
        group_id: its name here.
        dimension: length of the vectors that are kept.
        at: when the import is.
        report: is told what was decided and lost.
    """

    def __init__(self, group_id: str, dimension: int, at: datetime, report: Report) -> None:
        self.id = group_id
        self.at = at
        self.report = report
        self.episodes: dict[str, _Known] = {}
        self.states: dict[str, EpisodeState] = {}
        self.mentions: dict[str, Mention] = {}
        self.told: dict[str, dict[str, list[tuple[int, int]]]] = defaultdict(dict)
        self._dimension = dimension
        self._sequence = 0

    def apart(
        self, name: str, source: Source, told: Any, reference: datetime, created: datetime
    ) -> EpisodeRecord:
        """An episode that Graphiti has not, for what no episode of its own says: `told` is its content."""
        episode = Episode(
            id=name[:MAX_EPISODE_ID],
            group_id=self.id,
            source=source,
            content=told,
            reference_time=reference,
            sequence=self.next_sequence(created),
            source_description="from Graphiti",
        )
        return self.keep(episode, created, True)

    def keep(self, episode: Episode, created: datetime, tells: bool) -> EpisodeRecord:
        """The record of an episode, which later rows may name from now on; `tells`: there is something of it in the graph."""
        self.episodes[episode.id] = _Known(episode.reference_time, episode.sequence, created)
        state = EpisodeState.committed if tells else EpisodeState.skipped
        self.states[episode.id] = state
        return EpisodeRecord(episode=episode, state=state, created_at=created)

    def next_sequence(self, created: datetime) -> int:
        """The place in the order of arrival: that of its time, and above the last one."""
        self._sequence = max(round(created.timestamp() * 1000) << 20, self._sequence + 1)
        return self._sequence

    def created(self, props: Mapping[str, Any], uuid: str) -> datetime:
        """When a row was made: its own time, else the one from which it holds, else now; never later than now."""
        found = moment(props.get("created_at"), self.report, uuid)
        if found is None:
            self.report.note("times_missing", uuid)
            found = moment(props.get("valid_at"), self.report, uuid) or self.at
        return min(found, self.at)

    def vector(self, values: Sequence[float] | None, uuid: str) -> str | None:
        """The vector as records hold it, when it has the length that is kept."""
        if values is None:
            return None
        if len(values) != self._dimension:
            self.report.note("vectors_other", uuid)
            return None
        return packed(values)
