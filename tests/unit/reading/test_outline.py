import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pincite.reading.lines import outline as outline_module
from pincite.reading.lines.outline import OutlineBlock, outline
from pincite.records import BlockKind
from pincite.text.lines import LineIndex

# Pieces of Markdown that meet in every order.
snippets = st.sampled_from(
    [
        *(
            "a",
            "# h",
            "## h",
            "===",
            "---",
            "- a",
            "1. b",
            "  - n",
            "  c",
            "    d",
            "\td",
            "> q",
            ">",
        ),
        *(
            "```",
            "~~~",
            "",
            "",
            "|a|b|",
            "|-|-|",
            "a | b",
            "<div>",
            "<!--",
            "-->",
            "***",
            "[a]: /b",
        ),
    ]
)
markdown = st.lists(snippets, max_size=25).map("\n".join)


def blocks_of(text: str) -> list[OutlineBlock]:
    return list(outline(text, LineIndex(text)))


@given(markdown, st.integers(1, 4))
@settings(max_examples=400)
def test_parsing_in_pieces_gives_what_parsing_at_once_gives(text: str, piece: int) -> None:
    whole = blocks_of(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outline_module, "_PIECE", piece)
        assert [strip(text, block) for block in blocks_of(text)] == [
            strip(text, block) for block in whole
        ]


def strip(text: str, block: OutlineBlock) -> tuple[BlockKind, int, str, int]:
    """The block without the blank lines at its end, which belong to nobody."""
    lines = LineIndex(text)
    words = text[lines.start_of(block.first) : lines.end_of(block.last)].rstrip()
    return block.kind, block.first, words, block.level


@given(markdown)
def test_headings_and_tables_are_those_of_markdown_it(text: str) -> None:
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    expected = [
        (token.map[0] + 1, token.map[1])
        for token in parser.parse(text)
        if token.type in ("heading_open", "table_open") and token.level == 0 and token.map
    ]
    kinds = (BlockKind.HEADING, BlockKind.TABLE)
    assert [(b.first, b.last) for b in blocks_of(text) if b.kind in kinds] == expected


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000 + "a",
        "\n".join("  " * n + "- a" for n in range(100)),
    ],
    ids=["quotes", "indented"],
)
def test_from_where_nesting_is_absurd_the_text_is_plain(text: str) -> None:
    blocks = blocks_of("# Title\n\n" + text + "\n\nThe end.")
    assert blocks[-1].kind is BlockKind.PARAGRAPH
    assert blocks[-1].first == LineIndex(text).count + 4


@pytest.mark.parametrize(
    "text",
    ["# h\n" * 400, "a\n" * 1_500],
    ids=["headings", "lines"],
)
def test_from_where_the_work_is_absurd_the_text_is_plain(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outline_module, "_PIECE", 100)
    monkeypatch.setattr(outline_module, "_MOST_WORK", 1_000)
    blocks = blocks_of(text + "\nlast")
    assert blocks[-1].last == LineIndex(text + "\nlast").count
    assert blocks[-1].kind is BlockKind.PARAGRAPH
