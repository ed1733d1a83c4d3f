"""The language of what a context adds to what is stored."""

import pytest

from search_api.context import write_context
from search_api.labels import CHINESE, ENGLISH, SPANISH, labels_for
from tests.unit.search_api.test_context import fact_hit, found


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("Where does Ana work?", ENGLISH),
        ("ana acme", ENGLISH),
        ("Did Diego move to La Paz?", ENGLISH),
        ("", ENGLISH),
        ("¿Dónde trabaja Ana?", SPANISH),
        ("donde vive el hermano de Ana", SPANISH),
        ("安娜在哪里工作？", CHINESE),
        ("安娜在 Acme 工作吗", CHINESE),
        ("アナはどこで働いていますか", ENGLISH),
        ("Wo arbeitet Ana?", ENGLISH),
    ],
)
def test_the_language_of_a_question(question, labels):
    assert labels_for(question) is labels


def test_labels_stand_around_stored_text_only():
    hits = found(facts=[fact_hit("Ana trabaja en Acme", start=None), fact_hit("Ana vive en Lima")])
    assert write_context(hits, 100, SPANISH).text.splitlines() == [
        "Hechos:",
        "- Ana trabaja en Acme (desconocido - presente)",
        "- Ana vive en Lima (2021-02-03 - presente)",
    ]
    assert write_context(hits, 100, CHINESE).text.startswith("事实：\n- Ana trabaja en Acme (未知 - 至今)")
