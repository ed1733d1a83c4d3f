"""The JSON schema of an answer, in the subset that structured output understands everywhere. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel

_KEPT = frozenset({"type", "enum", "description", "items", "properties", "anyOf", "const"})


@lru_cache(maxsize=64)
def answer_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """Definitions inlined, every property required (optional ones may be null), no others allowed.

    That is what the strict mode of structured output asks for; bounds and defaults, which some endpoints reject, are
    left to the reading of the answer. Recursive models are not supported and raise ValueError.
    The same object for every call: it is sent, not changed.
    """
    schema = answer.model_json_schema()
    found = _plain(schema, schema.get("$defs", {}), ())
    if not isinstance(found, dict):
        raise TypeError(f"{answer.__name__} has no object schema")
    return found


def _plain(node: Any, definitions: dict[str, Any], path: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions, path) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        if name in path:
            raise ValueError(f"{name} refers to itself, which structured output cannot express")
        return _plain(definitions[name], definitions, (*path, name))
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            made[key] = {name: _plain(item, definitions, path) for name, item in value.items()}
        elif key in _KEPT:
            made[key] = _plain(value, definitions, path)
    if made.get("type") == "object":
        made.setdefault("properties", {})
        made["required"] = list(made["properties"])
        made["additionalProperties"] = False
    return made
