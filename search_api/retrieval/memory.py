"""Episodes in the light of what stands around them: the order of the recipe `memory`.

A turn of a conversation is seldom an answer by itself: the question before it, the reply after it and the
conversation that it is part of say what it is about. So an episode is worth

    words: how much of the question it and those next to it cover, see `coverage`; its own BM25 at least
    + vectors x (own cosine, plus 0.6 of that of the episodes next to it, plus 0.4 of those two places away)
                                                                              (their sum divided by the best)
    + session x the best own score in its thread                              (divided by the best)
    + speaker   when the question names who speaks, or an entity found by the question is who speaks
    + fact    x the score of the best fact found that it supports

and the sum is divided by all weights, so that 1 is best in every respect. Own scores are those of `score_fusion`.
The figures that the weights rest on, with each of them left out, stand in docs/retrieval.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.graph.search import Candidates, Leg, Method, Scope, StoredEpisode, item_key
from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact
from pipeline.text.analysis import terms
from search_api.retrieval.coverage import covered
from search_api.retrieval.found import Hit
from search_api.retrieval.fusion import by_score
from search_api.retrieval.ranked import Ranked
from search_api.retrieval.score_fusion import WEIGHTS, fused_by_score, normalised

REACH = 2


@dataclass(frozen=True)
class MemoryWeights:
    """What each part counts against an episode's own score with its neighbours', which counts 1.

    `near` is for the episodes one and two places away; `vectors` for the cosine against words.
    """

    vectors: float = 0.75
    near: tuple[float, float] = (0.6, 0.4)
    session: float = 0.3
    speaker: float = 0.15
    fact: float = 0.1

    @property
    def methods(self) -> Mapping[Method, float]:
        """The weights of the own score."""
        return {**WEIGHTS, Method.cosine: self.vectors}

    @property
    def total(self) -> float:
        """What an episode that is best in every respect would get."""
        return 1 + self.session + self.speaker + self.fact


def episodes_in_context(
    candidates: Candidates,
    shown: Mapping[Scope, Mapping[str, Hit]],
    facts: Ranked,
    query: str,
    asked: Sequence[str],
    known_at: datetime | None,
    weights: MemoryWeights,
) -> Ranked:
    """The shown episodes, best first.

    Args:
        candidates: with neighbours, and items that are sources of facts.
        shown: what may be seen, by scope.
        facts: the found facts, best first, with scores in [0, 1].
        query: the question.
        asked: the stems that text search looked for; none when it was not used.
        known_at: the time of knowing at which facts count their episodes.
        weights: what each part counts.
    """
    episodes = shown.get(Scope.episodes, {})
    legs = [leg for leg in candidates.legs if leg.scope is Scope.episodes]
    own = dict(fused_by_score(legs, weights.methods))
    own = {key: score for key, score in own.items() if key in episodes}
    window = _scaled(_in_window(legs, episodes, candidates.neighbours, asked, weights))
    session = _scaled(_best_of_thread(own, episodes))
    lifted = _supported(facts, shown.get(Scope.facts, {}), known_at)
    named = _named(query, shown.get(Scope.entities, {}))
    said = set(terms(query))
    speaking = _asked_about(map(_speaker, episodes.values()), said, named)
    return by_score(
        (
            key,
            (
                window.get(key, 0.0)
                + weights.session * session.get(_thread(hit, key), 0.0)
                + weights.speaker * (_speaker(hit) in speaking)
                + weights.fact * lifted.get(key, 0.0)
            )
            / weights.total,
        )
        for key, hit in episodes.items()
    )


def _in_window(
    legs: Sequence[Leg],
    episodes: Mapping[str, Hit],
    pairs: Sequence[tuple[str, str, int]],
    asked: Sequence[str],
    weights: MemoryWeights,
) -> dict[str, float]:
    """Words and vectors of each episode with those of its neighbours."""
    own = {leg.method: normalised(leg) for leg in legs}
    words = own.get(Method.bm25, {})
    texts = {
        key: hit.item.episode.text for key, hit in episodes.items() if isinstance(hit.item, StoredEpisode)
    }
    around = _scaled(covered(asked, texts, pairs, weights.near)) if words else {}
    near = _scaled(_with_neighbours(own.get(Method.cosine, {}), episodes, pairs, weights.near))
    return {
        key: max(words.get(key, 0.0), around.get(key, 0.0)) + weights.vectors * near.get(key, 0.0)
        for key in episodes
    }


def _with_neighbours(
    own: Mapping[str, float],
    episodes: Mapping[str, Hit],
    pairs: Sequence[tuple[str, str, int]],
    near: tuple[float, float],
) -> dict[str, float]:
    window = {key: own.get(key, 0.0) for key in episodes}
    for earlier, later, steps in pairs:
        if earlier in window and later in window:
            window[earlier] += near[steps - 1] * own.get(later, 0.0)
            window[later] += near[steps - 1] * own.get(earlier, 0.0)
    return window


def _best_of_thread(own: Mapping[str, float], episodes: Mapping[str, Hit]) -> dict[str, float]:
    best: dict[str, float] = {}
    for key, score in own.items():
        thread = _thread(episodes[key], key)
        best[thread] = max(score, best.get(thread, 0.0))
    return best


def _thread(hit: Hit, key: str) -> str:
    """A thread of a group; an episode without one is a conversation by itself."""
    episode = hit.item.episode if isinstance(hit.item, StoredEpisode) else None
    return (
        key if episode is None or episode.thread_id is None else f"{episode.group_id}\x1e{episode.thread_id}"
    )


def _speaker(hit: Hit) -> str | None:
    speaker = hit.item.episode.speaker if isinstance(hit.item, StoredEpisode) else None
    return None if speaker is None else speaker.name


def _asked_about(names: Iterable[str | None], said: set[str], named: set[str]) -> set[str]:
    """Those of the speakers whom the question names, or who are an entity that it names."""
    speakers = {name for name in names if name is not None}
    return {name for name in speakers if said.issuperset(terms(name)) or entity_key(name) in named}


def _named(query: str, entities: Mapping[str, Hit]) -> set[str]:
    """Every name of the found entities that the question calls by one of their names, as keys."""
    asked = set(terms(query))
    named: set[str] = set()
    for hit in entities.values():
        if isinstance(hit.item, Entity):
            names = (hit.item.name, *hit.item.aliases)
            if any(asked.issuperset(words) for name in names if (words := terms(name))):
                named.update(map(entity_key, names))
    return named


def _supported(facts: Ranked, shown: Mapping[str, Hit], known_at: datetime | None) -> dict[str, float]:
    lifted: dict[str, float] = {}
    for key, score in facts:
        fact = shown[key].item
        if isinstance(fact, Fact):
            for episode in fact.episodes_at(known_at):
                lifted.setdefault(item_key(fact.group_id, episode), score)
    return lifted


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    best = max(scores.values(), default=0.0)
    return {key: score / best for key, score in scores.items()} if best > 0 else {}
