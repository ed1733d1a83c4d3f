"""Terms, stems and what a question loses."""

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.analysis import query_terms, search_text, terms
from pipeline.text.stems import stem
from pipeline.text.stop_words import STOP_WORDS


def found_by(question: str, text: str) -> bool:
    return bool(set(query_terms(question)) & set(search_text(text).split()))


def test_forms_of_a_word_are_one():
    assert len({stem(word) for word in ("paint", "paints", "painted", "painting")}) == 1
    assert found_by("Who painted?", "Melanie was painting a sunrise")


def test_what_is_no_english_word_keeps_its_name_in_question_and_text():
    assert found_by("¿Dónde trabaja Diego Salas?", "Diego Salas works at Papelera Sur")
    assert found_by("muller", "Frau Müller")
    assert found_by("北大", "他在北大读书")
    assert not found_by("北大", "清华大学")
    assert stem("v2") == "v2"
    assert stem("北大") == "北大"


def test_a_question_loses_the_words_that_questions_are_made_with():
    assert query_terms("What did Caroline research?") == ["carolin", "research"]
    assert query_terms("¿Qué hizo Ana con el contrato?")[0] not in STOP_WORDS
    assert "ana" in query_terms("¿Qué hizo Ana con el contrato?")


def test_a_question_of_stop_words_only_keeps_them():
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert found_by("the who", "The Who played")


def test_names_and_months_are_no_stop_words():
    assert STOP_WORDS.isdisjoint({"may", "will", "mark"})


def test_what_is_stored_keeps_every_word():
    assert search_text("To be, or not to be").split() == ["to", "be", "or", "not", "to", "be"]


@given(st.text())
def test_every_text_is_found_by_itself(text):
    if terms(text):
        assert set(query_terms(text)) <= set(search_text(text).split())
        assert query_terms(text)


@given(st.text())
def test_a_stem_is_a_term_again(text):
    assert all(" " not in one and one for one in search_text(text).split(" ") if search_text(text))


def test_threads_do_not_disturb_each_other():
    words = [
        f"{a}{b}{ending}"
        for a in "bcdfghklmnprst"
        for b in ("aint", "unn", "ell")
        for ending in ("ing", "ed", "s")
    ]
    alone = [stem.__wrapped__(word) for word in words]
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda _: [stem.__wrapped__(word) for word in words], range(16)):
            assert found == alone
