"""How much memory the local servers may take."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field

from factstream.stack.errors import StackError


class StackMemory(BaseModel):
    """Caps in MiB. A server takes roughly its heap and 150 MiB more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kafka_heap: int = Field(default=256, ge=128)
    neo4j_heap: int = Field(default=1024, ge=384)
    neo4j_page_cache: int = Field(default=128, ge=16)

    @classmethod
    def parse(cls, text: str) -> StackMemory:
        """The default caps with Neo4j's heap set to `text`: "768m" or "2g"."""
        match = re.fullmatch(r"(\d+)([mg])", text.strip().lower())
        if match is None:
            raise StackError(f"memory is written like 768m or 2g, not {text!r}")
        heap = int(match[1]) * (1024 if match[2] == "g" else 1)
        if heap < 384:
            raise StackError(f"Neo4j needs a heap of at least 384m, not {text}")
        return cls(neo4j_heap=heap)
