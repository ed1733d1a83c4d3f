"""What a chat completion says and has cost, out of the body of an answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.llm.tokens import estimate
from pipeline.model.episode import Usage


@dataclass(frozen=True)
class Said:
    """What a model has said. `refusal` is why it is of no use, where the endpoint tells; `starved`: the answer was cut before it began."""

    text: str
    refusal: str
    usage: Usage
    seconds: float
    starved: bool


def said_in(body: dict[str, Any], talk: Sequence[Mapping[str, str]], seconds: float) -> Said:
    """From the body of an answer; whatever is missing in it is empty."""
    choices = body.get("choices")
    choice = _record(choices[0] if isinstance(choices, list) and choices else None)
    message = _record(choice.get("message"))
    # Some servers take a whole answer for thoughts.
    content = _text(message.get("content")) or _text(message.get("reasoning_content"))
    finish = choice.get("finish_reason")
    starved = finish == "length" and not content.strip()
    refusal = message.get("refusal") or ("content filter" if finish == "content_filter" else "")
    reason = f"the model refused: {refusal}" if refusal else ""
    if starved:
        reason = "it was cut off at the length limit before it began (thoughts count towards that limit)"
    return Said(content, reason, _usage(body, talk, content), seconds, starved)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _usage(body: dict[str, Any], talk: Sequence[Mapping[str, str]], content: str) -> Usage:
    """What the endpoint says that it cost; an estimate where it says nothing."""
    told = _record(body.get("usage"))
    details = _record(told.get("prompt_tokens_details"))
    prompt, completion = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    return Usage(
        llm_calls=1,
        prompt_tokens=sum(estimate(part["content"]) for part in talk) if prompt is None else prompt,
        cached_tokens=_count(details.get("cached_tokens")) or 0,
        completion_tokens=estimate(content) if completion is None else completion,
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _record(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
