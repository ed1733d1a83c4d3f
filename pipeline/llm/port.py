"""ChatModel: what answers a question in a given form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

from pipeline.model.episode import Usage

A = TypeVar("A", bound=BaseModel)
Size = Literal["model", "small"]


@dataclass(frozen=True)
class Question(Generic[A]):
    """One question to a chat model.

    `purpose` names it in metrics and errors ("extract", "judge_entities"). `system` is the same for every question of
    its kind, so that an endpoint can cache it; `user` carries the data. `answer` is the form of the answer. `size`
    chooses between the two configured models. `max_tokens` bounds the answer; None leaves it to the endpoint.
    `tentative`: whoever asks has another way, so when the endpoint rejects the form of the answer no poorer form is tried,
    and nothing is concluded for other questions.
    """

    purpose: str
    system: str
    user: str
    answer: type[A]
    size: Size = "model"
    max_tokens: int | None = None
    tentative: bool = False


@dataclass(frozen=True)
class Reply(Generic[A]):
    """The answer, and what it cost. `complete` is False when the model stopped early and could not be made to finish."""

    answer: A
    usage: Usage = field(default_factory=Usage)
    complete: bool = True


class ChatModel(Protocol):
    """Answers questions in a given form."""

    async def ask(self, question: Question[A]) -> Reply[A]:
        """One question, one answer.

        Raises Retryable when the endpoint cannot serve now, and Poison, naming purpose, model and reason, when the
        model answered twice and neither answer could be used.
        """
