"""What operators did in a group, read from its ledger, and done again in another. Pure.

Merges, merges undone and corrections stand in no log: the graph itself keeps them. A rebuild does them again, each at
its place in the order, so that what came after them is resolved as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.curation.correcting import OPERATOR, FactCorrection, entity_corrected, fact_corrected
from pipeline.curation.merging import merged, undone, with_facts_moved
from pipeline.errors import Poison
from pipeline.graph.ledger import Ledger
from pipeline.model.episode import Episode
from pipeline.model.provenance import Correction, Joined, Merge
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.partial import parse_partial
from pipeline.timeline.precision import Precision
from pipeline.timeline.reconcile import Occasion


@dataclass(frozen=True)
class Act:
    """Something that an operator did: exactly one of the fields behind `at` says what.

    `name` is the id of the operator's episode or of the merge.
    """

    name: str
    at: datetime
    episode: Episode | None = None
    entity: tuple[str, Correction] | None = None
    fact: Evidence | None = None
    merge: Merge | None = None
    undo: Merge | None = None

    @property
    def sequence(self) -> int:
        """Its place in the order of the log."""
        return self.episode.sequence if self.episode else round(self.at.timestamp() * 1000) << 20


def operators_episodes(ledger: Ledger) -> frozenset[str]:
    """The ids of episodes that operators made."""
    corrected = {
        one.episode_id
        for one in ledger.contributions.values()
        if any(t.correction is not None for t in one.told)
    }
    return frozenset(corrected | {e.episode_id for e in ledger.evidence.values() if e.rule == OPERATOR})


def acts_of(ledger: Ledger, episodes: Mapping[str, Episode]) -> list[Act]:
    """All acts in order. `episodes` are the raw episodes of `operators_episodes`."""
    found = [Act(m.id, m.at, merge=m) for m in ledger.merges.values() if m.by is Joined.operator]
    found += [Act(m.id, m.undone_at, undo=m) for m in ledger.merges.values() if m.undone_at is not None]
    for one in ledger.contributions.values():
        episode = episodes.get(one.episode_id)
        for told in one.told:
            if told.correction is not None and episode is not None:
                entity = (one.entity_id, told.correction)
                found.append(Act(episode.id, episode.reference_time, episode, entity=entity))
    for item in ledger.evidence.values():
        episode = episodes.get(item.episode_id)
        if item.rule == OPERATOR and episode is not None:
            found.append(Act(episode.id, episode.reference_time, episode, fact=item))
    return sorted(found, key=lambda act: (act.sequence, act.name, act.undo is not None))


def is_done(act: Act, ledger: Ledger) -> bool:
    """Whether a ledger has it already."""
    if act.merge is not None:
        return act.merge.id in ledger.merges
    if act.undo is not None:
        record = ledger.merges.get(act.undo.id)
        return record is not None and record.undone_at is not None
    return act.name in ledger.episodes


def done_again(act: Act, ledger: Ledger, original: Ledger) -> Ledger:
    """The ledger with the act. `original` is the one in which it was done.

    Raises Poison when the ledger has nothing that it could be done to.
    """
    occasion = Occasion(ledger.group_id, act.name, act.at)
    if act.merge is not None:
        apart = _apart(act.merge, ledger)
        into = _entity(act.merge.into, ledger, original)
        after, record = merged(ledger, apart, into, act.merge.reason, act.at)
        merges = {k: m for k, m in after.merges.items() if k != record.id}
        merges[act.merge.id] = record.model_copy(update={"id": act.merge.id})
        return with_facts_moved(ledger, replace(after, merges=merges), occasion)
    if act.undo is not None:
        return with_facts_moved(ledger, undone(ledger, act.undo.id, act.at), occasion)
    if act.episode is None:
        raise Poison(f"nothing is known of what {act.name!r} did", "act")
    if act.entity is not None:
        entity_id = _entity(act.entity[0], ledger, original)
        return entity_corrected(ledger, entity_id, act.entity[1], act.episode)
    if act.fact is not None:
        return fact_corrected(ledger, _fact(act.fact, act.episode, ledger), _correction(act), act.episode)
    raise Poison(f"nothing is known of what {act.name!r} did", "act")


def _apart(record: Merge, ledger: Ledger) -> str:
    """The entity that the mentions of a merge stand for, before it."""
    if record.apart in ledger.entities:
        return record.apart
    return _most({(m.episode_id, m.index) for m in record.mentions}, ledger, record.apart)


def _entity(entity_id: str, ledger: Ledger, original: Ledger) -> str:
    """The entity of an id, or the one for which most of its mentions stand here."""
    if entity_id in ledger.entities:
        return entity_id
    places = {
        (one.episode_id, told.index)
        for one in original.contributions.values()
        if one.entity_id == entity_id
        for told in one.told
    }
    return _most(places, ledger, entity_id)


def _most(places: set[tuple[str, int]], ledger: Ledger, name: str) -> str:
    votes = Counter(
        one.entity_id
        for one in ledger.contributions.values()
        for told in one.told
        if (one.episode_id, told.index) in places
    )
    if not votes:
        raise Poison(f"no mention of entity {name!r} is left", "entity")
    return min(votes, key=lambda entity_id: (-votes[entity_id], entity_id))


def _fact(item: Evidence, episode: Episode, ledger: Ledger) -> str:
    """The fact that a correction was about: by its id, or by the evidence that it corrects."""
    content = episode.content if isinstance(episode.content, Mapping) else {}
    name = str(content.get("fact", ""))
    if name in ledger.facts and ledger.facts[name].beliefs[-1].holds:
        return name
    for fact in _believed(ledger, set(item.corrects)):
        return fact
    raise Poison(f"no evidence of fact {name!r} is left", "fact")


def _believed(ledger: Ledger, evidence: Iterable[str]) -> Iterator[str]:
    wanted = set(evidence)
    for name, fact in sorted(ledger.facts.items()):
        if fact.beliefs[-1].holds and not wanted.isdisjoint(fact.evidence_ids):
            yield name


def _correction(act: Act) -> FactCorrection:
    if act.episode is None or act.fact is None or not isinstance(act.episode.content, Mapping):
        raise Poison(f"nothing is known of what {act.name!r} did", "act")
    content = act.episode.content
    if content.get("retract"):
        return FactCorrection(retract=True)

    def side(field: str, precision: Precision | None) -> tuple[datetime | None, Precision | None] | None:
        if field not in content:
            return None
        given = content[field]
        return (None if given is None else parse_partial(given)[0], precision)

    return FactCorrection(
        starts=side("valid_at", act.fact.valid_at_precision),
        ends=side("invalid_at", act.fact.invalid_at_precision),
    )
