"""What an endpoint and model understand of the chat API, and how to find out. Pure.

The first request speaks the richest dialect. When it is rejected, the next one leaves out what the endpoint complains
of. The client remembers the dialect that was accepted, so that each endpoint and model pays for this once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel

from pipeline.llm.schema import answer_schema

Form = Literal["json_schema", "json_object", "plain"]
LimitField = Literal["max_tokens", "max_completion_tokens"] | None

_NEXT_FORM: dict[Form, Form | None] = {"json_schema": "json_object", "json_object": "plain", "plain": None}
_NEXT_LIMIT: dict[LimitField, LimitField] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": None,
}
_ABOUT_FORM = (
    "response_format",
    "json_schema",
    "json_object",
    "schema",
    "structured",
    "json mode",
    "guided",
    "grammar",
    "requested parameters",
    "json_validate_failed",
    "failed to generate json",
)
_ABOUT_MODEL = re.compile(
    r"\bmodel\b.{0,80}?(?:not found|does not exist|not exist|unknown|not available|no longer)"
)
_ABOUT_SIZE = (
    "context length",
    "context_length",
    "context window",
    "maximum context",
    "too long",
    "too many tokens",
)
_ABOUT_ANSWER = ("max_tokens", "max_completion_tokens", "completion", "output")
_TOO_LARGE = re.compile(
    r"(?:max_(?:completion_)?tokens|(?:output|completion) tokens).{0,120}"
    r"(?:too large|at most|maximum|exceed|less than|greater than|out of range)"
)
_ABOUT_CONTENT = ("content_filter", "content filter", "content management policy", "content policy")
_ABOUT_SYSTEM = re.compile(r"system.{0,40}(?:role|message)|role.{0,60}system|roles must alternate")


@dataclass(frozen=True)
class Dialect:
    """How the answer's form is asked for, and which optional parameters are sent."""

    form: Form = "json_schema"
    limit: LimitField = "max_tokens"
    temperature: bool = True
    system: bool = True

    def messages(self, talk: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
        """A talk that begins with a system and a user message, the two in one where there is no system role."""
        first, second, *more = map(dict, talk)
        if self.system:
            return [first, second, *more]
        return [{**second, "content": f"{first['content']}\n\n{second['content']}"}, *more]

    def parameters(self, purpose: str, answer: type[BaseModel], max_tokens: int | None) -> dict[str, Any]:
        """The part of a request that depends on the dialect."""
        sent: dict[str, Any] = {}
        if self.temperature:
            sent["temperature"] = 0
        if self.limit and max_tokens is not None:
            sent[self.limit] = max_tokens
        if self.form == "json_schema":
            schema = {"name": purpose, "strict": True, "schema": answer_schema(answer)}
            sent["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.form == "json_object":
            sent["response_format"] = {"type": "json_object"}
        return sent


def poorer(dialect: Dialect, complaint: str) -> Dialect | None:
    """The dialect to try after a rejection; None when the rejection has nothing to do with the dialect.

    A complaint that names no parameter is answered by the next simpler form, until there is none left.
    """
    told = complaint.lower()
    if any(words in told for words in _ABOUT_CONTENT):
        return None
    if any(words in told for words in _ABOUT_SIZE):
        # Question and answer share a model's context: a small one may have room for both, but not for the limit.
        fits_without = dialect.limit and any(words in told for words in _ABOUT_ANSWER)
        return replace(dialect, limit=None) if fits_without else None
    if dialect.limit and _TOO_LARGE.search(told):
        return replace(dialect, limit=None)
    if dialect.limit and dialect.limit in told:
        return replace(dialect, limit=_NEXT_LIMIT[dialect.limit])
    if dialect.temperature and "temperature" in told:
        return replace(dialect, temperature=False)
    if dialect.system and _ABOUT_SYSTEM.search(told):
        return replace(dialect, system=False)
    form = _NEXT_FORM[dialect.form]
    return replace(dialect, form=form) if form else None


def about_form(complaint: str) -> bool:
    """Whether a rejection is about the form of the answer."""
    told = complaint.lower()
    return any(words in told for words in _ABOUT_FORM)


def about_route(complaint: str) -> bool:
    """Whether a gateway says that nobody behind it serves a request of this form."""
    told = complaint.lower()
    return "requested parameters" in told or "response_format" in told


def about_model(complaint: str) -> bool:
    """Whether a rejection says that there is no such model: a fault of the settings, not of the request."""
    return bool(_ABOUT_MODEL.search(complaint.lower())) and not about_form(complaint)
