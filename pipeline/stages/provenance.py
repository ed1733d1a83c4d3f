"""What the stage resolve_entities leaves behind of each mention, so that any of them can be taken back. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

from pipeline.identity import stable_id
from pipeline.model.entity import Entity
from pipeline.model.extraction import ExtractedEpisode, Mention
from pipeline.model.judgement import Judgement
from pipeline.model.provenance import Joined, Merge, MovedMention, Told
from pipeline.stages.matching import keys_of, type_of


def told_of(
    event: ExtractedEpisode, chosen: Mapping[int, str], judged: Mapping[int, Judgement]
) -> dict[str, tuple[Told, ...]]:
    """By entity id, its mentions in the order in which `chosen` came to them."""
    mentions = event.extraction.mentions
    ends: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, statement in enumerate(event.extraction.statements):
        ends[statement.subject].append((number, 0))
        ends[statement.object].append((number, 1))
    told: dict[str, list[Told]] = defaultdict(list)
    for index, entity_id in chosen.items():
        joined = Joined.judge if index in judged else Joined.rule
        told[entity_id].append(
            Told(
                index=index,
                mention=mentions[index],
                joined=joined,
                ends=tuple(ends[index]),
                judgement=judged.get(index, Judgement()),
            )
        )
    return {entity: tuple(some) for entity, some in told.items()}


def in_order(mentions: Mapping[int, Mention]) -> list[int]:
    """The order in which mentions are compared with what is known: typed ones first, since they say more."""
    return sorted(mentions, key=lambda index: (type_of(mentions[index]) is None, index))


def judged_merge(event: ExtractedEpisode, index: int, into: str, entity: Entity, at: datetime) -> Merge:
    """The record that a judge took a mention for an entity that bears another name."""
    ref = event.episode
    mention = event.extraction.mentions[index]
    name = stable_id("merge", ref.group_id, ref.id, str(index))
    return Merge(
        id=name,
        into=into,
        apart=stable_id("entity", ref.group_id, "apart", name),
        by=Joined.judge,
        at=at,
        reason="look-alike",
        name=mention.name,
        keys=tuple(k for k in keys_of(mention) if k not in entity.keys),
        mentions=(MovedMention(episode_id=ref.id, index=index, joined=Joined.rule),),
    )
