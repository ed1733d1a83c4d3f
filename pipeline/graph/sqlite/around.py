"""What stands around candidates: episodes before and after them in their threads, and those that facts come from."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pipeline.graph.search import SOURCES, SearchPlan
from pipeline.graph.sqlite import queries_read as queries
from pipeline.graph.sqlite.codec import json_list
from pipeline.model.fact import Fact


class Around:
    """Looks around the candidates of one plan; filters are the caller's business."""

    def __init__(self, connection: sqlite3.Connection, plan: SearchPlan) -> None:
        self._connection = connection
        self._plan = plan

    def neighbours(self, centres: Iterable[int]) -> dict[tuple[int, int], int]:
        """Pairs of episodes (earlier, later) of one thread with their distance, for all that are near a centre."""
        pairs: dict[tuple[int, int], int] = {}
        for no in centres:
            place = {"no": no, "reach": self._plan.neighbours}
            for steps, (before,) in enumerate(self._connection.execute(queries.EPISODES_BEFORE, place), 1):
                pairs[before, no] = steps
            for steps, (after,) in enumerate(self._connection.execute(queries.EPISODES_AFTER, place), 1):
                pairs[no, after] = steps
        return pairs

    def sources(self, facts: Sequence[Fact], groups: Mapping[int, str]) -> set[int]:
        """The last episodes that support each of the facts."""
        wanted: dict[str, list[str]] = defaultdict(list)
        for fact in facts:
            wanted[fact.group_id] += fact.episodes_at(self._plan.known_at)[-SOURCES:]
        found: set[int] = set()
        for group, group_id in groups.items():
            place = {"group": group, "ids": json_list(dict.fromkeys(wanted[group_id]))}
            found |= {no for (no,) in self._connection.execute(queries.EPISODE_NOS, place)}
        return found
