"""What counts as a word, on both sides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.text.words import (
    STOP_WORDS,
    Term,
    fold,
    indexed_codes,
    indexed_words,
    is_unspaced,
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
        ("Pump", "pump"),
        ("STRASSE Straße", "strasse strasse"),
        ("ﬁlter", "filter"),
        ("Ｂｏｉｌｅｒ", "boiler"),
        ("ﾃｽﾄ", "テスト"),
        ("cafe\u0301", "café"),
        ("x²", "x2"),
        ("", ""),
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
        ("水", " 水 "),
        ("ab東京cd", "ab 東京 京 cd"),
        ("검색", " 검색 색 "),
        ("café 東京", "café  東京 京 "),
    ],
)
def test_unspaced_scripts_are_indexed_as_pairs(text: str, indexed: str) -> None:
    assert indexed_words(text) == indexed


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("it says ERR-4042 here", ["err-4042"]),
        ("v1.2.3 and 20.04", ["v1.2.3", "20.04"]),
        ("mail a@b.c now", ["a@b.c"]),
        ("C++ or C# or c+ but not C", ["c++", "c#", "c+"]),
        (".NET, not net", [".net"]),
        ("foo::bar and a/b/c", ["foo::bar", "a/b/c"]),
        ("snake_case and __init__", ["snake_case", "__init__"]),
        ("_private and trailing_", []),
        ("a._b or a_.b", ["a._b", "a_.b"]),
        ("The end. Another one.", []),
        ("plain words only", []),
        ("x" * 40 + "-" + "y" * 40, []),  # a blob, not a code
    ],
)
def test_codes_are_indexed_as_one_token_each(text: str, codes: list[str]) -> None:
    assert indexed_codes(text).split() == [as_code(code) for code in codes]


@pytest.mark.parametrize("blob", ["x", "_", "x_", "x+", ".", "é", "水", "x#"])
def test_a_blob_of_any_length_is_no_code_and_no_trouble(blob: str) -> None:
    codes = indexed_codes(f"ERR-4042 {blob * 200_000} C++").split()
    assert codes[0] == as_code("err-4042")
    assert codes[-1] == as_code("c++")
    assert all(len(code) <= 64 for code in codes)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("", []),
        (" \t\u00a0", []),
        ('"*()', []),
        ("🚀", []),
        ("\0", []),
        ("Pump", [Term(("pump",))]),
        ("pump pump PUMP", [Term(("pump",))] * 3),
        ("the pump of it", [Term(("pump",))]),
        ("what is it", [Term(("what",)), Term(("is",)), Term(("it",))]),
        ("pump\0valve", [Term(("pump",)), Term(("valve",))]),
        ("C++", [Term((as_code("c++"),))]),
        ("ERR-4042", [Term((as_code("err-4042"),)), Term(("err", "4042")), Term(("err",))]),
        ("20.04", [Term((as_code("20.04"),)), Term(("20", "04"))]),
        ("水", [Term(("水",), prefix=True)]),
        ("東京", [Term(("東京",))]),
        ("東京都", [Term(("東京", "京都")), Term(("東京",)), Term(("京都",))]),
        ("हिन्दी", [Term(("हिन्दी",))]),
    ],
)
def test_a_question_is_taken_apart_into_terms(question: str, terms: list[Term]) -> None:
    assert question_terms(question) == terms


def test_a_very_long_question_has_a_bounded_number_of_terms() -> None:
    assert len(set(question_terms(" ".join(f"word{number}" for number in range(10_000))))) == 64
    assert len(question_terms("東京都人工智能研究" * 1_000)) <= 64


def test_stop_words_are_words_as_they_are_compared() -> None:
    assert all(fold(word) == word and word.isalpha() for word in STOP_WORDS)


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("café", "cafe"),
        ("cafe\u0301", "cafe"),
        ("Ångström", "Angstrom"),
        ("검색", "검색"),
        ("x", "x"),
    ],
)
def test_accents_are_taken_off_and_nothing_else(word: str, bare: str) -> None:
    assert without_marks(word) == bare


def test_a_word_is_of_an_unspaced_script_as_a_whole_or_not() -> None:
    assert is_unspaced("東京")
    assert is_unspaced("น้ำ")
    assert not is_unspaced("東京x")
    assert not is_unspaced("")


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
