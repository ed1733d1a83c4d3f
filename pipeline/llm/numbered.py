"""Questions to a judge by number: what is shown, and which of its answers are about it.

An id never leaves: a model sees the number of a question in one call, and the numbers of its candidates. A prompt is
bounded however much there is to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from pipeline.llm.fence import Fence, TokenSource
from pipeline.llm.port import Question, Size
from pipeline.observer import Observer

MAX_TEXT = 200
"""Characters of a name, a sentence or a description that are shown."""
TOKENS_OF_ALL, TOKENS_OF_EACH = 200, 150
"""What an answer may take, all in all and for each question."""


class WithCandidates(Protocol):
    """Something that is asked about candidates."""

    @property
    def candidates(self) -> Sequence[object]: ...


class Numbered(Protocol):
    """An answer that names its question by number."""

    question: int


Q = TypeVar("Q", bound=WithCandidates)
V = TypeVar("V", bound=Numbered)
A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True)
class Bounds:
    """How much one call may hold."""

    questions: int
    candidates: int


@dataclass(frozen=True)
class Asked(Generic[Q]):
    """The questions of one call, in the order of their numbers. What is left over is counted as `judge_left_out`."""

    questions: Sequence[Q]
    bounds: Bounds
    observer: Observer

    @classmethod
    def of(cls, questions: Sequence[Q], bounds: Bounds, observer: Observer) -> Asked[Q]:
        """Those that have candidates, as many as one call may hold."""
        asked = [q for q in questions if q.candidates][: bounds.questions]
        left_out = len(questions) - len(asked)
        left_out += sum(max(0, len(q.candidates) - bounds.candidates) for q in asked)
        if left_out:
            observer.event("judge_left_out", left_out)
        return cls(asked, bounds, observer)

    def shown(self, question: Q) -> int:
        """How many of its candidates are shown."""
        return min(len(question.candidates), self.bounds.candidates)

    def text(self, head: Callable[[Q], str], candidate: Callable[[Q, int], str], name: str) -> str:
        """The questions as lines of text; `name` is what a candidate is called."""
        blocks = [
            "\n".join(
                [
                    f"question {number}: {head(question)}",
                    *(f"  {name} {i}: {candidate(question, i)}" for i in range(self.shown(question))),
                ]
            )
            for number, question in enumerate(self.questions)
        ]
        return "\n\n".join(blocks)

    def question(
        self, purpose: str, task: str, text: str, answer: type[A], size: Size, token: TokenSource
    ) -> Question[A]:
        """The one call."""
        fence = Fence([text], token)
        ending = f"Answer all {len(self.questions)} questions."
        return Question(
            purpose=purpose,
            system=task,
            user=f"{fence.notice}\n\n{fence.wrap('questions', text)}\n\n{ending}",
            answer=answer,
            size=size,
            max_tokens=TOKENS_OF_ALL + TOKENS_OF_EACH * len(self.questions),
        )

    def answered(self, verdicts: Iterable[V]) -> Iterator[tuple[Q, V]]:
        """Each question with the first answer that names it.

        Numbers that were not given, and second answers, are counted as `judge_wrong_number`; questions without an
        answer as `judge_unanswered`.
        """
        done: set[int] = set()
        for verdict in verdicts:
            if not 0 <= verdict.question < len(self.questions) or verdict.question in done:
                self.observer.event("judge_wrong_number")
                continue
            done.add(verdict.question)
            yield self.questions[verdict.question], verdict
        if len(done) < len(self.questions):
            self.observer.event("judge_unanswered", len(self.questions) - len(done))

    def among(self, question: Q, numbers: Iterable[int]) -> list[int]:
        """Those numbers that candidates were shown under, each once; the others are counted as wrong."""
        given = list(dict.fromkeys(numbers))
        known = [n for n in given if 0 <= n < self.shown(question)]
        if len(known) < len(given):
            self.observer.event("judge_wrong_number", len(given) - len(known))
        return known


def one_line(text: str, limit: int = MAX_TEXT) -> str:
    """One line of bounded length, so that no text can look like another line of the list."""
    return " ".join(text.split())[:limit]
