"""Where an entity comes from: what each mention told of it, and which mentions were joined by judgement."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from pipeline.model.extraction import Mention
from pipeline.model.judgement import Judgement
from pipeline.model.moments import Moment


class Joined(StrEnum):
    """Who decided which entity a mention stands for."""

    rule = "rule"
    judge = "judge"
    operator = "operator"


class Correction(BaseModel):
    """What an operator set right about an entity; what is None or not named stays as it is."""

    model_config = ConfigDict(frozen=True)

    name: str | None = None
    type: str | None = None
    attributes: dict[str, Any] = {}


class Told(BaseModel):
    """One mention of an entity, word for word.

    `index` is its place among the mentions of its episode; `ends` are the statements of the episode that it stands
    in, as (index of the statement, 0 for subject or 1 for object). `judgement` is what a judge that placed it here
    said of how the two are told of as one, as far as it counted then.
    """

    model_config = ConfigDict(frozen=True)

    index: int
    mention: Mention
    joined: Joined = Joined.rule
    ends: tuple[tuple[int, int], ...] = ()
    correction: Correction | None = None
    judgement: Judgement = Judgement()


class Contribution(BaseModel):
    """All that one episode told of one entity. With it, an entity can be made again from what is left.

    `place` orders contributions inside their group as they were committed; `at` is when that was. `told` is empty
    for what was mentioned before contributions were kept.
    """

    model_config = ConfigDict(frozen=True)

    episode_id: str
    entity_id: str
    place: int
    at: Moment
    told: tuple[Told, ...] = ()


class MovedMention(BaseModel):
    """A mention that a merge moved, and who had placed it before."""

    model_config = ConfigDict(frozen=True)

    episode_id: str
    index: int
    joined: Joined


class Merge(BaseModel):
    """That two entities became one: `into` stays, `apart` is the id that the other had, or gets when they part.

    `name` is what the other was called and `keys` the keys that came with it; `facts` are the ids of facts that moved.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    into: str
    apart: str
    by: Joined
    at: Moment
    reason: str = ""
    name: str
    keys: tuple[str, ...] = ()
    mentions: tuple[MovedMention, ...] = ()
    facts: tuple[str, ...] = ()
    undone_at: Moment | None = None
