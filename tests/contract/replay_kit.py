"""Random histories with judges that join and close, run through the stages and told again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

import orjson

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.digest import digest, summary
from pipeline.model.changes import FactChange
from pipeline.model.episode import Episode, Source, Usage
from pipeline.model.extraction import (
    Cardinality,
    ExtractedEpisode,
    Extraction,
    Mention,
    ResolvedEpisode,
    Statement,
    StatementKind,
)
from pipeline.model.judgement import JudgedEpisode, Judgement
from pipeline.observer import SilentObserver
from pipeline.replay.logged import LoggedEpisode, logged
from pipeline.replay.replay import Replay
from pipeline.stages.extract import ExtractStage
from pipeline.stages.judging import (
    Comparison,
    EntityJudge,
    FactJudge,
    FactVerdict,
    LookAlike,
    SameAs,
)
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from tests.contract.kit import DIMENSION, Graph, GraphAndLedger, day

NAMES = (
    "Acme Inc", "Acme Incorporated", "Acme", "Ana Ruiz", "Ana Ruiz Gómez", "Ana", "漢語大學", "汉语大学", "王伟", "王偉",
    "Lima", "Quito", "tea", "green tea",
)  # fmt: skip
TYPES = (None, None, "Company", "Person", "Place")
RELATIONS = ("LIVES_IN", "LIKES", "CANNOT_STAND", "MARRIED_TO", "WORKS_AT", "EMPLOYS", "LEFT")


def _chance(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:4], "big")


@dataclass
class AnyEntityJudge:
    """Implements `EntityJudge`: a coin for each pair of names, the same one every time."""

    seed: str = ""
    asked: int = 0

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        self.asked += len(questions)
        found: dict[int, SameAs] = {}
        for question in questions:
            for entity in question.candidates:
                coin = _chance(self.seed, question.mention.name, entity.name)
                if coin % 2 == 0:
                    name = (question.mention.name, entity.name, "Somebody Else")[coin // 2 % 3]
                    summary = (question.mention.summary or "", "made up", entity.description)[coin // 6 % 3]
                    found[question.index] = SameAs(entity.id, Judgement(name=name, summary=summary or None))
                    break
        return found, Usage(llm_calls=1)


@dataclass
class AnyFactJudge:
    """Implements `FactJudge` in the same way."""

    seed: str = ""
    asked: int = 0

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        self.asked += len(questions)
        found = {}
        for question in questions:
            coins = [_chance(self.seed, question.statement.sentence, c.sentence) for c in question.candidates]
            same = next((i for i, coin in enumerate(coins) if coin % 5 == 0), None)
            ended = tuple(i for i, coin in enumerate(coins) if coin % 5 in (1, 2, 3))
            found[question.index] = FactVerdict(same, ended)
        return found, Usage(llm_calls=1)


class NobodyToAsk:
    """Implements both judges and the extractor for a run in which nobody may be asked."""

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        raise AssertionError("a model was asked")

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        raise AssertionError("a model was asked")

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        raise AssertionError("a model was asked")


@dataclass
class Written:
    """Implements `Extractor` by what was written down."""

    found: Mapping[str, Extraction]

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        return self.found[episode.id]


@dataclass
class History:
    """Episodes and what is to be found in them."""

    episodes: list[Episode]
    found: dict[str, Extraction]
    extracted: list[ExtractedEpisode] = field(default_factory=list)
    judged: list[JudgedEpisode] = field(default_factory=list)
    changes: list[FactChange] = field(default_factory=list)

    def log(self) -> list[LoggedEpisode]:
        """What a replay is given."""
        return logged(self.episodes, self.extracted)


def random_history(chance: Random, group: str, length: int) -> History:
    """A history of some episodes of text; reference times are in any order, some episodes say nothing."""
    episodes, found = [], {}
    for number in range(1, length + 1):
        episode = Episode(
            id=f"e{number}",
            group_id=group,
            source=Source.text,
            content=f"text {number}",
            reference_time=day(chance.randrange(1, 30)),
            sequence=number * 10,
        )
        names = chance.sample(NAMES, chance.randrange(2, 5))
        statements = [_statement(chance, names) for _ in range(chance.randrange(1, 4))]
        mentions = tuple(
            Mention(name=n, type=chance.choice(TYPES), summary=chance.choice([None, f"{n} of text {number}"]))
            for n in names
        )
        silent = chance.random() < 0.1
        episodes.append(episode)
        found[episode.id] = (
            Extraction() if silent else Extraction(mentions=mentions, statements=tuple(statements))
        )
    return History(episodes, found)


def _statement(chance: Random, names: Sequence[str]) -> Statement:
    subject, value = chance.sample(range(len(names)), 2)
    relation = chance.choice(RELATIONS)
    start = chance.choice([None, chance.randrange(1, 30)])
    one = relation == "LIVES_IN" or chance.random() < 0.2
    return Statement(
        subject=subject,
        relation=relation,
        object=value,
        fact=f"{names[subject]} {relation.lower()} {names[value]}",
        kind=chance.choice([StatementKind.asserts] * 5 + [StatementKind.closes]),
        cardinality=Cardinality.one if one else Cardinality.many,
        valid_at=None if start is None else day(start),
        verbatim=chance.random() < 0.1,
    )


@dataclass
class Stages:
    """The four stages over a store, on a clock of their own."""

    store: GraphAndLedger
    extractor: Written | NobodyToAsk
    entity_judge: EntityJudge | None = None
    fact_judge: FactJudge | None = None
    now: datetime = field(default_factory=lambda: day(100))

    def clock(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    @property
    def replay(self) -> Replay:
        embedder, observer = HashingEmbedder(DIMENSION), SilentObserver()
        return Replay(
            ExtractStage(self.store, self.extractor, embedder, self.clock, observer),
            ResolveEntitiesStage(self.store, embedder, self.clock, observer, self.entity_judge),
            ResolveFactsStage(self.store, embedder, self.clock, observer, self.fact_judge),
            UpdateCommunitiesStage(self.store, embedder, self.clock, observer),
        )


async def lived(graph: Graph, history: History, seed: str) -> Stages:
    """The history as it happened, with judges that throw a coin."""
    return await lived_with(graph, history, AnyEntityJudge(seed), AnyFactJudge(seed))


async def lived_with(
    graph: Graph, history: History, entity_judge: EntityJudge, fact_judge: FactJudge | None = None
) -> Stages:
    """The history as it happened: through the stages one by one, keeping what they send on."""
    stages = Stages(graph.store, Written(history.found), entity_judge, fact_judge)
    line = stages.replay
    for episode in history.episodes:
        extracted = (await line.extract.run(episode)).output
        if extracted is None:
            continue
        history.extracted.append(ExtractedEpisode.model_validate_json(extracted))
        entities = await line.resolve_entities.run(history.extracted[-1])
        assert entities.output
        facts = await line.resolve_facts.run(ResolvedEpisode.model_validate_json(entities.output))
        assert facts.output
        told = orjson.loads(facts.output)
        history.changes += [FactChange.model_validate(change) for change in told["changes"]]
        await line.update_communities.run(episode.ref, told["touched"])
        history.judged += [
            JudgedEpisode.model_validate_json(one.judged) for one in (entities, facts) if one.judged
        ]
    await line.update_communities.rebuild(history.episodes[0].group_id)
    return stages


async def said(graph: Graph, group: str) -> tuple[str, dict[str, list[object]]]:
    """The digest of a group, and what it is made of, to see a difference by."""
    dump = await graph.dump(group)
    return digest(dump), summary(dump)


async def recorded(graph: Graph, group: str) -> dict[tuple[str, str], JudgedEpisode]:
    """What the graph keeps of its judges, by episode and stage."""
    return dict((await graph.store.ledger(group)).judged)
