"""Keys in a file: added and withdrawn while the service runs."""

from __future__ import annotations

import json
import logging
import os

import pytest

from pipeline.access import AccessKeys, hash_key
from pipeline.errors import SettingError
from search_api.app import create_app
from search_api.settings import ApiSettings

ASK = {"query": "ana", "group_ids": ["g"]}


def write(path, keys):
    """Replaces the file in one step, as operators should."""
    fresh = path.with_suffix(".new")
    fresh.write_text(keys if isinstance(keys, str) else json.dumps({hash_key(k): v for k, v in keys.items()}))
    os.replace(fresh, path)


async def asks(client, key):
    return (await client.post("/v1/search", json=ASK, headers={"X-API-Key": key})).status_code


async def test_keys_come_and_go_without_a_restart(connect, tmp_path):
    path = tmp_path / "keys.json"
    write(path, {"old": ["g"]})
    client = connect(api_keys_file=path, api_keys={hash_key("fixed"): "*"})
    assert [await asks(client, key) for key in ("old", "new", "fixed")] == [200, 401, 200]
    write(path, {"old": ["g"], "new": "*"})
    assert [await asks(client, key) for key in ("old", "new", "fixed")] == [200, 200, 200]
    write(path, {"old": ["g2"], "new": "*"})
    assert [await asks(client, key) for key in ("old", "new", "fixed")] == [403, 200, 200]
    write(path, {})
    assert [await asks(client, key) for key in ("old", "new", "fixed")] == [401, 401, 200]


@pytest.mark.parametrize("broken", ["", "[]", '{"plain-secret": "*"}', '{"' + "a" * 64 + '": [7]}', None])
async def test_a_broken_file_changes_nothing_and_is_told(tmp_path, caplog, broken):
    path = tmp_path / "keys.json"
    write(path, {"k": ["g"]})
    keys = AccessKeys({}, path)
    if broken is None:
        path.unlink()
    else:
        write(path, broken)
    assert keys.groups_of("k") == ["g"]
    assert keys.groups_of("k") == ["g"]
    warnings = [one for one in caplog.records if one.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "plain-secret" not in caplog.text
    write(path, {"k": ["g3"]})
    assert keys.groups_of("k") == ["g3"]


def test_an_empty_file_lets_nobody_in(tmp_path):
    path = tmp_path / "keys.json"
    write(path, {})
    keys = AccessKeys({}, path)
    assert keys.required
    assert keys.groups_of("anything") is None


@pytest.mark.parametrize("broken", ["", "[]", '{"plain-secret": "*"}', None])
def test_a_broken_file_stops_the_start(graph, tmp_path, broken):
    path = tmp_path / "keys.json"
    if broken is not None:
        path.write_text(broken)
    with pytest.raises(SettingError, match="api_keys_file") as caught:
        create_app(ApiSettings(host="0.0.0.0", api_keys_file=path), graph)
    assert "plain-secret" not in str(caught.value)


def test_every_key_is_compared_in_constant_time(monkeypatch):
    compared = []

    def compare(one, other):
        compared.append(one)
        return one == other

    monkeypatch.setattr("pipeline.access.hmac.compare_digest", compare)
    keys = AccessKeys({hash_key(name): "*" for name in ("a", "b", "c")})
    for asked in ("a", "c", "unknown"):
        compared.clear()
        keys.groups_of(asked)
        assert len(compared) == 3
