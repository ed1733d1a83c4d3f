"""One request as the server received it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pipeline.llm.tokens import estimate


@dataclass(frozen=True)
class RecordedRequest:
    """`number` counts the requests to the same path from 1; `purpose` is the client's header, `target` the
    path as it was asked for, with its query."""

    path: str
    number: int
    purpose: str
    model: str
    payload: dict[str, Any]
    headers: dict[str, str]
    target: str = ""

    @property
    def system(self) -> str:
        """The system message."""
        return self._said("system")

    @property
    def user(self) -> str:
        """The first user message."""
        return self._said("user")

    @property
    def text(self) -> str:
        """All messages, or all texts to embed."""
        if "input" in self.payload:
            return "\n".join(self.inputs)
        return "\n".join(str(m.get("content", "")) for m in self.payload.get("messages", []))

    @property
    def inputs(self) -> list[str]:
        """The texts to embed."""
        given = self.payload.get("input", [])
        return [given] if isinstance(given, str) else list(given)

    @property
    def prompt_tokens(self) -> int:
        """By the same estimate as the client's."""
        return estimate(self.text)

    def block(self, name: str) -> str:
        """The text of a fenced block of the first user message; empty when there is none.

        The token is taken from the notice before the first block, as a model that follows the notice would.
        """
        token = re.search(r"<name ([0-9a-f]+)>", self.user)
        if token is None:
            return ""
        opening, closing = f"<{name} {token.group(1)}>\n", f"\n</{name} {token.group(1)}>"
        start = self.user.find(opening)
        end = self.user.rfind(closing)
        return self.user[start + len(opening) : end] if 0 <= start < end else ""

    def numbers(self, name: str) -> list[int]:
        """The numbers of the fenced blocks of the first user message that have this name and a number."""
        token = re.search(r"<name ([0-9a-f]+)>", self.user)
        if token is None:
            return []
        return [int(n) for n in re.findall(rf"^<{name}_(\d+) {token.group(1)}>$", self.user, re.M)]

    def _said(self, role: str) -> str:
        messages = self.payload.get("messages", [])
        return next((str(m.get("content", "")) for m in messages if m.get("role") == role), "")
