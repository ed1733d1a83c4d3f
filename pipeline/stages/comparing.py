"""What a judge of facts is asked about an episode, and what of its answer counts. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.graph.fact_port import FactGraph, NearFact
from pipeline.model.fact import Fact, last_view
from pipeline.model.judgement import StatementPlace, StatementVerdict, fingerprint
from pipeline.stages.closing import may_end
from pipeline.stages.judging import Comparison, FactVerdict, Told
from pipeline.stages.same_fact import may_repeat, repeating
from pipeline.timeline.evidence import Evidence


@dataclass(frozen=True)
class Judged:
    """The evidence as the verdicts leave it, which facts which statement repeats, and which it may have ended; `refused`
    verdicts did not fit what was asked or what structure allows. `asked` are the statements that were asked about."""

    evidence: tuple[Evidence, ...]
    ended: tuple[tuple[Evidence, Fact], ...]
    refused: int = 0
    same: tuple[tuple[Evidence, Fact], ...] = ()
    asked: tuple[Evidence, ...] = ()


def comparisons(
    items: Iterable[Evidence], near: Mapping[str, Sequence[NearFact]], graph: FactGraph
) -> list[tuple[Comparison, tuple[Fact, ...]]]:
    """The questions, each with the facts that its candidates are; nothing is asked that structure has decided."""
    asked = []
    for place, item in enumerate(items):
        candidates = [n for n in near.get(item.id, ()) if may_end(item, n.fact) or may_repeat(item, n.fact)]
        if candidates:
            told = tuple(_of_fact(n) for n in candidates)
            asked.append(
                (
                    Comparison(place, _of_statement(item, graph.source), told),
                    tuple(n.fact for n in candidates),
                )
            )
    return asked


def with_recalled(
    near: Sequence[NearFact], recalled: Iterable[Evidence], facts: Iterable[Fact]
) -> list[NearFact]:
    """What is near, behind the facts that recalled evidence supports."""
    wanted = {e.id for e in recalled}
    first = [fact for fact in facts if fact.beliefs[-1].holds and not wanted.isdisjoint(fact.evidence_ids)]
    names = {fact.id for fact in first}
    return [*(NearFact(fact, "") for fact in first), *(n for n in near if n.fact.id not in names)]


def judged(
    items: Sequence[Evidence],
    asked: Iterable[tuple[Comparison, tuple[Fact, ...]]],
    verdicts: Mapping[int, FactVerdict],
) -> Judged:
    """What of the verdicts counts."""
    result = list(items)
    ended: list[tuple[Evidence, Fact]] = []
    repeated: list[tuple[Evidence, Fact]] = []
    facts_of = {question.index: facts for question, facts in asked}
    refused = len(set(verdicts) - set(facts_of))
    for index, facts in facts_of.items():
        verdict = verdicts.get(index, FactVerdict())
        if verdict.same is not None:
            same = _at(facts, verdict.same)
            if same is not None and may_repeat(result[index], same):
                result[index] = repeating(result[index], same)
                repeated.append((result[index], same))
            else:
                refused += 1
        for place in dict.fromkeys(verdict.ended):
            fact = _at(facts, place)
            if fact is not None and place != verdict.same and may_end(result[index], fact):
                ended.append((result[index], fact))
            else:
                refused += 1
    return Judged(
        tuple(result), tuple(ended), refused, tuple(repeated), tuple(items[index] for index in facts_of)
    )


def verdicts_of(found: Judged, evidence: Iterable[Evidence]) -> tuple[StatementVerdict, ...]:
    """What is to be kept of a comparison: each statement that was asked about, and what counted of the answer.

    `evidence` holds what supports the facts; a fact of which it holds nothing cannot be spoken of.
    """
    known = {e.id: e for e in evidence}
    same = {item.id: place for item, fact in found.same if (place := _place(fact, known))}
    ended: dict[str, list[StatementPlace]] = defaultdict(list)
    for item, fact in found.ended:
        if place := _place(fact, known):
            ended[item.id].append(place)
    return tuple(
        StatementVerdict(
            index=item.index,
            said=fingerprint(item.fact),
            same=same.get(item.id),
            ended=tuple(ended[item.id]),
        )
        for item in found.asked
    )


def _place(fact: Fact, known: Mapping[str, Evidence]) -> StatementPlace | None:
    """The first of the statements that support a fact, in the total order."""
    support = [known[name] for name in fact.evidence_ids if name in known]
    if not support:
        return None
    first = min(support, key=lambda e: e.order)
    return StatementPlace(episode_id=first.episode_id, index=first.index, said=fingerprint(first.fact))


def _at(facts: Sequence[Fact], place: int) -> Fact | None:
    return facts[place] if 0 <= place < len(facts) else None


def _of_statement(item: Evidence, source: str) -> Told:
    return Told(
        subject=item.subject_name,
        relation=item.relation,
        object=item.object_name,
        sentence=item.fact,
        valid_at=item.valid_at,
        invalid_at=item.invalid_at,
        said_at=item.reference_time,
        source=source,
    )


def _of_fact(near: NearFact) -> Told:
    shown = last_view(near.fact)
    return Told(
        subject=shown.source.name,
        relation=shown.relation,
        object=shown.target.name,
        sentence=shown.fact,
        valid_at=shown.valid_at,
        invalid_at=shown.invalid_at,
        said_at=None,
        source=near.source,
        support=near.fact.evidence_ids,
    )
