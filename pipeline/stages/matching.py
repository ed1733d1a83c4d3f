"""Which entity a mention stands for, as far as rules can tell. Pure.

Same key and compatible type is the same entity. A typed mention takes the entity of its type, else it gives its type
to the untyped one, else it is new: a homonym of another type is another entity. An untyped mention joins the one
typed entity with its key if there is exactly one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from pipeline.identity import entity_key, stable_id
from pipeline.model.entity import Entity
from pipeline.model.extraction import Mention
from pipeline.model.judgement import Named, named_entity


def type_of(mention: Mention) -> str | None:
    """The type of a mention; the generic type "Entity" is no type."""
    return None if mention.type is None or entity_key(mention.type) == "entity" else mention.type


def keys_of(mention: Mention) -> tuple[str, ...]:
    """The keys of a mention: its name's first, then its aliases'."""
    return tuple(dict.fromkeys(k for k in map(entity_key, (mention.name, *mention.aliases)) if k))


def choose(mention: Mention, candidates: Sequence[Entity]) -> Entity | None:
    """The candidate (same key) that the mention stands for; None when it is a new entity.

    Ties (two untyped ones, which only a merge undone by hand can leave) go to the older entity, then the lower id.
    """
    ordered = sorted(candidates, key=lambda e: (e.created_at, e.id))
    wanted = type_of(mention)
    untyped = [e for e in ordered if e.type is None]
    if wanted is None:
        typed = [e for e in ordered if e.type is not None]
        return typed[0] if len(typed) == 1 else untyped[0] if untyped else None
    same = [e for e in ordered if e.type is not None and entity_key(e.type) == entity_key(wanted)]
    return next(iter(same or untyped), None)


def bearing(named: Named, candidates: Iterable[Entity]) -> Entity | None:
    """The candidate that a name stands for: of its id, else of its key as a name or an alias.

    Its type goes before another, a name before an alias, and the oldest of several before the others.
    """
    found = [e for e in candidates if named.key in e.keys]
    known = [e for e in found if e.id == named.id]

    def rank(entity: Entity) -> tuple[bool, bool, datetime, str]:
        here = named_entity(entity)
        return (here.type != named.type, here.key != named.key, entity.created_at, entity.id)

    return min(known or found, key=rank, default=None)


def new_entity(mention: Mention, group_id: str, at: datetime, taken: Collection[str] = ()) -> Entity:
    """An entity for a mention that stands for none so far.

    Its id depends on group, key and type, and on nothing else unless it is among the `taken` ones: an untyped entity
    that has been given a type since keeps its id, and a later untyped homonym is another entity.
    """
    wanted = type_of(mention)
    key = entity_key(mention.name)
    name, number = stable_id("entity", group_id, key, entity_key(wanted or "")), 1
    while name in taken:
        number += 1
        name = stable_id("entity", group_id, key, entity_key(wanted or ""), str(number))
    bare = Entity(
        id=name,
        group_id=group_id,
        name=mention.name,
        type=wanted,
        keys=(key,),
        created_at=at,
    )
    return enriched(bare, mention)


def enriched(entity: Entity, mention: Mention) -> Entity:
    """The entity with what a mention adds: type, aliases, description, attributes merged key by key.

    A mention without attributes takes none away; a later value replaces only its own key.
    """
    aliases = [*entity.aliases]
    keys = [*entity.keys]
    for name in (mention.name, *mention.aliases):
        key = entity_key(name)
        if key and key not in keys:
            keys.append(key)
            aliases.append(name)
    description = mention.summary or entity.description
    update: dict[str, Any] = {
        "type": entity.type or type_of(mention),
        "aliases": tuple(aliases),
        "keys": tuple(keys),
        "description": description,
        "attributes": {**entity.attributes, **mention.attributes},
    }
    changed = entity.model_copy(update=update)
    return changed.model_copy(update={"summary": summary_of(changed)})


def summary_of(entity: Entity) -> str:
    """The text that readers see: the description, then the current facts, newest last."""
    lines = dict.fromkeys(line.text for line in entity.lines)
    return " ".join(part for part in (entity.description, *lines) if part)
