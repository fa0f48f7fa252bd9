from textwrap import dedent

import pytest
from hypothesis import strategies as st

from pincite.reading.lines.org import read as read_org
from pincite.reading.source_file import SourceFile
from pincite.records import Content
from pincite.text.lines import LineIndex

words = st.text(alphabet="aé日 *:#+-|_[]\t\n\r1", min_size=1, max_size=120).filter(str.strip)


def read(text: str) -> Content:
    return read_org(SourceFile("notes/plan.org", text.encode()))


def outline(text: str) -> list[tuple[str, int, int]]:
    """Each block with its first and last line."""
    lines = LineIndex(text)
    return [
        (block.kind.value, *lines.lines_of(block.start, block.end)) for block in read(text).blocks
    ]


def headings(text: str) -> list[tuple[str, ...]]:
    return [section.heading_path for section in read(text).sections if section.level]


def test_stars_make_levels() -> None:
    text = "before\n* One\n*** Three\n** Two\n* Four\n *not a heading\n"
    assert [(one.level, one.heading_path) for one in read(text).sections] == [
        (0, ()),
        (1, ("One",)),
        (3, ("One", "Three")),
        (2, ("One", "Two")),
        (1, ("Four",)),
    ]


@pytest.mark.parametrize(
    ("headline", "words"),
    [
        ("TODO [#A] Paint the boat [1/3] :boat:work:", "Paint the boat"),
        ("DONE Call [[https://x.y][the mill]]", "Call the mill"),
        ("[[file:a.org]] and *bold* ~code~ =verbatim=", "file:a.org and bold code verbatim"),
        ("TODOS are many", "TODOS are many"),
        ("Ratio a:b: kept", "Ratio a:b: kept"),
    ],
)
def test_headlines_lose_state_priority_progress_tags_and_markup(headline: str, words: str) -> None:
    assert headings(f"* {headline}\n") == [(words,)]


def test_a_file_may_name_its_own_states() -> None:
    assert headings("#+TODO: DRAFT(d) | SENT\n* DRAFT Letter\n* SENT Reply\n") == [
        ("Letter",),
        ("Reply",),
    ]


def test_keywords_describe_the_document() -> None:
    text = dedent("""\
        #+title: The mill
        #+AUTHOR: Ada
        #+DATE: <2024-05-01 Wed>
        #+LANGUAGE: en
        #+FILETAGS: :wood:water:
        #+KEYWORDS: wheel, water

        * Heading
        #+AUTHOR: nobody
        """)
    content = read(text)
    assert (content.type, content.title) == ("org", "The mill")
    assert content.metadata.author == "Ada"
    assert content.metadata.date == "2024-05-01"
    assert content.metadata.language == "en"
    assert content.metadata.tags == ("wood", "water", "wheel")


def test_without_a_title_the_first_headline_is_it() -> None:
    assert read("** Lower\n* Upper\n").title == "Upper"
    assert read("** Lower\n").title is None


def test_lines_of_blocks_are_exact() -> None:
    text = dedent("""\
        * Heading
        :PROPERTIES:
        :ID: 1
        :END:
        A paragraph
        of two lines.
        - item
          goes on

          and on
        - next
        | a | b |
        |---+---|
        | 1 | 2 |
        #+TBLFM: $2=$1
        #+BEGIN_SRC python
        * not a heading? it is one for Org
        """)
    assert outline(text) == [
        ("heading", 1, 1),
        ("code", 2, 4),
        ("paragraph", 5, 6),
        ("item", 7, 10),
        ("item", 11, 11),
        ("table", 12, 15),
        ("paragraph", 16, 16),
        ("heading", 17, 17),
    ]


def test_blocks_of_code_and_quotations() -> None:
    text = dedent("""\
        #+BEGIN_SRC sh
        ls

        - not an item
        #+END_SRC
        #+begin_quote
        Said.

        Again.
        #+end_quote
        : fixed
        : width

        # a comment
        -----
        1. one
        """)
    assert outline(text) == [
        ("code", 1, 5),
        ("paragraph", 6, 10),
        ("code", 11, 12),
        ("paragraph", 14, 14),
        ("item", 16, 16),
    ]
