"""Ontologies: what they accept, change and refuse."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from pipeline.errors import SettingError
from pipeline.model.extraction import Cardinality, Extraction, Mention, Statement
from pipeline.ontology import from_pydantic
from pipeline.ontology.attributes import checked
from pipeline.ontology.conformity import conform
from pipeline.ontology.model import AttributeKind, AttributeType, EntityType, Ontology, Policy, RelationType
from pipeline.ontology.registry import OntologyRegistry
from pipeline.ontology.yaml_file import load_ontologies
from tests.llm_support import RecordingObserver

PHONE = AttributeType(kind=AttributeKind.phone, description="The phone number of the person")


def kind(name: str, **more: Any) -> AttributeType:
    return AttributeType(kind=AttributeKind(name), **more)


@pytest.mark.parametrize(
    ("attribute", "given", "kept"),
    [
        (kind("text"), " Lima ", "Lima"),
        (kind("text"), 42, "42"),
        (kind("number"), "1,250.5", 1250.5),
        (kind("number"), 3.0, 3),
        (kind("integer"), "42", 42),
        (kind("boolean"), "Yes", True),
        (kind("boolean"), False, False),
        (kind("date"), "2019-05", "2019-05"),
        (kind("email"), "ana@acme.example", "ana@acme.example"),
        (PHONE, "+34 600 123 456", "+34 600 123 456"),
        (PHONE, "(555) 123-4567 ext. 12", "(555) 123-4567 ext. 12"),
        (kind("url"), "https://acme.example/a?b=1", "https://acme.example/a?b=1"),
        (kind("list"), "red, green", ["red", "green"]),
        (kind("list"), ["a", {"b": [1]}], ["a", {"b": [1]}]),
        (
            kind("any"),
            {"street": "Main", "geo": {"lat": 1.5}, "old": [None, True]},
            {"street": "Main", "geo": {"lat": 1.5}, "old": [None, True]},
        ),
        (kind("text", choices=("Gold", "Basic")), "gold", "Gold"),
    ],
)
def test_values_that_fit(attribute: AttributeType, given: Any, kept: Any) -> None:
    made = checked(given, attribute)
    assert made == kept
    assert type(made) is type(kept)


@pytest.mark.parametrize(
    ("attribute", "given", "reason"),
    [
        (kind("text"), None, "empty"),
        (kind("text"), "N/A", "empty"),
        (kind("text"), "string", "schema"),
        (PHONE, "The phone number of the person.", "schema"),
        (kind("any"), {"type": "string", "description": "x"}, "schema"),
        (kind("text"), {"a": 1}, "must be text"),
        (PHONE, "She said she would call back tomorrow", "telephone"),
        (kind("email"), "ana at acme", "e-mail"),
        (kind("email"), "write to ana@acme.example please", "e-mail"),
        (kind("url"), "acme.example", "web address"),
        (kind("number"), "about forty", "number"),
        (kind("number"), True, "number"),
        (kind("number"), float("inf"), "number"),
        (kind("integer"), 2.5, "whole"),
        (kind("boolean"), "maybe", "true or false"),
        (kind("date"), "next week", "date"),
        (kind("list"), 7, "list"),
        (kind("text"), "x" * 251, "at most 250"),
        (kind("text", max_length=3), "Lima", "at most 3"),
        (kind("text", choices=("Gold",)), "silver", "none of Gold"),
        (kind("any"), [[[[[[[[1]]]]]]]], "nested"),
    ],
)
def test_values_that_do_not_fit(attribute: AttributeType, given: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        checked(given, attribute)


def crm(policy: Policy) -> Ontology:
    return Ontology(
        name="crm",
        policy=policy,
        entity_types=(
            EntityType(
                name="Person", attributes={"phone": PHONE, "address": kind("any")}, other_names=("Human",)
            ),
            EntityType(name="Company"),
        ),
        relation_types=(
            RelationType(name="WORKS_AT", signatures=(("Person", "Company"),), cardinality=Cardinality.one),
            RelationType(name="KNOWS", signatures=(("Person", "*"),)),
        ),
        excluded_types=("Greeting",),
    )


MENTIONS = (
    Mention(
        name="Ana",
        type="person",
        attributes={"phone": "she will call", "address": {"city": {"zip": "1"}}, "mood": "ok"},
    ),
    Mention(name="Acme", type="COMPANY"),
    Mention(name="Rex", type="Dog"),
    Mention(name="Hello", type="greeting"),
    Mention(name="Zed"),
)


def says(subject: int, relation: str, target: int, cardinality: str = "many") -> Statement:
    return Statement(
        subject=subject, relation=relation, object=target, fact="f", cardinality=Cardinality(cardinality)
    )


STATEMENTS = (
    says(0, "works at", 1),
    says(1, "WORKS_AT", 0, "one"),
    says(0, "KNOWS", 2),
    says(0, "SMELLS", 4, "one"),
    says(0, "KNOWS", 3),
    says(4, "WORKS_AT", 1),
)


def test_relabelling_keeps_everything_under_the_generic_name() -> None:
    observer = RecordingObserver()
    made = conform(Extraction(mentions=MENTIONS, statements=STATEMENTS), crm(Policy.relabel), observer)
    assert [(m.name, m.type) for m in made.mentions] == [
        ("Ana", "Person"),
        ("Acme", "Company"),
        ("Rex", None),
        ("Zed", None),
    ]
    assert made.mentions[0].attributes == {"address": {"city": {"zip": "1"}}}
    assert [(s.subject, s.relation, s.object, s.cardinality.value) for s in made.statements] == [
        (0, "WORKS_AT", 1, "one"),
        (1, "RELATES_TO", 0, "many"),
        (0, "KNOWS", 2, "many"),
        (0, "RELATES_TO", 3, "many"),
        (3, "WORKS_AT", 1, "one"),
    ]
    assert observer.events == {
        "excluded_entity": 1,
        "off_ontology_type": 1,
        "refused_attribute": 2,
        "off_signature": 1,
        "off_ontology_relation": 1,
        "refused_fact": 1,
    }


def test_refusing_leaves_out_what_is_not_known() -> None:
    observer = RecordingObserver()
    made = conform(Extraction(mentions=MENTIONS, statements=STATEMENTS), crm(Policy.refuse), observer)
    assert [m.name for m in made.mentions] == ["Ana", "Acme", "Zed"]
    assert [(s.subject, s.relation, s.object) for s in made.statements] == [
        (0, "WORKS_AT", 1),
        (2, "WORKS_AT", 1),
    ]
    assert observer.events["refused_entity"] == 1
    assert observer.events["refused_fact"] == 4


def test_the_speaker_stays_whatever_the_type() -> None:
    made = conform(
        Extraction(mentions=MENTIONS[2:4]), crm(Policy.refuse), RecordingObserver(), frozenset({0, 1})
    )
    assert [m.name for m in made.mentions] == ["Rex", "Hello"]


def test_without_types_or_relations_everything_is_welcome() -> None:
    given = Extraction(mentions=MENTIONS, statements=STATEMENTS)
    assert conform(given, Ontology(name="open"), RecordingObserver()) == given


def test_a_signature_names_known_types() -> None:
    with pytest.raises(ValidationError, match="'Planet' is not an entity type"):
        Ontology(
            name="x",
            entity_types=(EntityType(name="Person"),),
            relation_types=(RelationType(name="R", signatures=(("Person", "Planet"),)),),
        )


class Person(BaseModel):
    """A human being."""

    email: str | None = Field(None, description="work e-mail", max_length=80)
    age: int | None = None
    tier: Literal["gold", "basic"] | None = None
    born: date | None = None
    tags: list[str] = []
    address: dict[str, Any] | None = None


class Company(BaseModel):
    pass


class WorksAt(BaseModel):
    """Has a contract with."""


def test_pydantic_models_are_an_ontology() -> None:
    made = from_pydantic.ontology(
        "crm", [Person, Company], {WorksAt: [("Person", "Company")]}, cardinality={WorksAt: Cardinality.one}
    )
    person = made.entity_type("PERSON")
    assert person is not None
    assert person.description == "A human being."
    assert {n: a.kind.value for n, a in person.attributes.items()} == {
        "email": "text",
        "age": "integer",
        "tier": "text",
        "born": "date",
        "tags": "list",
        "address": "any",
    }
    assert person.attributes["email"].max_length == 80
    assert person.attributes["tier"].choices == ("gold", "basic")
    assert made.cardinality_of("works at") is Cardinality.one
    company = made.entity_type("Company")
    assert company is not None
    assert company.description == ""


YAML = """
crm:
  policy: refuse
  excluded_types: [Greeting]
  entities:
    Person:
      description: A human being
      attributes:
        email: {kind: email}
        age: integer
        note:
    Company:
  relations:
    WORKS_AT: {cardinality: one, signatures: [[Person, Company]]}
    KNOWS:
open: {}
"""


def test_a_yaml_file_is_a_registry(tmp_path: Path) -> None:
    path = tmp_path / "ontologies.yaml"
    path.write_text(YAML)
    registry = load_ontologies(path, default="crm")
    assert registry.names == {"crm", "open"}
    crm_ontology = registry.get(None)
    assert crm_ontology is not None
    assert crm_ontology.policy is Policy.refuse
    person = crm_ontology.entity_type("Person")
    assert person is not None
    assert {n: a.kind.value for n, a in person.attributes.items()} == {
        "email": "email",
        "age": "integer",
        "note": "text",
    }
    assert registry.cardinality_of("works-at") is Cardinality.one
    assert registry.cardinality_of("KNOWS") is None
    assert registry.cardinality_of("WORKS_AT", "open") is None
    assert registry.get("nobody") is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "must be a map"),
        ("a: [", "cannot be read"),
        ("crm: 7", "crm must be a map"),
        ("crm: {types: []}", r"crm\.types is not known"),
        ("crm: {policy: maybe}", r"crm\.policy"),
        ("crm: {entities: [Person]}", r"crm\.entities must be a map"),
        (
            "crm: {entities: {Person: {attributes: {a: {kind: colour}}}}}",
            r"entity_types\.0\.attributes\.a\.kind",
        ),
        ("crm: {entities: {Person: {}}, relations: {R: {signatures: [[Person, Planet]]}}}", "Planet"),
        ("crm: {relations: {R: {cardinality: few}}}", "cardinality"),
    ],
)
def test_a_wrong_file_says_where(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "ontologies.yaml"
    path.write_text(content)
    with pytest.raises(SettingError, match=message):
        load_ontologies(path)


def test_a_missing_file_and_wrong_names_are_told(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot be read"):
        load_ontologies(tmp_path / "none.yaml")
    with pytest.raises(SettingError, match="two ontologies"):
        OntologyRegistry([Ontology(name="a"), Ontology(name="a")])
    with pytest.raises(SettingError, match="default"):
        OntologyRegistry([], default="crm")
