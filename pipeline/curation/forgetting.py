"""Taking episodes back: the ledger as it would be had they never come. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from pipeline.curation.ends import moved_evidence, named_ends, regrouped, with_ends
from pipeline.curation.identities import freed, resolved_again, sharing_keys
from pipeline.curation.rebuilding import (
    Component,
    component_of,
    rebuilt,
    symmetric_triplets,
    under_known_ids,
)
from pipeline.curation.refolding import by_entity, refolded, still_admitted
from pipeline.graph.ledger import Ledger
from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.extraction import StatementKind
from pipeline.model.fact import Fact
from pipeline.model.provenance import Contribution, Joined, Merge
from pipeline.stages.matching import keys_of
from pipeline.timeline.evidence import Evidence


def episodes_about(ledger: Ledger, name_or_id: str) -> tuple[set[str], set[str]]:
    """The entities that an id, or a name or alias in any spelling, stands for, and the episodes that tell of them."""
    key = entity_key(name_or_id)
    entities = (
        {name_or_id}
        if name_or_id in ledger.entities
        else {e.id for e in ledger.entities.values() if key and key in e.keys}
    )
    episodes = {episode for episode, entity in ledger.contributions if entity in entities}
    for item in ledger.evidence.values():
        if item.subject in entities or item.object in entities:
            episodes.add(item.episode_id)
    return entities, episodes


def forgotten(ledger: Ledger, episodes: Collection[str]) -> Ledger:
    """The ledger without the episodes: entities, evidence, facts and merges. Lines and communities are told later.

    The facts of every slot that has lost evidence, or evidence of which now has other ends, are rebuilt from nothing,
    so that their histories hold nothing that only the forgotten episodes said.
    """
    gone = set(episodes)
    left = {k: c for k, c in ledger.contributions.items() if c.episode_id not in gone}
    concerned = sharing_keys(
        (c.entity_id for k, c in ledger.contributions.items() if k not in left), ledger.entities
    )
    again = resolved_again(ledger.group_id, (c for c in left.values() if c.entity_id in concerned))
    of = freed(ledger.group_id, again, ledger.contributions.values(), ledger.entities)
    contributions = _words_left(_alive(regrouped(left, of), ledger, concerned), ledger, concerned)

    stayed = _standing_evidence(e for e in ledger.evidence.values() if e.episode_id not in gone)
    moved = moved_evidence(ledger.group_id, stayed, left.values(), of)
    entities = _entities(ledger, concerned, contributions, moved.values())
    evidence = {i: named_ends(e, entities) for i, e in moved.items()}
    renamed = {again[place]: name for place, name in of.items() if again[place] != name}
    merges = dict(_merges(ledger.merges, contributions, gone, renamed))
    facts = _facts(ledger, gone, evidence, entities)
    return replace(
        ledger,
        episodes=ledger.episodes - gone,
        entities=entities,
        contributions=contributions,
        evidence=evidence,
        facts=facts,
        merges=merges,
        outputs={k: text for k, text in ledger.outputs.items() if k[0] not in gone},
        judged={k: record for k, record in ledger.judged.items() if k[0] not in gone},
    )


def _alive(
    contributions: Mapping[tuple[str, str], Contribution], ledger: Ledger, concerned: set[str]
) -> dict[tuple[str, str], Contribution]:
    """Without corrections of entities that nothing else tells of any more."""
    spoken = {
        c.entity_id
        for c in contributions.values()
        if c.entity_id not in concerned
        or not c.told
        or any(t.correction is None or entity_key(t.mention.name) for t in c.told)
    }
    return {
        k: c for k, c in contributions.items() if c.entity_id in spoken or c.entity_id not in ledger.entities
    }


def _words_left(
    contributions: Mapping[tuple[str, str], Contribution], ledger: Ledger, concerned: set[str]
) -> dict[tuple[str, str], Contribution]:
    """Without what judges proposed in words that are gone."""
    found = dict(contributions)
    for entity_id, some in by_entity(contributions).items():
        if entity_id in concerned or entity_id not in ledger.entities:
            found |= {(c.episode_id, c.entity_id): c for c in still_admitted(some)}
    return found


def _standing_evidence(items: Iterable[Evidence]) -> list[Evidence]:
    """Without corrections of what is gone, and without closures, found by a judge, of what nothing asserts any more."""
    left = {e.id: e for e in items}
    for item in sorted(left.values(), key=lambda e: (e.order, e.id)):
        if item.corrects:
            names = tuple(name for name in item.corrects if name in left)
            if names:
                left[item.id] = item.model_copy(update={"corrects": names})
            else:
                del left[item.id]
    asserted = {(e.subject, e.relation, e.object) for e in left.values() if e.kind is StatementKind.asserts}
    return [
        e
        for e in left.values()
        if e.rule == "statement" or e.corrects or (e.subject, e.relation, e.object) in asserted
    ]


def _entities(
    ledger: Ledger,
    concerned: set[str],
    contributions: Mapping[tuple[str, str], Contribution],
    evidence: Iterable[Evidence],
) -> dict[str, Entity]:
    """Those that anything still mentions or supports, each made of the mentions that are left."""
    told = by_entity(contributions)
    supported = {end for e in evidence for end in (e.subject, e.object)}
    wanted = concerned | {e for e in told if e not in ledger.entities}
    found = {i: e for i, e in ledger.entities.items() if i not in wanted}
    for entity_id in wanted:
        of_entity = told.get(entity_id, [])
        if not of_entity and entity_id not in supported:
            continue
        before = ledger.entities.get(entity_id)
        if before is None:
            at = of_entity[0].at
            before = Entity(id=entity_id, group_id=ledger.group_id, name="", created_at=at)
        found[entity_id] = refolded(before, of_entity)
    return found


def _merges(
    merges: Mapping[str, Merge],
    contributions: Mapping[tuple[str, str], Contribution],
    gone: set[str],
    renamed: Mapping[str, str],
) -> Iterable[tuple[str, Merge]]:
    """Records of merges of which any mention is left, told in the words of those mentions."""
    told_at = {(c.episode_id, t.index): (c.entity_id, t) for c in contributions.values() for t in c.told}
    for name, record in merges.items():
        merge = record.model_copy(update={"into": renamed.get(record.into, record.into)})
        left = tuple(m for m in merge.mentions if m.episode_id not in gone)
        if left == merge.mentions:
            yield name, merge
            continue
        told = [told_at[m.episode_id, m.index][1] for m in left if (m.episode_id, m.index) in told_at]
        if told:
            keys = {k for t in told for k in keys_of(t.mention)}
            update = {
                "mentions": left,
                "name": next((t.mention.name for t in told if entity_key(t.mention.name)), ""),
                "keys": tuple(k for k in merge.keys if k in keys),
                # What an operator wrote may be about what is gone.
                "reason": merge.reason if merge.by is Joined.judge else "",
            }
            yield name, merge.model_copy(update=update)


def _facts(
    ledger: Ledger, gone: set[str], evidence: Mapping[str, Evidence], entities: Mapping[str, Entity]
) -> dict[str, Fact]:
    names = {i: e.name for i, e in entities.items()}
    symmetric = symmetric_triplets(ledger.evidence.values()) | symmetric_triplets(evidence.values())

    def changed(item: Evidence) -> bool:
        now = evidence.get(item.id)
        return now is None or (now.subject, now.object, now.corrects) != (
            item.subject,
            item.object,
            item.corrects,
        )

    stale: set[Component] = {component_of(e, symmetric) for e in ledger.evidence.values() if changed(e)}
    stale |= {
        component_of(evidence[e.id], symmetric)
        for e in ledger.evidence.values()
        if e.id in evidence and component_of(e, symmetric) in stale
    }
    again = [e for e in evidence.values() if component_of(e, symmetric) in stale]
    kept: dict[str, Fact] = {}
    stood: list[Fact] = []
    for fact in ledger.facts.values():
        known = {s.evidence_id for s in fact.support} & ledger.evidence.keys()
        if known and any(component_of(ledger.evidence[i], symmetric) in stale for i in known):
            stood.append(fact)
        elif (rest := _without(fact, gone, entities)) is not None:
            kept[rest.id] = rest
    made = under_known_ids(ledger.group_id, rebuilt(ledger.group_id, again, names), stood)
    return kept | {fact.id: fact for fact in made}


def _without(fact: Fact, gone: set[str], entities: Mapping[str, Entity]) -> Fact | None:
    """A fact that no evidence explains, or that is not concerned: as it is, if its ends and its episodes are there."""
    support = tuple(s for s in fact.support if s.episode_id not in gone)
    if (fact.support and not support) or not {fact.source.id, fact.target.id} <= entities.keys():
        return None
    if support != fact.support:
        fact = fact.model_copy(update={"support": support, "revision": fact.revision + 1})
    return with_ends(fact, fact.source.id, fact.target.id, entities)
