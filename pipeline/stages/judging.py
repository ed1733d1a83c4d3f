"""What a judge is asked when rules do not suffice, and what structure forbids whatever it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.episode import Usage
from pipeline.model.extraction import Mention
from pipeline.model.judgement import Judgement
from pipeline.stages.matching import type_of
from pipeline.stages.name_marks import tell_apart


@dataclass(frozen=True)
class LookAlike:
    """One question: does mention `index` stand for one of these entities?"""

    index: int
    mention: Mention
    candidates: tuple[Entity, ...]


@dataclass(frozen=True)
class SameAs:
    """That a mention stands for the entity of an id, and how the two are best told of as one."""

    entity_id: str
    judgement: Judgement = field(default_factory=Judgement)


class EntityJudge(Protocol):
    """Decides what names alone do not tell."""

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        """One call for all questions. Answers by mention index, only for those that are the same."""


@dataclass(frozen=True)
class Told:
    """A fact as a judge sees it. `said_at` is when it was said, `source` the beginning of the text that says it.

    `support` are the ids of the evidence that supports it, which no model is shown.
    """

    subject: str
    relation: str
    object: str
    sentence: str
    valid_at: datetime | None
    invalid_at: datetime | None
    said_at: datetime | None
    source: str
    support: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """One question: which of these older facts does statement `index` repeat, and which does it end?"""

    index: int
    statement: Told
    candidates: tuple[Told, ...]


@dataclass(frozen=True)
class FactVerdict:
    """The answer to a comparison: places in its candidates."""

    same: int | None = None
    ended: tuple[int, ...] = ()


class FactJudge(Protocol):
    """Decides what slots and wording alone do not tell."""

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        """One call for all questions. Answers index → verdict; a question without a verdict is answered by "neither"."""


def may_be_same(mention: Mention, entity: Entity) -> bool:
    """Whether a judge may join the two at all.

    Never when both have types that differ, nor when the marks of the names tell them apart: see `tell_apart`. A name
    that is an alias of the entity already counts like its name.
    """
    wanted = type_of(mention)
    if wanted is not None and entity.type is not None and entity_key(wanted) != entity_key(entity.type):
        return False
    return not all(tell_apart(mention.name, name) for name in (entity.name, *entity.aliases))
