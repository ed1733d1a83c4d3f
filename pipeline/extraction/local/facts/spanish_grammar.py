"""The verb group of a Spanish clause, its subject and its object."""

from __future__ import annotations

import re

from pipeline.extraction.local.facts.claim import SPEAKER, Actor, Aspect, Mode, Role, Tense
from pipeline.extraction.local.facts.masked import D, Masked, N
from pipeline.extraction.local.facts.spanish_words import NOT_OBJECTS, PHRASE_END, Verb

SUBJECT = rf"(?:(?P<s>{N}|\b(?:yo|nosotros|nosotras|él|ella|ellos|ellas)\b),?\s)"

GROUP = (
    r"(?P<aux>(?:(?:ya no|no|nunca|ya|ahora|también|todavía|aún|siempre|actualmente|realmente|me|se|nos|lo|estoy|está|"
    r"estamos|estaba|estuve|estuvo|he|ha|hemos|han|había|voy a|va a|vamos a|solía|solíamos|antes|recientemente|"
    rf"dejé de|dejó de|dejamos de|he dejado de|ha dejado de|sigo|sigue|{D}),?\s){{0,5}})"
)

_LETTER = rf"\w{N[1:-1]}"

PHRASE = rf"(?P<o>[{_LETTER}][{_LETTER}'’&./+-]*(?: [{_LETTER}'’&./+-]+){{0,7}})"

DETERMINER = r"(?P<d>(?:(?:el|la|los|las|un|una|unos|unas|mi|mis|su|sus|nuestro|nuestra) )*)(?:nuev[oa] )?"

_NO_LONGER = re.compile(r"\bya no\b|\bdej(?:é|ó|amos|ado) de\b")

START = r"(?:^|(?<=[,;:(«\"]\s)|(?<=\by\s)|(?<=\bpero\s))"


def tense(verb: Verb, group: str, time: str) -> Tense | None:
    """The tense of a verb group with a verb form of time `time`; None when they make no finite statement."""
    group = group.lower()
    negated = bool(re.search(r"\b(?:no|nunca)\b", group) or _NO_LONGER.search(group))
    gone = bool(_NO_LONGER.search(group))
    perfect = bool(re.search(r"\b(?:he|ha|hemos|han)\b", group))
    helped = bool(
        re.search(
            r"\b(?:est\w+|sig[ou]e?|voy a|va a|vamos a|sol[ií]\w*|dej\w+ de|ha|he|hemos|han|había)\b", group
        )
    )
    if time in ("gerund", "participle", "infinitive") and not helped:
        return None
    if time == "participle" and not (perfect or "había" in group):
        return None
    past = time == "past" or bool(re.search(r"\b(?:estaba|estuve|estuvo|había|sol[ií]\w*)\b", group))
    future = bool(re.search(r"\b(?:voy|va|vamos) a\b", group)) or time == "future"
    if verb.aspect is Aspect.event and time == "present":
        return None
    return Tense(negated=negated, past=past and not gone, perfect=perfect or gone, future=future)


def helper_person(group: str) -> int | None:
    """The person that the helping verbs of a group tell: 1, 3 or None."""
    if re.search(r"\b(?:estoy|estamos|he|hemos|voy|vamos|dejé|dejamos|sigo|estuve)\b", group, re.I):
        return 1
    return 3 if re.search(r"\b(?:está|ha|han|va|dejó|sigue|estuvo)\b", group, re.I) else None


def actor(masked: Masked, token: str | None, person: int | None) -> Actor | None:
    """Who a subject is; without one, the person of the verb tells. None when they contradict each other."""
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


def article(match: re.Match[str]) -> str:
    """The article that stood before the object, for the sentence; "mi" and the like are left out."""
    words = (match["d"] or "").lower().split()
    return words[-1] if words and words[-1] in ("el", "la", "los", "las", "un", "una", "unos", "unas") else ""


def target(masked: Masked, phrase: str, named: bool, before: str = "") -> Actor | None:
    """The object of a clause; None when the phrase names nothing that one could come back to."""
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


def mode_of_being(group: str, form: str) -> Mode | None:
    """What "soy", "ya no es", "era", … say of a state."""
    past = form.lower() in ("era", "fui", "fue", "estaba")
    if re.search(r"\bno\b", group or "", re.I):
        return None if past else Mode.ceases
    return Mode.held if past else Mode.holds


def owner(masked: Masked, token: str) -> Actor | None:
    """Who "mi", "su" or a name before or after a noun stands for; None for an article."""
    name = masked.name(token)
    if name:
        return Actor(Role.name, name.text, name.kind)
    if token.lower() in ("la", "el"):
        return None
    return SPEAKER if token.lower() != "su" else Actor(Role.third, "su")
