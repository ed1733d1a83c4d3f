"""The verb group of an English clause: which words may stand in it, and the tense that they make together."""

from __future__ import annotations

import re

from pipeline.extraction.local.facts.claim import SPEAKER, Actor, Aspect, Mode, Role, Tense
from pipeline.extraction.local.facts.english_words import NOT_OBJECTS, PHRASE_END, Verb
from pipeline.extraction.local.facts.masked import D, Masked, N

SUBJECT = rf"(?P<s>{N}|\b(?:I|i|we|We|he|He|she|She|they|They)\b)"
GROUP = (
    r"(?P<aux>(?:\s?'(?:m|re|s|ve|ll)\b|\s(?:am|are|is|was|were|have|has|had|been|being|do|does|did|used to|will|"
    r"going to|not|never|no longer|don't|doesn't|didn't|isn't|aren't|wasn't|haven't|hasn't|won't|currently|now|"
    r"really|also|still|just|always|usually|mostly|often|actually|recently|already|both|finally|"
    rf"then|later|soon|absolutely|especially|only|mainly|generally|strongly|very much|truly|{D})(?!\w),?){{0,6}})"
)
BEING = (
    r"(?P<aux>(?:\s?'(?:m|re|s)\b|\s(?:am|are|is|was|were|not|isn't|aren't|wasn't|now|currently|also|still|no longer|"
    rf"been|have|has|{D})(?!\w)){{1,5}})"
)
DETERMINER = r"(?P<d>(?:(?:the|a|an|my|our|his|her|their|some) )*)(?:(?:brand-)?new )?"
_LETTER = rf"\w{N[1:-1]}"
PHRASE = rf"(?P<o>[{_LETTER}][{_LETTER}'&./+-]*(?: [{_LETTER}'&./+-]+){{0,7}})"
OWNER = rf"(?P<p>\b(?:my|our|his|her|their)\b|{N}'s?)"

_NEGATION = re.compile(r"\b(?:not|never|no longer|\w+n't)\b", re.I)
_PAST = re.compile(r"\b(?:was|were|did|didn't|wasn't|used to|had)\b", re.I)
_PERFECT = re.compile(r"\b(?:have|has|haven't|hasn't)\b|'ve\b|'s been\b", re.I)
_FUTURE = re.compile(r"\b(?:will|won't|going to)\b|'ll\b", re.I)
ANY_MORE = re.compile(r"\bany ?(?:more|longer)\b", re.I)


def tense(verb: Verb, group: str, form: str, after: str) -> Tense | None:
    """The tense of a verb group with a form of a verb; None when they make no finite statement.

    A deed in the plain present ("I buy bread") states no single fact, and a bare gerund is no verb group.
    """
    form = form.lower()
    negated = bool(_NEGATION.search(group) or ANY_MORE.search(after))
    perfect, did = bool(_PERFECT.search(group)), bool(_PAST.search(group))
    past_form = form == verb.past and form != verb.base and not perfect
    be = bool(re.search(r"\b(?:am|are|is|was|were|been)\b|'m\b|'re\b|'s\b", group))
    if form == verb.gerund and not be:
        return None
    if form in (verb.past, verb.participle) and form != verb.base and be and not perfect:
        return None
    if form == verb.participle and form not in (verb.past, verb.base) and not perfect:
        return None
    if form == verb.base and be and not re.search(r"\b(?:do|does|did|used to|will|going to)\b", group):
        return None
    progressive = form == verb.gerund and verb.aspect is not Aspect.state and not did
    future = bool(_FUTURE.search(group)) or progressive
    past = did or past_form
    plain = form in (verb.base, verb.third) and form != verb.past
    if verb.aspect is Aspect.event and plain and not (past or future):
        return None
    return Tense(negated=negated, past=past, perfect=perfect, future=future)


def being(group: str, after: str = "") -> Mode | None:
    """What "am", "is not", "was", … say of a state."""
    if re.search(r"\bno longer\b", group) or ANY_MORE.search(after):
        return Mode.ceases
    past = re.search(r"\b(?:was|were|wasn't)\b", group)
    if _NEGATION.search(group):
        return None if past else Mode.ceases
    return Mode.held if past else Mode.holds


def actor(masked: Masked, token: str) -> Actor:
    """Who a subject token is."""
    name = masked.name(token)
    if name:
        return Actor(Role.name, name.text, name.kind)
    return SPEAKER if token.lower() in ("i", "we", "my", "our") else Actor(Role.third, token.lower())


def possessor(masked: Masked, token: str) -> Actor:
    """Who "my", "his" or "Ana's" belongs to."""
    return actor(masked, token[0] if masked.name(token[:1]) else token)


def article(match: re.Match[str]) -> str:
    """The article that stood before the object, for the sentence; "my" and the like are left out."""
    words = (match.groupdict().get("d") or "").lower().split()
    return words[-1] if words and words[-1] in ("the", "a", "an", "some") else ""


def target(masked: Masked, phrase: str, named: bool, before: str = "") -> Actor | None:
    """The object of a clause; None when the phrase names nothing that one could come back to."""
    name = masked.name(phrase)
    if name:
        return Actor(Role.name, name.text, name.kind, article=before)
    if named or NOT_OBJECTS.match(phrase):
        return None
    bare = PHRASE_END.sub("", " " + phrase).strip(" .'-/&+")
    bare = _first_of_list(bare)
    name = masked.name(bare)
    if name:
        return Actor(Role.name, name.text, name.kind, article=before)
    shown = masked.shown(bare).strip(" .,'-")
    return Actor(Role.name, shown, article=before) if len(shown) > 1 and not shown.isdigit() else None


def _first_of_list(phrase: str) -> str:
    """What stands before "and"; all of it when one noun has two attributes ("sunny and warm weather")."""
    first, _, rest = re.sub(r"\sor\s", " and ", phrase).partition(" and ")
    one = rest and len(first.split()) == 1 and len(rest.split()) > 1 and not rest.split()[0].endswith("ing")
    return phrase if one else first


_PLAN = re.compile(r"\b(?:plan|tier|subscription|package|membership|account)\b", re.I)


def plausible(verb: Verb, found: Actor) -> bool:
    """Whether an object suits a verb that has other meanings: one switches to plans, and speaks languages."""
    if verb.relation == "SPEAKS":
        return found.text[0].isupper()
    return verb.relation != "HAS_PLAN" or verb.base == "subscribe" or bool(_PLAN.search(found.text))
