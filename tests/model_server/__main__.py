"""python -m tests.model_server --port 8099 --latency 1.0

Serves until it is interrupted. Besides the API: GET /requests (calls and prompt tokens by purpose), DELETE /requests,
POST /rules {"status": 429, "every": 3, "retry_after": 1} and POST /rules {} to forget them.
"""

from __future__ import annotations

import argparse
import asyncio
import signal

from tests.model_server.server import ModelServer


async def serve(arguments: argparse.Namespace) -> None:
    """Until SIGINT or SIGTERM."""
    server = ModelServer(
        latency=arguments.latency,
        dimension=arguments.dimension,
        json_schema=not arguments.no_json_schema,
        key=arguments.key,
    )
    await server.start(arguments.port)
    print(f"listening on {server.url}", flush=True)
    ended = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    await ended.wait()
    await server.stop()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible model endpoint on loopback")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one and prints it")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that every answer takes")
    parser.add_argument("--dimension", type=int, default=64, help="numbers in an embedding")
    parser.add_argument("--no-json-schema", action="store_true", help="answer 400 to structured output")
    parser.add_argument("--key", default=None, help="the only key that is accepted")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
