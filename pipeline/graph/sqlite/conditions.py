"""What passes a search: visibility in time and the caller's filters, checked before anything counts towards a limit."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice

from pipeline.graph.search import Scope, SearchPlan, TimeRange
from pipeline.graph.sqlite import queries_read as queries
from pipeline.graph.sqlite.codec import UNBOUNDED_FROM, UNBOUNDED_TO, json_list, micros, tag

NOW = UNBOUNDED_TO - 1
"""The moment of knowledge at which the last belief counts, whenever it was formed."""

_PASSING = {
    Scope.facts: queries.PASSING_FACTS,
    Scope.entities: queries.PASSING_ENTITIES,
    Scope.episodes: queries.PASSING_EPISODES,
    Scope.communities: queries.PASSING_COMMUNITIES,
}
_FIRST_BATCH = 128


class Conditions:
    """The conditions of one plan over the groups that exist.

    Filters apply to the scopes that have what they ask for: relations and `invalid_at` to facts, entity types to
    facts and entities, `valid_at` to facts and (as their reference time) episodes, the others to all scopes. A bound
    is never met by a time that is unknown or open. With `known_at`, things stored later are not there in any scope.
    """

    def __init__(self, plan: SearchPlan, groups: Iterable[int]) -> None:
        wanted = plan.filters
        self.moment = {
            "known": NOW if plan.known_at is None else micros(plan.known_at),
            "as_of": None if plan.as_of is None else micros(plan.as_of),
        }
        self._values = {
            **self.moment,
            "groups": json_list(groups),
            "relations": json_list(wanted.relations),
            "types": json_list(wanted.entity_types),
            "valid_at": json.dumps([_bounds(each) for each in wanted.valid_at]),
            "invalid_at": json.dumps([_bounds(each) for each in wanted.invalid_at]),
            "created_at": json.dumps([_bounds(each) for each in wanted.created_at]),
            "tags": json.dumps([[tag(key), tag(value)] for key, value in wanted.metadata.items()]),
        }

    def passing(self, connection: sqlite3.Connection, scope: Scope, nos: Sequence[int]) -> set[int]:
        """Those of the items that pass."""
        rows = connection.execute(_PASSING[scope], {**self._values, "nos": json_list(nos)})
        return {int(no) for (no,) in rows}

    def best(
        self, connection: sqlite3.Connection, scope: Scope, ranked: Iterable[tuple[int, float]], limit: int
    ) -> list[tuple[int, float]]:
        """The first `limit` that pass of items ranked best first, looking only as far down as needed."""
        found: list[tuple[int, float]] = []
        source = iter(ranked)
        size = max(_FIRST_BATCH, 2 * limit)
        while len(found) < limit and (batch := list(islice(source, size))):
            passing = self.passing(connection, scope, [no for no, _ in batch])
            found += [(no, score) for no, score in batch if no in passing]
            size *= 2
        return found[:limit]


def _bounds(bounds: TimeRange) -> tuple[int, int]:
    """A range as first and behind-last microsecond; without any bound it takes in unknown and open times too."""
    first = [micros(m) + step for m, step in ((bounds.gte, 0), (bounds.gt, 1)) if m is not None]
    behind = [micros(m) + step for m, step in ((bounds.lte, 1), (bounds.lt, 0)) if m is not None]
    if not first and not behind:
        return UNBOUNDED_FROM, UNBOUNDED_TO + 1
    return max([UNBOUNDED_FROM + 1, *first]), min([UNBOUNDED_TO, *behind])
