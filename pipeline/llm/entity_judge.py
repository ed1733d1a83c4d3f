"""The entity judge that asks a chat model: one question for all look-alikes of an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from pipeline.llm.fence import TokenSource, random_token
from pipeline.llm.numbered import Asked, Bounds, one_line
from pipeline.llm.port import ChatModel, Size
from pipeline.model.entity import Entity
from pipeline.model.episode import Usage
from pipeline.model.extraction import Mention
from pipeline.model.judgement import Judgement
from pipeline.observer import Observer
from pipeline.stages.judging import LookAlike, SameAs

MAX_ALIASES = 4

_TASK = """You decide whether names stand for the same thing. Each question gives a mention from a new text and numbered candidates that are already known.

Answer each question with:
- `question`: its number.
- `reason`: in a few words, what speaks for or against the best candidate. Write it before you decide.
- `candidate`: the number of the candidate that is the very same thing in the world, or null.
- `name`: with a candidate, the fullest and clearest of the names given for the two; null keeps the candidate's.
- `summary`: with a candidate, one or two sentences that say what the two descriptions (after "-") say, in their words and without repeats; no facts, nothing of your own; null when there is no description.

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
        **dict.fromkeys(("better_name", "best_name", "full_name", "canonical_name"), "name"),
        **dict.fromkeys(("merged_summary", "description"), "summary"),
    }

    question: int
    reason: Annotated[str, Field(max_length=2000)] = ""
    candidate: int | None = None
    name: Annotated[str, Field(max_length=1000)] | None = None
    summary: Annotated[str, Field(max_length=2000)] | None = None


class Verdicts(BaseModel):
    """The answers to all questions."""

    other_names: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("answers", "results", "questions", "judgements", "judgments", "resolutions"), "verdicts"
    )

    verdicts: list[Verdict] = []


class ModelEntityJudge:
    """Implements `EntityJudge`.

    The prompt is bounded: at most `max_questions` questions, each with `max_candidates` candidates; what is left over
    stays apart. Candidates are shown by number; see `Asked` for what is counted.
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
        self._bounds = Bounds(max_questions, max_candidates)
        self._size: Size = size
        self._token = token

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        """As `EntityJudge.same`. Raises Retryable and Poison as a chat model does."""
        asked = Asked.of(questions, self._bounds, self._observer)
        if not asked.questions:
            return {}, Usage()
        text = asked.text(lambda q: _mention(q.mention), lambda q, i: _entity(q.candidates[i]), "candidate")
        question = asked.question("judge_entities", _TASK, text, Verdicts, self._size, self._token)
        reply = await self._chat.ask(question)
        found: dict[int, SameAs] = {}
        for look_alike, verdict in asked.answered(reply.answer.verdicts):
            for number in asked.among(look_alike, [] if verdict.candidate is None else [verdict.candidate]):
                told = Judgement(name=verdict.name, summary=verdict.summary)
                found[look_alike.index] = SameAs(look_alike.candidates[number].id, told)
        return found, reply.usage


def _mention(mention: Mention) -> str:
    return _line(mention.name, mention.type, mention.aliases, mention.summary or "", "")


def _entity(entity: Entity) -> str:
    return _line(
        entity.name,
        entity.type,
        entity.aliases,
        entity.description,
        " ".join(line.text for line in entity.lines),
    )


def _line(name: str, kind: str | None, aliases: Sequence[str], description: str, facts: str) -> str:
    told = [one_line(name)]
    if kind:
        told.append(f"({one_line(kind)})")
    if aliases:
        told.append(f"also: {', '.join(one_line(a) for a in aliases[:MAX_ALIASES])}")
    if description:
        told.append(f"- {one_line(description)}")
    if facts:
        told.append(f"| facts: {one_line(facts)}")
    return " ".join(told)
