"""What an operator sets right, as evidence of an episode of the operator's own. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pipeline.curation.ends import named_ends
from pipeline.curation.merging import known
from pipeline.curation.refolding import by_entity, refolded
from pipeline.curation.restating import restated
from pipeline.errors import Poison
from pipeline.graph.ledger import Ledger
from pipeline.identity import entity_key, stable_id
from pipeline.model.episode import Episode, Source
from pipeline.model.extraction import Cardinality, Mention, StatementKind
from pipeline.model.fact import Fact
from pipeline.model.provenance import Contribution, Correction, Joined, Told
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.precision import Precision
from pipeline.timeline.reconcile import Occasion

OPERATOR = "operator"
"""The rule of evidence that an operator gave."""


@dataclass(frozen=True)
class FactCorrection:
    """What is to be said of when a fact holds. `starts` and `ends` are (moment, precision); a moment of None is
    unbounded, and None altogether leaves that side as it is. `retract`: it never held."""

    starts: tuple[datetime | None, Precision | None] | None = None
    ends: tuple[datetime | None, Precision | None] | None = None
    retract: bool = False


def operators_episode(group_id: str, content: Mapping[str, Any], now: datetime) -> Episode:
    """The episode under which a correction is kept; it can be read, searched and forgotten like any other.

    Its place in the order is that of a record that the log would take now.
    """
    return Episode(
        id=f"operator-{stable_id(group_id, repr(sorted(content.items())), now.isoformat())}",
        group_id=group_id,
        source=Source.json,
        content=dict(content),
        reference_time=now,
        sequence=round(now.timestamp() * 1000) << 20,
        source_description=OPERATOR,
    )


def entity_corrected(ledger: Ledger, entity_id: str, correction: Correction, episode: Episode) -> Ledger:
    """The ledger with an entity set right by the operator's episode. Raises Poison for what cannot be."""
    entity = known(ledger, entity_id)
    if correction == Correction():
        raise Poison("nothing is to be corrected", "correction")
    for field in ("name", "type"):
        value = getattr(correction, field)
        if value is not None and not entity_key(value):
            raise Poison("must contain at least one visible character", field)
    contribution = Contribution(
        episode_id=episode.id,
        entity_id=entity_id,
        place=max(
            [ledger.lanes.get("resolve_entities", 0), *(c.place for c in ledger.contributions.values())]
        ),
        at=episode.reference_time,
        told=(Told(index=0, mention=Mention(name=""), joined=Joined.operator, correction=correction),),
    )
    contributions = {**ledger.contributions, (episode.id, entity_id): contribution}
    told = by_entity(contributions)[entity_id]
    if not any(entity_key(t.mention.name) for one in told for t in one.told):
        raise Poison(f"nothing is kept of what told of entity {entity_id!r}", "entity")
    entities = {**ledger.entities, entity_id: refolded(entity, told)}
    return replace(
        ledger,
        episodes=ledger.episodes | {episode.id},
        contributions=contributions,
        entities=entities,
        evidence={i: named_ends(e, entities) for i, e in ledger.evidence.items()},
    )


def fact_corrected(ledger: Ledger, fact_id: str, correction: FactCorrection, episode: Episode) -> Ledger:
    """The ledger with a fact's interval set right, or the fact taken back, by the operator's episode.

    Raises Poison when the fact is not there, is believed at no time, rests on no evidence, or would end before it
    starts.
    """
    fact = ledger.facts.get(fact_id)
    if fact is None:
        pairs = [f.id for f in ledger.facts.values() if f.hyperedge == fact_id]
        if pairs:
            told = f"fact {fact_id!r} stands over several pairs: correct one of them, {', '.join(pairs)}"
            raise Poison(told, "fact")
        raise Poison(f"there is no fact {fact_id!r} in group {ledger.group_id!r}", "fact")
    item = _evidence(ledger, fact, correction, episode)
    evidence = {**ledger.evidence, item.id: item}
    occasion = Occasion(ledger.group_id, episode.id, episode.reference_time)
    return replace(
        ledger,
        episodes=ledger.episodes | {episode.id},
        evidence=evidence,
        facts=restated(ledger.evidence, evidence, ledger.facts, ledger.entities, occasion),
    )


def _evidence(ledger: Ledger, fact: Fact, correction: FactCorrection, episode: Episode) -> Evidence:
    support = [name for name in fact.evidence_ids if name in ledger.evidence]
    belief = fact.beliefs[-1]
    if not belief.holds or not support:
        raise Poison(f"fact {fact.id!r} is believed at no time: there is nothing to correct", "fact")
    starts = correction.starts or (belief.valid_at, belief.valid_at_precision)
    ends = correction.ends or (belief.invalid_at, belief.invalid_at_precision)
    if correction.ends is None and belief.closing_rule == "superseded":
        # That end is another value's start. It is derived again, and not to be stated.
        ends = (None, None)
    if starts[0] is not None and ends[0] is not None and ends[0] <= starts[0]:
        raise Poison("a fact must end after it starts", "invalid_at")
    if correction == FactCorrection():
        raise Poison("nothing is to be corrected", "correction")
    return Evidence(
        id=stable_id("evidence", ledger.group_id, episode.id, "0"),
        episode_id=episode.id,
        subject=fact.source.id,
        relation=fact.relation,
        object=fact.target.id,
        subject_name=fact.source.name,
        object_name=fact.target.name,
        kind=StatementKind.closes if correction.retract else StatementKind.asserts,
        cardinality=Cardinality(fact.cardinality),
        symmetric=any(ledger.evidence[i].symmetric for i in support),
        additive=fact.additive,
        valid_at=None if correction.retract else starts[0],
        valid_at_precision=None if correction.retract else starts[1],
        invalid_at=None if correction.retract else ends[0],
        invalid_at_precision=None if correction.retract else ends[1],
        reference_time=episode.reference_time,
        sequence=episode.sequence,
        rule=OPERATOR,
        corrects=tuple(support),
        recorded_at=episode.reference_time,
    )
