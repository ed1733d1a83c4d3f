"""χ: what was found, as a text for a prompt under a token budget.

Sections in the order facts, entities, communities, episodes, each under a one-word heading in the language of the
question, an item a line:

    Facts:
    - Ana works at Acme (2024-01-10 - present)

    Entities:
    Ana: Ana works at Acme.

Stored text is data: its line breaks and runs of spaces become one space, so that it can neither start a line nor
open a section. A line that does not fit is left out whole and shorter ones after it may still come in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.graph.search import Scope
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact, FactView
from pipeline.model.moments import iso
from search_api.labels import ENGLISH, Labels
from search_api.retrieval.found import Found, Hit, hit_id
from search_api.tokens import estimate_tokens, token_weight

SECTIONS = (Scope.facts, Scope.entities, Scope.communities, Scope.episodes)
MAX_EPISODE_CHARACTERS = 2000


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
    left = float(max_tokens)
    blocks: list[str] = []
    told: dict[Scope, tuple[str, ...]] = {}
    for scope in SECTIONS:
        start = f"\n\n{headings[scope]}" if blocks else headings[scope]
        lines, ids = _fitting(found.hits.get(scope, ()), left - token_weight(start), labels)
        told[scope] = tuple(ids)
        if lines:
            block = "\n".join([start, *lines])
            left -= token_weight(block)
            blocks.append(block)
    text = "".join(blocks)
    return Context(text, estimate_tokens(text), told)


def _fitting(hits: Iterable[Hit], left: float, labels: Labels) -> tuple[list[str], list[str]]:
    lines, ids = [], []
    told: set[str] = set()
    for hit in hits:
        line = _line(hit, labels)
        if line in told:
            # The same words for another pair: they are told with the first.
            ids.append(hit_id(hit))
            continue
        if (weight := token_weight("\n" + line)) <= left:
            left -= weight
            lines.append(line)
            told.add(line)
            ids.append(hit_id(hit))
    return lines, ids


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
