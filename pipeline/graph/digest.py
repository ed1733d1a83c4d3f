"""One number for what a group says, so that two graphs can be compared: after a replay, a restore, a crash.

Ids and times of the system (`created_at`, `expired_at`, `known_from`) are left out, since they differ from run to run,
and so are facts that are believed at no time: which beliefs came and went depends on the order of arrival, what is
believed in the end does not. Everything else that an episode can cause is in.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.graph.search import StoredEpisode
from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact
from pipeline.model.moments import iso
from pipeline.timeline.evidence import Evidence


@dataclass(frozen=True)
class GroupDump:
    """All that a graph holds of one group. What is stored twice is in here twice.

    `mentions` are (episode id, entity id), `memberships` are (community id, entity id).
    """

    group_id: str
    episodes: tuple[StoredEpisode, ...]
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    evidence: tuple[Evidence, ...]
    mentions: tuple[tuple[str, str], ...]
    memberships: tuple[tuple[str, str], ...]


def digest(dump: GroupDump) -> str:
    """SHA-256 in hex over the canonical JSON of `summary`."""
    text = json.dumps(summary(dump), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def summary(dump: GroupDump) -> dict[str, list[Any]]:
    """What the digest is made of: lists in an order that depends on their content only; to see where two differ."""
    names = {e.id: [entity_key(e.name), e.type] for e in dump.entities}
    return {
        "episodes": _ordered([e.episode.id, e.state.value] for e in dump.episodes),
        "entities": _ordered(
            {
                "name": e.name,
                "type": e.type,
                "aliases": sorted(e.aliases),
                "attributes": e.attributes,
            }
            for e in dump.entities
        ),
        "facts": _ordered(_fact(fact, names) for fact in dump.facts if fact.beliefs[-1].holds),
        "communities": _communities(dump.memberships, names),
    }


def _fact(fact: Fact, names: Mapping[str, list[str | None]]) -> dict[str, Any]:
    belief = fact.beliefs[-1]
    ends = [names.get(fact.source.id), names.get(fact.target.id)]
    # A symmetric fact has its ends in the order of their ids, which say nothing.
    source, target = _ordered(ends) if fact.symmetric else ends
    return {
        "source": source,
        "relation": fact.relation,
        "target": target,
        "text": fact.fact,
        "valid_at": _moment(belief.valid_at),
        "valid_at_precision": belief.valid_at_precision,
        "invalid_at": _moment(belief.invalid_at),
        "invalid_at_precision": belief.invalid_at_precision,
        "cardinality": fact.cardinality,
        "attributes": fact.attributes,
        "episodes": sorted(fact.episodes_at()),
    }


def _communities(
    memberships: Iterable[tuple[str, str]], names: Mapping[str, list[str | None]]
) -> list[list[Any]]:
    members: dict[str, list[Any]] = defaultdict(list)
    for community, entity in memberships:
        members[community].append(names.get(entity))
    return _ordered(_ordered(some) for some in members.values())


def _ordered(things: Iterable[Any]) -> list[Any]:
    return sorted(things, key=lambda thing: json.dumps(thing, sort_keys=True, ensure_ascii=False))


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)
