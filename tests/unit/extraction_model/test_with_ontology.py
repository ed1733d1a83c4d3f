"""The model extractor under an ontology."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipeline.extraction.model.extractor import ModelExtractor
from pipeline.ontology.model import AttributeKind, AttributeType, EntityType, Ontology, Policy, RelationType
from pipeline.ontology.registry import OntologyRegistry
from tests.episodes import message
from tests.llm_support import RecordingObserver
from tests.model_server import ModelServer

Build = Callable[..., ModelExtractor]

CRM = Ontology(
    name="crm",
    policy=Policy.refuse,
    entity_types=(
        EntityType(name="Customer", attributes={"phone": AttributeType(kind=AttributeKind.phone)}),
        EntityType(name="Product"),
    ),
    relation_types=(RelationType(name="BOUGHT", signatures=(("Customer", "Product"),)),),
)
ANSWER: dict[str, Any] = {
    "entities": [
        {"name": "Ana", "type": "Customer", "attributes": {"phone": "600 123 456", "mood": "happy"}},
        {"name": "Tesla", "type": "product", "attributes": {"phone": "no idea, sorry"}},
        {"name": "Lima", "type": "City"},
    ],
    "facts": [["Ana", "bought", "Tesla"], ["Ana", "LIVES_IN", "Lima"]],
}
CONTENT = "I bought a Tesla in Lima, call me at 600 123 456."


async def test_the_episodes_ontology_applies(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    server.on(ANSWER)
    extractor = build(ontologies=OntologyRegistry([CRM]))
    found = await extractor.extract(message(CONTENT, ontology="crm"), ())
    assert [(m.name, m.type) for m in found.mentions] == [("Ana", "Customer"), ("Tesla", "Product")]
    assert found.mentions[0].attributes == {"phone": "600 123 456"}
    assert [s.relation for s in found.statements] == ["BOUGHT"]
    assert observer.events["refused_attribute"] == 1
    assert "Customer" in server.chats[0].system


async def test_without_a_name_the_default_applies_and_without_a_default_none(
    server: ModelServer, build: Build
) -> None:
    server.on(ANSWER)
    await build(ontologies=OntologyRegistry([CRM], default="crm")).extract(message(CONTENT), ())
    free = await build(ontologies=OntologyRegistry([CRM])).extract(message(CONTENT), ())
    assert "Customer" in server.chats[0].system
    assert "Customer" not in server.chats[1].system
    assert {s.relation for s in free.statements} == {"BOUGHT", "LIVES_IN"}


async def test_the_type_of_a_speaker_is_left_to_the_ontology(server: ModelServer, build: Build) -> None:
    extractor = build(ontologies=OntologyRegistry([CRM]))
    for name, expected in (("crm", None), (None, "Person")):
        found = await extractor.extract(message("Thanks!", ontology=name), ())
        assert [m.type for m in found.mentions] == [expected]
    server.on({"entities": [{"name": "Ana", "type": "User"}]})
    free = await extractor.extract(message("I live by the sea."), ())
    assert [m.type for m in free.mentions] == ["Person"]
