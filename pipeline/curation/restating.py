"""Beliefs that change now, because statements are about other entities than was thought, or were set right. Pure.

Unlike a rebuild this keeps history: what was believed before stays known as it was believed then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipeline.curation.ends import with_ends
from pipeline.curation.rebuilding import component_of, symmetric_triplets
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.reconcile import Occasion, reconcile


def restated(
    before: Mapping[str, Evidence],
    after: Mapping[str, Evidence],
    facts: Mapping[str, Fact],
    entities: Mapping[str, Entity],
    occasion: Occasion,
) -> dict[str, Fact]:
    """All facts, those of the slots concerned reconciled with the evidence as it is now.

    `facts` have the ends that they are to have. Concerned are slots that gained, lost or changed evidence.
    """
    symmetric = symmetric_triplets(before.values()) | symmetric_triplets(after.values())
    stale = {
        component_of(item, symmetric)
        for items, others in ((before, after), (after, before))
        for name, item in items.items()
        if _said(others.get(name)) != _said(item)
    }
    evidence = [e for e in after.values() if component_of(e, symmetric) in stale]
    triplets = {(e.subject, e.relation, e.object) for e in evidence}
    standing = [f for f in facts.values() if (f.source.id, f.relation, f.target.id) in triplets]
    names = {i: e.name for i, e in entities.items()}
    done = reconcile(evidence, _reminded(standing, evidence, occasion), names, occasion)
    return dict(facts) | {fact.id: fact for fact in done.facts}


def moved_facts(
    facts: Mapping[str, Fact],
    before: Mapping[str, Evidence],
    after: Mapping[str, Evidence],
    entities: Mapping[str, Entity],
) -> dict[str, Fact]:
    """Facts between the entities between which the evidence that first made them now stands, if any is known.

    What supports a fact now decides before what once did; a fact whose support went different ways follows the oldest.
    """
    moved = dict(facts)
    for fact in facts.values():
        now = [name for name in fact.evidence_ids if name in after]
        once = [s.evidence_id for s in fact.support if s.evidence_id in after]
        leading = next(iter(now or once), None)
        if leading is None or before[leading] == after[leading]:
            continue
        moved[fact.id] = with_ends(fact, after[leading].subject, after[leading].object, entities)
    return moved


def _said(item: Evidence | None) -> Evidence | None:
    """Evidence without the names of its ends, which say nothing about when it holds."""
    return item and item.model_copy(update={"subject_name": "", "object_name": ""})


def _reminded(facts: Iterable[Fact], evidence: Iterable[Evidence], occasion: Occasion) -> list[Fact]:
    """A fact that nothing supports any more counts again what it once counted, if nothing else at its place does.

    So a fact that a merge had folded into another is the one that comes back when they part.
    """
    some = list(facts)
    of_triplet = {e.id: (e.subject, e.relation, e.object) for e in evidence}
    counted = {(f.source.id, f.relation, f.target.id, name) for f in some for name in f.evidence_ids}
    reminded: list[Fact] = []
    for fact in some:
        triplet = (fact.source.id, fact.relation, fact.target.id)
        if fact.evidence_ids:
            reminded.append(fact)
            continue
        again = tuple(
            s.model_copy(update={"known_from": occasion.at, "known_to": None})
            for s in {s.evidence_id: s for s in fact.support}.values()
            if of_triplet.get(s.evidence_id) == triplet and (*triplet, s.evidence_id) not in counted
        )
        reminded.append(fact.model_copy(update={"support": (*fact.support, *again)}) if again else fact)
    return reminded
