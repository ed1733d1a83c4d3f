"""What entities and communities tell, and what is told to the outside, after a curation. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

import orjson

from pipeline.curation.ends import with_ends
from pipeline.curation.rejudging import rejudged
from pipeline.graph.ledger import NOTICE, Ledger
from pipeline.model.changes import Change, FactChange
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.extraction import ResolvedEpisode
from pipeline.model.fact import EntityRef, Fact, last_view
from pipeline.stages.community_text import community_name, community_summary
from pipeline.stages.matching import summary_of
from pipeline.stages.resolve_facts import changes_as_output, summary_lines
from pipeline.timeline.reconcile import Occasion, change_between, event_of

RESOLVED_BY, FACTS_BY = "resolve_entities", "resolve_facts"


def retold(before: Ledger, after: Ledger, now: datetime) -> Ledger:
    """The ledger with lines, summaries, communities, waiting outputs and records of judges that tell of nothing but what
    is in it.

    Lines are told anew for the ends of every fact that changed or went: its current facts, those that changed last at
    the end. An entity without current facts leaves its community, as a rebuild of communities would have it.
    """
    renamed = {
        i for i, e in after.entities.items() if i in before.entities and before.entities[i].name != e.name
    }
    facts = dict(after.facts)
    for fact in after.facts.values():
        if fact.source.id in renamed or fact.target.id in renamed:
            facts[fact.id] = with_ends(fact, fact.source.id, fact.target.id, after.entities)
    touched = {
        end.id
        for source, other in ((before.facts, facts), (facts, before.facts))
        for i, fact in source.items()
        if other.get(i) != fact
        for end in (fact.source, fact.target)
    }
    current = _current(facts.values(), now)
    entities = dict(after.entities)
    for entity_id in touched & entities.keys():
        entities[entity_id] = _with_lines(entities[entity_id], current.get(entity_id, []), now)
    for entity_id in touched & entities.keys():
        if not current.get(entity_id) and entities[entity_id].community_id is not None:
            entities[entity_id] = entities[entity_id].model_copy(update={"community_id": None})
    facts = {name: _revised(before.facts.get(name), fact) for name, fact in facts.items()}
    told = replace(after, facts=facts, entities=entities)
    told = replace(told, communities=_communities(before, told, current))
    return replace(told, outputs=present_outputs(told), judged=rejudged(told))


def changes_between(before: Ledger, after: Ledger, occasion: Occasion) -> list[FactChange]:
    """What a consumer of changes is to be told. A fact that went is retracted by its id, without its words."""
    events: list[FactChange] = []
    for name, fact in sorted(after.facts.items()):
        old = before.facts.get(name)
        if old == fact or (old is None and not fact.beliefs[-1].holds):
            continue
        change = change_between(old, fact)
        believed = fact.beliefs[-1].holds
        if change is None and believed and old is not None and _shown(old) != _shown(fact):
            change = Change.supported
        if change is not None:
            events.append(event_of(change, fact, occasion))
    for name, fact in sorted(before.facts.items()):
        if name not in after.facts and fact.beliefs[-1].holds:
            events.append(event_of(Change.retracted, wordless(fact, after.entities, occasion.at), occasion))
    return events


def wordless(fact: Fact, entities: Mapping[str, Entity], at: datetime) -> Fact:
    """A fact without anything that an episode said of it, for telling that it is gone."""

    def ref(old: EntityRef) -> EntityRef:
        entity = entities.get(old.id)
        return EntityRef(id=old.id, name=entity.name if entity else "")

    belief = fact.beliefs[-1].model_copy(
        update={
            "known_from": at,
            "closed_by": None,
            "closing_rule": None,
            "valid_at": None,
            "invalid_at": None,
        }
    )
    return fact.model_copy(
        update={
            "source": ref(fact.source),
            "target": ref(fact.target),
            "relation": "",
            "fact": "",
            "attributes": {},
            "beliefs": (belief.model_copy(update={"holds": False}),),
            "support": (),
            "revision": fact.revision + 1,
        }
    )


def _revised(before: Fact | None, after: Fact) -> Fact:
    """A fact that changed has a higher revision than the one that stood."""
    if before is None or before == after or after.revision > before.revision:
        return after
    return after.model_copy(update={"revision": before.revision + 1})


def _shown(fact: Fact) -> tuple[object, ...]:
    return (fact.source, fact.target, fact.fact, fact.attributes, fact.episodes_at())


def _current(facts: Iterable[Fact], now: datetime) -> dict[str, list[Fact]]:
    """By entity, its facts that hold now, those that changed last at the end."""
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.beliefs[-1].holds_at(now):
            for end in {fact.source.id, fact.target.id}:
                found[end].append(fact)
    for some in found.values():
        some.sort(key=_last_change)
    return found


def _last_change(fact: Fact) -> tuple[object, ...]:
    moments = [fact.beliefs[-1].known_from, *(s.known_to or s.known_from for s in fact.support)]
    return (max(moments), fact.source.id, fact.relation, fact.target.id)


def _with_lines(entity: Entity, current: Iterable[Fact], now: datetime) -> Entity:
    changes = [
        FactChange(
            change=Change.supported,
            fact=last_view(fact),
            group_id=fact.group_id,
            episode_id="",
            at=now,
            revision=fact.revision,
        )
        for fact in current
    ]
    bare = entity.model_copy(update={"lines": ()})
    changed = bare.model_copy(update={"lines": summary_lines(bare, changes, now)})
    return changed.model_copy(update={"summary": summary_of(changed)})


def _communities(before: Ledger, after: Ledger, current: Mapping[str, list[Fact]]) -> dict[str, Community]:
    """Those that have members, told anew where a member changed or went, or where words that went are left."""
    members: dict[str, list[Entity]] = defaultdict(list)
    for entity in after.entities.values():
        if entity.community_id is not None:
            members[entity.community_id].append(entity)
    concerned = {
        entity.community_id
        for ledger, other in ((before, after), (after, before))
        for i, entity in ledger.entities.items()
        if other.entities.get(i) != entity
    }
    words = _lost_words(before, after)
    found: dict[str, Community] = {}
    for name, community in before.communities.items():
        some = sorted(members.get(name, []), key=lambda e: (-len(current.get(e.id, [])), e.id))
        if not some:
            continue
        ids = tuple(e.id for e in some)
        if name in concerned or any(w in community.name or w in community.summary for w in words):
            update = {"name": community_name(some), "summary": community_summary(some), "members": ids}
            community = community.model_copy(update=update)
        found[name] = community
    return found


def _lost_words(before: Ledger, after: Ledger) -> set[str]:
    """Names and sentences that the ledger no longer has."""

    def words(ledger: Ledger) -> set[str]:
        names = {n for e in ledger.entities.values() for n in (e.name, *e.aliases, e.description)}
        return names | {f.fact for f in ledger.facts.values()} | {e.fact for e in ledger.evidence.values()}

    return {w for w in words(before) - words(after) if w}


def present_outputs(after: Ledger) -> dict[tuple[str, str], str]:
    """What marks keep to be sent on, in present words: facts that went are not told, names are those of now."""
    kept: dict[tuple[str, str], str] = {}
    for (episode, stage), text in after.outputs.items():
        if stage in (FACTS_BY, NOTICE):
            text = _present_changes(text, after)
        elif stage == RESOLVED_BY:
            resolved = ResolvedEpisode.model_validate_json(text)
            entities = tuple(
                r.model_copy(update={"name": after.entities[r.entity_id].name})
                if r.entity_id in after.entities
                else r
                for r in resolved.entities
            )
            if entities != resolved.entities:
                text = resolved.model_copy(update={"entities": entities}).model_dump_json()
        kept[episode, stage] = text
    return kept


def _present_changes(text: str, after: Ledger) -> str:
    told = orjson.loads(text)
    changes = [FactChange.model_validate(change) for change in told["changes"]]
    kept = [
        change.model_copy(update={"fact": last_view(after.facts[change.fact.id])})
        if change.fact.id in after.facts
        else change
        for change in changes
        if change.fact.id in after.facts or (change.change is Change.retracted and not change.fact.fact)
    ]
    if kept == changes:
        return text
    present = orjson.loads(changes_as_output(kept, (e for e in told["touched"] if e in after.entities)))
    return orjson.dumps({**told, **present}).decode()
