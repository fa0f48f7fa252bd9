import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import FileUnreadable
from pincite.reading.lines import markdown
from pincite.reading.reader import LibraryReader
from pincite.reading.source_file import SourceFile
from pincite.records import Block, BlockKind, Document, Metadata, Section

words = st.text(alphabet="aé日 #>-*`|=\t\n\r_[]1.<!", min_size=1, max_size=120)
texts = words | words.map(lambda text: "---\ntitle: x\n---\n" + text)


def read(text: str, path: str = "notes/beam.md") -> Document:
    return LibraryReader("lib").read(path, text.encode())


def outline(document: Document) -> list[tuple[BlockKind, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def paths(text: str) -> list[tuple[int, tuple[str, ...]]]:
    return [(section.level, section.heading_path) for section in read(text).sections]


@given(texts.filter(str.strip))
def test_sections_cover_the_text_without_gaps(text: str) -> None:
    document = read(text)
    assert document.text == text
    assert document.sections[0].start == 0
    assert document.sections[-1].end == len(text)
    assert all(one.end == two.start for one, two in pairwise(document.sections))
    assert all(section.start < section.end for section in document.sections)


@given(texts.filter(str.strip))
def test_blocks_are_in_order_apart_and_within_one_section(text: str) -> None:
    document = read(text)
    assert all(one.end <= two.start for one, two in pairwise(document.blocks))
    assert all(holder(document, block) for block in document.blocks)


@given(texts.filter(str.strip))
def test_blocks_are_whole_lines_with_words_in_them(text: str) -> None:
    for block in read(text).blocks:
        assert block.start == 0 or text[block.start - 1] in "\r\n"
        assert block.end == len(text) or text[block.end] in "\r\n"
        lines = text[block.start : block.end].replace("\r", "\n").split("\n")
        assert lines[0].strip()
        assert lines[-1].strip()


def holder(document: Document, block: Block) -> Section | None:
    return next(
        (each for each in document.sections if each.start <= block.start < block.end <= each.end),
        None,
    )


@given(words.filter(str.strip))
def test_nothing_but_rules_and_blanks_lies_outside_the_blocks(text: str) -> None:
    outside, position = "", 0
    document = read(text)
    for block in document.blocks:
        outside, position = outside + text[position : block.start], block.end
    rest = outside + text[position:]
    if not text.startswith("---"):
        assert not set(rest) - set(" \t\r\n-*_")


def test_each_heading_opens_a_section_below_those_of_higher_rank() -> None:
    text = "intro\n# A\n## B\ntext\n#### C\n## D\n# E\n"
    assert paths(text) == [
        (0, ()),
        (1, ("A",)),
        (2, ("A", "B")),
        (4, ("A", "B", "C")),
        (2, ("A", "D")),
        (1, ("E",)),
    ]


def test_underlined_headings_count_too() -> None:
    assert paths("A\n===\n\nB\n---\ntext") == [(1, ("A",)), (2, ("A", "B"))]


def test_headings_lose_their_marks() -> None:
    text = "# **Pods** {#pods} ##\n\n## Use `kubectl` on [nodes](n.md)"
    assert paths(text)[-1] == (2, ("Pods", "Use kubectl on nodes"))


def test_a_heading_without_words_has_no_name() -> None:
    assert paths("#\n\n## B") == [(1, ()), (2, ("B",))]


@pytest.mark.parametrize("text", ["> # A\n", "- # A\n", "```\n# A\n```\n", "<!--\n# A\n-->\n"])
def test_headings_in_quotes_lists_code_and_comments_are_text(text: str) -> None:
    assert paths(text) == [(0, ())]


def test_blocks_are_told_apart() -> None:
    text = (
        "# Title\n\nTwo\nlines.\n\n- one\n  more\n\n  still one\n- two\n  - inner\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n\ny = 2\n```\n\n    indented\n\n"
        "> quoted\nlazily\n\n<div>\nhtml\n</div>\n\n***\n\n1. first\n2. second\n"
    )
    assert outline(read(text)) == [
        (BlockKind.HEADING, "# Title"),
        (BlockKind.PARAGRAPH, "Two\nlines."),
        (BlockKind.ITEM, "- one\n  more\n\n  still one"),
        (BlockKind.ITEM, "- two\n  - inner"),
        (BlockKind.TABLE, "| a | b |\n|---|---|\n| 1 | 2 |"),
        (BlockKind.CODE, "```py\nx = 1\n\ny = 2\n```"),
        (BlockKind.CODE, "    indented"),
        (BlockKind.PARAGRAPH, "> quoted\nlazily"),
        (BlockKind.PARAGRAPH, "<div>\nhtml\n</div>"),
        (BlockKind.ITEM, "1. first"),
        (BlockKind.ITEM, "2. second"),
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_gives_the_same_blocks(line_end: str) -> None:
    text = line_end.join(["# A", "", "one", "two", "", "- x", "- y", ""])
    expected = ["# A", f"one{line_end}two", "- x", "- y"]
    assert [words for _, words in outline(read(text))] == expected


def test_odd_separators_do_not_shift_the_offsets() -> None:
    text = "one\u2028two\x0cthree\x85\n\n# A\u2029b\n\nend"
    assert [words for _, words in outline(read(text))] == [
        "one\u2028two\x0cthree\x85",
        "# A\u2029b",
        "end",
    ]


def test_front_matter_lies_in_the_first_section_but_in_no_block() -> None:
    text = "---\ntitle: Beams\ntags: [steel]\n---\n# Heading\n\nBody"
    document = read(text)
    assert document.title == "Beams"
    assert document.metadata == Metadata(tags=("steel",))
    assert document.sections[0] == Section((), 0, 0, text.index("# Heading"))
    assert outline(document) == [(BlockKind.HEADING, "# Heading"), (BlockKind.PARAGRAPH, "Body")]


def test_front_matter_alone_is_a_document_without_blocks() -> None:
    document = read("---\ntitle: Beams\n---\n")
    assert document.title == "Beams"
    assert document.blocks == ()


@pytest.mark.parametrize(
    ("text", "title", "own"),
    [
        ("---\ntitle: Front\n---\n# One", "Front", True),
        ("## Two\n\n# One\n\n# Other", "One", True),
        ("### Three\n\n## Two", "beam", False),
        ("#\n\n## Two\n\n# One", "One", True),
        ("no heading", "beam", False),
    ],
)
def test_the_title_is_the_best_name_the_text_gives_itself(text: str, title: str, own: bool) -> None:
    document = read(text)
    assert (document.title, document.own_title) == (title, own)


def test_a_document_says_where_it_comes_from() -> None:
    document = read("# A", path="x/y/z.md")
    assert (document.library, document.path, document.type) == ("lib", "x/y/z.md", "md")
    assert document.checksum == hashlib.sha256(b"# A").hexdigest()


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_nothing_is_refused(data: bytes) -> None:
    with pytest.raises(FileUnreadable, match="is empty"):
        markdown.read(SourceFile("a.md", data))


def test_a_pdf_named_md_is_refused() -> None:
    with pytest.raises(FileUnreadable, match="is a PDF, not text"):
        markdown.read(SourceFile("a.md", b"%PDF-1.4\n..."))


def test_hostile_html_and_links_are_kept_as_text() -> None:
    text = "![](http://169.254.169.254/)\n\n<script>alert(1)</script>\n\n[a]: javascript:x"
    assert [words for _, words in outline(read(text))] == text.split("\n\n")


def test_only_recognised_text_stands_for_another_file() -> None:
    source = "---\nsource: contracts/real.pdf\n---\n\nText.\n"
    assert read(source, "spoof.md").metadata.source is None
    recognised = read(source, ".converted/contracts/real.pdf.md")
    assert (recognised.metadata.source, recognised.type) == ("contracts/real.pdf", "pdf")
