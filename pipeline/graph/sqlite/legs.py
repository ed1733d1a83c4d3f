"""A search: its legs, and what is told about their candidates."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from pipeline.graph.search import CENTRES, Candidates, Item, Leg, Method, Scope, SearchPlan
from pipeline.graph.sqlite import queries_read, text
from pipeline.graph.sqlite.around import Around
from pipeline.graph.sqlite.codec import json_list
from pipeline.graph.sqlite.conditions import Conditions
from pipeline.graph.sqlite.items import KIND, items_by_no
from pipeline.graph.sqlite.vectors import VectorIndex
from pipeline.graph.sqlite.walk import Walk
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact

Ranked = list[tuple[int, float]]


class Search:
    """One plan over one snapshot of the file."""

    def __init__(self, connection: sqlite3.Connection, vectors: VectorIndex, plan: SearchPlan) -> None:
        self._connection = connection
        self._vectors = vectors
        self._plan = plan
        found = (
            connection.execute(queries_read.GROUPS, (g,)).fetchone() for g in dict.fromkeys(plan.group_ids)
        )
        self._groups: dict[int, str] = {row[0]: row[1] for row in found if row is not None}
        self._conditions = Conditions(plan, self._groups)

    def run(self) -> Candidates:
        """Every leg, each candidate once, and what the plan asks to be told about them."""
        plan = self._plan
        around = self._around() if Method.bfs in plan.methods else {}
        legs: list[Leg] = []
        items: dict[Scope, dict[str, Item]] = {}
        keys: dict[Scope, dict[int, str]] = {}
        for scope in dict.fromkeys(plan.scopes):
            ranked = {
                method: self._conditions.best(
                    self._connection, scope, self._ranked(scope, method, around.get(scope, [])), plan.limit
                )
                for method in dict.fromkeys(plan.methods)
            }
            nos = list(dict.fromkeys(no for leg in ranked.values() for no, _ in leg))
            found = items_by_no(self._connection, scope, nos)
            keys[scope] = {no: found[no][0] for no in nos}
            items[scope] = {found[no][0]: found[no][1] for no in nos}
            legs += [
                Leg(scope, method, tuple((keys[scope][no], score) for no, score in leg))
                for method, leg in ranked.items()
            ]
        neighbours = self._add_episodes(legs, items, keys) if Scope.episodes in items else ()
        return Candidates(
            legs=tuple(legs),
            items=items,
            distances={} if plan.distances_from is None else self._distances(plan.distances_from, items),
            similarities=self._similarities(keys) if plan.similarities else {},
            mentions=self._mentions(keys, items) if plan.mentions else {},
            neighbours=neighbours,
        )

    def _add_episodes(
        self,
        legs: Sequence[Leg],
        items: dict[Scope, dict[str, Item]],
        keys: Mapping[Scope, Mapping[int, str]],
    ) -> tuple[tuple[str, str, int], ...]:
        """Put the neighbours and sources among the episodes; answer who is whose neighbour."""
        around = Around(self._connection, self._plan)
        episodes = items[Scope.episodes]
        no_of = {key: no for no, key in keys[Scope.episodes].items()}
        centres = [no_of[key] for key in _centres(legs, Scope.episodes)]
        pairs = around.neighbours(centres) if self._plan.neighbours else {}
        new = {no for pair in pairs for no in pair}
        if self._plan.sources and Scope.facts in items:
            best = [items[Scope.facts][key] for key in _centres(legs, Scope.facts)]
            new |= around.sources([fact for fact in best if isinstance(fact, Fact)], self._groups)
        new -= keys[Scope.episodes].keys()
        passing = self._conditions.passing(self._connection, Scope.episodes, sorted(new))
        found = items_by_no(self._connection, Scope.episodes, sorted(passing))
        episodes |= dict(found.values())
        shown = {**keys[Scope.episodes], **{no: key for no, (key, _) in found.items()}}
        return tuple(
            (shown[a], shown[b], steps)
            for (a, b), steps in sorted(pairs.items())
            if a in shown and b in shown
        )

    def _ranked(self, scope: Scope, method: Method, around: Ranked) -> Iterable[tuple[int, float]]:
        groups = list(self._groups)
        if method is Method.bm25:
            return text.ranked(self._connection, KIND[scope], groups, self._plan.terms)
        if method is Method.bfs:
            return around
        if (vector := self._plan.vector_of(scope)) is None:
            return ()
        return self._vectors.ranked(self._connection, KIND[scope], groups, vector)

    def _around(self) -> dict[Scope, Ranked]:
        """What lies around the origins: nearest first, newest first among those equally near."""
        facts: dict[int, int] = {}
        entities: dict[int, int] = {}
        origins = dict.fromkeys(self._plan.bfs_origins)
        for group in self._groups:
            reached = self._walk(group).from_origins(origins, self._plan.bfs_depth)
            facts |= reached.facts
            near = {e: steps for e, steps in reached.entities.items() if 0 < steps <= self._plan.bfs_depth}
            wanted = {"group": group, "ids": json_list(near)}
            rows = self._connection.execute(queries_read.ENTITY_NOS, wanted)
            entities |= {no: near[entity] for entity, no in rows}
        return {Scope.facts: _nearest(facts), Scope.entities: _nearest(entities)}

    def _walk(self, group: int) -> Walk:
        return Walk(self._connection, group, self._conditions.moment)

    def _distances(self, centre: str, items: dict[Scope, dict[str, Item]]) -> dict[Scope, dict[str, int]]:
        ends = {
            scope: {key: _ends(item) for key, item in items[scope].items()}
            for scope in (Scope.facts, Scope.entities)
            if scope in items
        }
        wanted = set(chain.from_iterable(chain.from_iterable(of.values()) for of in ends.values()))
        steps: dict[tuple[str, str], int] = {}
        for group, group_id in self._groups.items():
            here = [entity for of, entity in wanted if of == group_id]
            away = self._walk(group).steps_from(centre, here, self._plan.max_distance)
            steps |= {(group_id, entity): count for entity, count in away.items()}
        return {
            scope: {
                key: min(steps[end] for end in of if end in steps)
                for key, of in by_key.items()
                if any(end in steps for end in of)
            }
            for scope, by_key in ends.items()
        }

    def _similarities(self, keys: dict[Scope, dict[int, str]]) -> dict[Scope, dict[tuple[str, str], float]]:
        return {
            scope: {
                (key[a], key[b]): cosine
                for (a, b), cosine in self._vectors.among(self._connection, KIND[scope], list(key)).items()
            }
            for scope, key in keys.items()
        }

    def _mentions(
        self, keys: dict[Scope, dict[int, str]], items: dict[Scope, dict[str, Item]]
    ) -> dict[Scope, dict[str, int]]:
        counts: dict[Scope, dict[str, int]] = {}
        if Scope.facts in items:
            counts[Scope.facts] = {
                key: len(item.episodes_at(self._plan.known_at))
                for key, item in items[Scope.facts].items()
                if isinstance(item, Fact)
            }
        if Scope.entities in keys:
            wanted = {"nos": json_list(keys[Scope.entities]), "known": self._conditions.moment["known"]}
            counted = dict(self._connection.execute(queries_read.MENTION_COUNTS, wanted).fetchall())
            counts[Scope.entities] = {key: counted.get(no, 0) for no, key in keys[Scope.entities].items()}
        return counts


def _centres(legs: Sequence[Leg], scope: Scope) -> list[str]:
    best = (key for leg in legs if leg.scope is scope for key, _ in leg.ranked[:CENTRES])
    return list(dict.fromkeys(best))


def _nearest(steps: dict[int, int]) -> Ranked:
    return [(no, 1 / count) for no, count in sorted(steps.items(), key=lambda found: (found[1], -found[0]))]


def _ends(item: Item) -> Sequence[tuple[str, str]]:
    if isinstance(item, Fact):
        return [(item.group_id, item.source.id), (item.group_id, item.target.id)]
    return [(item.group_id, item.id)] if isinstance(item, Entity) else []
