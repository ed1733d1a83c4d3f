"""The entity judge that asks a chat model: one question for all look-alikes of an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from pipeline.llm.fence import Fence, TokenSource, random_token
from pipeline.llm.port import ChatModel, Question, Size
from pipeline.model.entity import Entity
from pipeline.model.episode import Usage
from pipeline.model.extraction import Mention
from pipeline.observer import Observer
from pipeline.stages.judging import LookAlike, SameAs

MAX_TEXT = 200
"""Characters of a summary that are shown."""
MAX_ALIASES = 4

_TASK = """You decide whether names stand for the same thing. Each question gives a mention from a new text and numbered candidates that are already known.

Answer each question with:
- `question`: its number.
- `reason`: in a few words, what speaks for or against the best candidate. Write it before you decide.
- `candidate`: the number of the candidate that is the very same thing in the world, or null.

The same: another spelling, a short form, a nickname, a translation or transliteration, an added title or legal form.
Not the same: things that are only related (a company and its product, a parent and a child, a city and its airport), members of one series (versions, years, models, serial numbers), two people who share a first name while nothing else connects them. When in doubt, null: two that are kept apart can be joined later, a wrong union is hard to undo."""


class Verdict(BaseModel):
    """The answer to one question."""

    model_config = ConfigDict(str_strip_whitespace=True)
    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("id", "index", "mention", "number", "question_number"), "question"),
        **dict.fromkeys(
            ("match", "same_as", "answer", "candidate_number", "verdict", "duplicate"), "candidate"
        ),
        **dict.fromkeys(("why", "explanation", "reasoning"), "reason"),
    }

    question: int
    reason: Annotated[str, Field(max_length=2000)] = ""
    candidate: int | None = None


class Verdicts(BaseModel):
    """The answers to all questions."""

    other_names: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("answers", "results", "questions", "judgements", "judgments", "resolutions"), "verdicts"
    )

    verdicts: list[Verdict] = []


class ModelEntityJudge:
    """Implements `EntityJudge`.

    The prompt is bounded: at most `max_questions` questions, each with `max_candidates` candidates; what is left over
    stays apart and is counted as `judge_left_out`. Candidates are shown by number, so that no id ever leaves; a number
    that was not given is no verdict and counted as `judge_wrong_number`.
    """

    def __init__(
        self,
        chat: ChatModel,
        observer: Observer,
        *,
        max_questions: int = 40,
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

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        """As `EntityJudge.same`. Raises Retryable and Poison as a chat model does."""
        asked = [q for q in questions if q.candidates][: self._max_questions]
        left_out = len(questions) - len(asked)
        left_out += sum(max(0, len(q.candidates) - self._max_candidates) for q in asked)
        if left_out:
            self._observer.event("judge_left_out", left_out)
        if not asked:
            return {}, Usage()
        reply = await self._chat.ask(self._question(asked))
        verdicts: dict[int, SameAs] = {}
        answered: set[int] = set()
        for verdict in reply.answer.verdicts:
            if not 0 <= verdict.question < len(asked) or verdict.question in answered:
                self._observer.event("judge_wrong_number")
                continue
            answered.add(verdict.question)
            if verdict.candidate is None:
                continue
            look_alike = asked[verdict.question]
            shown = look_alike.candidates[: self._max_candidates]
            if not 0 <= verdict.candidate < len(shown):
                self._observer.event("judge_wrong_number")
                continue
            verdicts[look_alike.index] = SameAs(shown[verdict.candidate].id)
        unanswered = len(asked) - len(answered)
        if unanswered:
            self._observer.event("judge_unanswered", unanswered)
        return verdicts, reply.usage

    def _question(self, asked: Sequence[LookAlike]) -> Question[Verdicts]:
        blocks = [
            "\n".join(
                [
                    f"question {number}: {_mention(look_alike.mention)}",
                    *(
                        f"  candidate {i}: {_entity(e)}"
                        for i, e in enumerate(look_alike.candidates[: self._max_candidates])
                    ),
                ]
            )
            for number, look_alike in enumerate(asked)
        ]
        data = "\n\n".join(blocks)
        fence = Fence([data], self._token)
        user = f"{fence.notice}\n\n{fence.wrap('questions', data)}\n\nAnswer all {len(asked)} questions."
        return Question(
            purpose="judge_entities",
            system=_TASK,
            user=user,
            answer=Verdicts,
            size=self._size,
            max_tokens=200 + 150 * len(asked),
        )


def _mention(mention: Mention) -> str:
    return _line(mention.name, mention.type, mention.aliases, mention.summary or "")


def _entity(entity: Entity) -> str:
    return _line(entity.name, entity.type, entity.aliases, entity.summary)


def _line(name: str, kind: str | None, aliases: Sequence[str], summary: str) -> str:
    told = [_short(name)]
    if kind:
        told.append(f"({_short(kind)})")
    if aliases:
        told.append(f"also: {', '.join(_short(a) for a in aliases[:MAX_ALIASES])}")
    if summary:
        told.append(f"- {_short(summary)}")
    return " ".join(told)


def _short(text: str) -> str:
    """One line of bounded length, so that no text can look like another line of the list."""
    return " ".join(text.split())[:MAX_TEXT]
