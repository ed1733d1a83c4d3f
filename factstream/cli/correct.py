"""`factstream correct`: set an entity or a fact right by hand."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

import typer

from factstream.cli.common import settings_or_exit
from factstream.cli.curating import curate, say, stop
from pipeline.curation.correcting import FactCorrection
from pipeline.model.provenance import Correction
from pipeline.timeline.partial import parse_partial
from pipeline.timeline.precision import Precision

correct_app = typer.Typer(name="correct", no_args_is_help=True, help="Set entities and facts right by hand.")
Group = Annotated[str, typer.Option("--group", "-g", help="Group to work in.")]
NEVER = "never"


@correct_app.command()
def entity(
    entity_id: Annotated[str, typer.Argument(help="Id of the entity.")],
    group: Group,
    name: Annotated[
        str | None, typer.Option(help="Its name; the old one becomes an alias.", show_default=False)
    ] = None,
    kind: Annotated[str | None, typer.Option("--type", help="Its type.", show_default=False)] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", help="key=value; value is JSON if it reads as such.", show_default=False),
    ] = None,
    merge_into: Annotated[
        str | None, typer.Option(help="Id of the entity that this one is.", show_default=False)
    ] = None,
    reason: Annotated[str, typer.Option(help="Why, for `merges list`.")] = "",
) -> None:
    """Rename an entity, give it a type or attributes, or merge it into another one.

    A correction is kept as an episode of its own, whose id is printed: forget it to take the correction back. A merge
    is taken back by `merges undo`.
    """
    attributes = dict(map(_assignment, assignments or []))
    given = Correction(name=name, type=kind, attributes=attributes)
    if merge_into is not None and given != Correction():
        raise stop("give --merge-into alone, or correct the entity that stays afterwards")
    settings = settings_or_exit()
    if merge_into is not None:
        into = merge_into
        done = curate(settings, group, lambda o: o.merge(group, entity_id, into, reason))
        say(done)
        typer.echo(f"merge {done.name}")
        return
    done = curate(settings, group, lambda o: o.correct_entity(group, entity_id, given))
    say(done)
    typer.echo(f"episode {done.episode}")


@correct_app.command()
def fact(
    fact_id: Annotated[str, typer.Argument(help="Id of the fact.")],
    group: Group,
    valid_at: Annotated[
        str | None, typer.Option(help='When it began: a date, or "never" for unknown.', show_default=False)
    ] = None,
    invalid_at: Annotated[
        str | None, typer.Option(help='When it ended: a date, or "never".', show_default=False)
    ] = None,
    retract: Annotated[bool, typer.Option("--retract", help="It never held.")] = False,
) -> None:
    """Set right when a fact holds, or take it back.

    What was believed before stays known (`known_at`). The correction is an episode, whose id is printed: forget it to
    take the correction back.
    """
    if retract and (valid_at or invalid_at):
        raise stop("give --retract alone")
    given = FactCorrection(
        _moment("--valid-at", valid_at), _moment("--invalid-at", invalid_at), retract=retract
    )
    done = curate(settings_or_exit(), group, lambda o: o.correct_fact(group, fact_id, given))
    say(done)
    typer.echo(f"episode {done.episode}")


def _moment(option: str, text: str | None) -> tuple[datetime | None, Precision | None] | None:
    if text is None:
        return None
    if text == NEVER:
        return (None, None)
    try:
        return parse_partial(text)
    except ValueError as error:
        raise stop(f"{option}: {error}") from error


def _assignment(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise stop(f"--set: {text!r} is not key=value")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value
