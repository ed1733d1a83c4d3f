"""English facts that no verb of doing carries: roles, origin, kin, broken things, habits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extraction.local.facts.claim import Actor, Claim, Mode, Role, known
from pipeline.extraction.local.facts.english_grammar import (
    BEING,
    DETERMINER,
    GROUP,
    OWNER,
    PHRASE,
    SUBJECT,
    actor,
    article,
    being,
    possessor,
    target,
)
from pipeline.extraction.local.facts.english_words import DEVICES, HABITS, KIN, ROLE_NOUN, TROUBLE
from pipeline.extraction.local.facts.habits import habit
from pipeline.extraction.local.facts.kin import kin_claims
from pipeline.extraction.local.facts.masked import Masked, N
from pipeline.timeline.dates import DateSpan

_Dates = tuple[DateSpan, ...]
_WORDS = r"(?:[\w-]+ ){0,3}?[\w-]+?"
_AT = rf"(?: (?:at|for|of|in) (?:the )?(?P<at>{N}))?"
_ROLES = (
    re.compile(
        rf"{SUBJECT}{BEING}(?: working| employed)?(?: as)? (?:(?P<d>an?|the)|our|their|its) (?P<o>{_WORDS}){_AT}(?=[ ,.;!]|$)"
    ),
    re.compile(
        rf"{SUBJECT}{BEING} (?P<o>ceo|cto|cfo|coo|head|director|founder|president|CEO|CTO|CFO|COO){_AT}(?=[ ,.;!]|$)"
    ),
    re.compile(
        rf"{SUBJECT}{GROUP} (?P<v>works?|worked|working) as (?P<d>an?|the) (?P<o>{_WORDS}){_AT}(?=[ ,.;!]|$)"
    ),
    re.compile(
        rf"(?P<s>{N}), (?:(?:(?P<d>the|an?)|our|their|her|his) )?(?:new )?(?P<o>{_WORDS}){_AT}(?:,|\.?$)"
    ),
)
_BE = {
    "IS_FROM": re.compile(rf"{SUBJECT}{BEING} (?:originally )?from (?P<o>{N})"),
    "MARRIED_TO": re.compile(rf"{SUBJECT}{BEING} (?:married|engaged) to (?P<o>{N})"),
    "BORN_IN": re.compile(rf"{SUBJECT}(?P<aux> (?:was|were)) born (?:and raised )?in (?P<o>{N})"),
    "HAS_PLAN": re.compile(
        rf"{SUBJECT}{BEING} on (?:(?P<d>the|an?) |our )?(?P<o>(?:{N}|\w+) (?:plan|tier|subscription|package))\b"
    ),
    "ALLERGIC_TO": re.compile(rf"{SUBJECT}{BEING} (?:very |severely )?allergic to {DETERMINER}{PHRASE}"),
}
_BASED = re.compile(rf"{SUBJECT}{BEING} (?P<v>based|headquartered|located|situated) in (?:the )?(?P<o>{N})")
_ADJ = r"(?:(?!ex|late|former)\w+ )?"
_KIN_NAMED = re.compile(
    rf"{OWNER} {_ADJ}(?P<k>{KIN})(?:,| is| is called| is named|'s name is| called| named)? (?P<o>{N})", re.I
)
_KIN_IS = re.compile(rf"(?P<o>{N})(?:,| is) {OWNER} {_ADJ}(?P<k>{KIN})\b", re.I)
_KIN_OF = re.compile(rf"(?P<o>{N})(?:,| is) (?:the|an?) (?P<k>{KIN}) of (?P<p>{N})", re.I)
_HAVE_KIN = re.compile(
    rf"{SUBJECT} (?:have|has|'ve got) (?:an?|one) {_ADJ}(?P<k>{KIN}),? (?:called|named) (?P<o>{N})", re.I
)
_THING = rf"(?:{OWNER}|\bthe) (?:\w+ )?(?P<thing>{DEVICES})"
_TROUBLE = re.compile(
    rf"{_THING} (?:(?:now|still|always|also) )?(?:keeps? (?:on )?\w+ing|prints?|shows?|displays?|gives?|throws?|"
    rf"reports?|has|makes?)(?: me)? (?P<o>(?:[\w-]+ ){{0,4}}?(?:{TROUBLE})\w*(?: (?:[A-Z]?-?\d\w*|{N}))?)",
    re.I,
)
_BROKEN = re.compile(
    rf"{_THING} (?P<o>(?:doesn't|does not|won't|will not|can't) (?:work|start|turn on|print|connect|charge|boot|load|"
    r"open|scan|sync)|(?:is|are) (?:broken|jammed|frozen|overheating)|keeps (?:on )?(?:crash|jamm|freez|overheat)ing|"
    r"(?:crashes|jams|freezes|overheats))\b",
    re.I,
)
_HAVE_TROUBLE = re.compile(
    rf"{SUBJECT}(?:'ve| have| has|'m having| am having| is having)(?: got)? (?:an? |some )?(?:problem|trouble|issue)s? "
    rf"with {DETERMINER}{PHRASE}",
    re.I,
)
_HABIT = re.compile(
    rf"{SUBJECT}(?P<aux>(?: (?:also|usually|always|often|still|now)){{0,2}}) (?P<v>{'|'.join(sorted(HABITS, key=len, reverse=True))})\b"
    r"(?P<rest>[^,;.!]{0,40}?\b(?:every|each|daily|weekly|twice|once|on weekends|at weekends|in the mornings?)\b[^,;.!]{0,30})",
    re.I,
)


def claims(masked: Masked, clause: str, dates: _Dates) -> Iterator[Claim]:
    """The facts of one clause."""
    yield from _roles(masked, clause, dates)
    yield from _states(masked, clause, dates)
    yield from _kin(masked, clause, dates)
    yield from _troubles(masked, clause, dates)
    for match in _HABIT.finditer(clause):
        relation, third = HABITS[match["v"].lower()]
        yield Claim(
            actor(masked, match["s"]),
            habit(relation),
            None,
            Mode.holds,
            (),
            f"{third}{match['rest'].rstrip()}",
        )


def _roles(masked: Masked, clause: str, dates: _Dates) -> Iterator[Claim]:
    for regex in _ROLES:
        for match in regex.finditer(clause):
            words = match.groupdict()
            role = re.fullmatch(rf"(?:{ROLE_NOUN})", match["o"], re.I)
            group = words.get("aux") or ""
            mode = Mode.held if words.get("v") == "worked" else being(group, clause[match.end() :])
            if role is None or mode is None:
                continue
            who = actor(masked, match["s"])
            yield Claim(
                who,
                known("HAS_ROLE"),
                Actor(Role.name, match["o"], article=words.get("d") or ""),
                mode,
                dates,
            )
            at = masked.name(match["at"] or "")
            if at:
                relation = "STUDIES_AT" if match["o"].endswith("student") else "WORKS_AT"
                yield Claim(who, known(relation), Actor(Role.name, at.text, at.kind), mode, dates)


def _states(masked: Masked, clause: str, dates: _Dates) -> Iterator[Claim]:
    for relation, regex in _BE.items():
        for match in regex.finditer(clause):
            found = target(
                masked, match["o"], relation in ("IS_FROM", "MARRIED_TO", "BORN_IN"), article(match)
            )
            mode = Mode.holds if relation == "BORN_IN" else being(match["aux"], clause[match.end() :])
            if found and mode:
                yield Claim(actor(masked, match["s"]), known(relation), found, mode, dates)
    for match in _BASED.finditer(clause):
        found, mode, who = target(masked, match["o"], True), being(match["aux"]), actor(masked, match["s"])
        thing = "BASED_IN" if match["v"] in ("based", "headquartered") else "LOCATED_IN"
        person = who.role is not Role.name or who.kind == "Person"
        if found and mode:
            yield Claim(who, known("LIVES_IN" if person else thing), found, mode, dates)


def _kin(masked: Masked, clause: str, dates: _Dates) -> Iterator[Claim]:
    for regex in (_KIN_NAMED, _KIN_IS, _KIN_OF, _HAVE_KIN):
        for match in regex.finditer(clause):
            other = masked.name(match["o"])
            owner = match.groupdict().get("p") or match.groupdict().get("s") or ""
            if other and owner:
                yield from kin_claims(
                    possessor(masked, owner), match["k"], Actor(Role.name, other.text, "Person"), dates
                )


def _troubles(masked: Masked, clause: str, dates: _Dates) -> Iterator[Claim]:
    for regex in (_TROUBLE, _BROKEN):
        for match in regex.finditer(clause):
            owner = possessor(masked, match["p"]) if match["p"] else None
            thing = Actor(Role.name, match["thing"].lower(), "Product", owner)
            trouble = re.sub(r"^(?:an?|the|me) ", "", masked.shown(match["o"]))
            yield Claim(thing, known("HAS_PROBLEM"), Actor(Role.name, trouble), Mode.holds, dates)
    for match in _HAVE_TROUBLE.finditer(clause):
        found = target(masked, match["o"], False)
        if found:
            yield Claim(
                actor(masked, match["s"]),
                known("HAS_PROBLEM"),
                found,
                Mode.holds,
                dates,
                form="{s} has a problem with {o}",
            )
