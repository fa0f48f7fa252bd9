"""What the readers of line-based markup share: walking over lines, and blocks of whole lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from pincite.reading.lines.outline import OutlineBlock
from pincite.reading.writer import Heading, sections_under
from pincite.records import Block, BlockKind, Content, Metadata
from pincite.text.lines import LineIndex

_LONGEST_LOOK = 2_000  # characters; what a line is shows at its start
_LOWEST = 6  # the deepest level of a heading; deeper ones count as this


class Lines:
    """The lines of a text by their numbers, from 1. Behind the last, all are empty."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.index = LineIndex(text)
        self.count = self.index.count
        # Whoever walks over lines asks for the same few again and again.
        self._recent = lru_cache(maxsize=16)(self._line_and_indent)

    def __getitem__(self, line: int) -> str:
        """The line without white space at its end; of a very long one, the beginning."""
        return self._recent(line)[0]

    def indent(self, line: int) -> int:
        """How many columns a line is indented by."""
        return self._recent(line)[1]

    def _line_and_indent(self, line: int) -> tuple[str, int]:
        if line > self.count:
            return "", 0
        start = self.index.start_of(line)
        end = min(self.index.end_of(line), start + _LONGEST_LOOK)
        content = self.text[start:end].rstrip()
        blanks = content[: len(content) - len(content.lstrip())]
        return content, len(blanks.expandtabs())

    def run(self, first: int, belongs: Callable[[str], object]) -> int:
        """The last of the lines from `first` on, which belongs, that belong."""
        last = first
        while last < self.count and belongs(self[last + 1]):
            last += 1
        return last

    def last_indented(self, first: int, beyond: int) -> int:
        """The last line after `first` that is indented by more than `beyond`; blanks may part them.

        `first` itself where there is none.
        """
        last = first
        for line in range(first + 1, self.count + 1):
            if not self[line]:
                continue
            if self.indent(line) <= beyond:
                break
            last = line
        return last

    def next_filled(self, line: int) -> int:
        """The first line after this one that is not blank; one behind the last if there is none."""
        line += 1
        while line <= self.count and not self[line]:
            line += 1
        return line

    def whole(self, first: int, last: int) -> str:
        """The text of these lines, as it stands in the file."""
        return self.text[self.index.start_of(first) : self.index.end_of(last)]


def content_of(
    kind: str,
    lines: Lines,
    blocks: Iterable[OutlineBlock],
    *,
    title: str | None,
    metadata: Metadata,
) -> Content:
    """The text as it is, with these blocks.

    Without a title, the first heading of level 1 is one. A lower one ("Synopsis") names a part.
    """
    outlined = tuple(blocks)
    headings = [
        Heading(lines.index.start_of(block.first), min(block.level, _LOWEST), block.heading)
        for block in outlined
        if block.kind is BlockKind.HEADING
    ]
    first = next((one.text for one in headings if one.level == 1 and one.text), None)
    return Content(
        type=kind,
        title=title or first,
        text=lines.text,
        sections=tuple(sections_under(headings, len(lines.text))),
        blocks=tuple(_offsets(lines, outlined)),
        metadata=metadata,
    )


def _offsets(lines: Lines, blocks: Iterable[OutlineBlock]) -> Iterator[Block]:
    """Without the blank lines that an item may end with."""
    for block in blocks:
        last = block.last
        while last > block.first and not lines[last]:
            last -= 1
        yield Block(block.kind, lines.index.start_of(block.first), lines.index.end_of(last))
