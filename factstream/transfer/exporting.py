"""Writes the episodes of groups to a file of JSON Lines; goes on where an earlier run was interrupted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

from factstream.transfer.episode_source import EpisodeSource, event_of
from pipeline.errors import SettingError


async def export(
    source: EpisodeSource, groups: Sequence[str], path: Path, on_episode: Callable[[str], Any]
) -> int:
    """Write the episodes of `groups`, one event a line; the number of lines that the file has then.

    Lines go to `path` with `.part` behind its name, which is renamed at the end. A `.part` that is there is
    continued after its last whole line.

    Raises SettingError when the file is there already, or a `.part` is of other groups.
    """
    part, lines, last = _continued(path, groups)
    with part.open("ab") as out:
        for group in sorted(groups):
            if last is not None and group < last[0]:
                continue
            passing = last is not None and group == last[0]
            async for episode in source.episodes(group):
                if passing:
                    passing = last is not None and episode.id != last[1]
                    continue
                out.write(orjson.dumps(event_of(episode)) + b"\n")
                lines += 1
                on_episode(group)
            if passing:
                raise SettingError(
                    f"{part} ends with an episode that is gone since: remove it and start anew"
                )
            out.flush()
            os.fsync(out.fileno())
    part.rename(path)
    return lines


def _continued(path: Path, groups: Sequence[str]) -> tuple[Path, int, tuple[str, str] | None]:
    """What an interrupted run has left: the file, its whole lines, and the (group, id) of the last of them.

    Half a line is cut off.
    """
    if path.exists():
        raise SettingError(f"{path} is there already: name another file")
    part = path.with_name(path.name + ".part")
    if not part.exists():
        return part, 0, None
    lines = 0
    end = 0
    last: tuple[str, str] | None = None
    with part.open("r+b") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            event = json.loads(line)
            last = (event["group_id"], event["id"])
            lines += 1
            end += len(line)
        file.truncate(end)
    if last is not None and last[0] not in groups:
        raise SettingError(f"{part} is of an export of other groups: remove it, or name another file")
    return part, lines, last
