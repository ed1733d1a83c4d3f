"""An ontology: entity types with attributes, relations with signatures and cardinality, and its policy."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pipeline.identity import entity_key
from pipeline.model.extraction import Cardinality

GENERIC_TYPE = "Entity"
GENERIC_RELATION = "RELATES_TO"
ANY = "*"


class Policy(StrEnum):
    """What happens to an answer that the ontology does not know: the generic label, or nothing of it."""

    relabel = "relabel"
    refuse = "refuse"


class AttributeKind(StrEnum):
    """What the value of an attribute must be. `any` is any JSON value, nested ones included."""

    text = "text"
    number = "number"
    integer = "integer"
    boolean = "boolean"
    date = "date"
    email = "email"
    phone = "phone"
    url = "url"
    list = "list"
    any = "any"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AttributeType(_Part):
    """One attribute. `choices` are the only values, when there are any; `max_length` counts characters or items."""

    kind: AttributeKind = AttributeKind.text
    description: str = ""
    max_length: Annotated[int, Field(gt=0)] = 250
    choices: tuple[str, ...] = ()


class EntityType(_Part):
    """One type of entity; its name is the label in the graph."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    description: str = ""
    attributes: dict[str, AttributeType] = {}
    other_names: tuple[str, ...] = ()


class RelationType(_Part):
    """One relation. `signatures` are (subject type, object type), "*" standing for any; none means any.

    A `symmetric` relation holds from both ends alike. `inverse_of` names the relation that says the same from the
    other end; facts are kept under that one, so it should be the one whose subject has one object at a time.
    """

    name: Annotated[str, Field(min_length=1, max_length=100)]
    description: str = ""
    signatures: tuple[tuple[str, str], ...] = ()
    cardinality: Cardinality | None = None
    other_names: tuple[str, ...] = ()
    symmetric: bool = False
    inverse_of: str | None = None


class Ontology(_Part):
    """What a deployment wants to know about.

    Types in `excluded_types` never become entities, and facts about them go with them. Without any entity types (or
    relations), every one is welcome as it comes. Raises ValueError when a signature names an unknown type, or an
    inverse no other relation that is kept as it stands.
    """

    name: Annotated[str, Field(min_length=1, max_length=200)]
    entity_types: tuple[EntityType, ...] = ()
    relation_types: tuple[RelationType, ...] = ()
    excluded_types: tuple[str, ...] = ()
    policy: Policy = Policy.relabel

    @model_validator(mode="after")
    def _signatures_are_known(self) -> Ontology:
        known = {entity_key(t.name) for t in self.entity_types} | {entity_key(GENERIC_TYPE), ANY}
        for relation in self.relation_types:
            for end in (end for signature in relation.signatures for end in signature):
                if self.entity_types and entity_key(end) not in known:
                    raise ValueError(f"relation {relation.name}: {end!r} is not an entity type")
            kept = self.relation_type(relation.inverse_of)
            if relation.inverse_of is not None and (
                kept is None or kept is relation or kept.inverse_of is not None or relation.symmetric
            ):
                raise ValueError(
                    f"relation {relation.name}: it cannot be the inverse of {relation.inverse_of!r}"
                )
        return self

    def entity_type(self, name: str | None) -> EntityType | None:
        """The type of that name, in any spelling."""
        return _find(self.entity_types, name)

    def relation_type(self, name: str | None) -> RelationType | None:
        """The relation of that name, in any spelling: "works at" finds WORKS_AT."""
        return _find(self.relation_types, name)

    def excludes(self, type_name: str | None) -> bool:
        """Whether entities of this type are not wanted."""
        return type_name is not None and _spelled(type_name) in {_spelled(t) for t in self.excluded_types}

    def cardinality_of(self, relation: str) -> Cardinality | None:
        """How many objects a subject has at one time by this relation; None when the ontology does not say."""
        found = self.relation_type(relation)
        return found.cardinality if found else None


class _Called(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def other_names(self) -> tuple[str, ...]: ...


_Named = TypeVar("_Named", bound=_Called)


def _find(items: tuple[_Named, ...], name: str | None) -> _Named | None:
    if name is None:
        return None
    wanted = _spelled(name)
    for item in items:
        if wanted in {_spelled(n) for n in (item.name, *item.other_names)}:
            return item
    return None


def _spelled(name: str) -> str:
    return entity_key(name).replace("_", "").replace("-", "").replace(" ", "")
