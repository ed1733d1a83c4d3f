"""An entity: a person, company, product, place, … that facts are about."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from pipeline.model.moments import Moment


class SummaryLine(BaseModel):
    """One current fact as the summary of an entity tells it."""

    model_config = ConfigDict(frozen=True)

    fact_id: str
    text: str


class Entity(BaseModel):
    """An entity as it is stored. `type` is None until some episode says what it is.

    `summary` is what readers see: the `description` that a model gave, then the current facts in `lines`, newest last.
    `keys` are the keys of its name and of all its aliases.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    group_id: str
    name: str
    type: str | None = None
    aliases: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    summary: str = ""
    description: str = ""
    lines: tuple[SummaryLine, ...] = ()
    attributes: dict[str, Any] = {}
    created_at: Moment
    community_id: str | None = None

    @property
    def labels(self) -> list[str]:
        """The labels in the graph: Entity, and the type when there is one."""
        return ["Entity", self.type] if self.type and self.type != "Entity" else ["Entity"]
