"""How much of a question the words of an episode and of those next to it cover.

A question's words are often spread over what two people say one after the other. Scores of whole episodes cannot be
added up for that: two turns that both say the common word would beat two that say a rare one each. So each word counts
once, where it stands best: in the episode itself (1), next to it (0.6) or two places away (0.4), with the saturation of
BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) and by how rare it is among the candidates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from pipeline.text.analysis import search_text

K1 = 1.2
B = 0.4
"""Less than the usual 0.75: turns are short, so their length tells little."""

MAX_READ_CHARACTERS = 4000
"""Of a longer text the beginning is read; its BM25 score counts anyway, and that is of the whole."""


def covered(
    asked: Sequence[str],
    texts: Mapping[str, str],
    pairs: Sequence[tuple[str, str, int]],
    near: Sequence[float],
) -> dict[str, float]:
    """A score by key, on a scale of its own; 0 where no word of the question is near.

    Args:
        asked: the stems that are searched for.
        texts: what the candidates say.
        pairs: (key, key of one that comes later in its thread, places between them).
        near: what a word counts that stands one, two, … places away.
    """
    own = _saturated(asked, texts)
    rarity = _rarity(own)
    best = {key: dict(words) for key, words in own.items()}
    for earlier, later, steps in pairs:
        if earlier in best and later in best and near[steps - 1] > 0:
            for one, other in ((earlier, later), (later, earlier)):
                for word, weight in own[other].items():
                    best[one][word] = max(best[one].get(word, 0.0), near[steps - 1] * weight)
    return {key: sum(rarity[word] * weight for word, weight in words.items()) for key, words in best.items()}


def _saturated(asked: Sequence[str], texts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Each asked word that a text has, with its term frequency as BM25 counts it."""
    wanted = set(asked)
    terms = {key: search_text(text[:MAX_READ_CHARACTERS]).split() for key, text in texts.items()}
    usual = sum(map(len, terms.values())) / len(terms) if terms else 0.0
    weights: dict[str, dict[str, float]] = {}
    for key, words in terms.items():
        length = K1 * (1 - B + B * len(words) / usual) if usual else K1
        counts = Counter(word for word in words if word in wanted)
        weights[key] = {word: count * (K1 + 1) / (count + length) for word, count in counts.items()}
    return weights


def _rarity(own: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Inverse document frequency among the candidates; never negative."""
    holders = Counter(word for words in own.values() for word in words)
    return {word: math.log(1 + (len(own) - count + 0.5) / (count + 0.5)) for word, count in holders.items()}
