"""Chinese clauses as patterns. A clause without a subject goes on about the subject of the clause before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extraction.local.facts.chinese_words import (
    CLAUSE,
    COMMAND,
    DEVICES,
    GROUP,
    HABITS,
    HYPOTHETICAL,
    KIN,
    NOT_OBJECTS,
    OBJECT_END,
    OFTEN,
    QUESTION,
    ROLE_NOUN,
    SUBJECT,
    TROUBLE,
    VERBS,
)
from pipeline.extraction.local.facts.claim import SPEAKER, Actor, Claim, Mode, Role, Tense, known, mode_of
from pipeline.extraction.local.facts.habits import habit
from pipeline.extraction.local.facts.kin import kin_claims
from pipeline.extraction.local.facts.masked import MAX_CLAUSE, D, Masked, N
from pipeline.extraction.local.facts.together import CHINESE, of_all
from pipeline.timeline.dates import DateSpan

_Dates = tuple[DateSpan, ...]
_PATTERNS = [(relation, aspect, re.compile(SUBJECT + GROUP + verb)) for relation, aspect, verb in VERBS]
_HEAD = re.compile(rf"(?:{D}|[ ])*{SUBJECT}")
_ANY_SUBJECT = re.compile(r"(?P<s>我们|我|他们|她们|他|她)")
_VERB_FIRST = re.compile(
    rf"(?:{GROUP})(?:在|住|就职|加入|入职|离开|从|搬|喜欢|热爱|讨厌|更喜欢|买了|订|用|养|弹|打|踢|是|来自|会说|负责|去了|嫁|娶|和|跟|{OFTEN}|不再|曾)"
)
_OWNER = rf"(?P<p>{N}|我们|我|他|她)"
_KIN = (
    re.compile(rf"{_OWNER}的?(?P<k>{KIN})(?:叫做?|名叫|是|，)?(?P<o>{N})"),
    re.compile(rf"(?P<o>{N})是{_OWNER}的?(?P<k>{KIN})"),
)
_ROLE = re.compile(
    rf"{SUBJECT}(?P<aux>(?:现在|目前|曾经|曾|以前|之前|也|不再|不)*)(?:是|担任)(?:一名|一位|一个|个)?(?:(?P<at>{N})的?)?(?P<o>{ROLE_NOUN})(?=$|[，,。！! 和]|了)"
)
_THING = rf"(?P<d>(?:(?P<p>{N}|我|我们|他|她)(?:的|家的?)?)?(?P<thing>{DEVICES}))"
_TROUBLES = (
    re.compile(
        rf"{_THING}(?:打印|总是|老是|一直|显示|出现|有|会|经常|发出){{1,3}}了?(?P<o>(?:{TROUBLE})[图像信息代码]*)"
    ),
    re.compile(
        rf"{_THING}(?:总是|又)?(?P<o>坏了|不能用|无法使用|打不开|开不了机|不能打印|无法打印|死机|卡纸|没反应|连不上)"
    ),
)
_HABIT = re.compile(
    rf"{SUBJECT}(?P<rest>(?:都|会|也|一般|通常)*(?:{OFTEN})[\u3400-\u9fff]{{0,6}}?(?P<v>{'|'.join(sorted(HABITS, key=len, reverse=True))}))"
)


def claims(masked: Masked) -> list[Claim]:
    """The facts of one Chinese sentence. In an order to the reader only what the speaker says of herself counts."""
    text = masked.text
    if QUESTION.search(text) or HYPOTHETICAL.search(text):
        return []
    found: list[Claim] = []
    subject = ""
    for piece in CLAUSE.split(text):
        clause = (piece or "").strip()
        head = _HEAD.match(clause)
        if subject and not head and _VERB_FIRST.match(clause):
            clause = subject + clause
        # "我知道他喜欢…，也喜欢…": with two subjects nobody can say who goes on.
        pronouns = {m["s"] for m in _ANY_SUBJECT.finditer(clause)}
        subject = "" if len(pronouns) > 1 else head["s"] if head else subject
        if 0 < len(clause) <= MAX_CLAUSE:
            found += _clause(masked, clause)
    found = of_all(found, masked, CHINESE)
    if COMMAND.search(masked.original):
        return [claim for claim in found if claim.subject.role is Role.speaker]
    return found


def _clause(masked: Masked, clause: str) -> Iterator[Claim]:
    dates = masked.dates_in(clause)
    for relation, aspect, regex in _PATTERNS:
        for match in regex.finditer(clause):
            if relation == "LIKES" and "更" in match["aux"]:
                continue
            group, tail = match["aux"], match.groupdict().get("tail") or ""
            decided = mode_of(relation, aspect, _tense(group, tail, clause[match.end() :]), bool(dates))
            verb = match.groupdict().get("verb")
            form = f"{{s}}{verb}{{o}}" if verb else ""
            if decided is None:
                continue
            for found in _targets(masked, match["o"]):
                yield Claim(
                    _actor(masked, match["s"]), known(decided[0]), found, decided[1], dates, form=form
                )
    for match in _ROLE.finditer(clause):
        mode = _being(match["aux"])
        at = masked.name(match["at"] or "")
        if mode:
            yield Claim(
                _actor(masked, match["s"]), known("HAS_ROLE"), Actor(Role.name, match["o"]), mode, dates
            )
            if at:
                who = _actor(masked, match["s"])
                yield Claim(who, known("WORKS_AT"), Actor(Role.name, at.text, at.kind), mode, dates)
    for regex in _KIN:
        for match in regex.finditer(clause):
            other = masked.name(match["o"])
            if other:
                yield from kin_claims(
                    _actor(masked, match["p"]), match["k"], Actor(Role.name, other.text, "Person"), dates
                )
    for regex in _TROUBLES:
        for match in regex.finditer(clause):
            owner = _actor(masked, match["p"]) if match["p"] else None
            thing = Actor(Role.name, match["thing"], "Product", owner)
            yield Claim(thing, known("HAS_PROBLEM"), Actor(Role.name, match["o"]), Mode.holds, dates)
    for match in _HABIT.finditer(clause):
        if "不" not in match["rest"]:
            yield Claim(
                _actor(masked, match["s"]),
                habit(HABITS[match["v"]]),
                None,
                Mode.holds,
                (),
                masked.shown(match["rest"]),
            )


def _tense(group: str, tail: str, after: str) -> Tense:
    no_longer = "不再" in group or (
        "不" in group and (tail == "了" or after.startswith("了") or "已经" in group)
    )
    past = bool(re.search(r"曾|以前|之前|过去|原来", group)) or tail == "过"
    return Tense(
        negated=no_longer or "不" in group or "没" in group,
        past=(past and not no_longer) or "没" in group,
        future=bool(re.search(r"会|将", group)),
    )


def _being(group: str) -> Mode | None:
    if "不" in group:
        return Mode.ceases
    return Mode.held if re.search(r"曾|以前|之前", group) else Mode.holds


def _actor(masked: Masked, token: str) -> Actor:
    name = masked.name(token)
    if name:
        return Actor(Role.name, name.text, name.kind)
    return SPEAKER if token in ("我", "我们", "咱们") else Actor(Role.third, token)


def _targets(masked: Masked, phrase: str) -> list[Actor]:
    """The objects of a clause, more than one in a list ("徒步、长跑和攀岩")."""
    if NOT_OBJECTS.match(phrase):
        return []
    found: list[Actor] = []
    for part in re.split(r"[和、]", OBJECT_END.sub("", phrase))[:8]:
        name = masked.name(part.strip())
        shown = masked.shown(part).strip(" .-的《》")
        if name:
            found.append(Actor(Role.name, name.text, name.kind))
        elif shown and not shown.isdigit() and not NOT_OBJECTS.match(shown):
            found.append(Actor(Role.name, shown))
    return found
