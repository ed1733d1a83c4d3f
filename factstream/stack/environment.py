"""The environment of the Java processes."""

from __future__ import annotations

import os

# Options for some other Java program of the user, which would change heap and logging of the servers.
FOREIGN = ("CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")


def java_environment() -> dict[str, str]:
    """This process's environment without options meant for other Java programs.

    The locale is UTF-8: under "C", Java opens no file whose path goes beyond ASCII.
    """
    kept = {key: value for key, value in os.environ.items() if key not in FOREIGN}
    return {**kept, "LC_ALL": "C.UTF-8"}
