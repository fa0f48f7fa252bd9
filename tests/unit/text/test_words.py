"""What counts as a word, on both sides, and where it is found."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pincite.text.finding import finder_of
from pincite.text.words import (
    Term,
    exact_terms,
    fold,
    indexed_codes,
    indexed_words,
    question_codes,
    question_terms,
    without_marks,
    words_in_names,
)


def as_code(text: str) -> str:
    """A code as the index keeps it: its marks moved to where no text has characters."""
    return text.translate({ord(mark): 0xE000 + ord(mark) for mark in "-._@/+:#"})


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("STRASSE Straße", "strasse strasse"),
        ("ﬁlter", "filter"),
        ("Ｂｏｉｌｅｒ", "boiler"),
        ("cafe\u0301", "café"),
    ],
)
def test_case_and_compatibility_forms_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_folding_twice_changes_nothing_more_for_words(text: str) -> None:
    assert fold(fold(fold(text))) == fold(fold(text))


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        ("The Pump", "the pump"),
        ("東京都", " 東京 京都 都 "),
        ("ab東京cd", "ab 東京 京 cd"),
        ("검색", " 검색 색 "),
    ],
)
def test_unspaced_scripts_are_indexed_as_pairs(text: str, indexed: str) -> None:
    assert indexed_words(text) == indexed


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("it says ERR-4042 here", ["err-4042"]),
        ("v1.2.3 and 20.04", ["v1.2.3", "20.04"]),
        ("C++ or C# or c+ but not C", ["c++", "c#", "c+"]),
        (".NET, not net", [".net"]),
        ("foo::bar and a/b/c", ["foo::bar", "a/b/c"]),
        ("snake_case and __init__", ["snake_case", "__init__"]),
        ("_private and trailing_", []),
        ("x" * 40 + "-" + "y" * 40, []),  # a blob, not a code
    ],
)
def test_codes_are_indexed_as_one_token_each(text: str, codes: list[str]) -> None:
    assert indexed_codes(text).split() == [as_code(code) for code in codes]


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        (" \t\u00a0", []),
        ("\0", []),
        ("Pump", [Term(("pump",))]),
        ("the pump of it", [Term(("pump",))]),
        ("what is it", [Term(("what",)), Term(("is",)), Term(("it",))]),
        ("pump\0valve", [Term(("pump",)), Term(("valve",))]),
        ("C++", [Term((as_code("c++"),))]),
        ("ERR-4042", [Term((as_code("err-4042"),)), Term(("err", "4042")), Term(("err",))]),
        ("水", [Term(("水",), prefix=True)]),
        ("東京都", [Term(("東京", "京都")), Term(("東京",)), Term(("京都",))]),
    ],
)
def test_a_question_is_taken_apart_into_terms(question: str, terms: list[Term]) -> None:
    assert question_terms(question) == terms


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("café", "cafe"),
        ("Ångström", "Angstrom"),
        ("검색", "검색"),
    ],
)
def test_accents_are_taken_off_and_nothing_else(word: str, bare: str) -> None:
    assert without_marks(word) == bare


@given(st.text())
def test_the_terms_of_any_question_hold_no_quote_and_no_blank(question: str) -> None:
    for term in question_terms(question):
        assert term.tokens
        for token in term.tokens:
            assert token
            assert '"' not in token
            assert not any(char.isspace() or char == "\0" for char in token)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("parseLine(x)", "parse Line"),
        ("HTTPServer parseHTTPReply", "HTTP Server parse HTTP Reply"),
        ("sendX2Frame", "send X2 Frame"),
        ("plain words and snake_case", ""),
        ("parseLine parseLine", "parse Line"),
    ],
)
def test_names_in_code_are_taken_apart(code: str, words: str) -> None:
    assert words_in_names(code) == words


@pytest.mark.parametrize(
    "question",
    ["ERR-4042", "v1.2.3", "a@b.c", "C++", "c#", "snake_case", "std::vector", "os.path", ".NET"],
)
def test_a_code_must_match_to_the_letter(question: str) -> None:
    assert len(question_codes(f"what is {question} about?")) == 1


@pytest.mark.parametrize(
    "question", ["a high-fat diet", "client/server", "that is, i.e. this", "in the U.S. alone"]
)
def test_compound_words_are_no_codes(question: str) -> None:
    assert question_codes(question) == []


def test_what_a_long_question_repeats_does_not_push_its_other_words_out() -> None:
    assert question_terms("pump " * 700 + "lease") == [Term(("pump",))] * 4 + [Term(("lease",))]


def test_a_very_long_question_has_a_bounded_number_of_terms() -> None:
    assert len(set(question_terms(" ".join(f"word{number}" for number in range(10_000))))) == 64
    assert len(question_terms("東京都人工智能研究" * 1_000)) <= 64


@pytest.mark.parametrize(
    ("question", "texts", "share"),
    [
        ("who signs the release?", ["Ada signed all releases."], 1),
        ("who signs the release?", ["Ada signed it.", "Releases"], 1),
        ("what is ERR-4042?", ["It says ERR-4042 then."], 1),
        ("?", ["Nothing was asked."], 0),
    ],
)
def test_coverage_is_the_share_of_the_questions_words_that_texts_have(
    question: str, texts: list[str], share: float
) -> None:
    assert finder_of(question).coverage(*texts) == share


WRITTEN = st.sampled_from(
    [
        *("pump", "Pumps", "PUMPING", "happy", "Happiness", "hopping", "hoping", "hope", "skies"),
        *("sky", "dies", "dying", "generalization", "general", "_pump_", "a1b2", "pump's", "x"),
    ]
)
ASKED = st.sampled_from(["pump", "happy", "hope", "sky", "die", "general", "tie", "x"])


@given(
    texts=st.lists(st.lists(WRITTEN, max_size=6).map(" ".join), max_size=4),
    question=st.lists(ASKED, min_size=1, max_size=3).map(" ".join),
)
def test_a_plain_text_has_the_same_words_as_any_other(texts: list[str], question: str) -> None:
    finder = finder_of(question)  # which remembers the words of the texts before
    for text in texts:
        assert finder.found(text) == finder.found(f"{text} \u00e9")


@pytest.mark.parametrize("question", ["\u4f9b\u7535", "pump \u4f9b\u7535"])
def test_words_of_a_script_without_spaces_are_found_inside_others(question: str) -> None:
    assert finder_of(question).coverage("pump \u65e0\u4f9b\u7535\u7ebf") == 1


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("alpha statement number 13", ["13"]),
        ("note dated 22 June 2024", []),
        ("what was agreed on June 22, 2024 about room 7?", ["7"]),
        ("may statement 13 be used?", ["13"]),
        ("statement 13 may be false", ["13"]),
        ("statement of 13 May 2024", []),
        ("what does ERR-4042 of unit 7 mean?", [as_code("err-4042")]),
    ],
)
def test_numbers_are_met_to_the_letter_unless_they_are_of_a_date(
    question: str, numbers: list[str]
) -> None:
    assert [token for term in exact_terms(question) for token in term.tokens] == numbers
