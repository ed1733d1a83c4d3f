"""What the scripted endpoint answers to graphiti-core: the same toy grammar, in the forms that its prompts ask for.

The forms are known by the name of the JSON schema. Each answer is one that spares calls: every fact gets its start in
the first answer, so that no fact is asked about again for its dates; nothing is a duplicate unless its name is.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.model_server import toy
from tests.model_server.request import RecordedRequest


def schema_name(request: RecordedRequest) -> str:
    """The name of the form that is asked for; empty when it is none."""
    return str(request.payload.get("response_format", {}).get("json_schema", {}).get("name", ""))


def is_graphiti(request: RecordedRequest) -> bool:
    """Whether it is one of these prompts."""
    return schema_name(request) in _ANSWERS


def answer(request: RecordedRequest) -> dict[str, Any]:
    """The answer to it."""
    return _ANSWERS[schema_name(request)](request)


def _entities(request: RecordedRequest) -> dict[str, Any]:
    speaker, text = _message(request)
    names = [speaker, *(e["name"] for e in toy._extracted(text, f"speaker: {speaker}")["entities"])]
    return {
        "extracted_entities": [
            {"name": name, "entity_type_id": 0, "episode_indices": [0]} for name in dict.fromkeys(names)
        ]
    }


def _edges(request: RecordedRequest) -> dict[str, Any]:
    speaker, text = _message(request)
    since = _block(request, "REFERENCE_TIME").split()[0]
    return {
        "edges": [
            {
                "source_entity_name": fact["subject"],
                "target_entity_name": fact["object"],
                "relation_type": fact["relation"],
                "fact": fact["fact"],
                "valid_at": since if fact["status"] == "holds" else None,
                "invalid_at": None if fact["status"] == "holds" else since,
                "episode_indices": [0],
            }
            for fact in toy._extracted(text, f"speaker: {speaker}")["facts"]
        ]
    }


def _resolutions(request: RecordedRequest) -> dict[str, Any]:
    known = json.loads(_block(request, "EXISTING ENTITIES"))
    return {
        "entity_resolutions": [
            {
                "id": entity["id"],
                "name": entity["name"],
                "duplicate_candidate_id": next(
                    (k["candidate_id"] for k in known if k["name"].lower() == entity["name"].lower()), -1
                ),
            }
            for entity in json.loads(_block(request, "ENTITIES"))
        ]
    }


def _summaries(request: RecordedRequest) -> dict[str, Any]:
    entities = json.loads(_block(request, "ENTITIES"))
    return {"summaries": [{"name": e["name"], "summary": f"{e['name']} was spoken of."} for e in entities]}


_ANSWERS = {
    "ExtractedEntities": _entities,
    "ExtractedEdges": _edges,
    "NodeResolutions": _resolutions,
    "EdgeDuplicate": lambda _: {"duplicate_facts": [], "contradicted_facts": []},
    "EdgeTimestamps": lambda _: {"valid_at": None, "invalid_at": None},
    "SummarizedEntities": _summaries,
    "EntitySummary": lambda _: {"summary": "It was spoken of."},
}


def _message(request: RecordedRequest) -> tuple[str, str]:
    said = (_block(request, "CURRENT MESSAGE") or _block(request, "CURRENT_MESSAGE")).strip()
    speaker, _, text = said.partition(": ")
    return speaker, text


def _block(request: RecordedRequest, name: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", request.user, re.S)
    return found.group(1) if found else ""
