"""Paragraphs, items and tables, before it is known which paragraphs are headings."""

from __future__ import annotations

from dataclasses import dataclass, field

from pincite.reading.pdf.lines import Line
from pincite.reading.pdf.looks import Style
from pincite.reading.pdf.words import Word
from pincite.records import BlockKind

Row = list[list[Word]]
"""The cells of a table's row, from the first column on; empty ones are empty."""


@dataclass(slots=True)
class PageBlock:
    """Lines that belong together, and what they are."""

    kind: BlockKind
    lines: list[Line]
    rows: list[Row] = field(default_factory=list)  # of a table
    level: int = 0  # of a heading

    @property
    def style(self) -> Style:
        """Of its first line."""
        return self.lines[0].style

    @property
    def text(self) -> str:
        """As written, on one line."""
        return " ".join(line.text for line in self.lines)

    @property
    def words(self) -> list[Word]:
        """All of it."""
        return [word for line in self.lines for word in line.words]
