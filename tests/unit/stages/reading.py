"""Episodes whose statements were read out of text: an extractor that finds what the test says it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pipeline.model.episode import Episode, EpisodeRef, Source, Usage
from pipeline.model.extraction import Cardinality, Extraction, Mention, Statement, StatementKind
from pipeline.model.fact import FactView, view
from pipeline.stages.judging import Comparison, FactVerdict
from tests.unit.stages.conftest import Line


@dataclass(frozen=True)
class Said:
    """One statement with its names."""

    subject: str
    relation: str
    object: str
    start: str | None = None
    end: str | None = None
    sentence: str | None = None
    one: bool = False
    closes: bool = False


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def extraction(said: Sequence[Said]) -> Extraction:
    """What an extractor would have found: each name is one mention."""
    names = list(dict.fromkeys(n for s in said for n in (s.subject, s.object)))
    return Extraction(
        mentions=tuple(Mention(name=n) for n in names),
        statements=tuple(
            Statement(
                subject=names.index(s.subject),
                relation=s.relation,
                object=names.index(s.object),
                fact=s.sentence or f"{s.subject} {s.relation.lower().replace('_', ' ')} {s.object}",
                kind=StatementKind.closes if s.closes else StatementKind.asserts,
                cardinality=Cardinality.one if s.one else Cardinality.many,
                valid_at=moment(s.start),
                invalid_at=moment(s.end),
            )
            for s in said
        ),
    )


@dataclass
class Reader:
    """Implements `Extractor` by what was written down for an episode."""

    found: dict[str, Extraction] = field(default_factory=dict)

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        return self.found[episode.id]


async def read(line: Line, *said: Said, at: str = "2024-01-01", text: str | None = None) -> EpisodeRef:
    """Run an episode of text through all stages, in which just these statements are found."""
    line.count += 1
    reader = Reader()
    episode = Episode(
        id=f"e{line.count}",
        group_id="g",
        source=Source.text,
        content=text or ". ".join(s.sentence or s.subject for s in said),
        reference_time=at,
        sequence=line.count,
    )
    reader.found[episode.id] = extraction(said)
    before = line.extract
    line.extract = replace(before, extractor=reader)
    try:
        return await line.run(episode)
    finally:
        line.extract = before


@dataclass
class FactJudgeByNames:
    """Implements `FactJudge`: older facts about these objects have ended, or are the same; it remembers what it saw."""

    ended: frozenset[str] = frozenset()
    same: frozenset[str] = frozenset()
    asked: list[Comparison] = field(default_factory=list)

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        self.asked += questions
        verdicts = {}
        for question in questions:
            same = [i for i, c in enumerate(question.candidates) if c.object in self.same]
            ended = tuple(i for i, c in enumerate(question.candidates) if c.object in self.ended)
            verdicts[question.index] = FactVerdict(same=next(iter(same), None), ended=ended)
        return verdicts, Usage(llm_calls=1)


async def facts_of(line: Line, name: str) -> list[FactView]:
    """The facts of the entity of a name as they are believed now, oldest first."""
    ids: dict[str, str] = {}
    for number in range(1, line.count + 1):
        episode = await line.reader.episode("g", f"e{number}")
        for entity in episode.entities if episode else ():
            ids[entity.name] = entity.id
    found = await line.reader.entity_facts("g", ids[name])
    return [v for f in found or () if (v := view(f)) is not None]


def told(facts: Sequence[FactView]) -> list[tuple[str, str, str, str | None, str | None]]:
    """Facts as (source, relation, target, from, to) with days."""
    return [
        (
            f.source.name,
            f.relation,
            f.target.name,
            str(f.valid_at)[:10] if f.valid_at else None,
            str(f.invalid_at)[:10] if f.invalid_at else None,
        )
        for f in facts
    ]
