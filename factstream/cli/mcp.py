"""`factstream mcp`: the tools for agents over stdio, answered by a search service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from factstream.cli.common import WRONG_SETTING, run, settings_or_exit

if TYPE_CHECKING:
    pass

Url = Annotated[str | None, typer.Option(help="Address of the search service.", show_default=False)]


def mcp(url: Url = None) -> None:
    """Serve the tools for agents over standard input and output, for programs that start an MCP server themselves.

    The search service has the same tools at /mcp. An API key is taken from FACTSTREAM_API_KEY. Needs the extra `mcp`.
    """
    settings = settings_or_exit()
    try:
        from mcp.server.stdio import stdio_server
    except ImportError as error:
        typer.secho(
            "factstream: this needs the SDK: pip install 'factstream[mcp]'", err=True, fg=typer.colors.RED
        )
        raise typer.Exit(WRONG_SETTING) from error
    from factstream.client import AsyncClient
    from factstream.mcp_backend import ClientBackend
    from search_api.app import API_VERSION
    from search_api.mcp_server import build_server

    async def main() -> None:
        base = url or f"http://{settings.host}:{settings.search_port}"
        async with AsyncClient(base, trust_env=False) as client:
            server = build_server(lambda _: ClientBackend(client), API_VERSION, lambda *_: None)
            async with stdio_server() as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())

    run(main)
