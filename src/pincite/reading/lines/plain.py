"""Plain text → Document: paragraphs at blank lines, and no other structure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pincite.reading.encoding import decode_filled
from pincite.reading.recordings.timed import with_times
from pincite.reading.source_file import SourceFile
from pincite.records import Block, BlockKind, Content, Section

_MOST = 200_000  # paragraphs; each takes memory
# Each is tried only at the edge of a line, so that a long line stays cheap.
_OPENING = re.compile(r"(?<![^\r\n])[^\S\r\n]*\S")
_BLANK = re.compile(r"(?:\r(?!\n)|\r?\n)[^\S\r\n]*(?=[\r\n]|\Z)")


def read(file: SourceFile) -> Content:
    """Read a plain text; it has no title of its own."""
    text = decode_filled(file.data)
    content = Content(
        type="txt",
        text=text,
        sections=(Section(heading_path=(), level=0, start=0, end=len(text)),),
        blocks=tuple(Block(BlockKind.PARAGRAPH, start, end) for start, end in paragraphs(text)),
    )
    return with_times(content, file)


def paragraphs(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Start and end of each stretch between blank lines: whole lines, without the last line end.

    From where there are more than anybody wrote, the rest is one.
    """
    left = _MOST
    while opening := _OPENING.search(text, start):
        left -= 1
        blank = _BLANK.search(text, opening.end()) if left else None
        start = blank.start() if blank else len(text)
        yield opening.start(), start
