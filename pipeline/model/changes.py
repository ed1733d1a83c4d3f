"""Events for the outside: changes of belief, states of episodes."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from pipeline.model.episode import EpisodeState, Usage
from pipeline.model.fact import FactView
from pipeline.model.moments import Moment


class Change(StrEnum):
    """How a belief changed. `retracted` means that the fact holds at no time any more; the others carry its state."""

    asserted = "asserted"
    supported = "supported"
    invalidated = "invalidated"
    reopened = "reopened"
    retracted = "retracted"


class FactChange(BaseModel):
    """One event on `facts.changes`. Folding them by `fact.id` gives exactly the current facts.

    `revision` counts the changes of one fact, so that a consumer can drop an older repeat.
    `closed_by` and `rule` say which episode and which rule closed the fact, when it is closed.
    """

    model_config = ConfigDict(frozen=True)

    change: Change
    fact: FactView
    group_id: str
    episode_id: str
    at: Moment
    revision: int
    closed_by: str | None = None
    rule: str | None = None


class EpisodeStatus(BaseModel):
    """One event on `episodes.status`."""

    model_config = ConfigDict(frozen=True)

    episode_id: str
    group_id: str
    state: EpisodeState
    at: Moment
    usage: Usage = Usage()
    reason: str | None = None
