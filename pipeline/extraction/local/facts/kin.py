"""Family, friends and pets: the word tells the relation and its direction, in any of the three languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.extraction.local.facts.claim import Actor, Claim, Mode, known
from pipeline.timeline.dates import DateSpan

_WORDS = (
    ("MARRIED_TO", False, r"wife|husband|spouse|espos[oa]|marido|mujer|妻子|老婆|丈夫|老公|太太|爱人"),
    ("SIBLING_OF", False, r"sister|brother|sibling|herman[oa]|姐姐|妹妹|哥哥|弟弟|姐|妹|哥|弟"),
    ("PARENT_OF", True, r"mother|father|mum|mom|dad|parent|madre|padre|mamá|papá|妈妈|爸爸|母亲|父亲"),
    ("PARENT_OF", False, r"son|daughter|child|hij[oa]|儿子|女儿|孩子"),
    ("COLLEAGUE_OF", False, r"colleague|coworker|co-worker|colega|compañer[oa]|同事"),
    ("FRIEND_OF", False, r"friend|amig[oa]|朋友|好友|闺蜜"),
    ("OWNS", False, r"dog|cat|pet|horse|perr[oa]|gat[oa]|mascota|狗|猫|宠物"),
)
_KIN = [(relation, turned, re.compile(words, re.I)) for relation, turned, words in _WORDS]


def kin_claims(owner: Actor, kin: str, other: Actor, dates: tuple[DateSpan, ...]) -> Iterator[Claim]:
    """ "`other` is the `kin` of `owner`" as a fact."""
    for relation, turned, words in _KIN:
        if words.fullmatch(kin):
            if relation == "OWNS":
                other = Actor(other.role, other.text, "Animal")
            subject, target = (other, owner) if turned else (owner, other)
            yield Claim(subject, known(relation), target, Mode.holds, dates)
            return
