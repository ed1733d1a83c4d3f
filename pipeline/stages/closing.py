"""What a judge may close, whatever it says, and the evidence that a closure leaves. Pure.

Structure allows a statement to end a fact when both have the same subject, the fact is no additive one, it is not of
the statement's own slot (there the timeline decides), it holds at the moment from which the statement tells against
it, and no newer statement supports it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pipeline.identity import stable_id
from pipeline.model.extraction import Cardinality, StatementKind
from pipeline.model.fact import Fact
from pipeline.stages.stating import moment_of
from pipeline.timeline.evidence import Evidence

RULE = "judge"


def may_end(item: Evidence, fact: Fact) -> bool:
    """Whether structure allows the statement to end the fact, as far as the fact itself tells; see `outdated`."""
    moment = moment_of(item)
    return (
        item.kind is StatementKind.asserts
        # What is over by then says nothing about then.
        and (item.invalid_at is None or moment < item.invalid_at)
        and not fact.additive
        and bool(_subjects(item) & _subjects_of(fact))
        and not _same_slot(item, fact)
        and fact.beliefs[-1].holds_at(moment)
    )


def _subjects(item: Evidence) -> set[str]:
    return {item.subject, item.object} if item.symmetric else {item.subject}


def _subjects_of(fact: Fact) -> set[str]:
    return {fact.source.id, fact.target.id} if fact.symmetric else {fact.source.id}


def _same_slot(item: Evidence, fact: Fact) -> bool:
    if item.relation != fact.relation:
        return False
    if {item.subject, item.object} == {fact.source.id, fact.target.id}:
        return True
    both_one = item.cardinality is Cardinality.one and fact.cardinality == Cardinality.one.value
    return both_one or item.additive


def outdated(item: Evidence, fact: Fact, evidence: Iterable[Evidence]) -> bool:
    """Whether every statement that supports the fact is older than this one, and none of them is additive."""
    counted = set(fact.evidence_ids)
    support = [e for e in evidence if e.id in counted]
    return bool(support) and all(e.order < item.order and not e.additive for e in support)


def closure(item: Evidence, fact: Fact, group_id: str, now: datetime) -> Evidence:
    """The evidence that a statement ended a fact, found by a judge. Its id depends on both only."""
    return Evidence(
        id=stable_id("closure", group_id, item.id, fact.source.id, fact.relation, fact.target.id),
        episode_id=item.episode_id,
        subject=fact.source.id,
        relation=fact.relation,
        object=fact.target.id,
        subject_name=fact.source.name,
        object_name=fact.target.name,
        kind=StatementKind.closes,
        cardinality=Cardinality(fact.cardinality),
        symmetric=fact.symmetric,
        fact=item.fact,
        invalid_at=moment_of(item),
        invalid_at_precision=item.valid_at_precision if item.valid_at else None,
        reference_time=item.reference_time,
        sequence=item.sequence,
        index=item.index,
        rule=RULE,
        recorded_at=now,
    )
