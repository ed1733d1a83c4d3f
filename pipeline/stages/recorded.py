"""Judges that answer from the record of an earlier run.

What is recalled is put before them whether or not it is found by likeness this time: indexes that find by likeness are
approximate, and behind what was committed a moment ago.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pipeline.identity import stable_id
from pipeline.model.episode import Usage
from pipeline.model.extraction import Mention
from pipeline.model.judgement import (
    JudgedEpisode,
    MentionVerdict,
    Named,
    StatementPlace,
    StatementVerdict,
    fingerprint,
    named_mention,
    places_of,
)
from pipeline.observer import Observer
from pipeline.stages.judging import Comparison, EntityJudge, FactJudge, FactVerdict, LookAlike, SameAs
from pipeline.stages.matching import bearing
from pipeline.timeline.evidence import Evidence


class Records:
    """What judges said, by the id of the episode and the stage; the last record of each stands.

    They are found by the episode's id alone, so that the group may be another one than they speak of.
    """

    def __init__(self, judged: Iterable[JudgedEpisode] = ()) -> None:
        self._of: dict[tuple[str, str], JudgedEpisode] = {}
        self.add(judged)

    def add(self, judged: Iterable[JudgedEpisode]) -> None:
        """Some more of them."""
        self._of |= {(one.episode.id, one.stage): one for one in judged}

    def of(self, episode_id: str, stage: str) -> JudgedEpisode | None:
        """The record of a stage about an episode."""
        return self._of.get((episode_id, stage))


class Nobody:
    """Implements both judges, and finds nothing: what has no record stays as it is."""

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        """See `EntityJudge`."""
        return {}, Usage()

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        """See `FactJudge`."""
        return {}, Usage()


class RecordedEntityJudge:
    """Implements `EntityJudge` for one episode.

    Args:
        record: what was said about the episode; None: nothing.
        beside: whom to ask what has no record; None: the answer is "none of them".

    `unrecorded` counts the questions without a record, `lost` the verdicts whose entity is not among the candidates.
    """

    def __init__(self, record: JudgedEpisode | None, beside: EntityJudge | None = None) -> None:
        self._said: dict[Named, MentionVerdict] = {v.mention: v for v in record.mentions} if record else {}
        self._beside = beside
        self.unrecorded = 0
        self.lost = 0

    def recall(self, mention: Mention) -> Named | None:
        """Which entity a mention was judged to be, if any."""
        verdict = self._said.get(named_mention(mention))
        return verdict.same if verdict else None

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        """See `EntityJudge`."""
        answers: dict[int, SameAs] = {}
        unknown: list[LookAlike] = []
        for question in questions:
            verdict = self._said.get(named_mention(question.mention))
            if verdict is None:
                unknown.append(question)
            elif verdict.same is not None:
                found = bearing(verdict.same, question.candidates)
                if found is None:
                    self.lost += 1
                else:
                    answers[question.index] = SameAs(found.id, verdict.judgement)
        self.unrecorded += len(unknown)
        if not unknown or self._beside is None:
            return answers, Usage()
        more, usage = await self._beside.same(unknown)
        return {**more, **answers}, usage


class RecordedFactJudge:
    """Implements `FactJudge` for one episode; see `RecordedEntityJudge`.

    `group_id` is the group that is written to, since ids of evidence are made of it.
    """

    def __init__(self, group_id: str, record: JudgedEpisode | None, beside: FactJudge | None = None) -> None:
        self._group = group_id
        self._said: dict[str, list[StatementVerdict]] = {}
        for verdict in record.statements if record else ():
            self._said.setdefault(verdict.said, []).append(verdict)
        self._there: set[tuple[str, str]] = set()
        self._beside = beside
        self.unrecorded = 0
        self.lost = 0

    def recall(self, item: Evidence) -> Sequence[str]:
        """Ids of evidence for the facts that a statement was judged to repeat or to end."""
        verdict = self._of(item.index, item.fact)
        return [] if verdict is None else [self._evidence(place) for place in places_of(verdict)]

    def meet(self, evidence: Iterable[Evidence]) -> None:
        """What stands at the places of the record this time: a place where something else is said is not the one that
        was judged about."""
        self._there |= {(e.id, fingerprint(e.fact)) for e in evidence}

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        """See `FactJudge`."""
        answers: dict[int, FactVerdict] = {}
        unknown: list[Comparison] = []
        for question in questions:
            verdict = self._of(question.index, question.statement.sentence)
            if verdict is None:
                unknown.append(question)
                continue
            same = self._found(verdict.same, question) if verdict.same else None
            ended = [self._found(place, question) for place in verdict.ended]
            self.lost += (verdict.same is not None and same is None) + ended.count(None)
            answers[question.index] = FactVerdict(same, tuple(e for e in ended if e is not None))
        self.unrecorded += len(unknown)
        if not unknown or self._beside is None:
            return answers, Usage()
        more, usage = await self._beside.compare(unknown)
        return {**more, **answers}, usage

    def _of(self, index: int, sentence: str) -> StatementVerdict | None:
        """What was said of a statement: of the same place and sentence, else of the same sentence."""
        found = self._said.get(fingerprint(sentence), [])
        return next((v for v in found if v.index == index), next(iter(found), None))

    def _found(self, place: StatementPlace, question: Comparison) -> int | None:
        evidence_id = self._evidence(place)
        if (evidence_id, place.said) not in self._there:
            return None
        return next((i for i, c in enumerate(question.candidates) if evidence_id in c.support), None)

    def _evidence(self, place: StatementPlace) -> str:
        return stable_id("evidence", self._group, place.episode_id, str(place.index))


def counted(observer: Observer, judge: RecordedEntityJudge | RecordedFactJudge) -> None:
    """Tell of questions without a record, and of verdicts that could not be given again."""
    if judge.unrecorded:
        observer.event("judge_unrecorded", judge.unrecorded)
    if judge.lost:
        observer.event("judge_lost", judge.lost)
