"""A cascade of finite-state rewrites over token codes.

Every token carries one code letter; a rule is a regular expression over the letters of a sentence, and what it
matches becomes one token with a value. Stages run in order, each over what the earlier ones left, so that
"two weeks" becomes a duration before "two weeks ago" becomes a date.
The method is the cascaded finite-state transducer of FASTUS (Hobbs et al., 1997).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from pipeline.timeline.datelang.values import Fixed, Recurring, Relation

FIXED, RECURRING, RELATION, JUNK = "A", "B", "K", "x"


@dataclass(frozen=True, slots=True)
class Item:
    """A token, or what a rule made of several. `code` is one letter; offsets are characters of the text."""

    code: str
    value: Any
    begin: int
    stop: int
    proper: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One match of a rule: its items by group name, and the day of the reference time."""

    today: date
    match: re.Match[str]
    items: list[Item]

    def __contains__(self, name: object) -> bool:
        """Whether the rule has such a group and it took part in the match."""
        return name in self.match.re.groupindex and self.match.group(str(name)) is not None

    def item(self, name: str) -> Item:
        return self.items[self.match.start(name)]

    def get(self, name: str) -> Any:
        """The value of a group's first item; None when the group is absent or empty."""
        return self.item(name).value if self.match.group(name) else None

    def all(self, name: str) -> list[Item]:
        return self.items[self.match.start(name) : self.match.end(name)]

    def number(self, name: str) -> int:
        value = self.get(name)
        if not isinstance(value, int):
            raise ValueError(f"{name} is no number")
        return value


Made = Fixed | Recurring | Relation | Item | None
Builder = Callable[[Hit], Made]


@dataclass(frozen=True)
class Rule:
    pattern: re.Pattern[str]
    build: Builder
    keep: str | None = None


def rule(pattern: str, build: Builder, keep: str | None = None) -> Rule:
    """`keep` names the group that becomes the token when the rest is only context."""
    return Rule(re.compile(pattern, re.VERBOSE), build, keep)


def run(stages: Iterable[list[Rule]], items: list[Item], today: date) -> list[Item]:
    codes = _codes(items)
    for stage in stages:
        for each in stage:
            match = each.pattern.search(codes)
            if match is not None:
                items, changed = _apply(each, match, codes, items, today)
                if changed:
                    codes = _codes(items)
    return items


def _codes(items: list[Item]) -> str:
    return "".join([item.code for item in items])


def _apply(
    each: Rule, match: re.Match[str] | None, codes: str, items: list[Item], today: date
) -> tuple[list[Item], bool]:
    out: list[Item] = []
    done = 0
    while match is not None:
        first, last = match.span(each.keep or 0)
        made = _build(each, Hit(today, match, items)) if last > first else None
        if made is not None:
            out.extend(items[done:first])
            out.append(_token(made, items[first], items[last - 1]))
            done = last
        # a refused match may hide a shorter one that starts inside it
        resume = max(last, match.start() + 1) if made is not None else match.start() + 1
        match = each.pattern.search(codes, resume)
    if not done:
        return items, False
    out.extend(items[done:])
    return out, True


def _build(each: Rule, hit: Hit) -> Made:
    try:
        return each.build(hit)
    except (ValueError, OverflowError):
        # the words have the shape of a date but name no day of the calendar
        return None


def _token(made: Fixed | Recurring | Relation | Item, first: Item, last: Item) -> Item:
    if isinstance(made, Item):
        return Item(made.code, made.value, first.begin, last.stop, first.proper)
    code = FIXED if isinstance(made, Fixed) else RECURRING if isinstance(made, Recurring) else RELATION
    return Item(code, made, first.begin, last.stop)


def token(code: str, value: Any = None) -> Item:
    """A token whose offsets are those of the match."""
    return Item(code, value, 0, 0)
