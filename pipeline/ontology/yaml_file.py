"""Ontologies from a YAML file.

crm:
  policy: refuse                      # or relabel, the default
  excluded_types: [Greeting]
  entities:
    Person:
      description: A human being
      attributes:
        email: {kind: email}
        age: integer
    Company: {}
  relations:
    WORKS_AT:
      cardinality: one
      signatures: [[Person, Company]]
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pipeline.errors import SettingError
from pipeline.ontology.model import Ontology
from pipeline.ontology.registry import OntologyRegistry


def load_ontologies(path: Path, default: str | None = None) -> OntologyRegistry:
    """The ontologies of a file. `default` names the one for episodes that name none.

    Raises SettingError that names the file and the place in it.
    """
    try:
        decoded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingError(f"the ontology file {path} cannot be read: {error}") from None
    if not isinstance(decoded, Mapping):
        raise SettingError(f"the ontology file {path} must be a map of names to ontologies")
    found = [_ontology(path, str(name), body) for name, body in decoded.items()]
    return OntologyRegistry(found, default=default)


def _ontology(path: Path, name: str, body: Any) -> Ontology:
    if not isinstance(body, Mapping):
        raise SettingError(f"{path}: {name} must be a map")
    known = {"policy", "excluded_types", "entities", "relations"}
    unknown = sorted(str(key) for key in body if key not in known)
    if unknown:
        raise SettingError(f"{path}: {name}.{unknown[0]} is not known; there are {', '.join(sorted(known))}")
    made: dict[str, Any] = {key: body[key] for key in ("policy", "excluded_types") if key in body}
    made["entity_types"] = [
        _entity(kind, inner) for kind, inner in _map(path, f"{name}.entities", body.get("entities"))
    ]
    made["relation_types"] = [
        {"name": kind, **(inner or {})}
        for kind, inner in _map(path, f"{name}.relations", body.get("relations"))
    ]
    try:
        return Ontology.model_validate({"name": name, **made})
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in (name, *fault["loc"]))
        raise SettingError(f"{path}: {place}: {fault['msg'].removeprefix('Value error, ')}") from None


def _map(path: Path, place: str, value: Any) -> list[tuple[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, Mapping) or not all(v is None or isinstance(v, Mapping) for v in value.values()):
        raise SettingError(f"{path}: {place} must be a map of names to maps")
    return [(str(key), item) for key, item in value.items()]


def _entity(kind: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
    made = dict(body or {})
    attributes = made.get("attributes") or {}
    if isinstance(attributes, Mapping):
        made["attributes"] = {
            n: {"kind": a} if isinstance(a, str) else (a or {}) for n, a in attributes.items()
        }
    return {"name": kind, **made}
