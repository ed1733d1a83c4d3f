"""`factstream publish`: events from a file to Kafka."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from factstream import compose
from factstream.cli.common import FAILED, clear_errors, run, settings_or_exit
from pipeline.clock import system_clock
from pipeline.model.event import InvalidEvent
from streams.gateway.intake import Record, to_record
from streams.producer import Producer
from streams.topics import EPISODES

BATCH = 500


def publish(
    file: Annotated[Path, typer.Argument(help="One JSON event a line (JSON Lines); - for standard input.")],
    check_only: Annotated[bool, typer.Option("--check", help="Validate all lines and send nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the ids as one JSON object.")] = False,
) -> None:
    """Publish episodes from a file, straight to Kafka. Returns when Kafka has confirmed all of them.

    The whole file is validated first: one bad line stops the command with its number and the field at fault, and
    nothing is sent. Sending a file twice is safe, since an id is one episode.
    """
    settings = settings_or_exit()
    with clear_errors():
        names = compose.build_ontologies(settings).names
    records, faults = _read(file, names)
    if faults:
        for fault in faults[:20]:
            typer.secho(fault, err=True, fg=typer.colors.RED)
        typer.secho(f"{len(faults)} of the lines are wrong; nothing was sent", err=True, fg=typer.colors.RED)
        raise typer.Exit(FAILED)
    if not check_only:
        run(lambda: _send(records, settings.kafka_bootstrap, EPISODES.named(settings.topic_prefix)))
    if as_json:
        typer.echo(json.dumps({"ids": [r.id for r in records], "sent": not check_only}))
    else:
        typer.echo(f"{len(records)} episodes {'are valid' if check_only else 'confirmed by Kafka'}")


def _read(file: Path, ontologies: Collection[str]) -> tuple[list[Record], list[str]]:
    records: list[Record] = []
    faults: list[str] = []
    for number, line in _lines(file):
        try:
            records.append(to_record(json.loads(line), system_clock, ontologies))
        except InvalidEvent as error:
            faults += [
                f"line {number}: {path}: {text}" if path else f"line {number}: {text}"
                for path, text in error.errors
            ]
        except (ValueError, RecursionError) as error:
            faults.append(f"line {number}: is not JSON: {error}")
    return records, faults


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        source: Any = sys.stdin if str(file) == "-" else file.open(encoding="utf-8")
    except OSError as error:
        typer.secho(f"factstream: {file}: {error.strerror}", err=True, fg=typer.colors.RED)
        raise typer.Exit(FAILED) from error
    with source:
        for number, line in enumerate(source, 1):
            if line.strip():
                yield number, line


async def _send(records: list[Record], bootstrap: str, topic: str) -> None:
    producer = Producer(bootstrap)
    try:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("publishing", total=len(records))
            for start in range(0, len(records), BATCH):
                some = records[start : start + BATCH]
                await producer.send_all(topic, [(r.group_id.encode(), r.value) for r in some])
                progress.advance(task, len(some))
    finally:
        await producer.stop()
