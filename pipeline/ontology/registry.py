"""Ontologies by name: the one that an event's `ontology` field asks for."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.errors import SettingError
from pipeline.model.extraction import Cardinality
from pipeline.ontology.model import Ontology


class OntologyRegistry:
    """The configured ontologies. Raises SettingError for a name given twice or a default that is not there."""

    def __init__(self, ontologies: Iterable[Ontology] = (), *, default: str | None = None) -> None:
        self._by_name: dict[str, Ontology] = {}
        for ontology in ontologies:
            if ontology.name in self._by_name:
                raise SettingError(f"there are two ontologies named {ontology.name!r}")
            self._by_name[ontology.name] = ontology
        if default is not None and default not in self._by_name:
            raise SettingError(f"the default ontology {default!r} is not configured")
        self._default = default

    @property
    def names(self) -> frozenset[str]:
        """What an event's `ontology` may be."""
        return frozenset(self._by_name)

    def get(self, name: str | None) -> Ontology | None:
        """The ontology of a name, the default one for None; None when nothing is configured for it."""
        return self._by_name.get(name if name is not None else self._default or "")

    def cardinality_of(self, relation: str, name: str | None = None) -> Cardinality | None:
        """What the ontology of that name says about a relation; None when it says nothing."""
        ontology = self.get(name)
        return ontology.cardinality_of(relation) if ontology else None
