"""Evidence and facts follow their ends when mentions stand for other entities than before. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeVar

from pipeline.curation.identities import Place
from pipeline.graph.ledger import Mentioned
from pipeline.identity import stable_id
from pipeline.model.entity import Entity
from pipeline.model.fact import EntityRef, Fact
from pipeline.model.provenance import Contribution
from pipeline.timeline.evidence import Evidence

T = TypeVar("T")
Triplet = tuple[str, str, str]


def regrouped(
    contributions: Mapping[Mentioned, Contribution], of: Mapping[Place, str]
) -> dict[Mentioned, Contribution]:
    """Contributions with each mention under the entity that `of` names; without a name it stays where it is.

    The mentions of one episode stand in the order in which `of` has them.
    """
    order = {place: number for number, place in enumerate(of)}
    found: dict[Mentioned, Contribution] = {}
    for one in contributions.values():
        split: dict[str, list[int]] = defaultdict(list)
        for number, told in enumerate(one.told):
            split[of.get((one.episode_id, told.index), one.entity_id)].append(number)
        for entity_id, numbers in (split or {one.entity_id: []}).items():
            key = (one.episode_id, entity_id)
            other = found.get(key)
            mine = [*(other.told if other else ()), *(one.told[n] for n in numbers)]
            ranked = sorted((order.get((one.episode_id, t.index), -1), n) for n, t in enumerate(mine))
            told_now = tuple(mine[n] for _, n in ranked)
            found[key] = one.model_copy(update={"entity_id": entity_id, "told": told_now})
    return found


def moved_evidence(
    group_id: str, evidence: Iterable[Evidence], before: Iterable[Contribution], of: Mapping[Place, str]
) -> dict[str, Evidence]:
    """Evidence with its ends where their mentions are now, by id.

    What was read out of an episode follows its own mentions. Other evidence (a closure that a judge found, a
    correction) follows the statements about the same fact, or else the mentions of the entity, most of them first.
    """
    standing: dict[tuple[str, int, int], tuple[str, str]] = {}
    drift: dict[str, Counter[str]] = defaultdict(Counter)
    for one in before:
        for told in one.told:
            now = of.get((one.episode_id, told.index), one.entity_id)
            drift[one.entity_id][now] += 1
            for number, role in told.ends:
                standing[one.episode_id, number, role] = (one.entity_id, now)
    items = list(evidence)
    found: dict[str, Evidence] = {}
    follow: dict[Triplet, Counter[tuple[str, str]]] = defaultdict(Counter)
    for item in items:
        ends = _own_ends(group_id, item, standing)
        if ends is not None:
            found[item.id] = _at(item, *ends)
            follow[item.subject, item.relation, item.object][ends] += 1
    for item in items:
        if item.id not in found:
            way = follow.get((item.subject, item.relation, item.object))
            ends = _most(way) if way else (_drifted(item.subject, drift), _drifted(item.object, drift))
            found[item.id] = _at(item, *ends)
    return found


def named_ends(item: Evidence, entities: Mapping[str, Entity]) -> Evidence:
    """Evidence with the present names of its ends."""
    subject, value = entities.get(item.subject), entities.get(item.object)
    return item.model_copy(
        update={
            "subject_name": subject.name if subject else item.subject_name,
            "object_name": value.name if value else item.object_name,
        }
    )


def with_ends(fact: Fact, source: str, target: str, entities: Mapping[str, Entity]) -> Fact:
    """A fact between other entities, or the same ones under their present names."""

    def ref(entity_id: str, old: EntityRef) -> EntityRef:
        entity = entities.get(entity_id)
        return EntityRef(id=entity_id, name=entity.name if entity else old.name)

    ends = (ref(source, fact.source), ref(target, fact.target))
    if ends == (fact.source, fact.target):
        return fact
    return fact.model_copy(update={"source": ends[0], "target": ends[1]})


def _own_ends(
    group_id: str, item: Evidence, standing: Mapping[tuple[str, int, int], tuple[str, str]]
) -> tuple[str, str] | None:
    if item.id != stable_id("evidence", group_id, item.episode_id, str(item.index)):
        return None
    subject = standing.get((item.episode_id, item.index, 0))
    value = standing.get((item.episode_id, item.index, 1))
    if subject is None or value is None:
        return None
    (subject_was, subject_is), (value_was, value_is) = subject, value
    if (subject_was, value_was) == (item.subject, item.object):
        return subject_is, value_is
    # The statement was turned round: its relation is the inverse of the one that is kept, or holds both ways.
    return value_is, subject_is


def _at(item: Evidence, subject: str, value: str) -> Evidence:
    if item.symmetric and value < subject:
        subject, value = value, subject
    if (subject, value) == (item.subject, item.object):
        return item
    return item.model_copy(update={"subject": subject, "object": value})


def _drifted(entity_id: str, drift: Mapping[str, Counter[str]]) -> str:
    where = drift.get(entity_id)
    return entity_id if not where or entity_id in where else _most(where)


def _most(counter: Counter[T]) -> T:
    return max(counter.items(), key=lambda pair: (pair[1], str(pair[0])))[0]
