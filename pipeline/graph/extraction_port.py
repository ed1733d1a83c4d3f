"""What the stages before the graph ask of a store: to receive an episode, to commit its extraction."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pipeline.graph.mark import Mark
from pipeline.model.episode import Episode, EpisodeRef, EpisodeState, Usage


@dataclass(frozen=True)
class Received:
    """Answer to `receive`: the raw episode is stored, now or before.

    `context` are the episodes of the same thread just before it (reference time not later), oldest first.
    `stored` is the episode as it stands in the graph: under a repeated id the first content wins.
    `state` is how far that one has come. `spent` is what it has cost to get here; a store knows nothing of that.
    """

    stored: Episode
    mark: Mark | None
    context: tuple[Episode, ...] = ()
    state: EpisodeState = EpisodeState.received
    spent: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class ExtractionCommit:
    """What the extract stage commits. Without entities and statements the state is `skipped` and output is None.

    `at` None counts the usage to no day of the group.
    """

    episode: EpisodeRef
    state: EpisodeState
    output: str | None
    usage: Usage
    at: datetime | None = None
