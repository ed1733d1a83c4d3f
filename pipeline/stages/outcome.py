"""What a stage answers when it has committed an episode."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.model.episode import EpisodeState, Usage


@dataclass(frozen=True)
class Outcome:
    """The state that the episode has reached, and the JSON text to send on (None: nothing).

    `usage` is what the episode has cost so far, this stage included.
    `repeated` is True when the episode had been committed before and nothing was done but reading its mark.
    """

    state: EpisodeState
    output: str | None
    usage: Usage = field(default_factory=Usage)
    repeated: bool = False
