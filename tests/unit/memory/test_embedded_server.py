"""Gateway and search service over one file, as HTTP clients see them."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from factstream.embedded import EmbeddedServer
from factstream.settings import load_settings
from pipeline.errors import SettingError
from tests.unit.memory.events import works_at

PATIENCE = 60


def settings(**options: Any) -> Any:
    return load_settings({"embedder": "hashing", "gateway_port": 0, "search_port": 0, **options})


async def settled(client: httpx.AsyncClient, search: str, group: str, episode: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = await client.get(f"{search}/v1/episodes/{episode}", params={"group_id": group})
            if answer.status_code == 200 and answer.json()["state"] in ("committed", "skipped", "dead"):
                found: dict[str, Any] = answer.json()
                return found
            await asyncio.sleep(0.02)


async def test_an_event_goes_in_by_one_door_and_is_found_by_the_other(file: Path) -> None:
    async with EmbeddedServer(settings(), file).running() as (urls, crashed), httpx.AsyncClient() as client:
        for url in (urls.gateway, urls.search):
            assert (await client.get(f"{url}/readyz")).status_code == 200
        answer = await client.post(f"{urls.gateway}/v1/episodes", json=[works_at(1), works_at(2)])
        assert (answer.status_code, answer.json()) == (202, {"ids": ["e1", "e2"]})
        assert (await settled(client, urls.search, "g", "e2"))["state"] == "committed"
        body = {"query": "works at C2", "group_ids": ["g"]}
        facts = (await client.post(f"{urls.search}/v1/search", json=body)).json()["facts"]
        assert facts[0]["target"]["name"] == "C2"
        bad = await client.post(f"{urls.gateway}/v1/episodes", json=[works_at(3), {**works_at(4), "x": 1}])
        assert bad.status_code == 422
        assert bad.json()["errors"][0]["path"] == "1.x"
        assert (
            await client.get(f"{urls.search}/v1/episodes/e3", params={"group_id": "g"})
        ).status_code == 404
        assert "factstream_" in (await client.get(f"{urls.gateway}/metrics")).text
        assert not crashed.done()


async def test_a_second_server_on_the_same_file_or_port_is_refused(file: Path) -> None:
    async with EmbeddedServer(settings(), file).running() as (urls, _):
        with pytest.raises(SettingError, match="another process has it open"):
            async with EmbeddedServer(settings(), file).running():
                pass
        taken = settings(gateway_port=int(urls.gateway.rsplit(":", 1)[1]))
        with pytest.raises(SettingError, match="choose another port"):
            async with EmbeddedServer(taken, file.with_name("other.db")).running():
                pass
    async with EmbeddedServer(settings(), file).running():
        pass


async def test_without_keys_it_serves_this_machine_only(file: Path) -> None:
    with pytest.raises(SettingError, match="api_keys"):
        async with EmbeddedServer(settings(host="0.0.0.0"), file).running():
            pass


def up(file: Path) -> subprocess.Popen[str]:
    options = ["--embedded", "--file", str(file), "--gateway-port", "0", "--search-port", "0"]
    return subprocess.Popen(
        [sys.executable, "-m", "factstream", "up", *options],
        env={"FACTSTREAM_EMBEDDER": "hashing", "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ready(process: subprocess.Popen[str]) -> tuple[str, str]:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("ready gateway="), process.stderr.read() if process.stderr else line
    gateway, search = (part.split("=", 1)[1] for part in line.split()[1:])
    return gateway, search


async def test_what_was_answered_with_202_survives_a_kill_and_the_command_stops_on_sigterm(
    file: Path,
) -> None:
    first = up(file)
    gateway, _ = ready(first)
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{gateway}/v1/episodes", json=[works_at(n) for n in range(50)])
        assert answer.status_code == 202
        first.kill()
        first.communicate()
        second = up(file)
        _, search = ready(second)
        assert len((await settled(client, search, "g", "e49"))["facts"]) == 1
    second.send_signal(signal.SIGTERM)
    _, errors = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, errors
