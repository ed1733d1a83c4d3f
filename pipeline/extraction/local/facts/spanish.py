"""Spanish clauses as patterns. The verb form tells the person, so the subject may be left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extraction.local.facts.claim import Claim, Role, known, mode_of
from pipeline.extraction.local.facts.masked import MAX_CLAUSE, D, Masked, N
from pipeline.extraction.local.facts.spanish_grammar import (
    DETERMINER,
    GROUP,
    PHRASE,
    START,
    SUBJECT,
    actor,
    article,
    helper_person,
    target,
    tense,
)
from pipeline.extraction.local.facts.spanish_phrases import phrases, states
from pipeline.extraction.local.facts.spanish_words import (
    CLAUSE,
    COMMAND,
    FORMS,
    HABITS,
    HYPOTHETICAL,
    QUESTION,
    VERBS,
    Verb,
)
from pipeline.extraction.local.facts.together import SPANISH, of_all


def _compile(verb: Verb) -> tuple[Verb, re.Pattern[str]]:
    prep = f"{verb.prep} " if verb.prep and not verb.prep.startswith("(?") else verb.prep
    prep = f"{verb.prep} " if verb.prep.startswith("(?:") and not verb.prep.endswith(")?") else prep
    last = f"{DETERMINER}(?P<o>{N})" if verb.named else f"{DETERMINER}{PHRASE}"
    forms = "|".join(sorted(FORMS[verb.infinitive], key=len, reverse=True))
    return verb, re.compile(rf"(?:{SUBJECT}|{START}){GROUP}(?P<v>{forms})\b (?:{D} )?{prep}{last}", re.I)


_PATTERNS = [_compile(verb) for verb in VERBS]

VERB_FORMS = frozenset(form for forms in FORMS.values() for form in forms) | {h.split()[0] for h in HABITS}

"""Words that are no names, though a sentence may begin with them."""
_HEAD = re.compile(SUBJECT)

_VERB_FIRST = re.compile(
    rf"(?:(?:ya no|no|también|ahora|me|se|he|ha|{D}),? )*(?:{'|'.join(sorted({f for v in FORMS.values() for f in v}, key=len, reverse=True))})\b",
    re.I,
)


def claims(masked: Masked) -> list[Claim]:
    """The facts of one Spanish sentence. In an order to the reader only what the speaker says of herself counts."""
    text = masked.text
    if QUESTION.search(text) or HYPOTHETICAL.search(text):
        return []
    found: list[Claim] = []
    subject = ""
    for piece in CLAUSE.split(text):
        clause = piece.strip(" ,\t\"'“”¡!.")
        head = _HEAD.match(clause + " ")
        form = _VERB_FIRST.match(clause)
        if subject and masked.name(subject) and not head and form and _person(form.group().split()[-1]) != 1:
            clause = f"{subject} {clause}"
        subject = head["s"] if head else subject
        if 0 < len(clause) <= MAX_CLAUSE:
            found += _clause(masked, clause)
    found = of_all(found, masked, SPANISH)
    if COMMAND.search(masked.original):
        return [claim for claim in found if claim.subject.role is Role.speaker]
    return found


def _person(form: str) -> int | None:
    return next((FORMS[i][form.lower()][0] for i in FORMS if form.lower() in FORMS[i]), None)


def _clause(masked: Masked, clause: str) -> Iterator[Claim]:
    dates = masked.dates_in(clause)
    for verb, regex in _PATTERNS:
        for match in regex.finditer(clause):
            person, time = FORMS[verb.infinitive][match["v"].lower()]
            said = tense(verb, match["aux"], time)
            decided = said and mode_of(verb.relation, verb.aspect, said, bool(dates))
            found = target(masked, match["o"], verb.named, article(match))
            who = actor(masked, match["s"], helper_person(match["aux"]) or person)
            if decided and found and who:
                form = "{s} toca {o}" if verb.infinitive == "tocar" else ""
                yield Claim(who, known(decided[0]), found, decided[1], dates, form=form)
    yield from phrases(masked, clause, dates)
    yield from states(masked, clause, dates)
