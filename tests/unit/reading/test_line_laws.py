"""Laws of the formats that are text: nothing of a file is lost, and every block has its lines."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from pincite.reading.reader import LibraryReader
from pincite.records import BlockKind, Document, Section

BLANKS = " \t\n\r"
# Of each format: what it is written with, and what may lie outside its blocks.
FORMATS = {
    "a.txt": ("ab\x0c\u2028", "\x0c\u2028"),
    "a.md": ("aé日#>-*`|=_[]1.<!", "-*_"),
    "a.rst": ("aé日.:=-|+*`>1", ".:=-|+*`>"),
    "a.org": ("aé日*:#+-|_[]1", "-"),
}


def read(text: str, path: str) -> Document:
    return LibraryReader("lib").read(path, text.encode())


@st.composite
def files(draw: st.DrawFn) -> tuple[str, str]:
    """A path and a text that is not empty, some with front matter."""
    path = draw(st.sampled_from(sorted(FORMATS)))
    letters = st.text(FORMATS[path][0] + BLANKS, min_size=1, max_size=120)
    text = draw(letters.filter(str.strip))
    front = "---\ntitle: x\n---\n" if path == "a.md" and draw(st.booleans()) else ""
    return path, front + text


@given(files())
def test_the_text_is_kept_and_its_sections_cover_it(file: tuple[str, str]) -> None:
    path, text = file
    document = read(text, path)
    assert document.text == text
    assert (document.sections[0].start, document.sections[-1].end) == (0, len(text))
    assert all(one.end == two.start for one, two in pairwise(document.sections))
    assert all(section.start < section.end for section in document.sections)


@given(files())
def test_blocks_are_whole_filled_lines_apart_and_within_one_section(file: tuple[str, str]) -> None:
    path, text = file
    document = read(text, path)
    starts = {section.start for section in document.sections}
    assert all(one.end <= two.start for one, two in pairwise(document.blocks))
    for block in document.blocks:
        assert block.start == 0 or text[block.start - 1] in "\r\n"
        assert block.end == len(text) or text[block.end] in "\r\n"
        lines = text[block.start : block.end].replace("\r", "\n").split("\n")
        assert lines[0].strip()
        assert lines[-1].strip()
        assert not starts & set(range(block.start + 1, block.end))


@given(files())
def test_nothing_but_rules_and_blanks_lies_outside_the_blocks(file: tuple[str, str]) -> None:
    path, text = file
    inside = {at for block in read(text, path).blocks for at in range(block.start, block.end)}
    outside = {char for at, char in enumerate(text) if at not in inside}
    if not text.startswith("---"):
        assert outside <= set(BLANKS + FORMATS[path][1])


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("path", FORMATS)
def test_every_line_end_gives_the_same_blocks(path: str, line_end: str) -> None:
    text = line_end.join(["", "one", "two\u2028\x0c\x85", " \t", "", "three", ""])
    document = read(text, path)
    assert [text[block.start : block.end] for block in document.blocks] == [
        f"one{line_end}two\u2028\x0c\x85",
        "three",
    ]


def test_a_plain_text_has_one_section_and_the_name_of_its_file() -> None:
    document = read("# not a heading\n", "x/y/plain.txt")
    assert document.sections == (Section((), 0, 0, 16),)
    assert [block.kind for block in document.blocks] == [BlockKind.PARAGRAPH]
    assert (document.library, document.path, document.type) == ("lib", "x/y/plain.txt", "txt")
    assert (document.title, document.own_title) == ("plain", False)
    assert document.checksum == hashlib.sha256(b"# not a heading\n").hexdigest()
