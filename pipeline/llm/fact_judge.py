"""The fact judge that asks a chat model: one question for all comparisons of an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from pipeline.llm.fence import TokenSource, random_token
from pipeline.llm.numbered import Asked, Bounds, one_line
from pipeline.llm.port import ChatModel, Size
from pipeline.model.episode import Usage
from pipeline.model.moments import iso
from pipeline.observer import Observer
from pipeline.stages.judging import Comparison, FactVerdict, Told

MAX_SOURCE = 300
"""Characters of a source that are shown."""

_TASK = """You keep a record of facts over time. Each question gives a new statement and numbered older facts that are in the record, each with its dates and the text that it comes from. Decide what the new statement does to each of them.

Answer each question with:
- `question`: its number.
- `reason`: in a few words, what the texts say about the older facts in question. Write it before you decide.
- `same`: the number of the older fact that says the very same thing about the same two, or null.
- `ended`: the numbers of the older facts that cannot be true any more once the new statement is, or [].

The same: other words, another name of the relation. Not the same: another value, amount, place or time.
Ended: the two cannot both be true at one time (lives in one city, then in another; works somewhere, then has retired; likes something, then cannot stand it).
Not ended: what may be true beside it (a second hobby, language, friend, product, visit), what is only more or less exact, what happened and stays so (bought, met, was born), what speaks of another time. When in doubt, null and []: a fact that stands too long can be closed later, one that was closed wrongly is lost to readers."""


class Verdict(BaseModel):
    """The answer to one question."""

    model_config = ConfigDict(str_strip_whitespace=True)
    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("id", "index", "statement", "number", "question_number"), "question"),
        **dict.fromkeys(("duplicate", "same_as", "duplicate_of"), "same"),
        **dict.fromkeys(("contradicted", "contradicts", "invalidated", "ends", "closed"), "ended"),
        **dict.fromkeys(("why", "explanation", "reasoning"), "reason"),
    }

    question: int
    reason: Annotated[str, Field(max_length=2000)] = ""
    same: int | None = None
    ended: list[int] = []


class Verdicts(BaseModel):
    """The answers to all questions."""

    other_names: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("answers", "results", "questions", "judgements", "judgments", "comparisons"), "verdicts"
    )

    verdicts: list[Verdict] = []


class ModelFactJudge:
    """Implements `FactJudge`.

    The prompt is bounded: at most `max_questions` questions, each with `max_candidates` older facts; what is left over
    stays as it is. Facts are shown by number; see `Asked` for what is counted.
    """

    def __init__(
        self,
        chat: ChatModel,
        observer: Observer,
        *,
        max_questions: int = 20,
        max_candidates: int = 6,
        size: Size = "small",
        token: TokenSource = random_token,
    ) -> None:
        self._chat = chat
        self._observer = observer
        self._bounds = Bounds(max_questions, max_candidates)
        self._size: Size = size
        self._token = token

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        """As `FactJudge.compare`. Raises Retryable and Poison as a chat model does."""
        asked = Asked.of(questions, self._bounds, self._observer)
        if not asked.questions:
            return {}, Usage()
        text = asked.text(lambda q: _told(q.statement), lambda q, i: _told(q.candidates[i]), "fact")
        question = asked.question("judge_facts", _TASK, text, Verdicts, self._size, self._token)
        reply = await self._chat.ask(question)
        found: dict[int, FactVerdict] = {}
        for comparison, verdict in asked.answered(reply.answer.verdicts):
            same = asked.among(comparison, [] if verdict.same is None else [verdict.same])
            ended = asked.among(comparison, verdict.ended)
            found[comparison.index] = FactVerdict(same=next(iter(same), None), ended=tuple(ended))
        return found, reply.usage


def _told(fact: Told) -> str:
    told = [
        f"{one_line(fact.subject)} | {one_line(fact.relation)} | {one_line(fact.object)}",
        f'"{one_line(fact.sentence)}"',
        f"from {_day(fact.valid_at)} to {_day(fact.invalid_at)}",
    ]
    if fact.said_at is not None:
        told.append(f"said on {_day(fact.said_at)}")
    if fact.source:
        told.append(f"text: {one_line(fact.source, MAX_SOURCE)}")
    return "; ".join(told)


def _day(moment: datetime | None) -> str:
    return "unknown" if moment is None else iso(moment)[:10]
