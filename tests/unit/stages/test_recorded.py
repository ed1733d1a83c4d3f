"""Judges that answer from a record: what they take for the same question, and what they count."""

from __future__ import annotations

from datetime import UTC, datetime

from pipeline.identity import stable_id
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeRef
from pipeline.model.extraction import Mention
from pipeline.model.judgement import (
    JudgedEpisode,
    Judgement,
    MentionVerdict,
    Named,
    StatementPlace,
    StatementVerdict,
    fingerprint,
)
from pipeline.stages.judging import Comparison, FactVerdict, LookAlike, SameAs, Told
from pipeline.stages.recorded import Nobody, RecordedEntityJudge, RecordedFactJudge, Records
from pipeline.timeline.evidence import Evidence

AT = datetime(2024, 1, 1, tzinfo=UTC)
REF = EpisodeRef(id="e2", group_id="g", reference_time=AT, sequence=2)


def entity(name: str, kind: str | None = None, number: int = 1) -> Entity:
    key = name.lower()
    return Entity(
        id=f"{key}-{number}",
        group_id="h",
        name=name,
        type=kind,
        keys=(key,),
        created_at=AT.replace(day=number),
    )


def judged(*mentions: MentionVerdict, statements: tuple[StatementVerdict, ...] = ()) -> JudgedEpisode:
    return JudgedEpisode(episode=REF, stage="s", mentions=mentions, statements=statements)


async def test_a_mention_is_known_by_key_and_type_and_an_entity_by_id_or_key_and_type() -> None:
    told = Judgement(name="Ana Ruiz")
    record = judged(
        MentionVerdict(
            mention=Named(key="anna"), same=Named(key="ana", type="person", id="ana-1"), judgement=told
        ),
        MentionVerdict(mention=Named(key="bob"), same=Named(key="robert", type="person", id="gone")),
        MentionVerdict(mention=Named(key="cem")),
        MentionVerdict(mention=Named(key="dora"), same=Named(key="theodora")),
    )
    judge = RecordedEntityJudge(record)
    answers, usage = await judge.same(
        [
            LookAlike(
                0, Mention(name="ANNA", type="Entity"), (entity("Ana", "Place", 2), entity("Ana", "Person"))
            ),
            LookAlike(1, Mention(name="Bob"), (entity("Robert", "Person", 3), entity("Robert", None, 2))),
            LookAlike(2, Mention(name="Cem"), (entity("Cem"),)),
            LookAlike(3, Mention(name="Dora"), (entity("Dorothea"),)),
            LookAlike(4, Mention(name="Anna", type="Person"), (entity("Ana", "Person"),)),
        ]
    )
    assert answers == {0: SameAs("ana-1", told), 1: SameAs("robert-3")}
    assert (judge.lost, judge.unrecorded, usage.llm_calls) == (1, 1, 0)
    assert judge.recall(Mention(name="bob")) == Named(key="robert", type="person", id="gone")
    assert judge.recall(Mention(name="nobody")) is None


def evidence(episode: str, index: int, sentence: str) -> Evidence:
    return Evidence(
        id=stable_id("evidence", "h", episode, str(index)),
        episode_id=episode,
        subject="a",
        relation="R",
        object="b",
        fact=sentence,
        reference_time=AT,
        sequence=1,
        index=index,
        recorded_at=AT,
    )


def told(sentence: str, *support: Evidence) -> Told:
    return Told("a", "R", "b", sentence, None, None, None, "", tuple(e.id for e in support))


async def test_a_fact_is_known_by_a_statement_that_says_the_same_as_then() -> None:
    tea, rum = evidence("e1", 0, "Ana likes tea"), evidence("e1", 1, "Ana likes rum, it turns out")
    places = [
        StatementPlace(episode_id="e1", index=0, said=fingerprint("Ana likes tea")),
        StatementPlace(episode_id="e1", index=1, said=fingerprint("Ana likes gin")),
    ]
    verdict = StatementVerdict(index=0, said=fingerprint("Ana hates all of it"), ended=tuple(places))
    judge = RecordedFactJudge("h", judged(statements=(verdict,)))
    own = evidence("e2", 5, "ANA hates all of it")
    assert list(judge.recall(own)) == [tea.id, rum.id]
    judge.meet([tea, rum])
    # The statement stands at another place of its episode this time; what e1 says second is something else.
    question = Comparison(5, told("ANA hates all of it"), (told("x", rum), told("y", tea)))
    other = Comparison(6, told("Ana sings"), (told("y", tea),))
    answers, _ = await judge.compare([question, other])
    assert answers == {5: FactVerdict(None, (1,))}
    assert (judge.lost, judge.unrecorded) == (1, 1)


async def test_the_last_record_stands_and_whoever_is_beside_is_asked_the_rest() -> None:
    first, last = (
        judged(MentionVerdict(mention=Named(key="ana"))),
        judged(MentionVerdict(mention=Named(key="bob"))),
    )
    assert Records([first, last]).of("e2", "s") == last
    assert Records([]).of("e2", "s") is None

    class Beside(Nobody):
        asked: tuple[str, ...] = ()

        async def same(self, questions):  # type: ignore[no-untyped-def]
            self.asked = tuple(q.mention.name for q in questions)
            return {q.index: SameAs(q.candidates[0].id) for q in questions}, (await super().same(questions))[
                1
            ]

    beside = Beside()
    answers, _ = await RecordedEntityJudge(last, beside).same(
        [
            LookAlike(0, Mention(name="Ana"), (entity("Ana"),)),
            LookAlike(1, Mention(name="Bob"), (entity("Bob"),)),
        ]
    )
    assert (beside.asked, answers) == (("Ana",), {0: SameAs("ana-1")})
