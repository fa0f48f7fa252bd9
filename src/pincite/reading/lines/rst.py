"""reStructuredText → Content: the text as it is, sections by adorned titles, blocks of lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pincite.reading import facts
from pincite.reading.encoding import decode_filled
from pincite.reading.lines.line_blocks import Lines, content_of
from pincite.reading.lines.outline import OutlineBlock
from pincite.reading.lines.rst_blocks import BULLET, DIRECTIVE, EXPLICIT, FIELD, rst_blocks
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, Metadata

_MOST_DESCRIBING = 100  # blocks at the top that may describe the document
_KEYS = {
    "authors": "author",
    "lang": "language",
    "keywords": "tags",
    "category": "tags",
    "categories": "tags",
    "revised": "modified",
}
# `.. title: What static site generators write` into comments at the top.
_COMMENTED_FIELD = re.compile(r"\.\.[ \t]+(title|tags|date|author|language):[ \t]+(\S.*)")


def read(file: SourceFile) -> Content:
    """Read a file of reStructuredText. Nothing that it includes or draws in is looked at."""
    lines = Lines(decode_filled(file.data))
    blocks = tuple(rst_blocks(lines))
    fields = dict(_fields(lines, blocks))
    return content_of(
        "rst",
        lines,
        blocks,
        title=facts.one_line(fields.get("title")),
        metadata=Metadata(
            tags=facts.tags(fields.get("tags")),
            author=facts.one_line(fields.get("author")),
            date=facts.iso_date(fields.get("date")),
            language=facts.one_line(fields.get("language")),
            modified=facts.iso_date(fields.get("modified")),
        ),
    )


def _fields(lines: Lines, blocks: Iterable[OutlineBlock]) -> Iterator[tuple[str, str]]:
    """What the document says about itself before its text begins, by our names for it."""
    for number, block in enumerate(blocks):
        source = lines.whole(block.first, block.last)
        if number >= _MOST_DESCRIBING or not _is_describing(block, source):
            break
        for name, value in _fields_of(source):
            yield _KEYS.get(name.lower(), name.lower()), value


def _is_describing(block: OutlineBlock, source: str) -> bool:
    if block.kind is BlockKind.HEADING or EXPLICIT.match(source):
        return True
    return block.kind is BlockKind.ITEM and not BULLET.match(source) and bool(FIELD.match(source))


def _fields_of(source: str) -> Iterator[tuple[str, str]]:
    if directive := DIRECTIVE.match(source):
        if directive["name"] == "title":
            yield "title", directive["argument"] or ""
        elif directive["name"] == "meta":
            for line in source.splitlines()[1:]:
                yield from _fields_of(line.strip())
    elif commented := _COMMENTED_FIELD.match(source):
        yield commented[1], commented[2]
    elif field := FIELD.match(source):
        yield field["name"], source[field.end() :]
