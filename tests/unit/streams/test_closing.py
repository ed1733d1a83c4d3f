"""Closing within a bound."""

from __future__ import annotations

import asyncio
import logging

import pytest

from streams.closing import closed


async def test_what_closes_in_time_is_waited_for():
    done = []

    async def close() -> None:
        await asyncio.sleep(0.01)
        done.append(True)

    await closed(close(), "closing")
    assert done == [True]


async def test_what_hangs_is_cancelled_and_named(caplog):
    cancelled = asyncio.Event()

    async def close() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with caplog.at_level(logging.WARNING):
        await closed(close(), "leaving the group", seconds=0.01)
    assert "leaving the group took longer than 0.01 s" in caplog.text
    await cancelled.wait()


async def test_what_does_not_listen_to_a_cancel_is_not_waited_for():
    heard, let_go = asyncio.Event(), asyncio.Event()

    async def close() -> None:
        try:
            await let_go.wait()
        except asyncio.CancelledError:
            heard.set()
            await let_go.wait()

    await closed(close(), "closing", seconds=0.01)
    await heard.wait()
    let_go.set()


async def test_what_fails_is_told_and_stops_nobody(caplog):
    async def close() -> None:
        raise OSError("gone")

    with caplog.at_level(logging.WARNING):
        await closed(close(), "closing the producer")
    assert "closing the producer failed: OSError('gone')" in caplog.text


async def test_whoever_is_cancelled_while_it_waits_takes_the_closing_along():
    cancelled = asyncio.Event()

    async def close() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    waiting = asyncio.ensure_future(closed(close(), "closing"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await cancelled.wait()
