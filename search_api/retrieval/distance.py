"""Order by graph distance: what is nearest to a centre first."""

from __future__ import annotations

import math
from collections.abc import Mapping

from search_api.retrieval.ranked import Ranked


def nearest(relevance: Ranked, steps: Mapping[str, int]) -> Ranked:
    """By number of steps, fewest first; equals stay in their order; what is not connected comes last.

    The score is 1 / (1 + steps), so 1 is the centre itself; 0 is not connected.
    """
    order = sorted((key for key, _ in relevance), key=lambda key: steps.get(key, math.inf))
    return tuple((key, 1 / (1 + steps[key]) if key in steps else 0.0) for key in order)
