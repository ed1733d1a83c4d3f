"""`factstream dead`: the events that no attempt could finish."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from aiokafka.errors import KafkaError
from rich.console import Console
from rich.table import Table

from factstream.cli.common import FAILED, run, settings_or_exit
from factstream.settings import Settings
from pipeline.errors import Retryable
from pipeline.timeline.partial import parse_partial
from streams.dead_reader import DeadLetter, read_dead_letters
from streams.dead_reader import replay as send_again
from streams.producer import Producer

dead_app = typer.Typer(name="dead", no_args_is_help=True, help="Look at dead letters and send them again.")

Group = Annotated[str | None, typer.Option("--group", "-g", help="Only this group.", show_default=False)]
Stage = Annotated[
    str | None, typer.Option(help="Only this stage: extract, resolve_entities, …", show_default=False)
]
Since = Annotated[str | None, typer.Option(help="Only those that died since this time.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


@dead_app.command("list")
def list_(group: Group = None, stage: Stage = None, since: Since = None, as_json: AsJson = False) -> None:
    """List dead letters, oldest first inside a group, with the reason of each."""
    letters = _read(settings_or_exit(), group, stage, since)
    if as_json:
        for letter in letters:
            typer.echo(json.dumps(_told(letter, whole=False), ensure_ascii=False))
        return
    if not letters:
        typer.echo("no dead letters")
        return
    table = Table("id", "group", "episode", "stage", "tries", "at", "reason", box=None, pad_edge=False)
    for letter in letters:
        told = letter.letter
        table.add_row(
            letter.id,
            letter.group_id,
            letter.episode_id or "–",
            told["stage"],
            str(told["attempts"]),
            str(told["at"])[:19],
            str(told["error"])[:100],
        )
    Console().print(table)


@dead_app.command()
def show(letter_id: Annotated[str, typer.Argument(help="Id from `dead list`, such as 3-17.")]) -> None:
    """Print one dead letter whole, with the original event."""
    for letter in _read(settings_or_exit(), None, None, None):
        if letter.id == letter_id:
            typer.echo(json.dumps(_told(letter, whole=True), ensure_ascii=False, indent=2))
            return
    typer.secho(f"factstream: there is no dead letter {letter_id}", err=True, fg=typer.colors.RED)
    raise typer.Exit(FAILED)


@dead_app.command()
def replay(
    letter_ids: Annotated[
        list[str] | None, typer.Argument(help="Ids from `dead list`.", show_default=False)
    ] = None,
    group: Group = None,
    stage: Stage = None,
    since: Since = None,
    everything: Annotated[bool, typer.Option("--all", help="All that the filters leave.")] = False,
) -> None:
    """Send dead letters again, to the topic that they came from.

    An episode takes the place in the order that it would have had, so that what is believed is the same as if it
    had not died. Sending again what has been committed meanwhile does nothing.
    """
    if not letter_ids and not everything:
        typer.secho("factstream: name ids, or give --all", err=True, fg=typer.colors.RED)
        raise typer.Exit(FAILED)
    settings = settings_or_exit()
    wanted = set(letter_ids or ())
    letters = [one for one in _read(settings, group, stage, since) if not wanted or one.id in wanted]
    if missing := wanted - {one.id for one in letters}:
        typer.secho(
            f"factstream: there is no dead letter {', '.join(sorted(missing))}", err=True, fg=typer.colors.RED
        )
        raise typer.Exit(FAILED)

    async def main() -> None:
        producer = Producer(settings.kafka_bootstrap)
        try:
            for letter in letters:
                await send_again(letter, producer)
        finally:
            await producer.stop()

    run(main)
    typer.echo(f"{len(letters)} sent again")


def _read(settings: Settings, group: str | None, stage: str | None, since: str | None) -> list[DeadLetter]:
    try:
        moment = parse_partial(since)[0] if since else None
    except ValueError as error:
        typer.secho(f"factstream: --since: {error}", err=True, fg=typer.colors.RED)
        raise typer.Exit(FAILED) from error

    async def main() -> list[DeadLetter]:
        try:
            found = read_dead_letters(
                settings.kafka_bootstrap, settings.topic_prefix, group_id=group, stage=stage, since=moment
            )
            return [letter async for letter in found]
        except (KafkaError, OSError) as error:
            raise Retryable(f"Kafka at {settings.kafka_bootstrap} does not answer: {error}") from error

    return run(main)


def _told(letter: DeadLetter, *, whole: bool) -> dict[str, Any]:
    told = {"id": letter.id, "group_id": letter.group_id, "episode_id": letter.episode_id, **letter.letter}
    if not whole:
        told.pop("event", None)
        told.pop("event_base64", None)
    return told
