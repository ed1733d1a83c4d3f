"""English facts by grammar: what patterns miss because of relative clauses, coordination and words in between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pipeline.extraction.local.facts import english_open
from pipeline.extraction.local.facts.claim import SPEAKER, Actor, Aspect, Claim, Role, Tense, known, mode_of
from pipeline.extraction.local.facts.english_grammar import plausible
from pipeline.extraction.local.facts.english_words import (
    COMMAND,
    HYPOTHETICAL,
    NOT_OBJECTS,
    QUESTION,
    VERBS,
    Verb,
)
from pipeline.extraction.local.facts.masked import Masked
from pipeline.extraction.local.names.name import Name
from pipeline.timeline.dates import DateSpan

_PLAIN_PREPOSITION = re.compile(r"(?:\(\?:)?([a-z]+(?:\|[a-z]+)*)\)?")
_SKIPPED = frozenset(
    {"relcl", "prep", "punct", "cc", "conj", "det", "poss", "acl", "appos", "advcl", "npadvmod", "advmod"}
)


def _by_lemma() -> dict[str, list[tuple[Verb, frozenset[str]]]]:
    """Verbs with a plain preposition or a direct object; the others are left to patterns."""
    table: dict[str, list[tuple[Verb, frozenset[str]]]] = {}
    for verb in VERBS:
        plain = _PLAIN_PREPOSITION.fullmatch(verb.prep)
        if not verb.prep or plain:
            table.setdefault(verb.base, []).append((verb, frozenset(plain[1].split("|") if plain else ())))
    return table


_VERBS = _by_lemma()
_KNOWN = frozenset(verb.base for verb in VERBS)


def claims(document: Any, start: int, end: int, names: Sequence[Name], masked: Masked) -> list[Claim]:
    """The claims of the sentence at [start, end) of spaCy's document; `names` have positions in the sentence."""
    if QUESTION.search(masked.text) or HYPOTHETICAL.search(masked.text):
        return []
    span = document.char_span(start, end, alignment_mode="expand")
    if span is None:
        return []
    reader = _Sentence(span, start, names, masked.dates)
    found = [claim for token in span if token.lemma_.lower() in _VERBS for claim in reader.claims(token)]
    found += [claim for token in span if token.pos_ == "VERB" for claim in reader.deeds(token)]
    if COMMAND.search(masked.original):
        return [claim for claim in found if claim.subject.role is Role.speaker]
    return found


class _Sentence:
    """One parsed sentence with the names and dates that stand in it."""

    def __init__(self, span: Any, offset: int, names: Sequence[Name], dates: Sequence[DateSpan]) -> None:
        self._offset = offset
        self._names = names
        self._dates = [(date, self._governor(span, date)) for date in dates]

    def claims(self, verb: Any) -> Iterator[Claim]:
        """The claims that a verb makes with its subjects and objects."""
        if verb.pos_ not in ("VERB", "AUX"):
            return
        dates = tuple(date for date, governor in self._dates if governor is not None and governor.i == verb.i)
        for entry, preps in _VERBS[verb.lemma_.lower()]:
            tense = _tense(verb, entry)
            decided = tense and mode_of(entry.relation, entry.aspect, tense, bool(dates))
            if not decided:
                continue
            for subject in _subjects(verb):
                who = self._actor(subject)
                for found in _objects(verb, preps) if who else ():
                    target = self._target(found, entry.named)
                    if who and target and plausible(entry, target):
                        yield Claim(who, known(decided[0]), target, decided[1], dates)

    def deeds(self, verb: Any) -> Iterator[Claim]:
        """What a verb that no relation knows tells of each of its subjects."""
        dates = tuple(date for date, governor in self._dates if governor is not None and governor.i == verb.i)
        objects = [name for o in _objects(verb, frozenset()) if (name := self._target(o, True)) is not None]
        for subject in _subjects(verb):
            for claim in english_open.claims(
                verb, _KNOWN, self._actor(subject), objects[0] if len(objects) == 1 else None
            ):
                yield replace(claim, dates=dates)

    def _governor(self, span: Any, date: DateSpan) -> Any | None:
        """The verb that a date belongs to."""
        for token in span:
            if self._offset + date.begin <= token.idx < self._offset + date.stop:
                while token.head.i != token.i and token.pos_ not in ("VERB", "AUX"):
                    token = token.head
                return token if token.pos_ in ("VERB", "AUX") else None
        return None

    def _name(self, token: Any) -> Name | None:
        at = token.idx - self._offset
        return next((n for n in self._names if n.start <= at < n.end), None)

    def _actor(self, token: Any) -> Actor | None:
        name = self._name(token)
        if name:
            return Actor(Role.name, name.text, None if name.guessed else name.kind)
        for child in token.children:
            name = self._name(child) if child.dep_ == "appos" else None
            if name:
                return Actor(Role.name, name.text, None if name.guessed else name.kind)
        low = token.lower_
        if low in ("i", "we"):
            return SPEAKER
        return Actor(Role.third, low) if low in ("he", "she") else None

    def _target(self, token: Any, named: bool) -> Actor | None:
        name = self._name(token)
        if name:
            return Actor(Role.name, name.text, None if name.guessed else name.kind)
        if named or token.pos_ not in ("NOUN", "PROPN", "VERB") or token.ent_type_ in ("DATE", "TIME"):
            return None
        if any(t.dep_ == "det" and t.lower_ in ("this", "that", "these", "those") for t in token.lefts):
            return None
        if token.pos_ == "VERB" and token.tag_ != "VBG":
            return None
        words = [t for t in token.subtree if _inside(t, token)]
        if words != list(token.doc[words[0].i : words[-1].i + 1]) or len(words) > 6:
            words = [token]
        text = "".join(t.text_with_ws for t in words).strip()
        if NOT_OBJECTS.match(text) or len(text) < 2 or any(self._name(t) for t in words):
            return None
        article = next(
            (t.lower_ for t in token.lefts if t.dep_ == "det" and t.lower_ in ("a", "an", "the", "some")), ""
        )
        return Actor(Role.name, text, article=article)


def _inside(token: Any, head: Any) -> bool:
    """Whether a word of the phrase's tree belongs to its name, rather than to what is said about it."""
    while token.i != head.i:
        if token.dep_ in _SKIPPED:
            return False
        token = token.head
    return True


def _subjects(verb: Any) -> list[Any]:
    """The subjects of a verb, its own or those of the verb that it is coordinated with; of "who", its noun."""
    found = [child for child in verb.children if child.dep_ == "nsubj"]
    if not found and verb.dep_ == "conj" and verb.head.pos_ in ("VERB", "AUX"):
        return _subjects(verb.head)
    if found and found[0].lower_ in ("who", "that") and verb.dep_ == "relcl":
        found = [verb.head]
    return [each for subject in found for each in (subject, *subject.conjuncts)]


def _objects(verb: Any, preps: frozenset[str]) -> list[Any]:
    if preps:
        heads = [
            c
            for p in verb.children
            if p.dep_ == "prep" and p.lower_ in preps
            for c in p.children
            if c.dep_ == "pobj"
        ]
    else:
        heads = [
            c for c in verb.children if c.dep_ in ("dobj", "xcomp") and (c.dep_ == "dobj" or c.tag_ == "VBG")
        ]
    return [each for head in heads for each in (head, *head.conjuncts)]


def _tense(verb: Any, entry: Verb) -> Tense | None:
    """The tense of a finite verb group; None for infinitives, passives and modals."""
    helpers = [c for c in verb.children if c.dep_ in ("aux", "auxpass")]
    low = {h.lower_ for h in helpers}
    if any(h.dep_ == "auxpass" for h in helpers) or low & {
        "to",
        "would",
        "could",
        "might",
        "may",
        "should",
        "can",
        "must",
        "ca",
    }:
        return None
    if verb.dep_ in ("xcomp", "acl", "advcl", "amod", "csubj", "pcomp") and not helpers:
        return None
    # Of coordinated verbs the first one carries the helper and the negation; patterns read those.
    if verb.dep_ == "conj" and not any(c.dep_ == "nsubj" for c in verb.children) and _marked(verb.head):
        return None
    adverbs = " ".join(c.lower_ for c in verb.children if c.dep_ in ("advmod", "neg"))
    if re.search(r"\b(?:longer|more|anymore|almost|nearly|hardly|never|rarely|supposedly)\b", adverbs) or any(
        c.dep_ == "neg" for c in verb.children
    ):
        negated = True
    else:
        negated = False
    perfect = bool(low & {"have", "has", "'ve"}) or ("'s" in low and verb.tag_ == "VBN")
    past = verb.tag_ == "VBD" or bool(low & {"was", "were", "did", "had"})
    progressive = verb.tag_ == "VBG" and entry.aspect is not Aspect.state and not past
    if verb.tag_ in ("VBG", "VBN") and not helpers:
        return None
    if entry.aspect is Aspect.event and verb.tag_ in ("VBP", "VBZ") and not past:
        return None
    return Tense(
        negated=negated, past=past, perfect=perfect, future=bool(low & {"will", "'ll", "wo"}) or progressive
    )


def _marked(verb: Any) -> bool:
    return any(child.dep_ in ("aux", "auxpass", "neg") for child in verb.children)
