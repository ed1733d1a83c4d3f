"""The teller that asks a chat model: one question for a community, map-reduce for one that is too large for that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from pipeline.extraction.local.sentences import sentences
from pipeline.extraction.model.grounding import Ground
from pipeline.llm.fence import Fence, TokenSource, random_token
from pipeline.llm.port import ChatModel, Question, Size
from pipeline.model.entity import Entity
from pipeline.model.episode import Usage
from pipeline.observer import Observer
from pipeline.text.words import word_set

MAX_MEMBER = 400
"""Characters of one member that are shown."""
MAX_SUMMARY = 1200
ANSWER_TOKENS = 600
NEEDED_SHARE = 0.4
"""Of the letters of a sentence without a capital name, so many must belong to words of the notes."""

_CAPITAL = re.compile(r"(?<![\w'’])[A-ZÀ-ÞЀ-Я][\w'’-]*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_COMMON = word_set(
    """
    a an the this that these those they their he she his her it its we and but so both all several some
    many most one two three together other others another each everyone besides also among as at by for
    from in of on since while with when who after before until now until today currently
    el la los las un una unos unas ellos ellas él ella su sus este esta estos estas ese esa ambos ambas
    todos todas varios varias juntos juntas otro otra otros otras además también entre desde mientras con
    en de por para cuando tras antes y pero ahora actualmente
    """
)

_TASK = """You are given notes about people, organizations, places and things that belong together. Write down in two to five sentences what joins them and what matters most about them, so that somebody who knows none of them understands the group.

Say only what the notes say: no name, number, date or event that is not there, no guesses, no praise. Use names as the notes write them, and begin each sentence with one of them. Write in the language that most of the notes are in. One paragraph, no lists."""


class Summary(BaseModel):
    """What a model tells of a community."""

    model_config = ConfigDict(str_strip_whitespace=True)
    other_names: ClassVar[Mapping[str, str]] = dict.fromkeys(("text", "description", "paragraph"), "summary")

    summary: Annotated[str, Field(min_length=1, max_length=5000)]


class ModelCommunityTeller:
    """Implements `CommunityTeller`.

    At most `members` notes go into one question. More are told in pieces, and the pieces once more in one question, as
    often as that takes. Sentences with a name or a number that no note has are left out and counted as
    `ungrounded_summary`; when none is left there is no summary.
    """

    def __init__(
        self,
        chat: ChatModel,
        observer: Observer,
        *,
        members: int = 40,
        size: Size = "small",
        token: TokenSource = random_token,
    ) -> None:
        self._chat = chat
        self._observer = observer
        self._members = max(2, members)
        self._size: Size = size
        self._token = token

    async def tell(self, members: Sequence[Entity]) -> tuple[str | None, Usage]:
        """As `CommunityTeller.tell`. Raises Retryable and Poison as a chat model does."""
        notes = [_note(member) for member in members]
        usage = Usage()
        while True:
            pieces = [notes[i : i + self._members] for i in range(0, len(notes), self._members)]
            told: list[str] = []
            for piece in pieces:
                text, spent = await self._ask(piece)
                usage += spent
                if text:
                    told.append(text)
            if len(pieces) == 1 or not told:
                return (told[0] if told else None), usage
            notes = told

    async def _ask(self, notes: Sequence[str]) -> tuple[str, Usage]:
        data = "\n".join(f"- {note}" for note in notes)
        fence = Fence([data], self._token)
        question = Question(
            purpose="summarize_community",
            system=_TASK,
            user=f"{fence.notice}\n\n{fence.wrap('notes', data)}\n\nWrite the paragraph.",
            answer=Summary,
            size=self._size,
            max_tokens=ANSWER_TOKENS,
        )
        reply = await self._chat.ask(question)
        return self._grounded(reply.answer.summary, data), reply.usage

    def _grounded(self, summary: str, notes: str) -> str:
        """The sentences of a summary whose names and numbers stand in the notes."""
        ground = Ground(notes)
        text = " ".join(summary.split())[:MAX_SUMMARY]
        kept = []
        for start, end in sentences(text):
            sentence = text[start:end].strip()
            if _stands(sentence, ground, notes):
                kept.append(sentence)
            else:
                self._observer.event("ungrounded_summary")
        return " ".join(kept)


def _stands(sentence: str, ground: Ground, notes: str) -> bool:
    """Whether every capital word and number of a sentence stands in the notes, and of one without names enough of the rest.

    Strict on purpose: a lost sentence costs little, a name that belongs to nobody misleads.
    """
    names = [word for word in _CAPITAL.findall(sentence) if word.casefold() not in _COMMON]
    return (
        all(map(ground.in_episode, names))
        and all(number in notes for number in _NUMBER.findall(sentence))
        and (bool(names) or ground.covers(sentence) >= NEEDED_SHARE)
    )


def _note(entity: Entity) -> str:
    """One line of bounded length, so that no text can look like another line of the list."""
    kind = f" ({entity.type})" if entity.type else ""
    return f"{entity.name}{kind}: {entity.summary}".replace("\n", " ")[:MAX_MEMBER]
