"""What an English sentence tells somebody has done, with a verb that no relation of the catalogue knows.

"Bruno presented the budget to the board" is a fact about Bruno: the relation is the verb, the sentence the clause. Only
finished deeds count, told plainly and of somebody with a name, with an object or a complement that needs no pronoun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pipeline.extraction.local.facts.claim import Actor, Claim, Mode, Role
from pipeline.extraction.local.facts.relations import Relation
from pipeline.model.extraction import Cardinality
from pipeline.text.words import word_set

MAX_WORDS = 16

# Saying, thinking, wishing and seeming tell of words and minds, helpers and the emptiest verbs of nothing by themselves.
_LEFT_OUT = word_set(
    """
    say tell ask think know feel seem appear want need hope wish believe guess suppose wonder mean imagine
    expect doubt claim argue suggest mention explain reply answer add note remark whisper shout describe
    report insist deny promise threaten warn agree disagree decide plan intend try attempt consider like
    love hate prefer enjoy mind care be have do get go come let make take keep put give see look hear
    watch happen occur become remain stay stand sit lie turn end begin start stop continue use call show
    help seem smell taste sound matter depend remember forget
    """
)
_POSSESSIVE = {"my": "their", "our": "their"}
_OWN = frozenset({"his", "her", "their", "its"})
_LEAVES_OUT = frozenset(
    {"conj", "cc", "advcl", "ccomp", "parataxis", "relcl", "punct", "mark", "dep", "intj"}
)
_WORD = re.compile(r"[a-z]+", re.I)


def claims(verb: Any, known: frozenset[str], who: Actor | None, target: Actor | None) -> Iterator[Claim]:
    """The deed that a verb tells of its subject, without its dates; none when it is no such deed.

    Args:
        verb: a verb of spaCy's tree.
        known: lemmas that the catalogue has relations for.
        who: the subject.
        target: the object, when that is a name.
    """
    lemma = verb.lemma_.lower()
    if who is None or lemma in known or lemma in _LEFT_OUT or not _WORD.fullmatch(verb.text):
        return
    if verb.dep_ not in ("ROOT", "conj") or not _is_done(verb):
        return
    told = _told(verb)
    if told:
        relation = Relation(verb.text.upper(), Cardinality.many, None, None, "{s}", "{s}", "{s}")
        named = target if target is not None and target.role is Role.name and target.text in told else None
        yield Claim(who, relation, named, Mode.holds, (), told)


def _is_done(verb: Any) -> bool:
    """Whether a verb is a plain past, or a present perfect."""
    helpers = {c.lower_ for c in verb.children if c.dep_ in ("aux", "auxpass")}
    if any(c.dep_ in ("neg", "expl", "nsubjpass", "auxpass") for c in verb.children):
        return False
    if verb.dep_ == "conj" and (helpers or any(c.dep_ in ("aux", "neg") for c in verb.head.children)):
        return False
    return (verb.tag_ == "VBD" and not helpers) or (
        verb.tag_ == "VBN" and bool(helpers) and helpers <= {"has", "have", "'ve"}
    )


def _told(verb: Any) -> str:
    """The clause from its verb on; empty when it is only the verb, or when it stands on pronouns."""
    words = [token for token in verb.subtree if token.i >= verb.i and _belongs(token, verb)]
    while words and words[-1].dep_ in ("cc", "det", "punct", "prep", "mark", "aux"):
        words.pop()
    if not 1 < len(words) <= MAX_WORDS or words[-1].i - words[0].i != len(words) - 1:
        return ""
    if not any(c.dep_ in ("dobj", "prep", "attr", "oprd") and c.i > verb.i for c in verb.children):
        return ""
    parts = ["has "] if verb.tag_ == "VBN" else []
    for token in words:
        low = token.lower_
        if token.pos_ == "PRON" and low not in _OWN and low not in _POSSESSIVE:
            return ""
        if token.pos_ == "DET" and low in ("this", "that", "these", "those"):
            return ""
        parts.append(_POSSESSIVE.get(low, token.text) + token.whitespace_)
    return "".join(parts).strip()


def _belongs(token: Any, verb: Any) -> bool:
    """Whether a word is a part of the clause itself."""
    while token.i != verb.i:
        if token.dep_ in _LEAVES_OUT and token.head.i == verb.i:
            return False
        token = token.head
    return True
