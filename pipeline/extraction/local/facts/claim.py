"""What a rule found in a clause, before it is known whom the pronouns mean and when it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pipeline.extraction.local.facts.relations import RELATIONS, Relation
from pipeline.timeline.dates import DateSpan


class Role(StrEnum):
    """Who an actor is, as far as grammar tells."""

    speaker = "speaker"
    third = "third"
    name = "name"


@dataclass(frozen=True)
class Actor:
    """One end of a claim: the speaker, a third person's pronoun (`text`), or something with a name.

    `owner` is set for "my printer": the thing is named after who owns it; `article` stood before the
    words and belongs to the sentence only.
    """

    role: Role
    text: str = ""
    kind: str | None = None
    owner: Actor | None = None
    article: str = field(default="", compare=False)


SPEAKER = Actor(Role.speaker)


class Aspect(StrEnum):
    """What kind of happening a verb names: being so, beginning, ceasing, or something that is done once."""

    state = "state"
    start = "start"
    end = "end"
    event = "event"


class Mode(StrEnum):
    """What a clause says of its fact: it holds, it held and is over, or it ceases."""

    holds = "holds"
    held = "held"
    ceases = "ceases"


@dataclass(frozen=True)
class Tense:
    """What the verb group of a clause tells."""

    negated: bool = False
    past: bool = False
    perfect: bool = False
    future: bool = False


@dataclass(frozen=True)
class Claim:
    """One fact as a clause states it. `target` None: a fact about the subject only, `loop` is its sentence's rest.

    `form` is a sentence with {s} and {o} that fits the verb better than the relation's own."""

    subject: Actor
    relation: Relation
    target: Actor | None
    mode: Mode
    dates: tuple[DateSpan, ...] = ()
    loop: str = ""
    form: str = ""


def mode_of(relation: str, aspect: Aspect, tense: Tense, dated: bool) -> tuple[str, Mode] | None:
    """(relation, mode) that a verb group amounts to; None when it states no fact.

    What is only announced counts when it comes with a date. Not liking is disliking; any other negated state of the
    present has ceased; a negated past says nothing.
    """
    if tense.future and (tense.negated or not dated):
        return None
    if tense.negated:
        if aspect is not Aspect.state or (tense.past and not tense.perfect):
            return None
        return ("DISLIKES", Mode.holds) if relation == "LIKES" else (relation, Mode.ceases)
    if aspect is Aspect.end:
        return relation, Mode.ceases
    if aspect is Aspect.state and tense.past and not tense.perfect:
        return relation, Mode.held
    return relation, Mode.holds


def known(name: str) -> Relation:
    """The relation of a name in the catalogue."""
    return RELATIONS[name]
