"""`factstream demo --embedded`: the same tour, everything in this process on one file."""

from __future__ import annotations

import asyncio
import time

from rich.console import Console

from factstream.cli.common import run, until_stopped
from factstream.cli.embedded import graph_file
from factstream.demo.services import Services
from factstream.demo.tour import Tour
from factstream.embedded import EmbeddedServer, EmbeddedUrls
from factstream.settings import Settings


def demo_embedded(settings: Settings, group: str, console: Console, *, keep: bool) -> None:
    """Serve the graph file of the settings' folder, take the tour, and stop, or go on until Ctrl-C."""
    started = time.monotonic()
    path = graph_file(settings, None)
    free = settings.model_copy(update={"gateway_port": 0, "search_port": 0})
    server = EmbeddedServer(free if not keep else settings, path)

    def tour(urls: EmbeddedUrls) -> None:
        services = Services(urls.gateway, urls.search, group)
        try:
            Tour(services, group, console).run()
        finally:
            services.close()

    async def main() -> None:
        async with server.running() as (urls, _):
            console.print(f"ready: {urls.search}, everything in this process, on {path}")
            # The tour blocks; the services that it asks run in this loop.
            await asyncio.to_thread(tour, urls)
            console.print(f"\ndone in {time.monotonic() - started:.1f} s")
            if keep:
                console.print(f"Still running, until Ctrl-C. The group is [bold]{group}[/]. To look further:")
                question = f"  factstream search 'Where does Diego work?' -g {group} --url {urls.search}"
                console.print(question, soft_wrap=True)
                await until_stopped(_wait)
        if not keep:
            console.print("To look further, from Python:")
            code = f'SyncMemory("{path}") … memory.context("What about the printer?", group_ids="{group}")'
            console.print(f"  from factstream import SyncMemory; {code}", soft_wrap=True, highlight=False)

    run(main)


async def _wait(stop: asyncio.Event) -> None:
    await stop.wait()
