"""The bodies that the server sends."""

from __future__ import annotations

import json
from typing import Any

from pipeline.llm.tokens import estimate
from tests.model_server.faults import Cut, Drop, Status
from tests.model_server.http import HttpAnswer
from tests.model_server.request import RecordedRequest


def chat_body(request: RecordedRequest, given: Any) -> dict[str, Any]:
    finish = "stop"
    if isinstance(given, Drop):
        given = {"entities": [], "facts": []}
    cut = given.characters if isinstance(given, Cut) else None
    if isinstance(given, Cut):
        given, finish = given.answer, "length"
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    text = text[:cut]
    completion = estimate(text)
    return {
        "id": f"chat-{request.number}",
        "object": "chat.completion",
        "model": request.model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": request.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": request.prompt_tokens + completion,
        },
    }


def json_answer(status: int, body: Any) -> HttpAnswer:
    return HttpAnswer(status, json.dumps(body).encode())


def error_answer(fault: Status) -> HttpAnswer:
    headers = dict(fault.headers)
    if fault.retry_after is not None:
        headers["retry-after"] = str(fault.retry_after)
    body = {"error": {"message": fault.message, "type": "scripted", "code": None}}
    return HttpAnswer(fault.code, json.dumps(body).encode(), headers)
