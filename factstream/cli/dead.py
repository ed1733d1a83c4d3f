"""`factstream dead`: the events that no attempt could finish."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from factstream.cli.common import run, settings_or_exit
from factstream.cli.dead_letters import Found, choose, filter_of, must_name, read_found, refuse
from pipeline.clock import system_clock
from streams.dead_letter import DeadFilter
from streams.dead_reader import replay as send_again
from streams.dead_settled import Action, settle
from streams.producer import Producer

dead_app = typer.Typer(
    name="dead", no_args_is_help=True, help="Look at dead letters, send them again, or drop them."
)

Ids = Annotated[list[str] | None, typer.Argument(help="Ids from `dead list`.", show_default=False)]
Group = Annotated[str | None, typer.Option("--group", "-g", help="Only this group.", show_default=False)]
Stage = Annotated[
    str | None, typer.Option(help="Only this stage: extract, resolve_entities, …", show_default=False)
]
Reason = Annotated[
    str | None, typer.Option(help="Only those whose reason contains this text.", show_default=False)
]
Since = Annotated[str | None, typer.Option(help="Only those that died since this time.", show_default=False)]
Until = Annotated[str | None, typer.Option(help="Only those that died before this time.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Everything = Annotated[bool, typer.Option("--all", help="All that the filters leave.")]
Note = Annotated[str, typer.Option(help="Why, kept beside it.")]


@dead_app.command("list")
def list_(
    group: Group = None,
    stage: Stage = None,
    reason: Reason = None,
    since: Since = None,
    until: Until = None,
    dropped: Annotated[bool, typer.Option("--dropped", help="Those that were dropped instead.")] = False,
    replayed: Annotated[bool, typer.Option("--replayed", help="Those that were sent again instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """List dead letters that wait for a decision, oldest first inside a group, with the reason of each."""
    found = read_found(settings_or_exit(), filter_of(group, stage, reason, since, until))
    states = {name for name, asked in (("dropped", dropped), ("replayed", replayed)) if asked} or {"open"}
    shown = [one for one in found if one.state in states]
    if as_json:
        for one in shown:
            typer.echo(json.dumps(one.told(whole=False), ensure_ascii=False))
        return
    if shown:
        Console().print(_table(shown))
    else:
        typer.echo("no dead letters")
    others = [
        f"{n} {state}" for state in ("open", "replayed", "dropped") if (n := _count(found, state, states))
    ]
    if others:
        typer.echo(f"not shown: {', '.join(others)}")


@dead_app.command()
def show(letter_id: Annotated[str, typer.Argument(help="Id from `dead list`, such as 3-17.")]) -> None:
    """Print one dead letter whole, with the original event and what was done with it."""
    for one in read_found(settings_or_exit(), filter_of()):
        if one.letter.id == letter_id:
            typer.echo(json.dumps(one.told(whole=True), ensure_ascii=False, indent=2))
            return
    refuse(f"there is no dead letter {letter_id}")


@dead_app.command()
def replay(
    letter_ids: Ids = None,
    group: Group = None,
    stage: Stage = None,
    reason: Reason = None,
    since: Since = None,
    until: Until = None,
    everything: Everything = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also those that were sent again or dropped before.")
    ] = False,
    note: Note = "",
) -> None:
    """Send dead letters again, to the topic that they came from; each once, unless forced.

    An episode takes the place in the order that it would have had, so that what is believed is the same as if it
    had not died. Sending again what has been committed meanwhile does nothing.
    """
    must_name(letter_ids, everything)
    wanted = filter_of(group, stage, reason, since, until)
    done = _do("replayed", wanted, letter_ids or [], note, force=force)
    typer.echo(f"{done} sent again")


@dead_app.command()
def drop(
    letter_ids: Ids = None,
    group: Group = None,
    stage: Stage = None,
    reason: Reason = None,
    since: Since = None,
    until: Until = None,
    everything: Everything = False,
    note: Note = "",
) -> None:
    """Take dead letters off the list for good. They stay readable, with their reason, under `dead list --dropped`."""
    must_name(letter_ids, everything)
    wanted = filter_of(group, stage, reason, since, until)
    typer.echo(f"{_do('dropped', wanted, letter_ids or [], note)} dropped")


def _do(action: Action, wanted: DeadFilter, ids: list[str], note: str, *, force: bool = False) -> int:
    """Do it to those that are named, or to all that are wanted; to how many it was done."""
    settings = settings_or_exit()
    chosen = choose(read_found(settings, wanted), ids, force=force)

    async def main() -> None:
        producer = Producer(settings.kafka_bootstrap)
        try:
            for one in chosen:
                if action == "replayed":
                    await send_again(one.letter, producer)
                # After it was sent: what ends between the two is sent twice, which does nothing, and never not at all.
                await settle(one.letter, action, system_clock(), producer, settings.topic_prefix, note)
        finally:
            await producer.stop()

    run(main)
    return len(chosen)


def _count(found: list[Found], state: str, shown: set[str]) -> int:
    return 0 if state in shown else sum(one.state == state for one in found)


def _table(found: list[Found]) -> Table:
    table = Table("id", "group", "episode", "stage", "tries", "at", "reason", box=None, pad_edge=False)
    for one in found:
        told = one.letter.letter
        done = f"[{one.state} {one.settled.at:%Y-%m-%d %H:%M} {one.settled.note}] " if one.settled else ""
        table.add_row(
            one.letter.id,
            one.letter.group_id,
            one.letter.episode_id or "–",
            told["stage"],
            str(told["attempts"]),
            str(told["at"])[:19],
            Text(f"{done}{told['error']}"[:140]),
        )
    return table
