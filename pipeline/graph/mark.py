"""Mark: that a stage has committed an episode."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Mark:
    """That a stage has committed an episode, and the JSON text of what it sends on (None once it was received).

    `stood` is True in the answer to a commit that found the mark there: the episode was committed before.
    `judged` is the record of what a judge decided (see `JudgedEpisode`), which stays as long as the mark.
    `forgotten`: the episode was taken back, and the mark only keeps it from coming again.
    """

    output: str | None
    stood: bool = field(default=False, compare=False)
    judged: str | None = None
    forgotten: bool = False
