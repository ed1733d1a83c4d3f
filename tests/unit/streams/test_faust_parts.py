"""The check of Faust's inner parts, and waiting for a broker."""

from __future__ import annotations

import socket

import pytest
from faust.transport.drivers.aiokafka import Consumer

from streams.broker import wait_for_broker
from streams.errors import BrokerUnavailable, FaustChanged
from streams.faust_parts import check_faust
from streams.timing import Timing


def test_the_pinned_version_has_all_parts():
    check_faust()


def test_a_missing_part_is_named():
    with pytest.raises(FaustChanged, match=r"Consumer\._gone.*install the version") as caught:
        check_faust({Consumer: ("_commit", "_gone")})
    assert caught.value.missing == ("Consumer._gone",)


async def test_a_silent_broker_is_waited_for_within_the_limit():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        now, pauses = [0.0], []

        async def sleep(seconds):
            pauses.append(seconds)
            now[0] += seconds

        with pytest.raises(BrokerUnavailable, match=f"{address} did not answer within 10 s"):
            await wait_for_broker(address, Timing(sleep=sleep, monotonic=lambda: now[0]), limit=10)
    assert pauses == [0.5, 1.0, 2.0, 4.0]
