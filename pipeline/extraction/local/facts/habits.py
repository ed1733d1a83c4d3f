"""Habits: facts about one entity, each a relation of its own, since slots are told apart by relation."""

from __future__ import annotations

from pipeline.extraction.local.facts.relations import Relation
from pipeline.model.extraction import Cardinality


def habit(name: str) -> Relation:
    """The relation of a habit ("JOGS"). Its sentence comes from the clause, so it has none of its own."""
    return Relation(name, Cardinality.many, "Person", None, "{s}", "{s}", "{s}")
