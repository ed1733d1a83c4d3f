"""Jars arrive whole, checked, once, whatever is interrupted."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from factstream.stack import StackError
from factstream.stack.jar import Jar
from factstream.stack.jar_cache import LISTS, JarCache, default_cache
from factstream.stack.progress import Progress

CONTENT = {"a": b"jar a", "b": b"jar bb", "c": b"jar ccc"}


class Remote:
    """A Maven repository in memory that counts what is asked of it and can be made to fail."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.content = dict(CONTENT)
        self.down: set[str] = set()
        self._lock = threading.Lock()

    def fetch(self, jar: Jar, repository: Path) -> Path:
        with self._lock:
            self.asked.append(jar.artifact)
        if jar.artifact in self.down:
            raise OSError("connection refused")
        repository.mkdir(parents=True)
        path = repository / jar.file_name
        path.write_bytes(self.content[jar.artifact])
        return path


@pytest.fixture
def remote() -> Remote:
    return Remote()


@pytest.fixture
def cache(tmp_path: Path, remote: Remote) -> JarCache:
    lines = (f"{hashlib.sha256(data).hexdigest()} {len(data)} g:{name}:1\n" for name, data in CONTENT.items())
    (tmp_path / "probe.jars.txt").write_text("".join(lines))
    return JarCache(tmp_path / "cache", lists=tmp_path, fetch=remote.fetch)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_holds_exactly_the_listed_jars(cache: JarCache, remote: Remote) -> None:
    lines: list[str] = []
    folder = cache.folder("probe", Progress(lines.append))
    assert names(folder) == ["a-1.jar", "b-1.jar", "c-1.jar"]
    assert (folder / "b-1.jar").read_bytes() == b"jar bb"
    assert lines[0].startswith("downloading probe jars")
    assert lines[-1] == "downloaded probe jars"
    assert cache.folder("probe", Progress()) == folder
    assert sorted(remote.asked) == ["a", "b", "c"]


def test_an_interrupted_download_goes_on_where_it_stopped(
    cache: JarCache, remote: Remote, tmp_path: Path
) -> None:
    remote.down = {"c"}
    with pytest.raises(StackError, match=r"could not fetch c-1\.jar: connection refused"):
        cache.folder("probe", Progress())
    assert not [path for path in (tmp_path / "cache" / "jars").glob("probe-*") if path.suffix == ""]
    arrived = set(names(next((tmp_path / "cache" / "jars").glob("*.partial")))) & {"a-1.jar", "b-1.jar"}
    remote.down = set()
    remote.asked.clear()
    assert names(cache.folder("probe", Progress())) == ["a-1.jar", "b-1.jar", "c-1.jar"]
    assert len(remote.asked) == 3 - len(arrived)


def test_a_half_written_jar_is_fetched_again(cache: JarCache, remote: Remote, tmp_path: Path) -> None:
    remote.down = {"c"}
    with pytest.raises(StackError):
        cache.folder("probe", Progress())
    partial = next((tmp_path / "cache" / "jars").glob("*.partial"))
    (partial / "c-1.jar").write_bytes(b"jar")
    (partial / "maven").mkdir(exist_ok=True)
    (partial / "maven" / "left-behind").write_bytes(b"x")
    remote.down = set()
    folder = cache.folder("probe", Progress())
    assert (folder / "c-1.jar").read_bytes() == b"jar ccc"
    assert names(folder) == ["a-1.jar", "b-1.jar", "c-1.jar"]


def test_a_jar_that_is_not_the_listed_one_is_refused(cache: JarCache, remote: Remote, tmp_path: Path) -> None:
    remote.content["b"] = b"jar b!"
    with pytest.raises(StackError, match="SHA-256"):
        cache.folder("probe", Progress())
    assert remote.asked.count("b") == 3
    assert not list((tmp_path / "cache" / "jars").rglob("b-1.jar"))


def test_two_askers_download_once(cache: JarCache, remote: Remote) -> None:
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(lambda _: cache.folder("probe", Progress()), range(4)))
    assert len(folders) == 1
    assert sorted(remote.asked) == ["a", "b", "c"]


def test_a_changed_list_gets_a_folder_of_its_own(cache: JarCache, tmp_path: Path) -> None:
    first = cache.folder("probe", Progress())
    text = (tmp_path / "probe.jars.txt").read_text().splitlines(keepends=True)
    (tmp_path / "probe.jars.txt").write_text("".join(text[:2]))
    second = cache.folder("probe", Progress())
    assert second != first
    assert names(second) == ["a-1.jar", "b-1.jar"]


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FACTSTREAM_CACHE", str(tmp_path))
    assert default_cache() == tmp_path
    monkeypatch.delenv("FACTSTREAM_CACHE")
    assert default_cache().parts[-2:] == (".cache", "factstream")


@pytest.mark.parametrize("server", ["kafka", "neo4j"])
def test_the_packaged_lists_are_sound(server: str) -> None:
    jars = [Jar.parse(line) for line in (LISTS / f"{server}.jars.txt").read_text().splitlines()]
    assert len({jar.file_name for jar in jars}) == len(jars)
    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in jars)


def test_kafka_and_its_clients_have_one_version() -> None:
    jars = [Jar.parse(line) for line in (LISTS / "kafka.jars.txt").read_text().splitlines()]
    assert {jar.version for jar in jars if jar.group == "org.apache.kafka"} == {"4.4.0"}


@pytest.mark.parametrize("line", ["", "x 1", "x one g:a:1", "x 1 g:a", "x 1 g:a:1:c:d"])
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        Jar.parse(line)
