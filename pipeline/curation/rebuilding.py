"""The beliefs about some slots as they would be if only this evidence had ever come. Pure.

The evidence is replayed in the order in which it was recorded, episode by episode, through the same reconciliation
that first made the facts. The facts keep their ids as far as they share evidence with those that stood.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from pipeline.identity import stable_id
from pipeline.model.extraction import Cardinality, StatementKind
from pipeline.model.fact import Fact
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.reconcile import Occasion, reconcile

Component = tuple[str, str]
"""What evidence is reconciled together: (subject, relation), or ("", relation) for all of a symmetric relation."""


def component_of(item: Evidence, symmetric: set[tuple[str, str, str]]) -> Component:
    """Where evidence belongs, given the triplets of which any evidence is symmetric."""
    triplet = (item.subject, item.relation, item.object)
    return ("", item.relation) if item.symmetric or triplet in symmetric else triplet[:2]


def symmetric_triplets(evidence: Iterable[Evidence]) -> set[tuple[str, str, str]]:
    """The triplets of which any evidence is symmetric."""
    return {(e.subject, e.relation, e.object) for e in evidence if e.symmetric}


def rebuilt(group_id: str, evidence: Sequence[Evidence], names: Mapping[str, str]) -> list[Fact]:
    """The facts, with their whole history, that whole components of evidence give. Their ids are provisional."""
    known = _Known(symmetric_triplets(evidence))
    facts: dict[str, Fact] = {}
    of_triplet: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    ordered = sorted(evidence, key=lambda e: (e.recorded_at, e.sequence, e.episode_id, e.index, e.id))
    for (at, _, episode_id), batch in groupby(ordered, lambda e: (e.recorded_at, e.sequence, e.episode_id)):
        items = known.around(list(batch))
        triplets = {(e.subject, e.relation, e.object) for e in items}
        standing = [facts[f] for triplet in triplets for f in sorted(of_triplet[triplet])]
        done = reconcile(items, standing, names, Occasion(group_id, episode_id, at))
        for fact in done.facts:
            facts[fact.id] = fact
            of_triplet[fact.source.id, fact.relation, fact.target.id].add(fact.id)
    return list(facts.values())


def under_known_ids(group_id: str, made: Iterable[Fact], stood: Iterable[Fact]) -> list[Fact]:
    """The facts under the ids of those that stood, each id once, most shared evidence first.

    A fact that was not there gets an id that none of them bears. Revisions go on where they were.
    """
    bearing: dict[str, list[Fact]] = defaultdict(list)
    old = list(stood)
    for fact in old:
        for name in {s.evidence_id for s in fact.support}:
            bearing[name].append(fact)
    new = sorted(made, key=_age)
    shared: dict[tuple[int, str], int] = defaultdict(int)
    of_id = {fact.id: fact for fact in old}
    for number, fact in enumerate(new):
        now = set(fact.evidence_ids)
        for name in {s.evidence_id for s in fact.support}:
            for other in bearing[name]:
                # What counts now says more about which fact it is than what once counted.
                shared[number, other.id] += 1000 if name in now else 1
    named: dict[int, str] = {}
    given: set[str] = set()
    for (number, name), _ in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0])):
        if number not in named and name not in given:
            named[number] = name
            given.add(name)
    taken = set(of_id)
    return list(_named(group_id, new, named, of_id, taken))


def _named(
    group_id: str, new: Sequence[Fact], named: Mapping[int, str], of_id: Mapping[str, Fact], taken: set[str]
) -> Iterator[Fact]:
    for number, fact in enumerate(new):
        name = named.get(number)
        if name is None:
            name, count = fact.id, 0
            while name in taken:
                name, count = stable_id("fact", group_id, fact.id, str(count)), count + 1
            taken.add(name)
            yield fact.model_copy(update={"id": name})
            continue
        before = of_id[name]
        after = fact.model_copy(update={"id": name, "revision": before.revision})
        if after != before:
            after = after.model_copy(update={"revision": max(before.revision + 1, fact.revision)})
        yield after


def _age(fact: Fact) -> tuple[object, ...]:
    return (fact.beliefs[0].known_from, fact.source.id, fact.relation, fact.target.id, fact.id)


class _Known:
    """Evidence that has come so far, and what of it matters to a batch of news: what the stage would read."""

    def __init__(self, symmetric: set[tuple[str, str, str]]) -> None:
        self._symmetric = symmetric
        self._of: dict[Component, dict[str, list[Evidence]]] = defaultdict(lambda: defaultdict(list))
        self._exclusive: dict[Component, set[str]] = defaultdict(set)

    def around(self, batch: Sequence[Evidence]) -> list[Evidence]:
        """The batch, all evidence of its triplets, and all of the values that exclude others in its slots."""
        spoken: dict[Component, set[str]] = defaultdict(set)
        for item in batch:
            component = component_of(item, self._symmetric)
            value = item.object if component[0] else f"{item.subject}\0{item.object}"
            self._of[component][value].append(item)
            if item.cardinality is Cardinality.one and item.kind is StatementKind.asserts:
                self._exclusive[component].add(value)
            spoken[component].add(value)
        return [
            item
            for component, values in spoken.items()
            for value in values | self._exclusive[component]
            for item in self._of[component][value]
        ]
