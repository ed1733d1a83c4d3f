"""Walks over the facts of a group that can be seen, whatever their direction: one query per step, for all at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pipeline.graph.sqlite import queries_read as queries
from pipeline.graph.sqlite.codec import json_list


@dataclass
class Reached:
    """Facts by number and entities by id, each with its least number of steps; an origin itself has 0."""

    facts: dict[int, int] = field(default_factory=dict)
    entities: dict[str, int] = field(default_factory=dict)


class Walk:
    """Breadth-first over one group at a moment (`known`, `as_of`, see Conditions)."""

    def __init__(self, connection: sqlite3.Connection, group: int, moment: Mapping[str, int | None]) -> None:
        self._connection = connection
        self._group = group
        self._moment = moment

    def from_origins(self, origins: Iterable[str], depth: int) -> Reached:
        """What lies within `depth` steps of entities and episodes.

        The facts of an entity and the entities at their other ends are one step away from it; so are the entities
        that an episode mentions and the facts that it supports.
        """
        reached = Reached()
        for origin in origins:
            place = {"group": self._group, "id": origin}
            for (entity,) in self._connection.execute(queries.ENTITY_EXISTS, place):
                reached.entities[entity] = 0
            for (entity,) in self._connection.execute(queries.MENTIONED_IDS, place):
                reached.entities.setdefault(entity, 1)
            for (fact,) in self._connection.execute(
                queries.SUPPORTED_FACTS, {**place, "known": self._moment["known"]}
            ):
                reached.facts[fact] = 1
        for step in range(depth):
            self._step(reached, step)
        return reached

    def steps_from(self, centre: str, wanted: Iterable[str], most: int) -> dict[str, int]:
        """How many steps entities are away from one, as far as they are within `most`."""
        reached = Reached()
        for (entity,) in self._connection.execute(
            queries.ENTITY_EXISTS, {"group": self._group, "id": centre}
        ):
            reached.entities[entity] = 0
        left = set(wanted)
        for step in range(most):
            if left <= reached.entities.keys() or not self._step(reached, step):
                break
        return {entity: reached.entities[entity] for entity in left & reached.entities.keys()}

    def _step(self, reached: Reached, step: int) -> bool:
        frontier = [entity for entity, steps in reached.entities.items() if steps == step]
        if not frontier:
            return False
        around = {"group": self._group, "ids": json_list(frontier), **self._moment}
        for fact, source, target in self._connection.execute(queries.FACTS_AROUND, around).fetchall():
            reached.facts.setdefault(fact, step + 1)
            for end in (source, target):
                reached.entities.setdefault(end, step + 1)
        return True
