"""Plain text → Document: paragraphs at blank lines, and no other structure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from pincite.reading.encoding import decode_filled
from pincite.records import Block, BlockKind, Document, Section

# Each is tried only at the edge of a line and never goes back, so that a long line stays cheap.
_OPENING = re.compile(r"(?<![^\r\n])[^\S\r\n]*+\S")
_BLANK = re.compile(r"(?>\r\n?|\n)[^\S\r\n]*+(?=[\r\n]|\Z)")


def read_text(library: str, path: str, data: bytes) -> Document:
    """Read a plain text; its title is its file's name."""
    text = decode_filled(data)
    return Document(
        library=library,
        path=path,
        checksum=hashlib.sha256(data).hexdigest(),
        type="txt",
        title=title_from(path),
        text=text,
        sections=(Section(heading_path=(), level=0, start=0, end=len(text)),),
        blocks=tuple(Block(BlockKind.PARAGRAPH, start, end) for start, end in paragraphs(text)),
        own_title=False,
    )


def title_from(path: str) -> str:
    """The file's name without its extension."""
    return PurePosixPath(path).stem


def paragraphs(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Start and end of each stretch between blank lines: whole lines, without the last line end."""
    while opening := _OPENING.search(text, start):
        blank = _BLANK.search(text, opening.end())
        start = blank.start() if blank else len(text)
        yield opening.start(), start
