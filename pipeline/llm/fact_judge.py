"""The fact judge that asks a chat model: one question for all comparisons of an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from pipeline.llm.fence import Fence, TokenSource, random_token
from pipeline.llm.port import ChatModel, Question, Size
from pipeline.model.episode import Usage
from pipeline.model.moments import iso
from pipeline.observer import Observer
from pipeline.stages.judging import Comparison, FactVerdict, Told

MAX_TEXT = 200
"""Characters of a name or a sentence that are shown."""
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
    stays as it is and is counted as `judge_left_out`. Facts are shown by number, so that no id ever leaves; a number
    that was not given is no verdict and counted as `judge_wrong_number`.
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
        self._max_questions = max_questions
        self._max_candidates = max_candidates
        self._size: Size = size
        self._token = token

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        """As `FactJudge.compare`. Raises Retryable and Poison as a chat model does."""
        asked = [q for q in questions if q.candidates][: self._max_questions]
        left_out = len(questions) - len(asked)
        left_out += sum(max(0, len(q.candidates) - self._max_candidates) for q in asked)
        if left_out:
            self._observer.event("judge_left_out", left_out)
        if not asked:
            return {}, Usage()
        reply = await self._chat.ask(self._question(asked))
        verdicts: dict[int, FactVerdict] = {}
        for verdict in reply.answer.verdicts:
            if not 0 <= verdict.question < len(asked) or asked[verdict.question].index in verdicts:
                self._observer.event("judge_wrong_number")
                continue
            comparison = asked[verdict.question]
            shown = range(min(len(comparison.candidates), self._max_candidates))
            same = verdict.same if verdict.same in shown else None
            ended = tuple(n for n in dict.fromkeys(verdict.ended) if n in shown)
            wrong = (verdict.same is not None and same is None) + len(set(verdict.ended)) - len(ended)
            if wrong:
                self._observer.event("judge_wrong_number", wrong)
            verdicts[comparison.index] = FactVerdict(same=same, ended=ended)
        if len(verdicts) < len(asked):
            self._observer.event("judge_unanswered", len(asked) - len(verdicts))
        return verdicts, reply.usage

    def _question(self, asked: Sequence[Comparison]) -> Question[Verdicts]:
        blocks = [
            "\n".join(
                [
                    f"question {number}: {_told(comparison.statement)}",
                    *(
                        f"  fact {i}: {_told(c)}"
                        for i, c in enumerate(comparison.candidates[: self._max_candidates])
                    ),
                ]
            )
            for number, comparison in enumerate(asked)
        ]
        data = "\n\n".join(blocks)
        fence = Fence([data], self._token)
        user = f"{fence.notice}\n\n{fence.wrap('questions', data)}\n\nAnswer all {len(asked)} questions."
        return Question(
            purpose="judge_facts",
            system=_TASK,
            user=user,
            answer=Verdicts,
            size=self._size,
            max_tokens=200 + 150 * len(asked),
        )


def _told(fact: Told) -> str:
    told = [
        f"{_short(fact.subject)} | {_short(fact.relation)} | {_short(fact.object)}",
        f'"{_short(fact.sentence)}"',
        f"from {_day(fact.valid_at)} to {_day(fact.invalid_at)}",
    ]
    if fact.said_at is not None:
        told.append(f"said on {_day(fact.said_at)}")
    if fact.source:
        told.append(f"text: {_short(fact.source, MAX_SOURCE)}")
    return "; ".join(told)


def _day(moment: datetime | None) -> str:
    return "unknown" if moment is None else iso(moment)[:10]


def _short(text: str, limit: int = MAX_TEXT) -> str:
    """One line of bounded length, so that no text can look like another line of the list."""
    return " ".join(text.split())[:limit]
