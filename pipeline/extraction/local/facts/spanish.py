"""Spanish clauses as patterns. The verb form tells the person, so the subject may be left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extraction.local.facts.claim import SPEAKER, Actor, Aspect, Claim, Mode, Role, Tense, known, mode_of
from pipeline.extraction.local.facts.habits import habit
from pipeline.extraction.local.facts.kin import kin_claims
from pipeline.extraction.local.facts.masked import D, N, Masked
from pipeline.extraction.local.facts.spanish_words import (
    CLAUSE,
    COMMAND,
    DEVICES,
    FORMS,
    HABITS,
    HYPOTHETICAL,
    KIN,
    NOT_OBJECTS,
    PHRASE_END,
    QUESTION,
    ROLE_NOUN,
    TROUBLE,
    VERBS,
    Verb,
)
from pipeline.timeline.dates import DateSpan

_Dates = tuple[DateSpan, ...]
_SUBJECT = rf"(?:(?P<s>{N}|\b(?:yo|nosotros|nosotras|él|ella|ellos|ellas)\b),?\s)"
_GROUP = (
    r"(?P<aux>(?:(?:ya no|no|nunca|ya|ahora|también|todavía|aún|siempre|actualmente|realmente|me|se|nos|lo|estoy|está|"
    r"estamos|estaba|estuve|estuvo|he|ha|hemos|han|había|voy a|va a|vamos a|solía|solíamos|antes|recientemente|"
    rf"dejé de|dejó de|dejamos de|he dejado de|ha dejado de|sigo|sigue|{D}),?\s){{0,5}})"
)
_LETTER = rf"\w{N[1:-1]}"
_PHRASE = rf"(?P<o>[{_LETTER}][{_LETTER}'’&./+-]*(?: [{_LETTER}'’&./+-]+){{0,7}})"
_DETERMINER = r"(?P<d>(?:(?:el|la|los|las|un|una|unos|unas|mi|mis|su|sus|nuestro|nuestra) )*)(?:nuev[oa] )?"
_NO_LONGER = re.compile(r"\bya no\b|\bdej(?:é|ó|amos|ado) de\b")
_START = r"(?:^|(?<=[,;:(«\"]\s)|(?<=\by\s)|(?<=\bpero\s))"


def _compile(verb: Verb) -> tuple[Verb, re.Pattern[str]]:
    prep = f"{verb.prep} " if verb.prep else ""
    last = f"{_DETERMINER}(?P<o>{N})" if verb.named else f"{_DETERMINER}{_PHRASE}"
    forms = "|".join(sorted(FORMS[verb.infinitive], key=len, reverse=True))
    return verb, re.compile(rf"(?:{_SUBJECT}|{_START}){_GROUP}(?P<v>{forms})\b (?:{D} )?{prep}{last}", re.I)


_PATTERNS = [_compile(verb) for verb in VERBS]
_LIKING = re.compile(
    rf"(?:(?:a (?P<s>{N}|mí|él|ella)|{_START})[ ,]*)(?P<neg>(?:ya )?no |también |todavía )?(?P<p>me|le|nos|les) (?:(?:muy|siempre) )?"
    rf"(?P<v>gustan?|encantan?|gustaban?|encantaban?|interesan?) (?:(?:mucho|más|muchísimo) )?{_DETERMINER}{_PHRASE}",
    re.I,
)
_BE = rf"(?:{_SUBJECT}|{_START})(?P<aux>(?:(?:ya no|no|también|ahora|todavía|{D}) )*)(?P<v>soy|es|era|fui|fue)\b"
_FROM = re.compile(rf"{_BE} (?:originari[oa] )?de (?P<o>{N})", re.I)
_ROLE = re.compile(rf"{_BE} (?:(?:el|la|un|una|nuestro|nuestra) )?(?P<o>(?:{ROLE_NOUN})(?: de [a-zà-ÿ]+)?)(?: (?:en|de|del) (?:la |el )?(?P<at>{N}))?", re.I)
_TITLED = re.compile(rf"(?P<s>{N}), (?:el |la |un |una |su )?(?P<o>(?:{ROLE_NOUN})(?: de [a-zà-ÿ]+)?)(?: (?:en|de|del) (?:la |el )?(?P<at>{N}))?(?:,|\.?$)", re.I)
_MARRIED = re.compile(rf"(?:{_SUBJECT}|{_START})(?P<aux>(?:(?:ya no|no) )?)(?P<v>estoy|está|estaba) casad[oa] con (?P<o>{N})", re.I)
_BASED = re.compile(rf"(?P<s>{N}) (?:tiene (?P<v>su sede)|está (?:ubicad[oa]|situad[oa])|se encuentra) en (?:la |el )?(?P<o>{N})", re.I)
_KIN = (
    re.compile(rf"\b(?P<p>mi|nuestr[oa]|su) (?:mejor )?(?P<k>{KIN})(?:,| se llama| es| llamad[oa])? (?P<o>{N})", re.I),
    re.compile(rf"(?P<o>{N})(?:,| es) (?P<p>mi|nuestr[oa]|su) (?:mejor )?(?P<k>{KIN})\b", re.I),
    re.compile(rf"(?P<o>{N})(?:,| es) (?:el |la |un |una )?(?P<k>{KIN}) de (?P<p>{N})", re.I),
)
_THING = rf"\b(?P<p>mi|nuestr[oa]|su|la|el) (?P<thing>{DEVICES})"
_TROUBLES = (
    re.compile(rf"{_THING} (?:imprime|muestra|da|hace|tiene|saca) (?:un |una |unos |unas )?(?P<o>(?:[\w-]+ ){{0,2}}?(?:{TROUBLE})\w*(?: [a-zà-ÿ]+)?)", re.I),
    re.compile(rf"{_THING} (?P<o>no (?:funciona|enciende|imprime|conecta|carga|arranca|abre)|está (?:rot[oa]|atascad[oa])|se (?:atasca|bloquea|apaga|cuelga))\b", re.I),
)
_HABIT = re.compile(
    rf"(?:{_SUBJECT}|{_START})(?:(?:también|siempre|me|se) )*(?P<v>{'|'.join(sorted(HABITS, key=len, reverse=True))})\b"
    r"(?P<rest>[^,;.]{0,30}?\b(?:todos los|todas las|cada|diariamente|a diario|los fines de semana|por las)\b[^,;.]{0,30})",
    re.I,
)
VERB_FORMS = frozenset(form for forms in FORMS.values() for form in forms) | {h.split()[0] for h in HABITS}
"""Words that are no names, though a sentence may begin with them."""
_HEAD = re.compile(_SUBJECT)
_VERB_FIRST = re.compile(
    rf"(?:(?:ya no|no|también|ahora|me|se|he|ha|{D}),? )*(?:{'|'.join(sorted({f for v in FORMS.values() for f in v}, key=len, reverse=True))})\b", re.I
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
        if clause:
            found += _clause(masked, clause)
    if COMMAND.search(text):
        return [claim for claim in found if claim.subject.role is Role.speaker]
    return found


def _person(form: str) -> int | None:
    return next((FORMS[i][form.lower()][0] for i in FORMS if form.lower() in FORMS[i]), None)


def _clause(masked: Masked, clause: str) -> Iterator[Claim]:
    dates = masked.dates_in(clause)
    for verb, regex in _PATTERNS:
        for match in regex.finditer(clause):
            person, time = FORMS[verb.infinitive][match["v"].lower()]
            said = _tense(verb, match["aux"], time)
            decided = said and mode_of(verb.relation, verb.aspect, said, bool(dates))
            found = _target(masked, match["o"], verb.named, _article(match))
            who = _actor(masked, match["s"], _helper_person(match["aux"]) or person)
            if decided and found and who:
                yield Claim(who, known(decided[0]), found, decided[1], dates)
    yield from _phrases(masked, clause, dates)
    yield from _states(masked, clause, dates)


def _tense(verb: Verb, group: str, time: str) -> Tense | None:
    group = group.lower()
    negated = bool(re.search(r"\b(?:no|nunca)\b", group) or _NO_LONGER.search(group))
    gone = bool(_NO_LONGER.search(group))
    perfect = bool(re.search(r"\b(?:he|ha|hemos|han)\b", group))
    helped = bool(re.search(r"\b(?:est\w+|sig[ou]e?|voy a|va a|vamos a|sol[ií]\w*|dej\w+ de|ha|he|hemos|han|había)\b", group))
    if time in ("gerund", "participle", "infinitive") and not helped:
        return None
    if time == "participle" and not (perfect or "había" in group):
        return None
    past = time == "past" or bool(re.search(r"\b(?:estaba|estuve|estuvo|había|sol[ií]\w*)\b", group))
    future = bool(re.search(r"\b(?:voy|va|vamos) a\b", group)) or time == "future"
    if verb.aspect is Aspect.event and time == "present":
        return None
    return Tense(negated=negated, past=past and not gone, perfect=perfect or gone, future=future)


def _helper_person(group: str) -> int | None:
    if re.search(r"\b(?:estoy|estamos|he|hemos|voy|vamos|dejé|dejamos|sigo|estuve)\b", group, re.I):
        return 1
    return 3 if re.search(r"\b(?:está|ha|han|va|dejó|sigue|estuvo)\b", group, re.I) else None


def _actor(masked: Masked, token: str | None, person: int | None) -> Actor | None:
    name = masked.name(token or "")
    if name:
        return Actor(Role.name, name.text, name.kind) if person != 1 else None
    low = (token or "").lower()
    if low in ("yo", "nosotros", "nosotras", "mí", "mi", "nuestro", "nuestra"):
        return SPEAKER
    if low:
        return Actor(Role.third, low)
    # "Vivía" is first and third person alike; in a conversation people mostly speak of themselves.
    return Actor(Role.third, "él") if person == 3 else SPEAKER


def _article(match: re.Match[str]) -> str:
    words = (match["d"] or "").lower().split()
    return words[-1] if words and words[-1] in ("el", "la", "los", "las", "un", "una", "unos", "unas") else ""


def _target(masked: Masked, phrase: str, named: bool, before: str = "") -> Actor | None:
    name = masked.name(phrase)
    if name:
        return Actor(Role.name, name.text, name.kind, article=before)
    if named or NOT_OBJECTS.match(phrase):
        return None
    bare = re.sub(r"\s(?:y|e|o|ni)\s.*$", "", PHRASE_END.sub("", " " + phrase)).strip(" .'-/&+")
    name = masked.name(bare)
    if name:
        return Actor(Role.name, name.text, name.kind, article=before)
    shown = masked.shown(bare).strip(" .,'-")
    return Actor(Role.name, shown, article=before) if len(shown) > 1 and not shown.isdigit() else None


def _mode(group: str, form: str) -> Mode | None:
    past = form.lower() in ("era", "fui", "fue", "estaba")
    if re.search(r"\bno\b", group or "", re.I):
        return None if past else Mode.ceases
    return Mode.held if past else Mode.holds


def _states(masked: Masked, clause: str, dates: _Dates) -> Iterator[Claim]:
    for regex, relation in ((_FROM, "IS_FROM"), (_MARRIED, "MARRIED_TO")):
        for match in regex.finditer(clause):
            who = _actor(masked, match["s"], 1 if match["v"].lower() in ("soy", "fui", "estoy") else 3)
            found, mode = _target(masked, match["o"], True), _mode(match["aux"], match["v"])
            if who and found and mode:
                yield Claim(who, known(relation), found, mode, dates)
    for regex in (_ROLE, _TITLED):
        for match in regex.finditer(clause):
            words = match.groupdict()
            form = words.get("v") or "es"
            who = _actor(masked, match["s"], 1 if form.lower() in ("soy", "fui") else 3)
            mode, at = _mode(words.get("aux") or "", form), masked.name(match["at"] or "")
            if who and mode:
                yield Claim(who, known("HAS_ROLE"), Actor(Role.name, match["o"]), mode, dates)
                if at:
                    yield Claim(who, known("WORKS_AT"), Actor(Role.name, at.text, at.kind), mode, dates)
    for match in _BASED.finditer(clause):
        who, found = _actor(masked, match["s"], 3), _target(masked, match["o"], True)
        if who and found and who.kind != "Person":
            yield Claim(who, known("BASED_IN" if match["v"] else "LOCATED_IN"), found, Mode.holds, dates)


def _phrases(masked: Masked, clause: str, dates: _Dates) -> Iterator[Claim]:
    for match in _LIKING.finditer(clause):
        first = match["p"].lower() in ("me", "nos")
        who, found = _actor(masked, match["s"], 1 if first and not masked.name(match["s"] or "") else 3), _target(masked, match["o"], False, _article(match))
        past = match["v"].lower().endswith(("aba", "aban"))
        negated = "no" in (match["neg"] or "").lower().split()
        decided = mode_of("LIKES", Aspect.state, Tense(negated=negated, past=past), bool(dates))
        if who and found and decided:
            yield Claim(who, known(decided[0]), found, decided[1], dates)
    for regex in _KIN:
        for match in regex.finditer(clause):
            other, owner = masked.name(match["o"]), _owner(masked, match["p"])
            if other and owner:
                yield from kin_claims(owner, match["k"], Actor(Role.name, other.text, "Person"), dates)
    for regex in _TROUBLES:
        for match in regex.finditer(clause):
            thing = Actor(Role.name, match["thing"].lower(), "Product", _owner(masked, match["p"]))
            yield Claim(thing, known("HAS_PROBLEM"), Actor(Role.name, masked.shown(match["o"])), Mode.holds, dates)
    for match in _HABIT.finditer(clause):
        relation, third, person = HABITS[match["v"].lower()]
        who = _actor(masked, match["s"], person)
        if who:
            yield Claim(who, habit(relation), None, Mode.holds, (), f"{third}{match['rest'].rstrip()}")


def _owner(masked: Masked, token: str) -> Actor | None:
    name = masked.name(token)
    if name:
        return Actor(Role.name, name.text, name.kind)
    if token.lower() in ("la", "el"):
        return None
    return SPEAKER if token.lower() != "su" else Actor(Role.third, "su")
