"""What judges decided about an episode, in a form that holds in any graph that the same log is replayed into.

Entities are named by a key and a type, facts by a statement that supports them (its episode and place). Of a fact no
word is in it: what one episode says must not be kept under another.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from pipeline.identity import entity_key, stable_id
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeRef
from pipeline.model.extraction import Mention


class Named(BaseModel):
    """An entity, or a mention, by the key of a name and its type (None: untyped).

    `id` is that of the entity where it is known. Ids are made of group, key and type, so a replay into a group of the
    same id gives the same; elsewhere key and type decide.
    """

    model_config = ConfigDict(frozen=True)

    key: str
    type: str | None = None
    id: str | None = None


class Judgement(BaseModel):
    """What a judge said beside "the same": the fuller name, and one description made of both."""

    model_config = ConfigDict(frozen=True)

    name: str | None = None
    summary: str | None = None


class MentionVerdict(BaseModel):
    """The answer to "which known entity is this mention?": `same` is None when it was none of those shown."""

    model_config = ConfigDict(frozen=True)

    mention: Named
    same: Named | None = None
    judgement: Judgement = Judgement()


class StatementPlace(BaseModel):
    """A statement of the log: episode, place in it, and a fingerprint of its sentence."""

    model_config = ConfigDict(frozen=True)

    episode_id: str
    index: int
    said: str


class StatementVerdict(BaseModel):
    """The answer to "which facts does this statement repeat or end?", each fact as a statement that supports it."""

    model_config = ConfigDict(frozen=True)

    index: int
    said: str
    same: StatementPlace | None = None
    ended: tuple[StatementPlace, ...] = ()


class JudgedEpisode(BaseModel):
    """All that the judge of one stage was asked about an episode, with its answers: the value on `episodes.judged`."""

    model_config = ConfigDict(frozen=True)

    episode: EpisodeRef
    stage: str
    mentions: tuple[MentionVerdict, ...] = ()
    statements: tuple[StatementVerdict, ...] = ()


def named(name: str, kind: str | None) -> Named:
    """The entity or mention that bears a name and a type; the generic type "Entity" is no type."""
    typed = None if kind is None or entity_key(kind) == "entity" else entity_key(kind)
    return Named(key=entity_key(name), type=typed)


def named_entity(entity: Entity) -> Named:
    """An entity as a verdict speaks of it."""
    return named(entity.name, entity.type).model_copy(update={"id": entity.id})


def named_mention(mention: Mention) -> Named:
    """A mention as a verdict speaks of it."""
    return named(mention.name, mention.type)


def fingerprint(sentence: str) -> str:
    """A sentence that cannot be read back, the same for all spellings of one key."""
    return stable_id("said", entity_key(sentence))


def places_of(verdict: StatementVerdict) -> list[StatementPlace]:
    """The statements that a verdict speaks of."""
    return [*([verdict.same] if verdict.same else []), *verdict.ended]


def record_of(judged: JudgedEpisode) -> str | None:
    """The JSON text of a record; None when nothing was asked."""
    return judged.model_dump_json(exclude_defaults=True) if judged.mentions or judged.statements else None
