"""`factstream rebuild`: make groups anew from the log, while reads and episodes go on."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from factstream import compose, models
from factstream.cli.common import FAILED, run, settings_or_exit
from factstream.memory.writer_lock import WriterLock
from factstream.rebuild.bar import Bar
from factstream.rebuild.parts import From, Options, RebuildRefused, Rebuilt, Swapped, Tools
from factstream.rebuild.rebuild import Rebuild
from factstream.settings import Settings
from pipeline.clock import system_clock
from pipeline.errors import SettingError
from pipeline.model.extraction import ExtractedEpisode
from pipeline.observer import SilentObserver
from streams.agents.outbox import Outbox
from streams.kafka_log import KafkaLog
from streams.producer import Producer
from streams.rebuilds import keep_extracted, publish_rebuild

LISTED = 10


def rebuild(
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            "-g",
            help="Group to rebuild; may be given again. All when left out.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        From,
        typer.Option("--from", help="Raw episodes, or what was extracted from them (asks no extractor)."),
    ] = From.extracted,
    everything: Annotated[
        bool,
        typer.Option(
            "--everything", help="Write every object again, with its vectors, not only what differs."
        ),
    ] = False,
    allow_dead: Annotated[
        bool, typer.Option("--allow-dead", help="Go on without episodes that cannot be told again.")
    ] = False,
    ask_judges: Annotated[
        bool,
        typer.Option(
            "--ask-judges", help="With --from extracted: ask the model what no judge was asked before."
        ),
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where the shadow is kept meanwhile.", show_default="application folder"),
    ] = None,
) -> None:
    """Make groups anew from the log and swap each in at once, in one transaction.

    Reads and new episodes go on meanwhile. After a kill the same command goes on where it was. What was forgotten
    stays forgotten, what operators set right is done again, and consumers of `facts.changes` are told what differs.
    """
    settings = settings_or_exit()

    async def main() -> int:
        place = (folder or Path(typer.get_app_dir("factstream")) / "rebuild") / _installation(settings)
        failed, asks = 0, source is From.raw or ask_judges
        async with _tools(settings, place, asks, group) as tools:
            for name in group or await _all_groups(tools):
                try:
                    with Bar(name) as bar:
                        options = Options(source, place, everything, allow_dead, _identity(settings))
                        done = await Rebuild(name, tools, options, bar.show).run()
                    _say(done, asks)
                except RebuildRefused as refused:
                    typer.secho(f"factstream: {refused}", err=True, fg=typer.colors.RED)
                    failed += 1
        return failed

    if run(main):
        raise typer.Exit(FAILED)


@asynccontextmanager
async def _tools(
    settings: Settings, place: Path, asks: bool, groups: Sequence[str] | None
) -> AsyncIterator[Tools]:
    """What a rebuild works with, as the settings name it; the log is read from Kafka into a file in `place`."""
    observer = SilentObserver()
    embedder = models.build_embedder(settings, observer)
    store = compose.build_store(settings, embedder, observer)
    stages = compose.build_stages(settings, store, embedder, observer)
    spool = place / f"{_digest(sorted(groups) if groups else 'all')}.log"
    lock = _locked(spool)
    producer = Producer(settings.kafka_bootstrap)
    outbox = Outbox(producer, settings.topic_prefix, system_clock)
    log = KafkaLog(
        settings.kafka_bootstrap,
        spool,
        settings.topic_prefix,
        groups=groups,
        ontologies=compose.build_ontologies(settings).names,
    )

    async def publish(swapped: Swapped) -> None:
        await publish_rebuild(outbox, swapped.group_id, swapped.changes, swapped.settled, swapped.judged)

    async def keep(events: Sequence[ExtractedEpisode]) -> None:
        await keep_extracted(outbox, events)

    try:
        await store.open()
        await log.refresh()
        yield Tools(
            store=store,
            log=log,
            embedder=embedder,
            extractor=stages.extract.extractor,
            clock=system_clock,
            entity_judge=stages.resolve_entities.judge if asks else None,
            fact_judge=stages.resolve_facts.judge if asks else None,
            vocabulary=stages.resolve_facts.vocabulary,
            publish=publish,
            keep=keep,
            ahead=settings.ahead,
        )
        log.close()
        for path in (spool, *(spool.with_name(spool.name + end) for end in ("-wal", "-shm", "-writer"))):
            path.unlink(missing_ok=True)
    finally:
        log.close()
        lock.release()
        await producer.stop()
        await store.close()


def _locked(spool: Path) -> WriterLock:
    """The folder of a file, made, and the file for this process alone."""
    lock = WriterLock(spool)
    try:
        spool.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except (SettingError, OSError) as error:
        raise RebuildRefused(
            f"another rebuild uses the folder {spool.parent}: wait for it ({error})"
        ) from error
    return lock


async def _all_groups(tools: Tools) -> list[str]:
    return sorted({*await tools.log.groups(), *await tools.store.group_ids()})


def _say(done: Rebuilt, asks: bool) -> None:
    typer.echo(
        f"group {done.group_id}: {done.episodes} episodes, {done.changed} objects differed, "
        f"{len(done.changes)} changes published, {done.seconds:.1f} s, of which commits waited {done.held:.1f} s"
    )
    for what, names in (
        ("could not be told again", done.dead),
        ("by an operator had nothing left to be done to", done.set_aside),
    ):
        for name, reason in list(names.items())[:LISTED]:
            typer.echo(f"  {name} {what}: {reason}", err=True)
        if len(names) > LISTED:
            typer.echo(f"  and {len(names) - LISTED} more", err=True)
    if done.unrecorded and not asks:
        typer.echo(
            f"  {done.unrecorded} questions that no judge was asked before were answered by no: see --ask-judges",
            err=True,
        )
    if done.left_out:
        typer.echo(
            f"  {len(done.left_out)} episodes of the log were left out: dead, forgotten, or still to come",
            err=True,
        )


def _installation(settings: Settings) -> str:
    return _digest(
        [settings.kafka_bootstrap, settings.topic_prefix, settings.neo4j_uri, settings.neo4j_database]
    )


def _identity(settings: Settings) -> str:
    """What decides how episodes are read and resolved, as far as the settings tell."""
    return _digest(
        [
            version("factstream"),
            settings.extractor,
            settings.model,
            str(settings.ontologies),
            settings.embedder,
        ]
    )


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
