"""Plain text → Document: paragraphs at blank lines, and no other structure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from pincite.reading.encoding import decode_filled
from pincite.records import Block, BlockKind, Document, Section
from pincite.text.lines import LineIndex


def read_text(library: str, path: str, data: bytes) -> Document:
    """Read a plain text; its title is its file's name."""
    text = decode_filled(data)
    lines = LineIndex(text)
    return Document(
        library=library,
        path=path,
        checksum=hashlib.sha256(data).hexdigest(),
        type="txt",
        title=title_from(path),
        text=text,
        sections=(Section(heading_path=(), level=0, start=0, end=len(text)),),
        blocks=tuple(
            Block(BlockKind.PARAGRAPH, lines.start_of(first), lines.end_of(last))
            for first, last in paragraphs(text, lines)
        ),
        own_title=False,
    )


def title_from(path: str) -> str:
    """The file's name without its extension."""
    return PurePosixPath(path).stem


def paragraphs(text: str, lines: LineIndex, first: int = 1) -> Iterator[tuple[int, int]]:
    """First and last line of each stretch between blank lines, from line `first` on."""
    start: int | None = None
    for line in range(first, lines.count + 1):
        blank = not text[lines.start_of(line) : lines.end_of(line)].strip()
        if start is None and not blank:
            start = line
        elif start is not None and blank:
            yield start, line - 1
            start = None
    if start is not None:
        yield start, lines.count
