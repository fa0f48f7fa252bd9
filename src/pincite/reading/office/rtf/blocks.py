"""What an RTF file holds, block by block, as the parser puts it together."""

from __future__ import annotations

from dataclasses import dataclass, field

from pincite.reading.office.runs import tidy, visible_text
from pincite.reading.writer import Run
from pincite.records import OmissionReason

BULLET = "-"
_LONGEST_MARK = 40
_BETWEEN_CELLS = Run(", ")
_BETWEEN_ROWS = Run("; ")


@dataclass(frozen=True, slots=True)
class Change:
    """A tracked change that a stretch of text belongs to."""

    deed: str  # "inserted" or "deleted"
    author: str


@dataclass(slots=True)
class Flow:
    """Text that stands for itself: a note, a comment, a text box, a field of the properties."""

    runs: list[Run] = field(default_factory=list)
    _change: Change | None = None

    def say(self, text: str, omitted: OmissionReason | None, change: Change | None) -> None:
        """More text; where a tracked change begins or ends, a bracket does."""
        if change != self._change:
            self.close_change()
            if change is not None:
                self.runs.append(Run(f"[{change.deed} by {change.author}: "))
            self._change = change
        self.runs.append(Run(text, omitted=omitted))

    def close_change(self) -> None:
        """End the tracked change that is open, if one is."""
        if self._change is not None:
            self.runs.append(Run("]"))
        self._change = None

    def end_nested_cell(self) -> None:
        """A cell of a table in a cell is over: a comma."""
        self.runs.append(_BETWEEN_CELLS)

    def end_nested_row(self) -> None:
        """A row of a table in a cell is over: a semicolon."""
        self._drop_separators()
        self.runs.append(_BETWEEN_ROWS)

    def _drop_separators(self) -> None:
        while self.runs and self.runs[-1] in (_BETWEEN_CELLS, _BETWEEN_ROWS):
            self.runs.pop()

    @property
    def text(self) -> str:
        """What is seen of it."""
        return visible_text(self.runs).strip()


@dataclass(frozen=True, slots=True)
class Hanging:
    """A note, a comment or a text box, with what is to be written before and after it."""

    flow: Flow
    opening: str = ""
    closing: str = ""

    def runs(self) -> list[Run]:
        """What is written of it; nothing where it is empty."""
        runs = tidy(self.flow.runs)
        return tidy([Run(self.opening), *runs, Run(self.closing)]) if runs else []


@dataclass(slots=True)
class Paragraph:
    """One paragraph, and what hangs on it."""

    runs: list[Run]
    hanging: list[Hanging]
    style: int = 0
    outline: int | None = None
    depth: int = 0
    mark: str = ""


@dataclass(slots=True)
class Table:
    """A table: rows of cells."""

    rows: list[list[list[Run]]] = field(default_factory=list)
    hanging: list[Hanging] = field(default_factory=list)


@dataclass(slots=True)
class Body(Flow):
    """The text itself, as it grows: paragraphs, and tables that end with the first of them."""

    blocks: list[Paragraph | Table] = field(default_factory=list)
    hanging: list[Hanging] = field(default_factory=list)
    mark: Flow | None = None  # the bullet or number that the program put before a paragraph
    _cells: list[list[Run]] = field(default_factory=list)
    _table: Table | None = None  # that has not ended yet

    def end_paragraph(self, *, style: int, outline: int | None, depth: int) -> None:
        """The paragraph that was said is over."""
        self.end_row()
        self._table = None
        runs, hanging = self._taken()
        if runs or hanging:
            self.blocks.append(Paragraph(runs, hanging, style, outline, depth, self._mark()))
        self.mark = None

    def end_cell(self) -> None:
        """The cell that was said is over."""
        self._drop_separators()
        if mark := self._mark():
            self.runs.insert(0, Run(f"{mark} "))
        self.mark = None
        runs, hanging = self._taken()
        self._cells.append(runs)
        self._in_table().hanging += hanging

    def end_row(self) -> None:
        """The cells that were said are a row."""
        if self._cells:
            self._in_table().rows.append(self._cells)
            self._cells = []

    def _mark(self) -> str:
        text = " ".join(self.mark.text.split())[:_LONGEST_MARK] if self.mark else ""
        has_figures = any(character.isalnum() for character in text)
        return text if has_figures or not self.mark else BULLET

    def _in_table(self) -> Table:
        if self._table is None:
            self._table = Table()
            self.blocks.append(self._table)
        return self._table

    def _taken(self) -> tuple[list[Run], list[Hanging]]:
        self.close_change()
        runs, self.runs = tidy(self.runs), []
        hanging, self.hanging = self.hanging, []
        return runs, hanging
