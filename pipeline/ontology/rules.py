"""What ontologies declare of relations, as rules for the resolution of facts."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.model.extraction import Cardinality
from pipeline.ontology.model import Ontology
from pipeline.ontology.registry import OntologyRegistry
from pipeline.timeline.relation_rules import RelationRules


class OntologyRelations:
    """Implements `RelationRules` for one ontology."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology

    def canonical(self, relation: str) -> tuple[str, bool]:
        """See RelationRules; a relation that the ontology does not declare stays as it is."""
        found = self._ontology.relation_type(relation)
        if found is None:
            return relation, False
        kept = self._ontology.relation_type(found.inverse_of)
        return (kept.name, True) if kept else (found.name, False)

    def is_symmetric(self, relation: str) -> bool:
        """See RelationRules."""
        found = self._ontology.relation_type(relation)
        return found is not None and found.symmetric

    def cardinality(self, relation: str) -> Cardinality | None:
        """See RelationRules."""
        return self._ontology.cardinality_of(relation)


def rules_of(registry: OntologyRegistry) -> Callable[[str | None], RelationRules | None]:
    """The rules of an episode's ontology (None: the default one); None where there is none."""

    def rules(name: str | None) -> RelationRules | None:
        ontology = registry.get(name)
        return OntologyRelations(ontology) if ontology else None

    return rules
