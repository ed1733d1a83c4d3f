"""Questions without the names in them."""

import pytest

from pipeline.text.names import without_names


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("When did Ana's sister move to Rome?", "When did sister move to"),
        ("What does O'Brien-Smith like to read?", "What does like to read?"),
        ("¿Cuándo se mudó la hermana de Ana a Roma?", "¿Cuándo se mudó la hermana de a"),
        ("Where did the boss (Ana) go with us?", "Where did the boss go with us?"),
        # Abbreviations, the first word of a sentence and what has digits in it are no names.
        ("When did Ana join the LGBTQ group?", "When did join the LGBTQ group?"),
        ("She left. Where did she go with the Xbox360?", "She left. Where did she go with the Xbox360?"),
    ],
)
def test_what_is_left(question, left):
    assert without_names(question) == left


@pytest.mark.parametrize(
    "question",
    [
        "when did ana move to rome?",
        "Wann hat Anna ihre Stelle in Rom so angetreten?",
        "Ana Rome",
        "安娜什么时候搬到罗马？",
        "Who is Ana?",
        "Was It That The Lord Of The Rings Is In",
        "",
        "   ",
        "?!",
    ],
)
def test_what_stays_whole(question):
    assert without_names(question) == question
