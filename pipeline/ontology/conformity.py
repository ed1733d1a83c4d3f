"""Makes an extraction conform to an ontology, and counts what it had to change. Pure but for the observer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.model.extraction import Cardinality, Extraction, Mention, Statement
from pipeline.observer import Observer
from pipeline.ontology.attributes import checked
from pipeline.ontology.model import (
    ANY,
    GENERIC_RELATION,
    GENERIC_TYPE,
    EntityType,
    Ontology,
    Policy,
    RelationType,
)

MAX_ATTRIBUTE = 1000
"""Characters of an attribute that no ontology declares."""


def conform(
    extraction: Extraction, ontology: Ontology, observer: Observer, always: frozenset[int] = frozenset()
) -> Extraction:
    """The extraction with the ontology's own labels only.

    `always` are the mentions that stay whatever their type (the speaker). Counted as `off_ontology_type`,
    `off_ontology_relation`, `off_signature`, `excluded_entity`, `refused_entity`, `refused_fact`, `refused_attribute`.
    """
    mentions: list[Mention] = []
    place: dict[int, int] = {}
    for index, mention in enumerate(extraction.mentions):
        kept = _mention(mention, ontology, observer, index in always)
        if kept is not None:
            place[index] = len(mentions)
            mentions.append(kept)
    statements = []
    for statement in extraction.statements:
        if statement.subject not in place or statement.object not in place:
            observer.event("refused_fact")
            continue
        moved = statement.model_copy(
            update={"subject": place[statement.subject], "object": place[statement.object]}
        )
        fitting = _statement(moved, mentions, ontology, observer)
        if fitting is not None:
            statements.append(fitting)
    return extraction.model_copy(update={"mentions": tuple(mentions), "statements": tuple(statements)})


def checked_attributes(
    values: Mapping[str, Any], kind: EntityType | None, observer: Observer
) -> dict[str, Any]:
    """The attributes that fit their types; undeclared ones are refused where a type declares any."""
    if kind is None or not kind.attributes:
        return {name: value for name, value in values.items() if len(str(value)) <= MAX_ATTRIBUTE}
    kept: dict[str, Any] = {}
    for name, value in values.items():
        declared = kind.attributes.get(name)
        try:
            if declared is None:
                raise ValueError("is not declared")
            kept[name] = checked(value, declared)
        except ValueError:
            observer.event("refused_attribute")
    return kept


def _mention(mention: Mention, ontology: Ontology, observer: Observer, always: bool) -> Mention | None:
    if ontology.excludes(mention.type) and not always:
        observer.event("excluded_entity")
        return None
    kind = ontology.entity_type(mention.type)
    label = kind.name if kind else mention.type
    if kind is None and ontology.entity_types and mention.type not in (None, GENERIC_TYPE):
        observer.event("off_ontology_type")
        if ontology.policy is Policy.refuse and not always:
            observer.event("refused_entity")
            return None
        label = None
    attributes = checked_attributes(mention.attributes, kind, observer)
    return mention.model_copy(update={"type": label, "attributes": attributes})


def _statement(
    statement: Statement, mentions: list[Mention], ontology: Ontology, observer: Observer
) -> Statement | None:
    if not ontology.relation_types:
        return statement
    relation = ontology.relation_type(statement.relation)
    fault = "off_ontology_relation" if relation is None else ""
    if relation is not None and not _allows(
        relation, mentions[statement.subject], mentions[statement.object]
    ):
        fault = "off_signature"
    if fault:
        observer.event(fault)
        if ontology.policy is Policy.refuse:
            observer.event("refused_fact")
            return None
        # Under the generic name nothing excludes anything: the cardinality belonged to the relation that is gone.
        return statement.model_copy(update={"relation": GENERIC_RELATION, "cardinality": Cardinality.many})
    if relation is None:
        return statement
    return statement.model_copy(
        update={"relation": relation.name, "cardinality": relation.cardinality or statement.cardinality}
    )


def _allows(relation: RelationType, subject: Mention, target: Mention) -> bool:
    def fits(wanted: str, mention: Mention) -> bool:
        # An entity without a type may be of any; later episodes will tell.
        return (
            wanted in (ANY, GENERIC_TYPE)
            or mention.type is None
            or wanted.casefold() == mention.type.casefold()
        )

    return not relation.signatures or any(
        fits(s, subject) and fits(o, target) for s, o in relation.signatures
    )
