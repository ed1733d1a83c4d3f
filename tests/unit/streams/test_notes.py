"""Notes beside committed positions: what goes in comes out, they fit, and a later version is refused."""

from __future__ import annotations

import pytest

from streams.notes import MOST_GROUPS, lowest, read_note, tag_of, write_note


def test_what_is_written_is_read():
    aside = {tag_of(b"a"): 17, tag_of("清华".encode()): 4}
    assert read_note(write_note(aside)) == aside
    assert write_note({}) == ""
    assert lowest(20, write_note(aside)) == 4
    assert lowest(20, "") == 20


def test_the_fullest_note_fits_into_what_kafka_keeps():
    full = {tag_of(b"%d" % n): 2**63 - 1 for n in range(MOST_GROUPS)}
    assert len(full) == MOST_GROUPS
    assert len(write_note(full).encode()) <= 4096


@pytest.mark.parametrize("foreign", ["", "consumer-1-host", "{}", "[1]", '{"x": 1}'])
def test_the_note_of_another_tool_is_none_of_ours(foreign):
    assert read_note(foreign) == {}


def test_a_later_version_is_refused():
    with pytest.raises(ValueError, match="version 2"):
        read_note('{"v": 2, "aside": {}}')
