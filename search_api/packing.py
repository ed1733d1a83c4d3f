"""Which lines a text of a limited length gets: the most value for its tokens.

Greedy by density, as for the fractional knapsack (Dantzig 1957): lines are tried in the order of value per token, one
that does not fit is skipped and the next is tried. What `first` names is tried before all others, what `last` names
after them, each in the order given. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MIN_WEIGHT = 16.0
"""Tokens that any line counts when its density is taken: a short line of little value is not worth more than a good
one for being short. A fact with its dates is about as long."""


@dataclass(frozen=True)
class Offer:
    """Something that may be told.

    `weight` in tokens, its line break included; `value` in [0, 1], comparable over all offers; `section` is opened by
    its first offer that is told. `after`: the place of an offer that it is an addition to, without which it is not told.
    """

    section: str
    weight: float
    value: float
    after: int | None = None


def packed(
    offers: Sequence[Offer],
    openings: Mapping[str, float],
    budget: float,
    *,
    first: Iterable[int] = (),
    last: Iterable[int] = (),
) -> frozenset[int]:
    """The places of the offers that are told; together with the openings of their sections at most `budget` tokens."""
    ahead, behind = list(first), list(last)
    others = list(set(range(len(offers))).difference(ahead, behind))
    others.sort(key=lambda i: (-_density(offers, i), i))
    chosen: set[int] = set()
    opened: set[str] = set()
    for place in (*ahead, *others, *behind):
        offer = offers[place]
        if offer.after is not None and offer.after not in chosen:
            continue
        weight = offer.weight + (0.0 if offer.section in opened else openings[offer.section])
        if weight <= budget:
            budget -= weight
            chosen.add(place)
            opened.add(offer.section)
    return frozenset(chosen)


def values(scores: Sequence[float]) -> list[float]:
    """The scores of one scope in [0, 1], its best 1, so that those of several scopes can be compared.

    They are divided by the best. Where some are below zero, as a cross-encoder's may be, zero means nothing: the last
    is 0 then.
    """
    low = min(0.0, min(scores, default=0.0))
    span = max(scores, default=0.0) - low
    return [(score - low) / span if span > 0 else 1.0 for score in scores]


def _density(offers: Sequence[Offer], place: int) -> float:
    """Value per token; of an addition at most that of what it is added to, which is so tried before it."""
    offer = offers[place]
    own = offer.value / max(offer.weight, MIN_WEIGHT)
    return own if offer.after is None else min(own, _density(offers, offer.after))
