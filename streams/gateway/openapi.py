"""What the OpenAPI description says of POST /v1/episodes; the schemas come from the models that validate."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from pipeline.model.event import EpisodeEvent

_EXAMPLES: dict[str, Any] = {
    "message": {
        "summary": "A chat message",
        "value": {
            "id": "chat-17-3",
            "group_id": "acme",
            "source": "message",
            "content": "The new cartridge fixed it, thank you!",
            "speaker": {"name": "Ana", "role": "user"},
            "reference_time": "2024-03-01T09:30:00Z",
            "thread_id": "chat-17",
        },
    },
    "triples": {
        "summary": "A CRM change, already structured",
        "value": {
            "group_id": "acme",
            "source": "triples",
            "content": [
                {
                    "subject": {"name": "Ana", "type": "Person"},
                    "relation": "WORKS_AT",
                    "object": {"name": "Acme", "type": "Company"},
                    "valid_at": "2024-03-01",
                    "cardinality": "one",
                }
            ],
        },
    },
}


def _inline() -> dict[str, Any]:
    """The schema with its definitions inside, since FastAPI collects components from its own models only."""
    schema: dict[str, Any] = TypeAdapter(EpisodeEvent).json_schema()
    return schema


REQUEST_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": _inline(), "examples": _EXAMPLES}},
    }
}
RESPONSES: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "Kafka has them",
        "content": {"application/json": {"example": {"ids": ["chat-17-3"]}}},
    },
    400: {"description": "The body is not JSON"},
    413: {"description": "The body, or one event, is too large"},
    422: {"description": "An event breaks the contract; `errors` names each field"},
    503: {"description": "Kafka has not confirmed; send again after Retry-After seconds"},
}
