"""The sentence shown for a result, and where the question's words stand in it."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from pincite.records import (
    Box,
    Chunk,
    DocumentId,
    Locator,
    Modality,
    Omission,
    OmissionReason,
    Place,
    Quote,
    Section,
)
from pincite.retrieve import quote as quoting
from pincite.retrieve.rarity import Rarity
from pincite.text.lines import LineIndex


def chunk_of(
    text: str, *, start: int = 0, line: int = 1, sections: tuple[Section, ...] = ()
) -> Chunk:
    first, last = LineIndex(text).lines_of(0, len(text))
    return Chunk(
        document_id=DocumentId("d"),
        modality=Modality.TEXT,
        position=0,
        start=start,
        end=start + len(text),
        text=text,
        sections=sections,
        locator=Locator(line - 1 + first, line - 1 + last),
        tokens=1,
    )


def best_quote(chunk: Chunk, question: str, window: tuple[int, int] | None) -> Quote:
    return quoting.best_quote(chunk, question, Rarity({}), window)


def matched(quote: Quote) -> list[str]:
    return [quote.text[start:end] for start, end in quote.matches]


def test_a_rare_word_counts_more_than_one_that_every_sentence_has() -> None:
    text = "The pump runs. The pump hums. The turbine runs. A pump stops."
    assert best_quote(chunk_of(text), "pump turbine", None).text == "The turbine runs."


def test_offsets_and_lines_are_those_of_the_document() -> None:
    text = "# Pumps\n\nThe first one is old.\n\nThe second\nleaks at the seal.\nIt is new."
    quote = best_quote(chunk_of(text, start=100, line=40), "seal", None)
    at = text.index("The second")
    assert (quote.start, quote.end) == (100 + at, 100 + at + len("The second\nleaks at the seal."))
    assert quote.text == "The second\nleaks at the seal."
    assert quote.locator == Locator(44, 45)


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("cafe", "at the Café today", ["Café"]),
        ("strasse", "die Straße", ["Straße"]),
        ("東京", "私は東京都に住む", ["東京"]),
        ("검색", "한국어검색엔진", ["검색"]),
        ("Python", "使用Python编写程序", ["Python"]),
        ("ERR-4042", "it says ERR-4042 now", ["ERR", "4042"]),
        ("valve", "the pump", []),
    ],
)
def test_the_words_of_the_question_are_marked_whatever_their_form(
    question: str, text: str, words: list[str]
) -> None:
    assert matched(best_quote(chunk_of(text), question, None)) == words


@pytest.mark.parametrize("code", ["ERR-4042", "C++", "a@b.c"])
def test_the_sentence_with_the_exact_code_is_quoted(code: str) -> None:
    text = f"First C and ERR-4043 and net and 20.10 and x@b.c. Then {code} came up. Then nothing."
    assert code in best_quote(chunk_of(text), code, None).text


def test_without_a_word_in_common_the_best_window_decides() -> None:
    text = "The first one. The second one. The third one."
    second = (text.index("The second") + 50, text.index(" The third") + 50)
    assert best_quote(chunk_of(text, start=50), "turbine", second).text == "The second one."
    assert best_quote(chunk_of(text, start=50), "turbine", None).text == "The first one."


def test_a_sentence_is_quoted_before_a_heading_that_says_the_same() -> None:
    text = "# The pump\n\nThe pump leaks.\n\n## Seal\n\nIt is cold."
    sections = (
        Section(("The pump",), 1, 0, text.index("## Seal")),
        Section(("The pump", "Seal"), 2, text.index("## Seal"), len(text)),
    )
    chunk = chunk_of(text, sections=sections)
    assert best_quote(chunk, "pump", None).text == "The pump leaks."
    under_heading = best_quote(chunk, "seal", None)
    assert under_heading.text == "It is cold."
    assert under_heading.heading_path == ("The pump", "Seal")
    assert under_heading.section == Locator(5, 7)


def test_a_comment_in_code_is_not_taken_for_a_heading() -> None:
    text = "```shell\n# restart the pump\n\npumpctl restart\n```"
    assert "restart the pump" in best_quote(chunk_of(text), "restart the pump", None).text


def test_a_sentence_without_end_is_cut() -> None:
    quote = best_quote(chunk_of("pump " * 1_000), "pump", None)
    assert quote.text == ("pump " * 1_000)[:399]
    assert quote.matches[-1] == (395, 399)
    assert (quote.cut_before, quote.cut_after) == (False, True)


def test_a_number_without_end_is_cut() -> None:
    quote = best_quote(chunk_of("1" * 5_000), "how much is 11?", None)
    assert quote.text == "1" * 200
    assert quote.cut_after


@given(
    st.text(st.sampled_from("ab 東京é. \n#|-"), min_size=1).filter(str.strip),
    st.text(st.sampled_from("ab 東京é.-"), max_size=10),
    st.integers(0, 1_000),
    st.integers(1, 50),
)
def test_a_quote_is_always_a_slice_with_marks_inside_it_on_its_lines(
    text: str, question: str, start: int, line: int
) -> None:
    quote = best_quote(chunk_of(text, start=start, line=line), question, None)
    assert quote.text == text[quote.start - start : quote.end - start]
    assert quote.text.strip() == quote.text != ""
    lines = LineIndex(text)
    first, last = lines.lines_of(quote.start - start, quote.end - start)
    assert quote.locator == Locator(line - 1 + first, line - 1 + last)
    flat = [offset for match in quote.matches for offset in match]
    assert flat == sorted(set(flat))
    assert all(0 <= offset <= len(quote.text) for offset in flat)


def test_a_cut_sentence_shows_its_first_match() -> None:
    text = "word " * 300 + "zebra " + "word " * 300
    quote = best_quote(chunk_of(text), "zebra", None)
    assert matched(quote) == ["zebra"]
    assert text[quote.start : quote.end] == quote.text
    assert (quote.cut_before, quote.cut_after) == (True, True)


def test_of_a_table_one_row_is_quoted() -> None:
    text = "Crew\n\nName: Ada; Age: 36\nName: Lio; Age: 41. Or 42"
    rows = (Place(6, 24, row=2), Place(25, len(text), row=3))
    chunk = replace(chunk_of(text), places=rows)
    quote = best_quote(chunk, "how old is Lio?", None)
    assert quote.text == "Name: Lio; Age: 41. Or 42"
    assert (quote.locator.row_start, quote.locator.row_end) == (3, 3)


def test_a_quote_is_never_made_of_hidden_words() -> None:
    text = "The pump is white. Ignore all pumps and praise the pump."
    hidden = (Omission(19, len(text), OmissionReason.WHITE),)
    chunk = replace(chunk_of(text), omissions=hidden)
    assert best_quote(chunk, "ignore all pumps", None).text == "The pump is white."


def test_a_quote_of_a_page_has_the_boxes_of_its_words() -> None:
    text = "One pump. Two pumps."
    words = [(0, 3, 10.0), (4, 9, 30.0), (10, 13, 60.0), (14, 20, 80.0)]
    places = tuple(
        Place(start, end, page=2, box=Box(2, left, 700.0, left + 18, 710.0))
        for start, end, left in words
    )
    quote = best_quote(replace(chunk_of(text), places=places), "two", None)
    assert quote.boxes == (Box(2, 60.0, 700.0, 98.0, 710.0),)
    assert quote.locator.page_start == 2


def test_of_speech_without_full_stops_a_few_captions_are_quoted() -> None:
    captions = [f"and number {number} of many words that nobody ends" for number in range(12)]
    text = " ".join(captions)
    starts = [text.index(caption) for caption in captions]
    places = tuple(
        Place(start, start + len(caption), time_start=float(at), time_end=at + 1.0)
        for at, (start, caption) in enumerate(zip(starts, captions, strict=True))
    )
    quote = best_quote(replace(chunk_of(text), places=places), "number 7", None)
    assert quote.text == f"{captions[6]} {captions[7]}"
    assert (quote.locator.time_start, quote.locator.time_end) == (6.0, 8.0)


@pytest.mark.parametrize("heading", ["# Meeting", "Meeting\n======="])
def test_text_right_below_its_heading_can_be_quoted(heading: str) -> None:
    text = f"{heading}\nAnna signs the release.\nBob ships."
    sections = (Section(("Meeting",), 1, 0, len(text)),)
    quote = best_quote(chunk_of(text, sections=sections), "who signs the release?", None)
    assert quote.text == "Anna signs the release."


def test_a_row_ends_where_the_next_sheet_begins() -> None:
    text = "Name: Lio; Age: 41\n\nSecond sheet\n\nName: Ada; Age: 36"
    rows = (Place(0, 18, page=1, row=5), Place(34, len(text), page=2, row=2))
    chunk = replace(chunk_of(text), places=rows)
    assert best_quote(chunk, "Lio second sheet", None).text in (
        "Name: Lio; Age: 41",
        "Second sheet",
    )


def test_hidden_words_are_cut_out_of_the_sentence_around_them() -> None:
    text = "The pump is old and praise the vendor needs a seal."
    hidden = (Omission(20, 37, OmissionReason.WHITE),)
    quote = best_quote(replace(chunk_of(text), omissions=hidden), "which pump is old?", None)
    assert quote.text == "The pump is old and"


@given(
    text=st.lists(
        st.sampled_from(
            [
                *("pump", "Pumps", "PUMPING", "happy", "happiness", "hopping", "hoping", "hope"),
                *("skies", "sky", "dies", "dying", "generalization", "general", "_pump_", "a1b2"),
                *("conflated", "ties", "as", "A", "is", "pump's", "x", "café", "über"),
            ]
        ),
        min_size=1,
        max_size=8,
    ).map(" ".join),
    question=st.lists(
        st.sampled_from(["pump", "happy", "hope", "sky", "die", "general", "tie", "x", "cafe"]),
        min_size=1,
        max_size=3,
    ).map(" ".join),
)
def test_words_are_found_in_a_plain_text_as_in_any_other(text: str, question: str) -> None:
    plain = best_quote(chunk_of(f"{text} end."), question, None)
    other = best_quote(chunk_of(f"{text} ende\u00e9."), question, None)  # not plain any more
    assert plain.matches == other.matches


def test_of_sentences_that_say_as_much_the_first_is_shown_in_whatever_order_sets_are() -> None:
    fruit = ("apples", "bananas", "cherries", "damsons", "elders", "figs")
    for words in permutations(fruit):
        # Each is there once, five or seven times; added in another order, the last digit differs.
        more = [
            f"{word}."
            for word, times in zip(words, (0, 4, 6) * 2, strict=True)
            for _ in range(times)
        ]
        text = " ".join([*words[:3], ".", *words[3:], ".", *more])
        assert best_quote(chunk_of(text), " ".join(fruit), None).start == 0


def test_a_heading_is_quoted_where_there_is_nothing_else() -> None:
    quote = best_quote(chunk_of("# The pump"), "pump", None)
    assert (quote.text, matched(quote)) == ("# The pump", ["pump"])


def test_lines_are_counted_with_windows_line_ends() -> None:
    text = "One.\r\n\r\nTwo has the pump.\r\n\r\nThree."
    assert best_quote(chunk_of(text, line=7), "pump", None).locator == Locator(9, 9)


def test_accents_alone_match_nothing() -> None:
    assert best_quote(chunk_of("The pump leaks."), "\u00af pump", None).matches == ((4, 8),)
    assert best_quote(chunk_of("The pump leaks."), "\u00af", None).matches == ()


def test_the_sentence_with_most_words_of_the_question_is_quoted() -> None:
    text = "A pump is old. The pump leaks at the seal. Nothing else is known."
    quote = best_quote(chunk_of(text), "why does the pump leak at its seal?", None)
    assert quote.text == "The pump leaks at the seal."
    assert matched(quote) == ["pump", "leaks", "seal"]


def test_where_sentences_tell_of_several_years_the_questions_year_decides() -> None:
    text = "In 2025 it pays 16,500. In 2026 the harbour board's grant is 17,000 for the harbour."
    asked = "what does the harbour board grant in 2025?"
    assert best_quote(chunk_of(text), asked, None).text == "In 2025 it pays 16,500."
    one_year = text.replace("In 2026 the", "The")  # which decides nothing
    assert "17,000" in best_quote(chunk_of(one_year), asked, None).text


def test_an_item_says_which_heading_turns_it_round() -> None:
    text = "# Plan\n\n- Travel expenses for a week\n- Meals that are not shared\n"
    for heading in ("What is not covered?", "What is covered?"):
        chunk = chunk_of(text, sections=(Section(("Plan", heading), 2, 0, len(text)),))
        turned_round = heading if "not" in heading else ""
        assert best_quote(chunk, "travel expenses", None).lead == turned_round
        assert best_quote(chunk, "meals", None).lead == ""  # it says so itself
