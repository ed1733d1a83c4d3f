"""The form in which a model says what an episode states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MAX_NAME = 200
MAX_SENTENCE = 1000


class _Form(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True, str_strip_whitespace=True)


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Status = Annotated[Literal["holds", "held", "ended"], BeforeValidator(_lower)]


class FoundAttribute(_Form):
    """One attribute of an entity."""

    text_field: ClassVar[str] = "name"
    value_field: ClassVar[str] = "value"
    other_names: ClassVar[Mapping[str, str]] = {"key": "name", "attribute": "name", "content": "value"}

    name: Name
    value: str | float | bool


class FoundEntity(_Form):
    """One entity as the text names it."""

    text_field: ClassVar[str] = "name"
    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("entity", "entity_name", "entity_text", "label", "title"), "name"),
        **dict.fromkeys(("entity_type", "category", "kind", "class"), "type"),
        **dict.fromkeys(("description", "about"), "summary"),
        "properties": "attributes",
    }

    name: Name
    type: Annotated[str, Field(max_length=100)] | None = None
    summary: Annotated[str, Field(max_length=MAX_SENTENCE)] | None = None
    attributes: list[FoundAttribute] = []


class FoundFact(_Form):
    """One fact as the text states it."""

    positions: ClassVar[tuple[str, ...]] = ("subject", "relation", "object")
    spread: ClassVar[tuple[str, ...]] = ("subject", "object")
    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("source", "source_entity", "source_name", "source_entity_name", "head", "from"), "subject"
        ),
        **dict.fromkeys(
            ("target", "target_entity", "target_name", "target_entity_name", "tail", "to"), "object"
        ),
        **dict.fromkeys(("predicate", "relation_type", "relationship", "edge", "type", "name"), "relation"),
        **dict.fromkeys(("sentence", "description", "text", "statement", "fact_text"), "fact"),
        **dict.fromkeys(("start", "valid_from", "since", "start_date", "date"), "valid_at"),
        **dict.fromkeys(("end", "valid_to", "valid_until", "until", "end_date"), "invalid_at"),
        **dict.fromkeys(("time_words", "time_expression", "temporal"), "when"),
        "state": "status",
    }

    subject: Name
    relation: Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
    object: Name | None = None
    fact: Annotated[str, Field(max_length=MAX_SENTENCE)] = ""
    when: Annotated[str, Field(max_length=MAX_NAME)] | None = None
    valid_at: Annotated[str, Field(max_length=40)] | None = None
    invalid_at: Annotated[str, Field(max_length=40)] | None = None
    status: Status = "holds"
    cardinality: Annotated[Literal["one", "many"], BeforeValidator(_lower)] | None = None


class Found(_Form):
    """Everything that a text states."""

    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("nodes", "extracted_entities", "extracted_nodes", "mentions", "names", "people"), "entities"
        ),
        **dict.fromkeys(
            (
                "edges",
                "relations",
                "relationships",
                "triples",
                "statements",
                "extracted_facts",
                "extracted_edges",
            ),
            "facts",
        ),
    }

    entities: list[FoundEntity] = []
    facts: list[FoundFact] = []
