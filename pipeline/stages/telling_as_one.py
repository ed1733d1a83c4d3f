"""How an entity is told of once a judge has taken a mention for it: the fuller name, one description of both. Pure.

A judge proposes, structure decides. A name must be one of those at hand, or made of their words; it must not be
something that the marks of a name tell apart from either side, nor say less than the name that stands. A description
must be made of the words of the two descriptions and the names. What does not pass is left out. Which descriptions and
names there are depends on the mentions that are left, so each mention's proposal is looked at again whenever an entity
is made of its mentions anew: what was forgotten is not told by a proposal that knew of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.extraction import Mention
from pipeline.model.judgement import Judgement
from pipeline.stages.matching import enriched, summary_of
from pipeline.stages.name_marks import tell_apart
from pipeline.text.analysis import terms
from pipeline.text.stems import stem
from pipeline.text.stop_words import STOP_WORDS

MAX_DESCRIPTION = 600
"""Characters of a description that a judge may write."""
_HAN = re.compile(r"[㐀-鿿]")


def admitted(entity: Entity, mention: Mention, proposed: Judgement) -> Judgement:
    """What of a proposal counts, for an entity before the mention was added to it."""
    return Judgement(
        name=_name(entity, mention, proposed.name), summary=_summary(entity, mention, proposed.summary)
    )


def as_one(entity: Entity, mention: Mention, judgement: Judgement) -> Entity:
    """The entity with the mention added, and what is admitted of the proposal. All keys and the old name stay."""
    counts = admitted(entity, mention, judgement)
    made = enriched(entity, mention)
    if counts.name is not None:
        key = entity_key(counts.name)
        others = [a for a in made.aliases if entity_key(a) != key]
        made = made.model_copy(
            update={
                "name": counts.name,
                "aliases": (made.name, *others),
                "keys": tuple(dict.fromkeys([*made.keys, key])),
            }
        )
    if counts.summary is not None:
        made = made.model_copy(update={"description": counts.summary})
    return made.model_copy(update={"summary": summary_of(made)})


def _name(entity: Entity, mention: Mention, proposed: str | None) -> str | None:
    key = entity_key(proposed or "")
    if not proposed or not key or key == entity_key(entity.name):
        return None
    at_hand = (entity.name, *entity.aliases, mention.name, *mention.aliases)
    spelled = next((name for name in at_hand if entity_key(name) == key), None)
    if spelled is None:
        if not _made_of(proposed, at_hand):
            return None
        spelled = " ".join(proposed.split())
    if tell_apart(spelled, entity.name) or tell_apart(spelled, mention.name):
        return None
    return None if _says_less(spelled, entity.name) else spelled


def _made_of(name: str, at_hand: Iterable[str]) -> bool:
    """Whether a name has no word that none of the names has, and no more than they have together."""
    words = terms(name)
    known = [word for other in dict.fromkeys(map(entity_key, at_hand)) for word in terms(other)]
    return bool(words) and len(words) == len(set(words)) and set(words) <= set(known)


def _says_less(name: str, standing: str) -> bool:
    words, before = set(terms(name)), set(terms(standing))
    if bool(_HAN.search(name)) != bool(_HAN.search(standing)):
        # Another script is another measure: a judge that prefers it has its reason.
        return False
    return words < before or sum(map(len, words)) < sum(map(len, before))


def _summary(entity: Entity, mention: Mention, proposed: str | None) -> str | None:
    text = " ".join((proposed or "").split())
    told = [part for part in (entity.description, mention.summary or "") if part]
    if not text or not told or len(text) > MAX_DESCRIPTION:
        return None
    ground = [*told, entity.name, *entity.aliases, mention.name, *mention.aliases]
    known = {stem(word) for part in ground for word in terms(part)} | {w for p in ground for w in terms(p)}
    words = [word for word in terms(text) if word not in STOP_WORDS]
    return text if words and all(word in known or stem(word) in known for word in words) else None
