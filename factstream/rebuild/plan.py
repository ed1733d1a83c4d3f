"""What is to be told to the shadow, from what the log holds and what the live graph knows. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from factstream.rebuild.parts import From
from pipeline.graph.ledger import FORGOTTEN, KnownEpisode
from pipeline.model.episode import EpisodeState
from pipeline.rebuild.log import Place

RESOLVED = "resolve_entities"
UNDER_WAY = (EpisodeState.extracted, EpisodeState.resolved, EpisodeState.committed)


@dataclass(frozen=True)
class Plan:
    """`wanted` in the order of the log; `missing` are in the graph, but what is needed to tell them is not kept;
    `left_out` are episodes of the log that are not in the graph and are not told either."""

    wanted: tuple[Place, ...]
    missing: tuple[str, ...]
    left_out: tuple[str, ...]


def plan(
    places: Sequence[Place],
    live: Mapping[str, KnownEpisode],
    operators: Collection[str],
    source: From,
    *,
    keeps_extractions: bool,
) -> Plan:
    """Which episodes a rebuild tells.

    Everything that has told the live graph anything must be told. What is dead stays with the dead letters. An
    episode that the graph does not know may be new, or the graph may have lost it: it is told, but for one that
    was extracted once and of which nothing is kept: that one was forgotten, in a graph that has lost its tombstones.
    """
    wanted: list[Place] = []
    missing: list[str] = []
    left_out: list[str] = []
    for place in places:
        known = live.get(place.episode_id)
        if place.episode_id in operators or (known is not None and FORGOTTEN in known.stages):
            continue
        told = known is not None and RESOLVED in known.stages
        dead = known.state is EpisodeState.dead if known is not None else place.status is EpisodeState.dead
        kept = place.extracted or _skipped(known, place)
        lost = keeps_extractions and known is None and not place.extracted and place.status in UNDER_WAY
        if not told and (dead or lost):
            left_out.append(place.episode_id)
        elif source is From.raw or kept:
            wanted.append(place)
        elif told:
            missing.append(place.episode_id)
        else:
            left_out.append(place.episode_id)
    return Plan(tuple(wanted), tuple(missing), tuple(left_out))


def _skipped(known: KnownEpisode | None, place: Place) -> bool:
    state = known.state if known is not None else place.status
    return state is EpisodeState.skipped
