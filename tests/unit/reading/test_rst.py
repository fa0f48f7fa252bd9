from textwrap import dedent

import pytest

from pincite.reading.lines.rst import read as read_rst
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content
from pincite.text.lines import LineIndex


def read(text: str) -> Content:
    return read_rst(SourceFile("docs/guide.rst", text.encode()))


def outline(text: str) -> list[tuple[str, int, int]]:
    """Each block with its first and last line."""
    content = read(text)
    lines = LineIndex(text)
    return [(block.kind.value, *lines.lines_of(block.start, block.end)) for block in content.blocks]


def paths(text: str) -> list[tuple[int, tuple[str, ...]]]:
    return [(section.level, section.heading_path) for section in read(text).sections]


def test_levels_follow_the_order_in_which_adornments_appear() -> None:
    text = dedent("""\
        =====
        Guide
        =====

        Start
        -----

        Deeper
        ~~~~~~

        End
        ---

        Annex
        =====
        """)
    assert paths(text) == [
        (1, ("Guide",)),
        (2, ("Guide", "Start")),
        (3, ("Guide", "Start", "Deeper")),
        (2, ("Guide", "End")),
        (4, ("Guide", "End", "Annex")),
    ]
    assert outline(text)[:2] == [("heading", 1, 3), ("heading", 5, 6)]
    assert read(text).title == "Guide"


@pytest.mark.parametrize(
    ("text", "is_heading"),
    [
        ("Hello\n==\n", False),  # too short an underline of too few signs
        ("Hello\n====\n", True),  # docutils warns and takes it
        ("two\nlines\n=====\n", False),
        (" indented\n=========\n", False),
        ("- item\n------\n", False),
        ("1. Numbered\n===========\n", True),
    ],
)
def test_a_title_is_one_line_with_signs_under_it(text: str, is_heading: bool) -> None:
    kinds = [block.kind for block in read(text).blocks]
    assert (BlockKind.HEADING in kinds) is is_heading


def test_titles_lose_their_markup() -> None:
    text = "The :mod:`~email` *package*: ``a_b``, `here <http://x.y>`_ \\*\n" + "=" * 70 + "\n"
    assert read(text).title == "The email package: a_b, here *"


def test_lines_of_code_items_and_paragraphs_are_exact() -> None:
    text = dedent("""\
        First paragraph
        goes on::

            code = 1

            more = 2

        - item one
          goes on

          with a paragraph
        - item two

        1. number

        term
            Its definition.

        .. code-block:: python
           :linenos:

           print("x")

        Quoted::

        > said
        > again

        >>> 1 + 1
        2
        """)
    assert outline(text) == [
        ("paragraph", 1, 2),
        ("code", 4, 6),
        ("item", 8, 11),
        ("item", 12, 12),
        ("item", 14, 14),
        ("item", 16, 17),
        ("code", 19, 22),
        ("paragraph", 24, 24),
        ("code", 26, 27),
        ("code", 29, 30),
    ]


def test_what_stands_in_a_directive_is_told_apart() -> None:
    text = dedent("""\
        .. note:: Mind the gap.
           It is wide.

           - an item

           Example::

             code

        After.
        """)
    assert outline(text) == [
        ("paragraph", 1, 2),
        ("item", 4, 4),
        ("paragraph", 6, 6),
        ("code", 8, 8),
        ("paragraph", 10, 10),
    ]


def test_tables_are_blocks() -> None:
    text = dedent("""\
        +-----+-----+
        | a   | b   |
        +=====+=====+
        | 1   | 2   |
        +-----+-----+

        ====  ====
        Name  Age
        ====  ====
        Ada   36

        Bob   40
        ====  ====

        ==  ==
        x   y
        ==  ==

        .. list-table:: Boats

           * - Gull
             - 3
        """)
    assert outline(text) == [
        ("table", 1, 5),
        ("table", 7, 13),
        ("table", 15, 17),
        ("table", 19, 22),
    ]


def test_half_a_table_is_a_paragraph() -> None:
    assert outline("====  ====\nName  Age\n\nTitle\n=====\n") == [
        ("paragraph", 1, 2),
        ("heading", 4, 5),
    ]


def test_fields_at_the_top_describe_the_document() -> None:
    text = dedent("""\
        Harbour rules
        =============

        :Author: Ines
            Moreau
        :Date: $Date: 2024/05/01 $
        :Keywords: harbour, rules
        :Language: en

        The text.

        :Author: Somebody else
        """)
    content = read(text)
    assert content.title == "Harbour rules"
    assert content.metadata.author == "Ines Moreau"
    assert content.metadata.date == "2024-05-01"
    assert content.metadata.tags == ("harbour", "rules")
    assert content.metadata.language == "en"


def test_directives_and_comments_may_give_title_and_tags() -> None:
    assert read(".. title:: Given\n\nOther\n=====\n").title == "Given"
    assert read(".. title: Given\n.. date: 2024-01-02\n\nText.\n").metadata.date == "2024-01-02"
    assert read(".. meta::\n   :keywords: a, b\n\nText.\n").metadata.tags == ("a", "b")
