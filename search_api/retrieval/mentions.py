"""Order by episode mentions: what came up in most episodes first."""

from __future__ import annotations

from collections.abc import Mapping

from search_api.retrieval.ranked import Ranked


def most_mentioned(relevance: Ranked, mentions: Mapping[str, int]) -> Ranked:
    """By number of episodes, most first; equals stay in their order. The score is that number."""
    counted = ((key, float(mentions.get(key, 0))) for key, _ in relevance)
    return tuple(sorted(counted, key=lambda pair: -pair[1]))
