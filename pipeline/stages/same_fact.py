"""Which fact a statement repeats under another name. Pure.

The slot is worth more than the wording: a statement of cardinality `one`, and a fact of it, keep their relation. So
does what was given as it stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from pipeline.graph.fact_port import NearFact
from pipeline.identity import entity_key
from pipeline.model.extraction import Cardinality
from pipeline.model.fact import Fact
from pipeline.timeline.evidence import Evidence

_MINUS = re.compile(r"(?<!\S)-(?=\d)")


def sentence_key(sentence: str) -> str:
    """One key for a sentence in any case, spacing and punctuation."""
    text = _MINUS.sub("−", entity_key(sentence))
    letters = (c if unicodedata.category(c)[0] in "LMNS" else " " for c in text)
    return " ".join("".join(letters).split())


def may_repeat(item: Evidence, fact: Fact) -> bool:
    """Whether a statement may be counted for a fact of another relation at all: same pair, and neither excludes."""
    return (
        {item.subject, item.object} == {fact.source.id, fact.target.id}
        and item.relation != fact.relation
        and Cardinality.one not in (item.cardinality, Cardinality(fact.cardinality))
        and not item.symmetric
    )


def repeating(item: Evidence, fact: Fact) -> Evidence:
    """The statement as a statement of that fact."""
    turned = item.subject != fact.source.id
    names = (item.object_name, item.subject_name) if turned else (item.subject_name, item.object_name)
    return item.model_copy(
        update={
            "subject": fact.source.id,
            "object": fact.target.id,
            "subject_name": names[0],
            "object_name": names[1],
            "relation": fact.relation,
            # Under another relation it is no longer the same statement of several pairs.
            "hyperedge": None,
        }
    )


def same_sentence(item: Evidence, near: Sequence[NearFact]) -> Fact | None:
    """The fact on the same pair that is told in the same words; the oldest of several."""
    key = sentence_key(item.fact)
    told = [n.fact for n in near if may_repeat(item, n.fact) and sentence_key(n.fact.fact) == key]
    return min(told, key=lambda f: (f.beliefs[0].known_from, f.id)) if key and told else None


def joined(items: Iterable[Evidence], kept: Iterable[str]) -> list[Evidence]:
    """Statements of one episode about one pair in the same words: the later ones take the first one's relation.

    `kept` are the ids of those that keep what they have.
    """
    fixed = set(kept)
    first: dict[tuple[str, str, str], Evidence] = {}
    result = []
    for item in items:
        if item.id not in fixed and item.cardinality is Cardinality.many and not item.symmetric:
            key = (item.subject, item.object, sentence_key(item.fact))
            like = first.setdefault(key, item)
            item = item.model_copy(update={"relation": like.relation, "hyperedge": like.hyperedge})
        result.append(item)
    return result
