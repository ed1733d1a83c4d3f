"""Conditions of a search in Cypher: what holds, what passes the filters, and where each can be checked.

Each is a constant over `x`, the candidate (a relationship for facts, else a node); the functions only choose.
Moments are integers, microseconds since the epoch, so that bounds are exact; see `search_params` for the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.graph.search import Method, Scope


@dataclass(frozen=True)
class SearchShape:
    """Which pieces a search is made of; everything else about it is a parameter.

    `at`: only what holds at $as_of. `known`: as believed at $known_at. `by_*`: the filter is used. `depth`: of the
    breadth-first legs. `hops`: the longest path for distances, 0 for none.
    """

    legs: tuple[tuple[Scope, Method], ...]
    at: bool = False
    known: bool = False
    by_type: bool = False
    by_relation: bool = False
    by_metadata: bool = False
    by_valid: bool = False
    by_invalid: bool = False
    by_created: bool = False
    depth: int = 1
    hops: int = 0
    similarities: bool = False
    mentions: bool = False
    neighbours: bool = False
    sources: bool = False

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Each scope once, in order."""
        return tuple(dict.fromkeys(scope for scope, _ in self.legs))


# The last belief with known_from <= known_at; beliefs are stored oldest first. It is only asked of facts with
# fs_created <= known_at, since place -1 would be the last belief.
_BELIEF = "size([k IN x.fs_belief_from WHERE k <= $known_at]) - 1"
_STARTS = {False: "x.fs_valid_from", True: f"x.fs_belief_valid[{_BELIEF}]"}
_ENDS = {False: "x.fs_valid_to", True: f"x.fs_belief_invalid[{_BELIEF}]"}

_OF_TYPE = {
    Scope.facts: "(startNode(x).fs_type IN $entity_types OR endNode(x).fs_type IN $entity_types)",
    Scope.entities: "x.fs_type IN $entity_types",
}

# The episodes whose evidence counted for a fact, by whether $known_at is given.
SUPPORT = {
    False: "x.episodes",
    True: """[i IN range(0, size(x.fs_support_episode) - 1)
        WHERE x.fs_support_from[i] <= $known_at AND x.fs_support_to[i] > $known_at | x.fs_support_episode[i]]""",
}

_TAGGED = "all(tag IN $tags WHERE tag IN e.fs_tags)"
_MENTIONED = {False: "", True: " AND e.fs_created <= $known_at"}


def _with_metadata(shape: SearchShape, scope: Scope) -> str:
    if scope is Scope.facts:
        return f"""EXISTS {{ MATCH (e:Episodic)
            WHERE e.group_id = x.group_id AND e.uuid IN {SUPPORT[shape.known]} AND {_TAGGED} }}"""
    if scope is Scope.episodes:
        return "all(tag IN $tags WHERE tag IN x.fs_tags)"
    path = "(x)" if scope is Scope.entities else "(x)-[:HAS_MEMBER]->(:Entity)"
    return f"EXISTS {{ MATCH {path}<-[:MENTIONS]-(e:Episodic) WHERE {_TAGGED}{_MENTIONED[shape.known]} }}"


def _in_ranges(ranges: str, moment: str) -> str:
    return f"any(bounds IN {ranges} WHERE bounds[0] <= {moment} AND {moment} < bounds[1])"


def visible(shape: SearchShape, scope: Scope) -> list[str]:
    """What can be seen at all: facts that hold at $as_of (else: at any time) as believed at $known_at (else: now);
    other things once they are known."""
    if scope is not Scope.facts:
        return ["x.fs_created <= $known_at"] if shape.known else []
    known = ["x.fs_created <= $known_at"] if shape.known else []
    start, end = _STARTS[shape.known], _ENDS[shape.known]
    return known + ([f"{start} <= $as_of", f"{end} > $as_of"] if shape.at else [f"{start} < $never"])


def filters(shape: SearchShape, scope: Scope) -> list[str]:
    """The caller's filters, each on the scopes that have what it asks for: types on facts and entities, relations and
    the end of validity on facts, the start of validity on facts and (as their reference time) on episodes. A bound
    is never met by a time that is unknown or open."""
    chosen = []
    if shape.by_type and scope in _OF_TYPE:
        chosen.append(_OF_TYPE[scope])
    if shape.by_relation and scope is Scope.facts:
        chosen.append("x.name IN $relations")
    if shape.by_valid and scope is Scope.facts:
        chosen.append(_in_ranges("$valid_at", _STARTS[shape.known]))
    if shape.by_valid and scope is Scope.episodes:
        chosen.append(_in_ranges("$valid_at", "x.fs_reference"))
    if shape.by_invalid and scope is Scope.facts:
        chosen.append(_in_ranges("$invalid_at", _ENDS[shape.known]))
    if shape.by_created:
        chosen.append(_in_ranges("$created_at", "x.fs_created"))
    if shape.by_metadata:
        chosen.append(_with_metadata(shape, scope))
    return chosen


def inside_index(shape: SearchShape, scope: Scope) -> list[str]:
    """What a vector index checks itself: equalities and ranges on the properties that it was made with."""
    inside = ["x.group_id = group_id"]
    if scope is Scope.entities and shape.by_type:
        inside.append("x.fs_type = kind")
    if scope is Scope.facts:
        if shape.by_relation:
            inside.append("x.name = kind")
        inside += ["x.fs_created <= $known_at"] if shape.known else _spans(shape)
    if scope is Scope.episodes and shape.by_valid:
        inside += ["x.fs_reference >= $valid_at_first", "x.fs_reference < $valid_at_behind"]
    return inside


def _spans(shape: SearchShape) -> list[str]:
    """What holds, and the ranges of the filters from the beginning of the first to the end of the last; an index takes
    one bound of a kind for a property, so the parameters are those within which it also holds at $as_of."""
    start, end = _STARTS[False], _ENDS[False]
    holds = visible(shape, Scope.facts)
    spans = [f"{start} >= $starts_first", f"{start} < $starts_behind"] if shape.by_valid else holds[:1]
    if shape.by_invalid:
        spans += [f"{end} >= $ends_first", f"{end} < $ends_behind"]
    else:
        spans += holds[1:]
    if shape.by_created:
        spans += ["x.fs_created >= $created_at_first", "x.fs_created < $created_at_behind"]
    return spans


def after_index(shape: SearchShape, scope: Scope) -> list[str]:
    """What is left to check behind the vector index."""
    done = set(inside_index(shape, scope))
    if scope is Scope.facts:
        done.add("x.name IN $relations")
    if scope is Scope.entities:
        done.add(_OF_TYPE[scope])
    return [each for each in visible(shape, scope) + filters(shape, scope) if each not in done]
