"""Puts the text of a document together for readers whose files are not text themselves.

A reader says what it meets, in order: headings, paragraphs, items, tables, code. The writer joins
them into one readable text and keeps track of sections, blocks, places and of what is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pincite.errors import FileEmpty, FileUnreadable
from pincite.records import (
    Analysis,
    Block,
    BlockKind,
    Box,
    Content,
    Metadata,
    Modality,
    Omission,
    OmissionReason,
    Place,
    Section,
)

_MOST_CHARACTERS = 20_000_000  # of one document; more is a bomb or a database, not a text
_UNWANTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n\s*\n")
_LOWEST = 6
_LONGEST_HEADING = 300
_MOST_SECTIONS = 50_000  # sections of a document; each takes memory, and may become a chunk


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one paragraph with its place in the file; spaces between runs are theirs."""

    text: str
    page: int | None = None
    box: Box | None = None
    time_start: float | None = None
    time_end: float | None = None
    row: int | None = None
    omitted: OmissionReason | None = None

    @property
    def has_place(self) -> bool:
        """Whether it is known where the run stands."""
        return any(one is not None for one in (self.page, self.box, self.time_start, self.row))


Words = str | Sequence[Run]
"""What a block says: plain text, or runs where places matter."""


class Writer:
    """One document's text as it grows."""

    def __init__(self, *, page: int | None = None) -> None:
        self.page = page  # given to everything that is written without a page of its own
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._headings: list[Heading] = []
        self._places: list[Place] = []
        self._omissions: list[Omission] = []

    def heading(self, words: Words, level: int) -> None:
        """A heading; levels count from 1."""
        seen = "".join(run.text for run in self._runs(words) if run.omitted is None)
        text = " ".join(seen.split())
        if not text or len(text) > _LONGEST_HEADING:  # hidden, or a paragraph in other clothes
            self.paragraph(words)
            return
        start = self._block(BlockKind.HEADING, words)
        self._headings.append(Heading(start, min(max(level, 1), _LOWEST), text))

    def paragraph(self, words: Words) -> None:
        """A paragraph; line breaks inside it are kept."""
        self._block(BlockKind.PARAGRAPH, words)

    def item(self, words: Words, *, depth: int = 0, mark: str = "- ") -> None:
        """An item of a list; `depth` counts from 0."""
        self._block(BlockKind.ITEM, [Run("  " * depth + mark), *self._runs(words)], close=True)

    def table(self, rows: Iterable[Sequence[str]], *, first_row: int | None = None) -> None:
        """A table as lines of cells between bars; `first_row` numbers the rows from there."""
        lines = []
        for number, cells in enumerate(rows):
            line = " | ".join(" ".join(cell.split()) for cell in cells)
            if line.strip(" |"):
                row = None if first_row is None else first_row + number
                lines.append([Run(f"| {line} |", row=row)])
        self.table_of_runs(lines)

    def table_of_runs(self, rows: Iterable[Sequence[Run]]) -> None:
        """A table whose rows are written out by the reader, one on each line."""
        self._block(BlockKind.TABLE, _parted_by_lines(rows))

    def code(self, text: str) -> None:
        """Lines that are kept as they are."""
        self._block(BlockKind.CODE, text)

    def content(
        self,
        kind: str,
        *,
        title: str | None = None,
        metadata: Metadata | None = None,
        modality: Modality = Modality.TEXT,
        analysis: Analysis | None = None,
    ) -> Content:
        """What was written; FileEmpty where that is nothing."""
        text = "".join(self._parts)
        if not self._blocks:
            raise FileEmpty("holds no text")
        return Content(
            type=kind,
            title=" ".join((title or "").split()) or None,
            text=text,
            sections=tuple(sections_under(self._headings, len(text))),
            blocks=tuple(self._blocks),
            places=tuple(self._places),
            omissions=tuple(self._omissions),
            metadata=metadata or Metadata(),
            modality=modality,
            analysis=analysis or Analysis(),
        )

    def _block(self, kind: BlockKind, words: str | Iterable[Run], *, close: bool = False) -> int:
        """Write a block and return its start. A `close` one follows its like without a gap."""
        start = None
        for run in self._trimmed(kind, words):
            if start is None:
                if self._parts:
                    near = close and self._blocks[-1].kind is kind
                    self._append("\n" if near else "\n\n")
                start = self._length
            self._write(run)
        if start is None:
            return self._length
        self._blocks.append(Block(kind, start, self._length))
        return start

    def _trimmed(self, kind: BlockKind, words: str | Iterable[Run]) -> Iterator[Run]:
        """Without blank lines inside, which would end a block, nor space at its ends."""
        if isinstance(words, str):
            text = _UNWANTED.sub("", words)
            is_code = kind is BlockKind.CODE
            text = text.strip("\n").rstrip() if is_code else _BLANK_LINES.sub("\n", text.strip())
            words = [Run(text)]
        blank: list[Run] = []  # written only where words follow
        for run in map(_cleaned, words):
            blank.append(run)
            if run.text.strip():
                yield from blank
                blank = []

    def _runs(self, words: Words) -> Sequence[Run]:
        return [Run(words)] if isinstance(words, str) else words

    def _write(self, run: Run) -> None:
        text = run.text
        start, end = self._length, self._length + len(text)
        page = run.page if run.page is not None else self.page
        if text.strip() and (run.has_place or page is not None):
            self._places.append(
                Place(start, end, page, run.box, run.time_start, run.time_end, run.row)
            )
        if run.omitted is not None and text:
            self._omissions.append(Omission(start, end, run.omitted))
        self._append(text)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        if self._length > _MOST_CHARACTERS:
            raise FileUnreadable(f"holds more than {_MOST_CHARACTERS:,} characters of text")


def _parted_by_lines(rows: Iterable[Sequence[Run]]) -> Iterator[Run]:
    run = None
    for row in rows:
        if run is not None:
            yield Run("\n", omitted=run.omitted)
        for run in row:
            yield run


def _cleaned(run: Run) -> Run:
    wanted = _UNWANTED.sub("", run.text)
    return run if wanted == run.text else replace(run, text=wanted)


@dataclass(frozen=True, slots=True)
class Heading:
    """Where a heading stands, how deep it is, and its words."""

    start: int
    level: int
    text: str


def sections_under(headings: Sequence[Heading], end: int) -> Iterator[Section]:
    """Each heading with the stretch up to the next; level 0 is what stands before the first.

    From where there are more than anybody wrote, the rest is one section.
    """
    headings = headings[:_MOST_SECTIONS]
    starts = [heading.start for heading in headings]
    ends = [*starts[1:], end]
    if not starts or starts[0] > 0:
        yield Section(heading_path=(), level=0, start=0, end=starts[0] if starts else end)
    above: list[Heading] = []
    for heading, section_end in zip(headings, ends, strict=False):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        path = tuple(each.text for each in above if each.text)
        yield Section(path, heading.level, heading.start, section_end)
