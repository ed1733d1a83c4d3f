"""Rewrite the jar lists beside this file: `python -m factstream.stack.lock_jars`.

Run it by hand when a server's version changes. It resolves the dependencies, downloads every jar once and
writes `sha256 bytes group:artifact:version[:classifier]` lines, so that no later start resolves anything.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from factstream.stack.jar_cache import LISTS

KAFKA = "4.4.0"
NEO4J = "2026.09.0"

# kafka-clients is named because the resolver otherwise takes 3.9.1, on which the broker dies.
ROOTS = {
    "kafka": (
        f"org.apache.kafka:kafka_2.13:{KAFKA}",
        f"org.apache.kafka:kafka-clients:{KAFKA}",
        "org.apache.logging.log4j:log4j-slf4j-impl:2.25.5",
    ),
    "neo4j": (f"org.neo4j:neo4j:{NEO4J}",),
}


def lock(server: str, repository: Path) -> str:
    """The text of the jar list of `server`, one jar a line in the resolver's order."""
    from jgo.maven import MavenContext

    context = MavenContext(repo_cache=repository, timeout=60)
    inputs, transitive = context.resolver.resolve([context.create_dependency(r) for r in ROOTS[server]])
    lines = []
    for artifact in (dependency.artifact for dependency in [*inputs, *transitive]):
        data = artifact.resolve().read_bytes()
        coordinate = f"{artifact.groupId}:{artifact.artifactId}:{artifact.version}"
        if artifact.classifier:
            coordinate += f":{artifact.classifier}"
        lines.append(f"{hashlib.sha256(data).hexdigest()} {len(data)} {coordinate}\n")
    return "".join(lines)


def main() -> None:
    """Write the list of every server."""
    with tempfile.TemporaryDirectory() as folder:
        for server in ROOTS:
            (LISTS / f"{server}.jars.txt").write_text(lock(server, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
