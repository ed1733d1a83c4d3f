"""Label propagation: which entities hang together. Pure, deterministic, terminates.

One step of label propagation assigns an entity to the community in which most of its current facts end (Raghavan,
Albert and Kumara 2007, in its incremental form). Ties keep the present community if it is among the best, and go to
the smallest label otherwise, so that the result depends on the graph alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

MAX_ROUNDS = 20


def best_label(weights: Mapping[str, int], present: str | None) -> str | None:
    """The label with most weight around an entity; `present` when nothing is around it."""
    if not weights:
        return present
    most = max(weights.values())
    best = sorted(label for label, weight in weights.items() if weight == most)
    return present if present in best else best[0]


def propagate(entities: Sequence[str], edges: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Labels for a whole group, each label being the id of one of its members; entities without edges have none.

    Args:
        entities: ids; their order does not matter.
        edges: (entity, entity, number of current facts); direction does not matter, loops are ignored.

    Every entity takes the label with most weight around it, one after the other in the order of ids, until a round
    changes nothing. Sequential updates under a fixed tie rule settle quickly; `MAX_ROUNDS` bounds the rest.
    """
    around: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    known = set(entities)
    for a, b, weight in edges:
        if a != b and a in known and b in known and weight > 0:
            around[a][b] += weight
            around[b][a] += weight
    label = {entity: entity for entity in around}
    for _ in range(MAX_ROUNDS):
        changed = False
        for entity in sorted(around):
            weights: dict[str, int] = defaultdict(int)
            for neighbour, weight in around[entity].items():
                weights[label[neighbour]] += weight
            best = best_label(weights, label[entity])
            if best is not None and best != label[entity]:
                label[entity] = best
                changed = True
        if not changed:
            break
    # A label may have left the entity that it is named after: name each community after its smallest member.
    members: dict[str, list[str]] = defaultdict(list)
    for entity, mark in label.items():
        members[mark].append(entity)
    return {entity: min(group) for group in members.values() for entity in group}
