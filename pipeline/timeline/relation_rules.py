"""What is known of relations: which names are one relation, which are the same read backwards, which exclude.

These rules are for statements that were read out of text. A triple keeps its relation as it is given, so for triples
only what an ontology declares counts.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Protocol

from pipeline.identity import entity_key
from pipeline.model.extraction import Cardinality

_GAPS = re.compile(r"[\s_\-‐-―]+")


class RelationRules(Protocol):
    """Answers for one vocabulary of relations."""

    def canonical(self, relation: str) -> tuple[str, bool]:
        """The name under which the relation is kept, and whether subject and object change places for it.

        A relation that is not declared keeps its name (a vocabulary of its own may still settle its spelling).
        """

    def is_symmetric(self, relation: str) -> bool:
        """Whether the canonical relation holds from both ends alike."""

    def cardinality(self, relation: str) -> Cardinality | None:
        """How many objects a subject has at one time, where that is declared."""


def relation_name(relation: str) -> str:
    """One spelling for all: NFKC, upper case, words joined by "_". "works at", "Works-At" and "WORKS_AT" are one.

    A name of gaps only stays as it is.
    """
    words = [word for word in _GAPS.split(entity_key(relation)) if word]
    return unicodedata.normalize("NFKC", "_".join(words).upper()) or relation


_SYMMETRIC = frozenset(
    {"MARRIED_TO", "SIBLING_OF", "FRIEND_OF", "COLLEAGUE_OF", "PARTNER_OF", "NEIGHBOUR_OF"}
)
# The direction that is kept is the one whose subject has one object at a time, where either has.
_INVERSES = {
    "EMPLOYS": "WORKS_AT",
    "EMPLOYER_OF": "WORKS_AT",
    "CHILD_OF": "PARENT_OF",
    "HAS_PARENT": "PARENT_OF",
    "OWNED_BY": "OWNS",
    "FOUNDED_BY": "FOUNDED",
    "LED_BY": "LEADS",
    "BOUGHT_BY": "BOUGHT",
    "ORDERED_BY": "ORDERED",
    "USED_BY": "USES",
    "VISITED_BY": "VISITED",
    "BIRTHPLACE_OF": "BORN_IN",
}
_SAME = {"HAS_CHILD": "PARENT_OF"}
_ONE = frozenset(
    {"WORKS_AT", "LIVES_IN", "HAS_ROLE", "HAS_PLAN", "MARRIED_TO", "IS_FROM", "BORN_IN", "BASED_IN"}
)
# What has happened or is so by birth stays so. What may end without being said (to like, to own, to lead) is not here.
_MANY = frozenset({"BOUGHT", "ORDERED", "FOUNDED", "VISITED", "PARENT_OF", "SIBLING_OF"})


class BuiltInRelations:
    """Implements `RelationRules` for the relations that the local extractor states; other names get one spelling."""

    def canonical(self, relation: str) -> tuple[str, bool]:
        """See RelationRules."""
        name = relation_name(relation)
        if name in _SAME:
            return _SAME[name], False
        return (_INVERSES[name], True) if name in _INVERSES else (name, False)

    def is_symmetric(self, relation: str) -> bool:
        """See RelationRules."""
        return relation in _SYMMETRIC

    def cardinality(self, relation: str) -> Cardinality | None:
        """See RelationRules."""
        if relation in _ONE:
            return Cardinality.one
        return Cardinality.many if relation in _MANY else None
