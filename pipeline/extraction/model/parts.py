"""The form in which a model says what each of several episodes states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from pipeline.extraction.model.answer import Found, FoundEntity, FoundFact


class FoundPart(BaseModel):
    """Everything that the episode of a number states."""

    model_config = ConfigDict(str_strip_whitespace=True)

    whole: ClassVar[bool] = True
    text_field: ClassVar[str] = "episode"
    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("number", "episode_number", "episode_id", "index", "id"), "episode"),
        **Found.other_names,
    }

    episode: int
    entities: list[FoundEntity] = []
    facts: list[FoundFact] = []


class FoundParts(BaseModel):
    """The parts of an answer."""

    other_names: ClassVar[Mapping[str, str]] = dict.fromkeys(("parts", "results", "answers"), "episodes")

    episodes: list[FoundPart] = []

    def sole(self, count: int) -> list[Found | None]:
        """What is said of the numbers from 1 to `count`.

        None for a number that has no part, several, or one that has neither of the two lists.
        """
        told = Counter(part.episode for part in self.episodes)
        parts = {
            part.episode: Found(entities=part.entities, facts=part.facts)
            for part in self.episodes
            if told[part.episode] == 1 and part.model_fields_set & {"entities", "facts"}
        }
        return [parts.get(number) for number in range(1, count + 1)]
