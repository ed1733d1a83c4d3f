"""What a stage answers when it has committed an episode."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.graph.mark import Mark
from pipeline.model.episode import EpisodeState, Usage


@dataclass(frozen=True)
class Outcome:
    """The state that the episode has reached, and the JSON text to send on (None: nothing).

    `usage` is what the episode has cost so far, this stage included.
    `judged` is the record of what a judge was asked and answered (None: nothing), to be sent on as well.
    `forgotten` is True when the episode was taken back, so that nothing is to be told of it.
    `repeated` is True when the episode had been committed before and nothing was done but reading its mark.
    """

    state: EpisodeState
    output: str | None
    usage: Usage = field(default_factory=Usage)
    repeated: bool = False
    judged: str | None = None
    forgotten: bool = False


def repeat_of(mark: Mark, state: EpisodeState, usage: Usage) -> Outcome:
    """The answer of a stage that found its mark."""
    return Outcome(state, mark.output, usage, repeated=True, judged=mark.judged, forgotten=mark.forgotten)
