"""What the commands about dead letters share: reading them with what was done with each, and choosing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Never

import typer
from aiokafka.errors import KafkaError

from factstream.cli.common import FAILED, run
from factstream.settings import Settings
from pipeline.errors import Retryable
from pipeline.timeline.partial import parse_partial
from streams.dead_letter import DeadFilter, DeadLetter
from streams.dead_reader import read_dead_letters
from streams.dead_settled import Settled, read_settled


@dataclass(frozen=True)
class Found:
    """A dead letter and what was done with it last, if anything."""

    letter: DeadLetter
    settled: Settled | None = None

    @property
    def state(self) -> str:
        """`open`, `replayed` or `dropped`."""
        return self.settled.action if self.settled else "open"

    def told(self, *, whole: bool) -> dict[str, Any]:
        """As JSON; `whole` with the original event."""
        letter = self.letter
        told = {
            "id": letter.id,
            "group_id": letter.group_id,
            "episode_id": letter.episode_id,
            "state": self.state,
            **letter.letter,
        }
        if self.settled:
            told["settled_at"], told["note"] = self.settled.at.isoformat(), self.settled.note
        if not whole:
            told.pop("event", None)
            told.pop("event_base64", None)
        return told


def filter_of(
    group: str | None = None,
    stage: str | None = None,
    reason: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> DeadFilter:
    """The filter that the options say; a time that cannot be read ends the command."""
    return DeadFilter(group, stage, reason, _moment("--since", since), _moment("--until", until))


def read_found(settings: Settings, wanted: DeadFilter) -> list[Found]:
    """The dead letters that are wanted."""

    async def main() -> list[Found]:
        bootstrap, prefix = settings.kafka_bootstrap, settings.topic_prefix
        try:
            # The letters first: what is settled meanwhile is then known.
            letters = [one async for one in read_dead_letters(bootstrap, prefix, wanted)]
            settled = await read_settled(bootstrap, prefix) if letters else {}
        except (KafkaError, OSError) as error:
            raise Retryable(f"Kafka at {bootstrap} does not answer: {error}") from error
        return [Found(one, settled.get(one.id)) for one in letters]

    return run(main)


def must_name(ids: Sequence[str] | None, everything: bool) -> None:
    """Ends the command, before anything is read, when it names nothing."""
    if not ids and not everything:
        refuse("name ids, or give --all")


def choose(found: Sequence[Found], ids: Sequence[str], *, force: bool) -> list[Found]:
    """Those that are named, or all open ones; ends the command when one is not there or was settled before."""
    if not ids:
        return [one for one in found if force or one.settled is None]
    named = {one.letter.id: one for one in found if one.letter.id in set(ids)}
    if missing := set(ids) - named.keys():
        refuse(f"there is no dead letter {', '.join(sorted(missing))}")
    if not force and (before := [one for one in named.values() if one.settled]):
        told = ", ".join(f"{one.letter.id} ({one.state})" for one in before)
        refuse(f"settled before: {told}; `dead replay --force` sends one again")
    return list(named.values())


def refuse(text: str) -> Never:
    """Ends the command with one red line."""
    typer.secho(f"factstream: {text}", err=True, fg=typer.colors.RED)
    raise typer.Exit(FAILED)


def _moment(option: str, text: str | None) -> datetime | None:
    try:
        return parse_partial(text)[0] if text else None
    except ValueError as error:
        refuse(f"{option}: {error}")
