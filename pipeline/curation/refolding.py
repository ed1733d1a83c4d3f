"""An entity from what is left of its mentions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.graph.ledger import Mentioned
from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.extraction import Mention
from pipeline.model.provenance import Contribution, Correction, Joined, Told
from pipeline.stages.matching import enriched, new_entity, summary_of

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
    """The entity as its mentions make it: name of the first, everything else merged in their order.

    A mention that was moved here by judgement names the entity only when no other does. Lines and community stay.
    Where no mention was kept word for word, the entity stays as it is.
    """
    told = [(one, each) for one in contributions for each in one.told]
    spoken = [(one, each) for one, each in told if entity_key(each.mention.name)]
    if not spoken:
        return entity
    owner, first = next(((o, t) for o, t in spoken if t.joined is Joined.rule), spoken[0])
    made = new_entity(Mention(name=first.mention.name), entity.group_id, owner.at)
    for _, each in told:
        made = with_told(made, each)
    made = made.model_copy(
        update={
            "id": entity.id,
            "lines": entity.lines,
            "community_id": entity.community_id,
            "created_at": told[0][0].at,
        }
    )
    return made.model_copy(update={"summary": summary_of(made)})


def with_told(entity: Entity, told: Told) -> Entity:
    """The entity after one more mention, and what an operator set right with it."""
    changed = enriched(entity, told.mention)
    return changed if told.correction is None else _set_right(changed, told.correction)


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
