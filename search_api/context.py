"""χ: what was found, as a text for a prompt under a token budget.

Sections in the order facts, entities, communities, episodes, each under a one-word heading in the language of the
question, an item a line:

    Facts:
    - Ana works at Acme (2024-01-10 - present)

    Entities:
    Ana: Ana works at Acme.

Stored text is data: its line breaks and runs of spaces become one space, so that it can neither start a line nor
open a section.

Under a tight budget facts, entities and communities compete by value per token, see `search_api.packing`: the best fact
comes first, a line that does not fit is left out whole, and what it leaves goes to others. Episodes, which are long,
take what is left, best first. Where it was asked for, a fact is followed by what it replaced, if that fits as well:

    - Ana works at Acme (2024-01-10 - present) (before: Ana works at Birch, 2021-03-01 - 2024-01-10)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.graph.search import Scope
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact, FactView
from pipeline.model.moments import iso
from search_api.labels import ENGLISH, Labels
from search_api.packing import Offer, packed, values
from search_api.retrieval.found import Found, Hit, hit_id
from search_api.tokens import estimate_tokens, token_weight

SECTIONS = (Scope.facts, Scope.entities, Scope.communities, Scope.episodes)
MAX_EPISODE_CHARACTERS = 2000
REPLACED_VALUE = 0.5
"""What a fact replaced is worth, beside the fact."""

_GAP = "\n\n"


@dataclass(frozen=True)
class Context:
    """The text, its estimated tokens, and by scope the ids of the items that it tells, in their order."""

    text: str
    tokens: int
    told: dict[Scope, tuple[str, ...]]


def write_context(found: Found, max_tokens: int, labels: Labels = ENGLISH) -> Context:
    """The best of what was found that fits into `max_tokens` (see `search_api.tokens` for how they are counted)."""
    headings = {
        Scope.facts: labels.facts,
        Scope.entities: labels.entities,
        Scope.communities: labels.communities,
        Scope.episodes: labels.episodes,
    }
    pieces = [piece for scope in SECTIONS for piece in _pieces(scope, found.hits.get(scope, ()), labels)]
    chosen = _chosen(pieces, headings, max_tokens)
    blocks: list[str] = []
    told: dict[Scope, tuple[str, ...]] = {}
    for scope in SECTIONS:
        kept = [piece for place, piece in enumerate(pieces) if place in chosen and piece.scope is scope]
        told[scope] = tuple(dict.fromkeys(one for piece in kept for one in piece.ids))
        if kept:
            blocks.append("".join([headings[scope], *(piece.text for piece in kept)]))
    text = _GAP.join(blocks)
    return Context(text, estimate_tokens(text), told)


@dataclass
class _Piece:
    """A line with its break, or what may be added to the line before it (`addition`); the ids that it tells."""

    scope: Scope
    text: str
    value: float
    ids: list[str]
    addition: bool = False


def _pieces(scope: Scope, hits: Sequence[Hit], labels: Labels) -> list[_Piece]:
    """What may be told of a scope, best first. The same words for another pair are told with the first."""
    pieces: list[_Piece] = []
    told: dict[str, _Piece] = {}
    for hit, value in zip(hits, values([hit.score for hit in hits]), strict=True):
        line = "\n" + _line(hit, labels)
        if (known := told.get(line)) is not None:
            known.ids.append(hit_id(hit))
            continue
        told[line] = _Piece(scope, line, value, [hit_id(hit)])
        pieces.append(told[line])
        if hit.replaced:
            before = dict.fromkeys(f"{_plain(one.fact)}, {_interval(one, labels)}" for one in hit.replaced)
            ids = [one.hyperedge or one.id for one in hit.replaced]
            text = f" ({labels.before} {'; '.join(before)})"
            pieces.append(_Piece(scope, text, value * REPLACED_VALUE, ids, addition=True))
    return pieces


def _chosen(pieces: Sequence[_Piece], headings: Mapping[Scope, str], max_tokens: int) -> frozenset[int]:
    offers = [
        Offer(piece.scope, token_weight(piece.text), piece.value, place - 1 if piece.addition else None)
        for place, piece in enumerate(pieces)
    ]
    # The first section has no gap before it.
    openings = {scope.value: token_weight(_GAP + heading) for scope, heading in headings.items()}
    return packed(
        offers,
        openings,
        max_tokens + token_weight(_GAP),
        first=[0] if pieces and pieces[0].scope is Scope.facts else [],
        last=[place for place, piece in enumerate(pieces) if piece.scope is Scope.episodes],
    )


def _line(hit: Hit, labels: Labels) -> str:
    item = hit.item
    if isinstance(item, Fact):
        times = f" ({_times(hit, hit.shown, labels)})" if hit.shown else ""
        return f"- {_plain(item.fact)}{times}"
    if isinstance(item, Entity):
        return f"{_plain(item.name)}: {_plain(item.summary) or item.type or 'Entity'}"
    if isinstance(item, Community):
        return f"{_plain(item.name)}: {_plain(item.summary)}"
    text = _plain(item.episode.text)
    if len(text) > MAX_EPISODE_CHARACTERS:
        text = text[:MAX_EPISODE_CHARACTERS] + "…"
    return f"[{iso(item.episode.reference_time)}] {text}"


def _times(hit: Hit, shown: FactView, labels: Labels) -> str:
    """The interval; those of the pairs by name where they differ, or where the sentence speaks of more than hold."""
    intervals = [_interval(pair, labels) for pair in hit.pairs]
    if hit.whole and len(set(intervals)) < 2:
        return _interval(shown, labels)
    return "; ".join(
        f"{_plain(pair.source.name)}, {_plain(pair.target.name)}: {interval}"
        for pair, interval in zip(hit.pairs, intervals, strict=True)
    )


def _interval(shown: FactView, labels: Labels) -> str:
    """ISO dates; the times as well where both ends are on one day."""
    start, end = shown.valid_at, shown.invalid_at
    if start is not None and end is not None and start.date() == end.date():
        return f"{iso(start)} - {iso(end)}"
    first = start.date().isoformat() if start else labels.unknown
    return f"{first} - {end.date().isoformat() if end else labels.present}"


def _plain(text: str) -> str:
    return " ".join(text.split())
