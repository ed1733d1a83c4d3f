"""A community: entities that hang together, with a summary of what joins them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from pipeline.model.moments import Moment


class Community(BaseModel):
    """A community as it is stored; `members` are entity ids."""

    model_config = ConfigDict(frozen=True)

    id: str
    group_id: str
    name: str
    summary: str
    created_at: Moment
    members: tuple[str, ...] = ()
