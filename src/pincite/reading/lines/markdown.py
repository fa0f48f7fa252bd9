"""Markdown → Document: front matter, sections by heading, blocks by whole lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from pincite.reading.encoding import decode_filled
from pincite.reading.lines.front_matter import split_front_matter
from pincite.reading.lines.headings import heading_text
from pincite.reading.lines.outline import OutlineBlock, outline
from pincite.reading.recordings.timed import with_times
from pincite.reading.sections import Heading, sections_under
from pincite.reading.source_file import SourceFile
from pincite.records import Block, BlockKind, Content, Modality, Place, Section
from pincite.settings import CONVERTED_FOLDER
from pincite.text.lines import LineIndex

_PAGE = re.compile(r"Page (\d{1,6})")
_PAGE_LEVEL = 2


def read(file: SourceFile) -> Content:
    """Read a Markdown file; its front matter lies in the first section, but in no block."""
    text = decode_filled(file.data)
    lines = LineIndex(text)
    front = split_front_matter(text)
    first = lines.line_of(front.end) if front.end < len(text) else lines.count + 1
    outlined = tuple(outline(text, lines, first))
    headings = [
        Heading(lines.start_of(block.first), block.level, heading_text(block.heading))
        for block in outlined
        if block.kind is BlockKind.HEADING
    ]
    source = _recognised_from(front.source, file.path)
    content = Content(
        type=source.rpartition(".")[2].lower() if source else "md",
        title=front.title or _title(headings),
        text=text,
        sections=tuple(sections_under(headings, len(text))),
        blocks=tuple(_block(text, lines, block) for block in outlined),
        metadata=replace(front.metadata, source=source),
        modality=front.modality or Modality.TEXT,
    )
    # What was recognised on a page may look like a time code, and is none.
    is_recognised = content.modality is Modality.OCR
    return _with_pages(content) if is_recognised else with_times(content, file)


def _recognised_from(source: str | None, path: str) -> str | None:
    """The file whose recognised text this is; any other note may claim to stem from anything."""
    return source if path == f"{CONVERTED_FOLDER}/{source}.md" else None


def _title(headings: Sequence[Heading]) -> str | None:
    """The first level-1 heading. A lower one ("Synopsis") names a part, not the document."""
    return next((one.text for one in headings if one.level == 1 and one.text), None)


def _block(text: str, lines: LineIndex, block: OutlineBlock) -> Block:
    """The block's lines as offsets, without the blank lines that a list item may end with."""
    last = block.last
    while last > block.first and not text[lines.start_of(last) : lines.end_of(last)].strip():
        last -= 1
    return Block(block.kind, lines.start_of(block.first), lines.end_of(last))


def _with_pages(content: Content) -> Content:
    """Give what stands below `## Page N` that page, if the text was recognised from a file.

    A page reaches to the next such heading, whatever other headings somebody put in between.
    """
    if content.metadata.source is None or content.modality is not Modality.OCR:
        return content
    return replace(content, places=tuple(_places(content)))


def _places(content: Content) -> Iterator[Place]:
    begun = [
        (section.start, page)
        for section in content.sections
        if (page := _page(section)) is not None
    ]
    for (start, page), (end, _) in pairwise([*begun, (len(content.text), 0)]):
        yield Place(start, end, page=page)


def _page(section: Section) -> int | None:
    """The page a section begins, if it begins one."""
    if section.level != _PAGE_LEVEL or not section.heading_path:
        return None
    named = _PAGE.fullmatch(section.heading_path[-1])
    return int(named[1]) if named else None
