"""Which entity each mention stands for, decided anew from the mentions that are left. Pure.

Who a mention stands for depends on what was known before it: an untyped name takes the type of the first that has
one, a second type makes a homonym. When mentions are taken back, those that share a key with them are resolved once
more, in the order in which they came and by the rules of the stage. What a judge or an operator has decided stays
decided as long as anything of the entity is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pipeline.curation.refolding import placed, with_told
from pipeline.model.entity import Entity
from pipeline.model.provenance import Contribution, Joined, Told
from pipeline.stages.matching import choose, keys_of, new_entity
from pipeline.stages.provenance import in_order

Place = tuple[str, int]
"""(episode id, index of the mention in it)."""


def sharing_keys(start: Iterable[str], entities: Mapping[str, Entity]) -> set[str]:
    """The entities of `start` and all that are joined to them by common keys, however many steps away."""
    bearing: dict[str, set[str]] = defaultdict(set)
    for entity in entities.values():
        for key in entity.keys:
            bearing[key].add(entity.id)
    found: set[str] = set()
    todo = [e for e in start if e in entities]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += {other for key in entities[one].keys for other in bearing[key]} - found
    return found


def resolved_again(group_id: str, contributions: Iterable[Contribution]) -> dict[Place, str]:
    """The entity id of every mention. Ids stay what they were as far as they can."""
    replay = _Replay(group_id)
    episodes: dict[tuple[int, str], dict[int, tuple[Contribution, Told]]] = defaultdict(dict)
    for one in contributions:
        for told in one.told:
            episodes[placed(one)][told.index] = (one, told)
    for (_, episode_id), told_of in sorted(episodes.items()):
        replay.episode(episode_id, told_of)
    return replay.of


@dataclass
class _Replay:
    group_id: str
    living: dict[str, Entity] = field(default_factory=dict)
    of: dict[Place, str] = field(default_factory=dict)
    judged: set[str] = field(default_factory=set)
    _bearing: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def episode(self, episode_id: str, told_of: Mapping[int, tuple[Contribution, Told]]) -> None:
        """The mentions of one episode: rules first, then what was judged, then what is new."""
        order = in_order({index: told.mention for index, (_, told) in told_of.items()})
        before = {
            index: [e for key in keys_of(told_of[index][1].mention) for e in self._bearing[key]]
            for index in order
        }
        touched: set[str] = set()
        left: list[int] = []
        for index in order:
            one, told = told_of[index]
            if told.joined is not Joined.rule:
                continue
            same = choose(told.mention, [self.living[e] for e in dict.fromkeys(before[index])])
            if same is None:
                left.append(index)
            else:
                touched.add(self._take(episode_id, told, same))
        for index in order:
            one, told = told_of[index]
            if told.joined is not Joined.rule:
                self.judged.add(one.entity_id)
                touched.add(self._take(episode_id, told, self._under(one.entity_id, one, told)))
        for index in sorted(left):
            one, told = told_of[index]
            keys = set(keys_of(told.mention))
            same = choose(told.mention, [self.living[e] for e in touched if keys & set(self.living[e].keys)])
            if same is None and one.entity_id in self.judged:
                same = self.living.get(one.entity_id)
            touched.add(self._take(episode_id, told, same or self._new(one, told)))

    def _take(self, episode_id: str, told: Told, entity: Entity) -> str:
        changed = with_told(entity, told)
        self.living[entity.id] = changed
        for key in changed.keys:
            self._bearing[key].add(entity.id)
        self.of[episode_id, told.index] = entity.id
        return entity.id

    def _under(self, entity_id: str, one: Contribution, told: Told) -> Entity:
        """The entity of that id, new when nothing else is left of it."""
        standing = self.living.get(entity_id)
        return standing or self._made(one, told).model_copy(update={"id": entity_id})

    def _new(self, one: Contribution, told: Told) -> Entity:
        if one.entity_id not in self.living:
            return self._made(one, told).model_copy(update={"id": one.entity_id})
        return new_entity(told.mention, self.group_id, one.at, self.living)

    def _made(self, one: Contribution, told: Told) -> Entity:
        return new_entity(told.mention, self.group_id, one.at)


def freed(
    group_id: str,
    of: Mapping[Place, str],
    before: Iterable[Contribution],
    taken: Iterable[str],
) -> dict[Place, str]:
    """`of` with new ids for entities that have lost the name which their id is made of.

    Such an entity would be found by that name no more, and the next mention of it would make an entity of the same id.
    """
    told_at = {(one.episode_id, t.index): (one, t) for one in before for t in one.told}
    founding: dict[str, set[str]] = defaultdict(set)
    for one, told in told_at.values():
        if new_entity(told.mention, group_id, one.at).id == one.entity_id:
            founding[one.entity_id].update(keys_of(told.mention)[:1])
    left: dict[str, list[Place]] = defaultdict(list)
    for place, entity_id in of.items():
        left[entity_id].append(place)
    used = {*taken, *of.values()}
    found = dict(of)
    for entity_id, places in left.items():
        keys = {key for place in places for key in keys_of(told_at[place][1].mention)}
        named = [told_at[p] for p in places if keys_of(told_at[p][1].mention)]
        if not named or not founding[entity_id] or founding[entity_id] & keys:
            continue
        one, told = named[0]
        name = new_entity(told.mention, group_id, one.at, used).id
        used.add(name)
        found |= dict.fromkeys(places, name)
    return found
