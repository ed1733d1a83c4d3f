"""Requests of the command line to the services."""

from __future__ import annotations

import os
from typing import Any

import httpx
import typer

from factstream.cli.common import FAILED


def request(method: str, url: str, **options: Any) -> Any:
    """The decoded answer; an error of the service ends the command with its own words."""
    headers = {}
    if key := os.environ.get("FACTSTREAM_API_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    try:
        answer = httpx.request(method, url, headers=headers, timeout=30, trust_env=False, **options)
    except httpx.HTTPError as error:
        _end(f"{url.split('?')[0]} does not answer: {error}")
    try:
        body = answer.json()
    except ValueError:
        body = {"detail": answer.text[:500]}
    if answer.status_code >= 400:
        _end(f"{answer.status_code}: {body.get('detail') or body.get('title')}")
    return body


def _end(message: str) -> None:
    typer.secho(f"factstream: {message}", err=True, fg=typer.colors.RED)
    raise typer.Exit(FAILED)
