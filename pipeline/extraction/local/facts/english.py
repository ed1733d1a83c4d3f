"""English clauses as patterns: who, a verb group of a closed set of words, what."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extraction.local.facts import english_phrases
from pipeline.extraction.local.facts.claim import Claim, Role, known, mode_of
from pipeline.extraction.local.facts.english_grammar import (
    DETERMINER,
    GROUP,
    PHRASE,
    SUBJECT,
    actor,
    article,
    plausible,
    target,
    tense,
)
from pipeline.extraction.local.facts.english_words import CLAUSE, COMMAND, HYPOTHETICAL, QUESTION, VERBS, Verb
from pipeline.extraction.local.facts.masked import MAX_CLAUSE, D, Masked, N
from pipeline.extraction.local.facts.together import ENGLISH, of_all


def _compile(verb: Verb) -> tuple[Verb, re.Pattern[str]]:
    forms = "|".join(dict.fromkeys((verb.base, verb.third, verb.past, verb.participle, verb.gerund)))
    prep = f" {verb.prep}" if verb.prep else ""
    last = f" (?P<d>(?:(?:the|my|our|his|her|their) )?)(?P<o>{N})" if verb.named else f" {DETERMINER}{PHRASE}"
    if verb.prep.startswith("(?!"):
        prep, last = "", rf" {verb.prep}{last[1:]}"
    return verb, re.compile(rf"{SUBJECT}{GROUP} (?P<v>{forms})\b(?: {D})?{prep}{last}", re.I)


_PATTERNS = [_compile(verb) for verb in VERBS]
_FIRST_FORMS = "|".join(dict.fromkeys(form for v in VERBS for form in (v.base, v.third, v.past)))
_VERB_FIRST = re.compile(
    rf"(?:(?:also|now|then|still|no longer|don't|doesn't|am|is|was|have|has) )*(?:{_FIRST_FORMS})\b|(?:am|is|was) ",
    re.I,
)
_HEAD = re.compile(SUBJECT)
_PRONOUN = re.compile(r"\b(?:I|we|he|she|they)\b", re.I)


def clauses(masked: Masked) -> list[str]:
    """The clauses of a sentence that may state facts, each with its subject; none of a question or a hypothesis."""
    if QUESTION.search(masked.text) or HYPOTHETICAL.search(masked.text):
        return []
    found: list[str] = []
    subject = ""
    for piece in CLAUSE.split(masked.text):
        clause = piece.strip(" ,\t\"'“”")
        if subject and not _HEAD.match(clause) and _VERB_FIRST.match(clause):
            clause = f"{subject} {clause}"
        # "I know he plays chess and likes tea": with two subjects nobody can say who goes on.
        subjects = {m.group().lower() for m in _PRONOUN.finditer(clause)}
        head = _HEAD.match(clause)
        if head:
            subjects.add(head["s"].lower())
        subject = "" if len(subjects) > 1 else head["s"] if head else subject
        if 0 < len(clause) <= MAX_CLAUSE:
            found.append(clause)
    return found


def claims(masked: Masked) -> list[Claim]:
    """The facts of one English sentence. In an order to the reader only what the speaker says of herself counts."""
    found = [claim for clause in clauses(masked) for claim in _clause(masked, clause)]
    found = of_all(found, masked, ENGLISH)
    if COMMAND.search(masked.original):
        return [claim for claim in found if claim.subject.role is Role.speaker]
    return found


def _clause(masked: Masked, clause: str) -> Iterator[Claim]:
    dates = masked.dates_in(clause)
    for verb, regex in _PATTERNS:
        for match in regex.finditer(clause):
            if match["v"].lower() == verb.third != verb.past and match["s"].lower() in ("i", "we", "they"):
                continue
            said = tense(verb, match["aux"], match["v"], clause[match.end("v") :])
            decided = said and mode_of(verb.relation, verb.aspect, said, bool(dates))
            found = target(masked, match["o"], verb.named, article(match))
            if decided and found and plausible(verb, found):
                yield Claim(actor(masked, match["s"]), known(decided[0]), found, decided[1], dates)
    yield from english_phrases.claims(masked, clause, dates)
