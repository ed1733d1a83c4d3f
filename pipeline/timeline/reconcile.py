"""From what a slot's timeline says to what changes in the graph: which fact each segment is, and what that means.

Facts keep their ids while their intervals move. A segment is the fact with which it shares most evidence; a segment
that shares none is a new fact, whose id depends on its first evidence only. Nothing is forgotten: each change of an
interval adds a belief with the moment at which it was learned, and a fact without a segment is believed at no time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.identity import stable_id
from pipeline.model.changes import Change, FactChange
from pipeline.model.fact import Belief, EntityRef, Fact, Support, last_view
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.pairs import pair_timelines
from pipeline.timeline.slot import Segment, timeline

End = tuple[str, str]
"""(relation, entity id)."""


@dataclass(frozen=True)
class Reconciled:
    """The facts that are new or changed, and the events that say so, in the order of the facts."""

    facts: tuple[Fact, ...]
    changes: tuple[FactChange, ...]
    created: frozenset[str]


@dataclass(frozen=True)
class Occasion:
    """On which occasion beliefs change: because of which episode, and when."""

    group_id: str
    episode_id: str
    at: datetime


def reconcile(
    evidence: Iterable[Evidence],
    facts: Iterable[Fact],
    names: Mapping[str, str],
    occasion: Occasion,
    *,
    ends: Collection[End] | None = None,
) -> Reconciled:
    """Derive the timeline of every slot in `evidence` and compare it with the facts that stand.

    Args:
        evidence: all evidence of the slots concerned, old and new.
        facts: the facts that stand for the same (subject, relation, object)s, believed or not.
        names: present names of entities by id, for the ends of new facts; without one, the name in the evidence.
        occasion: what the changes are due to.
        ends: for symmetric relations, the entities of which all evidence of that relation is there: a pair with an
            end elsewhere is left as it is. None: it is there for all.
    """
    items = {item.id: item for item in evidence}
    standing: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        standing[fact.source.id, fact.relation, fact.target.id].append(fact)

    changed: list[Fact] = []
    changes: list[FactChange] = []
    created: set[str] = set()
    for (subject, relation, value), of_value in sorted(_timelines(items.values(), ends).items()):
        old = standing.get((subject, relation, value), [])
        for before, segment in _pair(old, of_value):
            after = _after(before, segment, items, names, occasion, taken={f.id for f in old} | created)
            change = change_between(before, after)
            if change is None:
                continue
            if before is None:
                created.add(after.id)
            changed.append(after)
            changes.append(event_of(change, after, occasion))
    return Reconciled(tuple(changed), tuple(changes), frozenset(created))


def _timelines(
    evidence: Iterable[Evidence], ends: Collection[End] | None
) -> dict[tuple[str, str, str], list[Segment]]:
    """The segments of each (subject, relation, object) that evidence speaks of."""
    ordered = list(evidence)
    symmetric = {(e.subject, e.relation, e.object) for e in ordered if e.symmetric}
    slots: dict[tuple[str, str], list[Evidence]] = defaultdict(list)
    webs: dict[str, list[Evidence]] = defaultdict(list)
    for item in ordered:
        if (item.subject, item.relation, item.object) in symmetric:
            webs[item.relation].append(item)
        else:
            slots[item.subject, item.relation].append(item)
    found: dict[tuple[str, str, str], list[Segment]] = {}
    for (subject, relation), items in slots.items():
        found |= {(subject, relation, item.object): [] for item in items}
        for stretch in timeline(items):
            found[subject, relation, stretch.object].append(stretch)
    for relation, items in webs.items():
        for (subject, value), segments in pair_timelines(items).items():
            if ends is None or {(relation, subject), (relation, value)} <= set(ends):
                found[subject, relation, value] = segments
    return found


def _pair(facts: Sequence[Fact], segments: Sequence[Segment]) -> list[tuple[Fact | None, Segment | None]]:
    """Each segment with the fact that it is, most shared evidence first, then the older fact; what is left stands
    alone."""
    shared = []
    for f, fact in enumerate(facts):
        known = set(fact.evidence_ids)
        for s, segment in enumerate(segments):
            if common := len(known.intersection(segment.support)):
                shared.append((-common, s, fact.beliefs[0].known_from, fact.id, f))
    fact_of: dict[int, int] = {}
    for _, s, _, _, f in sorted(shared):
        if s not in fact_of and f not in fact_of.values():
            fact_of[s] = f
    pairs: list[tuple[Fact | None, Segment | None]] = [
        (facts[fact_of[s]] if s in fact_of else None, segment) for s, segment in enumerate(segments)
    ]
    return pairs + [(fact, None) for f, fact in enumerate(facts) if f not in fact_of.values()]


def _after(
    before: Fact | None,
    segment: Segment | None,
    items: Mapping[str, Evidence],
    names: Mapping[str, str],
    occasion: Occasion,
    taken: set[str],
) -> Fact:
    belief = _belief(segment, occasion.at)
    support = _support(before, segment, items, occasion.at)
    if before is not None:
        same = before.beliefs[-1].same_interval(belief)
        beliefs = before.beliefs if same else (*before.beliefs, belief)
        told = _told(segment, items) if segment else {}
        return before.model_copy(
            update={"beliefs": beliefs, "support": support, "revision": before.revision + 1, **told}
        )
    if segment is None:
        raise ValueError("a fact needs a segment or a history")
    first = items[segment.support[0]]
    return Fact(
        id=_new_id(occasion.group_id, first, taken),
        group_id=occasion.group_id,
        source=EntityRef(id=first.subject, name=names.get(first.subject, first.subject_name)),
        target=EntityRef(id=first.object, name=names.get(first.object, first.object_name)),
        relation=first.relation,
        beliefs=(belief,),
        support=support,
        **_told(segment, items),
    )


def _told(segment: Segment, items: Mapping[str, Evidence]) -> dict[str, Any]:
    """What the evidence tells beside the times: the first wording, attributes merged key by key, newest last."""
    told = [items[i] for i in segment.support]
    attributes: dict[str, Any] = {}
    for item in told:
        attributes |= item.attributes
    newest = told[-1]
    return {
        # A correction by hand has no wording of its own.
        "fact": next((item.fact for item in told if item.fact), ""),
        "attributes": attributes,
        "cardinality": newest.cardinality.value,
        "symmetric": any(item.symmetric for item in told),
        "additive": any(item.additive for item in told),
    }


def _new_id(group_id: str, first: Evidence, taken: set[str]) -> str:
    """Stable for a given evidence; counted on when an older fact bears the id but has since lost that evidence."""
    number = 0
    while (name := stable_id("fact", group_id, first.id, str(number))) in taken:
        number += 1
    return name


def _belief(segment: Segment | None, at: datetime) -> Belief:
    if segment is None:
        return Belief(known_from=at, holds=False)
    return Belief(
        known_from=at,
        valid_at=segment.valid_at,
        valid_at_precision=segment.valid_at_precision,
        invalid_at=segment.invalid_at,
        invalid_at_precision=segment.invalid_at_precision,
        closed_by=segment.closed_by,
        closing_rule=segment.rule,
    )


def _support(
    before: Fact | None, segment: Segment | None, items: Mapping[str, Evidence], at: datetime
) -> tuple[Support, ...]:
    wanted = list(segment.support) if segment else []
    kept: list[Support] = []
    counted: set[str] = set()
    for one in before.support if before else ():
        if one.known_to is None and one.evidence_id not in wanted:
            kept.append(one.model_copy(update={"known_to": at}))
        else:
            kept.append(one)
            if one.known_to is None:
                counted.add(one.evidence_id)
    kept += [
        Support(episode_id=items[i].episode_id, evidence_id=i, hyperedge=items[i].hyperedge, known_from=at)
        for i in wanted
        if i not in counted
    ]
    return tuple(kept)


def change_between(before: Fact | None, after: Fact) -> Change | None:
    """What happened to a fact; None when nothing did."""
    if before is None:
        return Change.asserted
    old, new = before.beliefs[-1], after.beliefs[-1]
    if old.holds and not new.holds:
        return Change.retracted
    if not old.holds and new.holds:
        return Change.reopened
    if not new.holds:
        return None
    if old.invalid_at != new.invalid_at:
        earlier = new.invalid_at is not None and (old.invalid_at is None or new.invalid_at < old.invalid_at)
        return Change.invalidated if earlier else Change.reopened
    told = (after.support, after.attributes, after.fact, old.valid_at)
    return (
        Change.supported if told != (before.support, before.attributes, before.fact, new.valid_at) else None
    )


def event_of(change: Change, fact: Fact, occasion: Occasion) -> FactChange:
    belief = fact.beliefs[-1]
    return FactChange(
        change=change,
        fact=last_view(fact),
        group_id=occasion.group_id,
        episode_id=occasion.episode_id,
        at=occasion.at,
        revision=fact.revision,
        closed_by=belief.closed_by,
        rule=belief.closing_rule,
    )
