"""Lines, paragraphs and words of a PDF's text, in many scripts."""

from __future__ import annotations

import pytest

from pincite.records import Content, without
from unit.reading.pdf.make_pdf import LAM_ALEF, Page, content_of, lines, pdf, text

_LONG = [
    "The first paragraph of this page is as wide as its column",
    "is, and so it goes on from line to line until it comes to an",
    "end here.",
]


def paragraphs(*drawn: str) -> list[str]:
    content = content_of(pdf(Page(drawn)))
    return [content.text[block.start : block.end] for block in content.blocks]


def embedded(content: Content) -> str:
    return without(content.text, 0, content.omissions)


def test_a_gap_between_lines_parts_paragraphs() -> None:
    assert paragraphs(*lines(_LONG, 72, 700), *lines(_LONG[:2], 72, 630)) == [
        "\n".join(_LONG),
        "\n".join(_LONG[:2]),
    ]


def test_an_indented_line_after_a_full_stop_begins_a_paragraph() -> None:
    first = lines(["It is said that the sky is blue, and so it is."], 72, 700)
    second = lines(["    Indented, as books do it, is the line that begins"], 84, 685.6)
    third = lines(["another thought, which then goes on at the margin."], 72, 671.2)
    found = paragraphs(*first, *second, *third)
    assert [one[:8] for one in found] == ["It is sa", "Indented"]


def test_an_indented_line_within_a_sentence_begins_none() -> None:
    hanging = [*lines(["Knuth, Donald, The Art of Computer"], 72, 700)]
    hanging += lines(["Programming, Reading 1968"], 92, 685.6)
    assert len(paragraphs(*hanging)) == 1


def test_words_are_parted_by_blanks_however_they_are_drawn() -> None:
    drawn = [text("drawn", 72, 700), text("apart", 108, 700), text("he", 150, 700)]
    drawn.append(text("llo", 163.3, 700))  # goes on where "he" ends
    assert paragraphs(*drawn) == ["drawn apart hello"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["It was a compli-", "cated thing"], "It was a complicated thing"),
        (["a well-", "known fact is well-known"], "a well-known fact is well-known"),
        (["a worst-", "case and the case is worst"], "a worst-case and the case is worst"),
        (["pages 3-", "4 of the Anglo-", "Saxon book"], "pages 3-\n4 of the Anglo-\nSaxon book"),
    ],
)
def test_a_word_broken_at_a_line_end_is_whole_in_what_is_embedded(
    written: list[str], meant: str
) -> None:
    content = content_of(pdf(Page(lines(written, 72, 700))))
    assert content.text == "\n".join(written)
    assert embedded(content) == meant


def test_a_paragraph_goes_on_over_the_end_of_a_page() -> None:
    pages = (
        Page(lines(["The sentence that begins here is bro-"], 72, 60)),
        Page(lines(["ken by the end of the page."], 72, 700)),
    )
    content = content_of(pdf(*pages))
    assert len(content.blocks) == 1
    assert "is broken by the end" in embedded(content)
    assert [place.page for place in content.places] == [1] * 7 + [2] * 7


def test_a_paragraph_goes_on_past_the_notes_at_the_foot_of_a_page() -> None:
    note = text("1 This is a note in smaller type.", 72, 40, size=8)
    first = Page([*lines(["The sentence that begins here goes"], 72, 100), note])
    content = content_of(pdf(first, Page(lines(["on over the page."], 72, 700))))
    assert content.text.startswith(
        "The sentence that begins here goes\non over the page.\n\n1 This"
    )


def test_a_sentence_that_ends_with_its_page_does_not_go_on() -> None:
    pages = Page(lines(["This is the end."], 72, 60)), Page(lines(["and this is not"], 72, 700))
    assert len(content_of(pdf(*pages)).blocks) == 2


def test_hebrew_is_read_from_right_to_left() -> None:
    drawn = text("שלום עולם טוב"[::-1], 100, 700, font="U")  # as it stands, from the left
    assert paragraphs(drawn) == ["שלום עולם טוב"]


def test_a_number_in_hebrew_keeps_its_own_direction() -> None:
    drawn = [text("שנת"[::-1], 160, 700, font="U"), text("1948", 110, 700)]
    assert paragraphs(*drawn) == ["שנת 1948"]


def test_an_arabic_sign_for_two_letters_is_given_in_their_order() -> None:
    drawn = text("س" + LAM_ALEF + "م", 100, 700, font="U")  # as it stands, from the left
    assert paragraphs(drawn) == ["ملاس"]


def test_japanese_has_no_blanks_and_a_place_for_each_character() -> None:
    content = content_of(pdf(Page([text("日本語の文章です。", 72, 700, font="U")])))
    assert content.text == "日本語の文章です。"
    assert len(content.places) == 9


def test_lines_that_run_downwards_are_read_from_the_right() -> None:
    first, second = "縦書きの文章は右から左へ", "二行目はその左にあります"
    drawn = [text(letter, 400, 700 - 12 * at, font="U") for at, letter in enumerate(first)]
    drawn += [text(letter, 380, 700 - 12 * at, font="U") for at, letter in enumerate(second)]
    content = content_of(pdf(Page(drawn)))
    assert content.text == f"{first}\n{second}"
    boxes = [place.box for place in content.places if place.box is not None]
    assert boxes[0].top > boxes[1].top
    assert boxes[0].left > boxes[-1].left


def test_what_is_filled_into_a_form_is_read_where_it_stands() -> None:
    page = Page([text("Name:", 72, 700)], fields=[(120, 696, "Ada Lovelace")])
    content = content_of(pdf(page))
    assert " ".join(content.text.split()) == "Name: Ada Lovelace"
    name = content.places[-1].box
    assert name is not None
    assert 120 < name.left < 320
