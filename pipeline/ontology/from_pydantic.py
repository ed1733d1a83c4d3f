"""An ontology from pydantic models: the class is the type, its docstring the description, its fields the attributes."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pipeline.model.extraction import Cardinality
from pipeline.ontology.model import AttributeKind, AttributeType, EntityType, Ontology, Policy, RelationType

_KINDS: Mapping[Any, AttributeKind] = {
    str: AttributeKind.text,
    int: AttributeKind.integer,
    float: AttributeKind.number,
    bool: AttributeKind.boolean,
    date: AttributeKind.date,
    datetime: AttributeKind.date,
    list: AttributeKind.list,
}


def entity_type(model: type[BaseModel]) -> EntityType:
    """The entity type of a class. `max_length` and `Literal` are taken over; other types are any JSON value."""
    attributes = {name: _attribute(field) for name, field in model.model_fields.items()}
    return EntityType(name=model.__name__, description=_description(model), attributes=attributes)


def relation_type(
    model: type[BaseModel], signatures: Sequence[tuple[str, str]], cardinality: Cardinality | None
) -> RelationType:
    """The relation of a class; WorksAt becomes WORKS_AT."""
    name = "".join(f"_{c}" if c.isupper() and i else c for i, c in enumerate(model.__name__)).upper()
    return RelationType(
        name=name, description=_description(model), signatures=tuple(signatures), cardinality=cardinality
    )


def ontology(
    name: str,
    entities: Sequence[type[BaseModel]],
    relations: Mapping[type[BaseModel], Sequence[tuple[str, str]]] | None = None,
    *,
    cardinality: Mapping[type[BaseModel], Cardinality] | None = None,
    excluded_types: Sequence[str] = (),
    policy: Policy = Policy.relabel,
) -> Ontology:
    """An ontology of classes; `relations` gives each relation class its signatures of type names."""
    counts = cardinality or {}
    return Ontology(
        name=name,
        entity_types=tuple(entity_type(model) for model in entities),
        relation_types=tuple(
            relation_type(model, pairs, counts.get(model)) for model, pairs in (relations or {}).items()
        ),
        excluded_types=tuple(excluded_types),
        policy=policy,
    )


def _description(model: type[BaseModel]) -> str:
    own = model.__dict__.get("__doc__")
    return " ".join(own.split()) if isinstance(own, str) else ""


def _attribute(field: FieldInfo) -> AttributeType:
    inner = _without_none(field.annotation)
    limits = [
        item.max_length for item in field.metadata if isinstance(getattr(item, "max_length", None), int)
    ]
    more: dict[str, Any] = {"max_length": limits[0]} if limits else {}
    if get_origin(inner) is Literal:
        more["choices"] = tuple(str(value) for value in get_args(inner))
        kind = AttributeKind.text
    else:
        kind = _KINDS.get(get_origin(inner) or inner, AttributeKind.any)
    return AttributeType(kind=kind, description=field.description or "", **more)


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [part for part in get_args(annotation) if part is not type(None)]
        return rest[0] if len(rest) == 1 else Any
    return annotation
