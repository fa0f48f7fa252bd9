"""Headings, lists, and the lines that run through all pages."""

from __future__ import annotations

import pytest

from pincite.records import Content
from unit.reading.pdf.make_pdf import Bookmark, Page, content_of, lines, marked, pdf, text

_BODY = [
    "This is some text that is here to be the body of the page,",
    "with another line of it, so that there is more of it than",
    "there is of headings.",
]


def headings(content: Content) -> list[tuple[int, str]]:
    return [(one.level, one.heading_path[-1]) for one in content.sections if one.level]


def kinds(content: Content) -> list[str]:
    return [block.kind.value for block in content.blocks]


def test_larger_type_is_a_higher_heading() -> None:
    page = Page(
        [
            text("The Title", 72, 740, size=24),
            text("A Section", 72, 700, size=16),
            *lines(_BODY, 72, 670),
            text("Another Section", 72, 600, size=16),
            *lines(_BODY, 72, 570),
        ]
    )
    content = content_of(pdf(page))
    assert headings(content) == [(1, "The Title"), (2, "A Section"), (2, "Another Section")]
    assert content.sections[-1].heading_path == ("The Title", "Another Section")
    assert content.title == "The Title"


def test_a_line_in_bold_is_a_heading_but_bold_words_in_a_text_are_none() -> None:
    page = Page(
        [
            text("In Short", 72, 740, font="F2"),
            *lines(_BODY, 72, 710),
            text("Note", 72, 640, font="F2"),
            text("that this goes on after the word in bold, as text does.", 104, 640),
        ]
    )
    assert headings(content_of(pdf(page))) == [(1, "In Short")]


def test_numbers_in_a_heading_make_it_deeper() -> None:
    page = Page(
        [
            text("1 First", 72, 740, font="F2"),
            *lines(_BODY, 72, 720),
            text("1.1 Within", 72, 640, font="F2"),
            *lines(_BODY, 72, 620),
        ]
    )
    assert headings(content_of(pdf(page))) == [(1, "1 First"), (2, "1.1 Within")]


def test_numbers_captions_and_sentences_are_no_headings() -> None:
    page = Page(
        [
            text("17", 72, 760, size=20),
            text("Figure 3: A bird", 72, 720, font="F2"),
            *lines(_BODY, 72, 690),
            text("This is a sentence in bold, and no heading.", 72, 600, font="F2"),
            *lines(_BODY, 72, 570),
        ]
    )
    assert headings(content_of(pdf(page))) == []


def test_a_page_of_bold_lines_has_no_headings() -> None:
    names = [text(f"Name Number {at}", 72, 700 - 40 * at, font="F2") for at in range(6)]
    content = content_of(pdf(Page([*names, *lines(_BODY * 4, 72, 300)])))
    assert headings(content) == []


def test_the_outline_says_what_is_a_heading_and_how_deep() -> None:
    first = Page([text("Basics", 72, 740), *lines(_BODY, 72, 700)])
    second = Page([text("2. Details", 72, 740), *lines(_BODY, 72, 700)])
    outline = [Bookmark("Basics", 1, [Bookmark("Details", 2)]), Bookmark("Nowhere", 1)]
    content = content_of(pdf(first, second, outline=outline))
    assert headings(content) == [(1, "Basics"), (2, "2. Details")]


def test_tags_of_the_file_itself_outweigh_its_looks() -> None:
    page = Page(
        [
            marked(0, text("Small but a heading", 72, 740)),
            *(marked(1, line) for line in lines(_BODY, 72, 720)),
            marked(2, text("LARGE, AND ONLY TEXT", 72, 600, size=20)),
            marked(3, text("Deeper", 72, 560)),
            *(marked(4, line) for line in lines(_BODY, 72, 540)),
        ],
        tags=["H1", "P", "P", "H2", "P"],
    )
    content = content_of(pdf(page))
    assert headings(content) == [(1, "Small but a heading"), (2, "Deeper")]


def test_bullets_and_numbers_begin_items() -> None:
    page = Page(
        [
            *lines(["What to bring:"], 72, 700),
            *lines(["• a very warm coat, because the nights"], 72, 680),
            *lines(["are cold,"], 79, 665.6),
            *lines(["• boots"], 72, 651.2),
            *lines(["Then do this:"], 72, 620),
            *lines(["1. walk", "2. rest"], 72, 600),
        ]
    )
    content = content_of(pdf(page))
    assert kinds(content) == ["paragraph", "item", "item", "paragraph", "item", "item"]
    assert "• a very warm coat, because the nights\nare cold,\n• boots" in content.text


def numbered(count: int) -> list[Page]:
    return [
        Page(
            [
                text("ACME Staff Handbook", 72, 765, size=9),
                text(f"Page {number} of {count}", 280, 25, size=9),
                *lines([f"What stands on page {number} stands on no other.", *_BODY], 72, 600),
            ]
        )
        for number in range(1, count + 1)
    ]


def test_headers_that_run_through_stay_once_and_page_numbers_go() -> None:
    content = content_of(pdf(*numbered(5)))
    assert content.text.count("ACME Staff Handbook") == 1
    assert "Page" not in content.text.replace("page", "")
    assert content.text.count("stands on no other") == 5


@pytest.mark.parametrize(("chapter", "others", "times"), [(3, 0, 3), (4, 10, 4), (8, 20, 1)])
def test_a_header_on_few_pages_stays_and_one_through_a_chapter_goes(
    chapter: int, others: int, times: int
) -> None:
    plain = [Page(lines([f"Page by itself, no. {at}.", *_BODY], 72, 600)) for at in range(others)]
    assert content_of(pdf(*plain, *numbered(chapter))).text.count("ACME Staff Handbook") == times


def test_numbers_in_the_margin_that_count_nothing_stay() -> None:
    amounts = [
        Page([text(f"Total {at * at + 7}", 72, 765), *lines(_BODY, 72, 600)]) for at in range(6)
    ]
    assert content_of(pdf(*amounts)).text.count("Total") == 6


def test_a_last_line_that_counts_the_pages_runs_at_any_height() -> None:
    pages = [
        Page([*lines(_BODY, 72, 700 - 20 * at), text(f"Report | {at + 1}", 72, 500 - 20 * at)])
        for at in range(5)
    ]
    assert content_of(pdf(*pages)).text.count("Report") == 1


def test_pages_of_nothing_but_numbers_keep_them() -> None:
    content = content_of(pdf(*(Page([text(str(at), 300, 30)]) for at in range(1, 4))))
    assert content.text.split() == ["1", "2", "3"]
