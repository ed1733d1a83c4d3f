"""The jars of both servers, fetched once per machine and checked against a list in the package."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from factstream.stack.errors import StackError
from factstream.stack.jar import Jar
from factstream.stack.progress import Progress

LISTS = Path(__file__).parent
ATTEMPTS = 3
PARALLEL = 4

Fetch = Callable[[Jar, Path], Path]


def default_cache() -> Path:
    """`FACTSTREAM_CACHE`, or `~/.cache/factstream`: shared by every stack of this user."""
    given = os.environ.get("FACTSTREAM_CACHE")
    return Path(given).expanduser() if given else Path.home() / ".cache" / "factstream"


def fetch_with_jgo(jar: Jar, repository: Path) -> Path:
    """Download one jar into a Maven folder with jgo, from `FACTSTREAM_MAVEN` or Maven Central."""
    from jgo.maven import MavenContext

    mirror = os.environ.get("FACTSTREAM_MAVEN")
    remotes = {"mirror": mirror.rstrip("/")} if mirror else None
    context = MavenContext(repo_cache=repository, remote_repos=remotes, timeout=60)
    component = context.project(jar.group, jar.artifact).at_version(jar.version)
    return Path(component.artifact(jar.classifier, "jar").resolve())


class JarCache:
    """One folder per server and list under `<cache>/jars`; a folder with its final name is complete.

    Jars are collected in `<name>.partial` and the folder is renamed at the end, so that an interrupted
    download goes on where it stopped and a half-filled folder is never started from. A file lock lets two
    processes ask for the same jars at once.
    """

    def __init__(
        self, cache: Path | None = None, *, lists: Path = LISTS, fetch: Fetch = fetch_with_jgo
    ) -> None:
        self._root = (cache or default_cache()) / "jars"
        self._lists = lists
        self._fetch = fetch

    def folder(self, server: str, progress: Progress) -> Path:
        """The folder holding exactly the jars of `server`, downloaded first if need be.

        Raises `StackError` when a jar cannot be fetched or is not the one on the list.
        """
        from filelock import FileLock

        text = (self._lists / f"{server}.jars.txt").read_text(encoding="utf-8")
        final = self._root / f"{server}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        if final.is_dir():
            return final
        self._root.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{final}.lock"):
            if not final.is_dir():
                partial = final.with_suffix(".partial")
                partial.mkdir(exist_ok=True)
                self._fill(server, [Jar.parse(line) for line in text.splitlines()], partial, progress)
                partial.rename(final)
        return final

    def _fill(self, server: str, jars: list[Jar], folder: Path, progress: Progress) -> None:
        missing = [jar for jar in jars if not jar.matches(folder / jar.file_name)]
        maven = folder / "maven"
        shutil.rmtree(maven, ignore_errors=True)  # what a killed download has left
        with progress.download(f"{server} jars", sum(jar.size for jar in missing)) as advance:
            for jar in self._fetch_all(missing, folder, maven):
                advance(jar.size)
        shutil.rmtree(maven, ignore_errors=True)

    def _fetch_all(self, jars: list[Jar], folder: Path, maven: Path) -> Iterator[Jar]:
        pool = ThreadPoolExecutor(PARALLEL)
        try:
            for done in as_completed([pool.submit(self._fetch_one, jar, folder, maven) for jar in jars]):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _fetch_one(self, jar: Jar, folder: Path, maven: Path) -> Jar:
        reason = ""
        for attempt in range(ATTEMPTS):
            repository = maven / f"{jar.file_name}-{attempt}"
            try:
                found = self._fetch(jar, repository)
            except (OSError, RuntimeError) as error:  # requests' errors are OSErrors, jgo's RuntimeErrors
                reason = str(error)
            else:
                if jar.matches(found):
                    found.replace(folder / jar.file_name)
                    return jar
                reason = "its SHA-256 is not the one that factstream expects"
            finally:
                shutil.rmtree(repository, ignore_errors=True)
        raise StackError(
            f"could not fetch {jar.file_name}: {reason}\n"
            "Check the network (HTTPS_PROXY is honoured) or point FACTSTREAM_MAVEN at a mirror, then repeat: "
            "what has arrived is kept."
        )
