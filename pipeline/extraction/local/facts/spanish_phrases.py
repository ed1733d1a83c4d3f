"""Spanish facts that no verb of doing carries: likes, roles, origin, kin, broken things, habits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extraction.local.facts.claim import Actor, Aspect, Claim, Mode, Role, Tense, known, mode_of
from pipeline.extraction.local.facts.habits import habit
from pipeline.extraction.local.facts.kin import kin_claims
from pipeline.extraction.local.facts.masked import D, Masked, N
from pipeline.extraction.local.facts.spanish_grammar import (
    DETERMINER,
    PHRASE,
    START,
    SUBJECT,
    actor,
    article,
    mode_of_being,
    owner,
    target,
)
from pipeline.extraction.local.facts.spanish_words import DEVICES, HABITS, KIN, ROLE_NOUN, TROUBLE
from pipeline.timeline.dates import DateSpan

_Dates = tuple[DateSpan, ...]
_LIKING = re.compile(
    rf"(?:(?:a (?P<s>{N}|mí|él|ella)|{START})[ ,]*)(?P<neg>(?:ya )?no |también |todavía )?(?P<p>me|le|nos|les) (?:(?:muy|siempre) )?"
    rf"(?P<v>gustan?|encantan?|gustaban?|encantaban?|interesan?) (?:(?:mucho|más|muchísimo) )?{DETERMINER}{PHRASE}",
    re.I,
)

_BE = (
    rf"(?:{SUBJECT}|{START})(?P<aux>(?:(?:ya no|no|también|ahora|todavía|{D}) )*)(?P<v>soy|es|era|fui|fue)\b"
)

_FROM = re.compile(rf"{_BE} (?:originari[oa] )?de (?P<o>{N})", re.I)

_ROLE = re.compile(
    rf"{_BE} (?:(?:el|la|un|una|nuestro|nuestra) )?(?P<o>(?:{ROLE_NOUN})(?: de [a-zà-ÿ]+)?)(?: (?:en|de|del) (?:la |el )?(?P<at>{N}))?",
    re.I,
)

_TITLED = re.compile(
    rf"(?P<s>{N}), (?:el |la |un |una |su )?(?P<o>(?:{ROLE_NOUN})(?: de [a-zà-ÿ]+)?)(?: (?:en|de|del) (?:la |el )?(?P<at>{N}))?(?:,|\.?$)",
    re.I,
)

_MARRIED = re.compile(
    rf"(?:{SUBJECT}|{START})(?P<aux>(?:(?:ya no|no) )?)(?P<v>estoy|está|estaba) casad[oa] con (?P<o>{N})",
    re.I,
)

_BASED = re.compile(
    rf"(?P<s>{N}) (?:tiene (?P<v>su sede)|está (?:ubicad[oa]|situad[oa])|se encuentra) en (?:la |el )?(?P<o>{N})",
    re.I,
)

_KIN = (
    re.compile(
        rf"\b(?P<p>mi|nuestr[oa]|su) (?:mejor )?(?P<k>{KIN})(?:,| se llama| es| llamad[oa])? (?P<o>{N})", re.I
    ),
    re.compile(rf"(?P<o>{N})(?:,| es) (?P<p>mi|nuestr[oa]|su) (?:mejor )?(?P<k>{KIN})\b", re.I),
    re.compile(rf"(?P<o>{N})(?:,| es) (?:el |la |un |una )?(?P<k>{KIN}) de (?P<p>{N})", re.I),
)

_THING = rf"\b(?P<p>mi|nuestr[oa]|su|la|el) (?P<thing>{DEVICES})"

_TROUBLES = (
    re.compile(
        rf"{_THING} (?:imprime|muestra|da|hace|tiene|saca) (?:un |una |unos |unas )?(?P<o>(?:[\w-]+ ){{0,2}}?(?:{TROUBLE})\w*(?: [a-zà-ÿ]+)?)",
        re.I,
    ),
    re.compile(
        rf"{_THING} (?P<o>no (?:funciona|enciende|imprime|conecta|carga|arranca|abre)|está (?:rot[oa]|atascad[oa])|se (?:atasca|bloquea|apaga|cuelga))\b",
        re.I,
    ),
)

_HABIT = re.compile(
    rf"(?:{SUBJECT}|{START})(?:(?:también|siempre|me|se) )*(?P<v>{'|'.join(sorted(HABITS, key=len, reverse=True))})\b"
    r"(?P<rest>[^,;.]{0,30}?\b(?:todos los|todas las|cada|diariamente|a diario|los fines de semana|por las)\b[^,;.]{0,30})",
    re.I,
)


def states(masked: Masked, clause: str, dates: _Dates) -> Iterator[Claim]:
    """Origin, marriage, roles and seats: what "ser" and "estar" say."""
    for regex, relation in ((_FROM, "IS_FROM"), (_MARRIED, "MARRIED_TO")):
        for match in regex.finditer(clause):
            who = actor(masked, match["s"], 1 if match["v"].lower() in ("soy", "fui", "estoy") else 3)
            found, mode = target(masked, match["o"], True), mode_of_being(match["aux"], match["v"])
            if who and found and mode:
                yield Claim(who, known(relation), found, mode, dates)
    for regex in (_ROLE, _TITLED):
        for match in regex.finditer(clause):
            words = match.groupdict()
            form = words.get("v") or "es"
            who = actor(masked, match["s"], 1 if form.lower() in ("soy", "fui") else 3)
            mode, at = mode_of_being(words.get("aux") or "", form), masked.name(match["at"] or "")
            if who and mode:
                yield Claim(who, known("HAS_ROLE"), Actor(Role.name, match["o"]), mode, dates)
                if at:
                    yield Claim(who, known("WORKS_AT"), Actor(Role.name, at.text, at.kind), mode, dates)
    for match in _BASED.finditer(clause):
        who, found = actor(masked, match["s"], 3), target(masked, match["o"], True)
        if who and found and who.kind != "Person":
            yield Claim(who, known("BASED_IN" if match["v"] else "LOCATED_IN"), found, Mode.holds, dates)


def phrases(masked: Masked, clause: str, dates: _Dates) -> Iterator[Claim]:
    """Likes, kin, broken things and habits."""
    for match in _LIKING.finditer(clause):
        first = match["p"].lower() in ("me", "nos")
        who, found = (
            actor(masked, match["s"], 1 if first and not masked.name(match["s"] or "") else 3),
            target(masked, match["o"], False, article(match)),
        )
        past = match["v"].lower().endswith(("aba", "aban"))
        negated = "no" in (match["neg"] or "").lower().split()
        decided = mode_of("LIKES", Aspect.state, Tense(negated=negated, past=past), bool(dates))
        if who and found and decided:
            yield Claim(who, known(decided[0]), found, decided[1], dates)
    for regex in _KIN:
        for match in regex.finditer(clause):
            other, whose = masked.name(match["o"]), owner(masked, match["p"])
            if other and whose:
                yield from kin_claims(whose, match["k"], Actor(Role.name, other.text, "Person"), dates)
    for regex in _TROUBLES:
        for match in regex.finditer(clause):
            thing = Actor(Role.name, match["thing"].lower(), "Product", owner(masked, match["p"]))
            yield Claim(
                thing, known("HAS_PROBLEM"), Actor(Role.name, masked.shown(match["o"])), Mode.holds, dates
            )
    for match in _HABIT.finditer(clause):
        relation, third, person = HABITS[match["v"].lower()]
        who = actor(masked, match["s"], person)
        if who:
            yield Claim(who, habit(relation), None, Mode.holds, (), f"{third}{match['rest'].rstrip()}")
