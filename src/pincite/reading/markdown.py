"""Markdown → Document: front matter, sections by heading, blocks by whole lines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pincite.reading.encoding import decode_filled
from pincite.reading.front_matter import split_front_matter
from pincite.reading.headings import heading_text
from pincite.reading.outline import OutlineBlock, outline
from pincite.reading.plain import title_from
from pincite.records import Block, BlockKind, Document, Section
from pincite.text.lines import LineIndex


@dataclass(frozen=True, slots=True)
class _Heading:
    start: int
    level: int
    text: str


def read_markdown(library: str, path: str, data: bytes) -> Document:
    """Read a Markdown file; its front matter lies in the first section, but in no block."""
    text = decode_filled(data)
    lines = LineIndex(text)
    front = split_front_matter(text)
    first = lines.line_of(front.end) if front.end < len(text) else lines.count + 1
    outlined = tuple(outline(text, lines, first))
    headings = [
        _Heading(lines.start_of(block.first), block.level, heading_text(block.heading))
        for block in outlined
        if block.kind is BlockKind.HEADING
    ]
    own_title = front.title or _title(headings)
    return Document(
        library=library,
        path=path,
        checksum=hashlib.sha256(data).hexdigest(),
        type="md",
        title=own_title or title_from(path),
        text=text,
        sections=tuple(_sections(headings, len(text))),
        blocks=tuple(_block(text, lines, block) for block in outlined),
        metadata=front.metadata,
        own_title=own_title is not None,
    )


def _title(headings: Sequence[_Heading]) -> str | None:
    """The first level-1 heading. A lower one ("Synopsis") names a part, not the document."""
    return next((one.text for one in headings if one.level == 1 and one.text), None)


def _sections(headings: Sequence[_Heading], end: int) -> Iterator[Section]:
    """Each heading with the stretch up to the next; level 0 is what stands before the first."""
    starts = [heading.start for heading in headings]
    ends = [*starts[1:], end]
    if not starts or starts[0] > 0:
        yield Section(heading_path=(), level=0, start=0, end=starts[0] if starts else end)
    above: list[_Heading] = []
    for heading, section_end in zip(headings, ends, strict=False):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        path = tuple(each.text for each in above if each.text)
        yield Section(path, heading.level, heading.start, section_end)


def _block(text: str, lines: LineIndex, block: OutlineBlock) -> Block:
    """The block's lines as offsets, without the blank lines that a list item may end with."""
    last = block.last
    while last > block.first and not text[lines.start_of(last) : lines.end_of(last)].strip():
        last -= 1
    return Block(block.kind, lines.start_of(block.first), lines.end_of(last))
