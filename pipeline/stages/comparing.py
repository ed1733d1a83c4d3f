"""What a judge of facts is asked about an episode, and what of its answer counts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.graph.port import FactGraph, NearFact
from pipeline.model.fact import Fact, last_view
from pipeline.stages.closing import may_end
from pipeline.stages.judging import Comparison, FactVerdict, Told
from pipeline.stages.same_fact import may_repeat, repeating
from pipeline.timeline.evidence import Evidence


@dataclass(frozen=True)
class Judged:
    """The evidence as the verdicts leave it, and which facts which statement may have ended; `refused` verdicts did
    not fit what was asked or what structure allows."""

    evidence: tuple[Evidence, ...]
    ended: tuple[tuple[Evidence, Fact], ...]
    refused: int = 0


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


def judged(
    items: Sequence[Evidence],
    asked: Iterable[tuple[Comparison, tuple[Fact, ...]]],
    verdicts: Mapping[int, FactVerdict],
) -> Judged:
    """What of the verdicts counts."""
    result = list(items)
    ended: list[tuple[Evidence, Fact]] = []
    facts_of = {question.index: facts for question, facts in asked}
    refused = len(set(verdicts) - set(facts_of))
    for index, facts in facts_of.items():
        verdict = verdicts.get(index, FactVerdict())
        if verdict.same is not None:
            same = _at(facts, verdict.same)
            if same is not None and may_repeat(result[index], same):
                result[index] = repeating(result[index], same)
            else:
                refused += 1
        for place in dict.fromkeys(verdict.ended):
            fact = _at(facts, place)
            if fact is not None and place != verdict.same and may_end(result[index], fact):
                ended.append((result[index], fact))
            else:
                refused += 1
    return Judged(tuple(result), tuple(ended), refused)


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
    )
