import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.reading.reader import LibraryReader
from pincite.records import BlockKind, Document, Section

texts = st.text(alphabet="ab \t\n\r\x0c\u2028", min_size=1, max_size=60).filter(str.strip)


def read(text: str) -> Document:
    return LibraryReader("lib").read("notes/plain.txt", text.encode())


def paragraphs(text: str) -> list[str]:
    return [text[block.start : block.end] for block in read(text).blocks]


@given(texts)
def test_paragraphs_hold_every_word_and_no_blank_line(text: str) -> None:
    found = paragraphs(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    for paragraph in found:
        lines = paragraph.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert all(line.strip() for line in lines)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_blank_lines_part_paragraphs(line_end: str) -> None:
    text = line_end.join(["", "  one", "two", " \t", "", "three", ""])
    assert paragraphs(text) == [f"  one{line_end}two", "three"]


def test_there_is_one_section_without_a_heading() -> None:
    document = read("# not a heading\n")
    assert document.sections == (Section((), 0, 0, 16),)
    assert [block.kind for block in document.blocks] == [BlockKind.PARAGRAPH]


def test_the_title_is_the_name_of_the_file() -> None:
    document = read("words")
    assert (document.title, document.own_title, document.type) == ("plain", False, "txt")
    assert document.checksum == hashlib.sha256(b"words").hexdigest()


@pytest.mark.parametrize("text", [" " * 500_000 + "a", "a" + " \n" * 300_000, "a\n" * 300_000])
def test_long_blanks_and_lines_are_cheap(text: str) -> None:
    assert len(read(text).blocks) == 1
