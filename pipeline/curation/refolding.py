"""An entity from what is left of its mentions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipeline.graph.ledger import Mentioned
from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.extraction import Mention
from pipeline.model.provenance import Contribution, Correction, Joined, Told
from pipeline.stages.matching import new_entity, summary_of
from pipeline.stages.telling_as_one import admitted, as_one

Contributions = Mapping[Mentioned, Contribution]


def by_entity(contributions: Contributions) -> dict[str, list[Contribution]]:
    """Contributions of each entity, in the order in which they were committed."""
    found: dict[str, list[Contribution]] = {}
    for one in sorted(contributions.values(), key=placed):
        found.setdefault(one.entity_id, []).append(one)
    return found


def placed(one: Contribution) -> tuple[int, str]:
    """The order of contributions in a group."""
    return (one.place, one.episode_id)


def refolded(entity: Entity, contributions: Iterable[Contribution]) -> Entity:
    """The entity as its mentions make it: name of the first, or what a judge found fuller since, everything else merged
    in their order.

    A mention that was moved here by judgement names the entity only when no other does. Lines and community stay.
    Where no mention was kept word for word, the entity stays as it is.
    """
    some = list(contributions)
    made = _beginning(some, entity.group_id)
    if made is None:
        return entity
    for one in some:
        for each in one.told:
            made = with_told(made, each)
    made = made.model_copy(
        update={
            "id": entity.id,
            "lines": entity.lines,
            "community_id": entity.community_id,
            "created_at": next(one.at for one in some if one.told),
        }
    )
    return made.model_copy(update={"summary": summary_of(made)})


def still_admitted(contributions: Iterable[Contribution]) -> list[Contribution]:
    """The contributions of one entity, in order, each with what of its judge's proposal counts now.

    A proposal that rests on what is gone goes with it, words and all.
    """
    some, found = list(contributions), []
    made = _beginning(some, "")
    if made is None:
        return some
    for one in some:
        told: list[Told] = []
        for each in one.told:
            counts = admitted(made, each.mention, each.judgement)
            told.append(each.model_copy(update={"judgement": counts}))
            made = with_told(made, told[-1])
        found.append(one.model_copy(update={"told": tuple(told)}))
    return found


def with_told(entity: Entity, told: Told) -> Entity:
    """The entity after one more mention, and what an operator set right with it."""
    changed = as_one(entity, told.mention, told.judgement)
    return changed if told.correction is None else _set_right(changed, told.correction)


def _beginning(contributions: Sequence[Contribution], group_id: str) -> Entity | None:
    """The entity with nothing but the name that it is called by at first; None where none is kept."""
    spoken = [(one, t) for one in contributions for t in one.told if entity_key(t.mention.name)]
    if not spoken:
        return None
    owner, first = next(((o, t) for o, t in spoken if t.joined is Joined.rule), spoken[0])
    return new_entity(Mention(name=first.mention.name), group_id, owner.at)


def _set_right(entity: Entity, correction: Correction) -> Entity:
    update: dict[str, Any] = {"attributes": {**entity.attributes, **correction.attributes}}
    if correction.type is not None:
        update["type"] = correction.type
    if correction.name is not None:
        key = entity_key(correction.name)
        others = [a for a in entity.aliases if entity_key(a) != key]
        former = [entity.name] if entity_key(entity.name) != key else []
        update |= {
            "name": correction.name,
            "aliases": tuple(dict.fromkeys([*former, *others])),
            "keys": tuple(dict.fromkeys([*entity.keys, key])),
        }
    return entity.model_copy(update=update)
