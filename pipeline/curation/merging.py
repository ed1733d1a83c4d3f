"""Two entities become one, or part again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from pipeline.curation.ends import moved_evidence, named_ends, regrouped
from pipeline.curation.identities import Place
from pipeline.curation.refolding import by_entity, refolded
from pipeline.curation.restating import moved_facts, restated
from pipeline.errors import Poison
from pipeline.graph.ledger import Ledger
from pipeline.identity import stable_id
from pipeline.model.entity import Entity
from pipeline.model.judgement import Judgement
from pipeline.model.provenance import Joined, Merge, MovedMention, Told
from pipeline.stages.matching import keys_of
from pipeline.timeline.reconcile import Occasion


def merged(ledger: Ledger, apart: str, into: str, reason: str, now: datetime) -> tuple[Ledger, Merge]:
    """The ledger with all mentions of `apart` moved to `into`, which keeps its name; and the record of it.

    Raises Poison when one of the two is not there, when they are the same, or when nothing is kept of what told
    of `apart`.
    """
    gone, stays = known(ledger, apart), known(ledger, into)
    if apart == into:
        raise Poison("an entity cannot be merged into itself", "into")
    told = [
        (one.episode_id, each) for one in by_entity(ledger.contributions).get(apart, []) for each in one.told
    ]
    if not told:
        raise Poison(f"nothing is kept of what told of entity {apart!r}", "entity")
    record = Merge(
        id=stable_id("merge", ledger.group_id, apart, into, now.isoformat()),
        into=into,
        apart=apart,
        by=Joined.operator,
        at=now,
        reason=reason,
        name=gone.name,
        keys=tuple(k for k in gone.keys if k not in stays.keys),
        mentions=tuple(MovedMention(episode_id=e, index=t.index, joined=t.joined) for e, t in told),
        facts=tuple(sorted(f.id for f in ledger.facts.values() if apart in (f.source.id, f.target.id))),
    )
    of = {(episode, each.index): into for episode, each in told}
    joined = dict.fromkeys(of, Joined.operator)
    after = _moved(ledger, of, joined, record)
    return replace(after, merges={**ledger.merges, record.id: record}), record


def undone(ledger: Ledger, merge_id: str, now: datetime) -> Ledger:
    """The ledger with a merge taken back: its mentions, and those that came by its keys since, stand apart again.

    Raises Poison when there is no such merge, when it is undone already, or when nothing of it is left.
    """
    record = ledger.merges.get(merge_id)
    if record is None:
        raise Poison(f"there is no merge {merge_id!r}", "merge")
    if record.undone_at is not None:
        raise Poison(f"merge {merge_id!r} was undone before", "merge")
    moved = {(m.episode_id, m.index): m.joined for m in record.mentions}
    there: list[tuple[Place, Told]] = [
        ((one.episode_id, each.index), each)
        for one in by_entity(ledger.contributions).get(record.into, [])
        for each in one.told
    ]
    others = {
        keys_of(each.mention)[0]
        for place, each in there
        if place not in moved and not _came_by(record, each) and keys_of(each.mention)
    }
    apart = {
        place: each
        for place, each in there
        if place in moved or (_came_by(record, each) and keys_of(each.mention)[0] not in others)
    }
    if not apart:
        raise Poison(f"no mention of merge {merge_id!r} is left at entity {record.into!r}", "merge")
    if len(apart) == len(there):
        raise Poison(f"nothing but merge {merge_id!r} is left of entity {record.into!r}", "merge")
    # What a judge had joined by likeness would be joined by its key again: an operator has decided otherwise.
    back = Joined.operator if record.by is Joined.judge else Joined.rule
    joined = {place: moved.get(place, back) if record.by is Joined.operator else back for place in apart}
    after = _moved(ledger, dict.fromkeys(apart, record.apart), joined, record)
    update = {"undone_at": now}
    return replace(after, merges={**ledger.merges, merge_id: record.model_copy(update=update)})


def known(ledger: Ledger, entity_id: str) -> Entity:
    """The entity of an id. Raises Poison when it is not there."""
    found = ledger.entities.get(entity_id)
    if found is None:
        raise Poison(f"there is no entity {entity_id!r} in group {ledger.group_id!r}", "entity")
    return found


def _came_by(record: Merge, told: Told) -> bool:
    """Whether a mention was placed by a key that came with the merge."""
    keys = keys_of(told.mention)
    return told.joined is Joined.rule and bool(keys) and keys[0] in record.keys


def _moved(ledger: Ledger, of: Mapping[Place, str], joined: Mapping[Place, Joined], record: Merge) -> Ledger:
    """The ledger with some mentions under other entities, and evidence and facts after them."""
    contributions = {
        key: one.model_copy(
            update={
                "told": tuple(_placed(t, joined.get((one.episode_id, t.index), t.joined)) for t in one.told)
            }
        )
        for key, one in regrouped(ledger.contributions, of).items()
    }
    told = by_entity(contributions)
    entities = dict(ledger.entities)
    for entity_id in {record.into, record.apart}:
        of_entity = told.get(entity_id)
        if not of_entity:
            entities.pop(entity_id, None)
            continue
        blank = Entity(id=entity_id, group_id=ledger.group_id, name="", created_at=of_entity[0].at)
        entities[entity_id] = refolded(entities.get(entity_id, blank), of_entity)
    moved = moved_evidence(ledger.group_id, ledger.evidence.values(), ledger.contributions.values(), of)
    evidence = {i: named_ends(e, entities) for i, e in moved.items()}
    return replace(ledger, contributions=contributions, entities=entities, evidence=evidence)


def _placed(told: Told, joined: Joined) -> Told:
    """A mention that somebody else has placed: what the one before said of it counts no more."""
    return (
        told
        if told.joined is joined
        else told.model_copy(update={"joined": joined, "judgement": Judgement()})
    )


def with_facts_moved(before: Ledger, after: Ledger, occasion: Occasion) -> Ledger:
    """`after` with facts that follow the evidence, and what is believed of them from now on."""
    facts = moved_facts(before.facts, before.evidence, after.evidence, after.entities)
    changed = restated(before.evidence, after.evidence, facts, after.entities, occasion)
    return replace(after, facts=changed)
