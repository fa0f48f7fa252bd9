"""The body of a Word document → headings, paragraphs, items and tables, in reading order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, takewhile

from pincite.reading.office.docx.names import CHOICE, DRAWING, Element, W, child, value
from pincite.reading.office.docx.numbering import BULLET, Numbering
from pincite.reading.office.docx.paragraphs import DocxOptions, Paragraph, ParagraphReader
from pincite.reading.office.docx.parts import Parts
from pincite.reading.office.docx.styles import Styles
from pincite.reading.office.docx.tables import Cell, Row, is_layout, rows_of
from pincite.reading.office.runs import tidy, visible_text
from pincite.reading.writer import Run, Writer

_SKIPPED = (W + "sectPr", W + "sdtPr", W + "tcPr", CHOICE + "Fallback")


@dataclass(frozen=True, slots=True)
class _ReadRow:
    page: int | None
    cells: list[str]
    is_heading: bool


class BodyReader:
    """Writes the blocks of one document, and after each what hangs on it."""

    def __init__(self, parts: Parts, options: DocxOptions, *, page: int | None) -> None:
        self.writer = Writer()
        self.title: str | None = None  # the paragraph in the style of a title
        self.imports = 0  # other files that are put together with this one when it is opened
        self._top_headings: list[str] = []
        self._parts = parts
        self._styles = Styles(parts.first("styles"))
        self._numbering = Numbering(parts.first("numbering"))
        self._paragraphs = ParagraphReader(self._styles, options, page)
        self._notes = {kind: _by_id(parts.first(f"{kind}s")) for kind in ("footnote", "endnote")}
        self._diagrams: set[str] = set()  # that are written
        self._comments = _by_id(parts.first("comments") if options.comments else None)

    @property
    def page(self) -> int | None:
        """The page that was read last."""
        return self._paragraphs.page

    @property
    def sole_heading(self) -> str | None:
        """The heading of the first level, where there is but one."""
        return self._top_headings[0] if len(self._top_headings) == 1 else None

    def read(self, element: Element, *, on_shade: bool = False) -> None:
        """Write all blocks in the element; wrappers around them are walked right through."""
        for one in element:
            if one.tag == W + "p":
                self._paragraph(one, on_shade=on_shade)
            elif one.tag == W + "tbl":
                self._table(one, on_shade=on_shade)
            elif one.tag == W + "altChunk":
                self.imports += 1
            elif one.tag not in _SKIPPED:
                self.read(one, on_shade=on_shade)

    def _paragraph(self, element: Element, *, on_shade: bool) -> None:
        said = self._paragraphs.read(element, on_shade=on_shade)
        runs = tidy(said.runs)
        properties = child(element, "pPr")
        level = self._styles.heading_level(properties)
        place = self._styles.list_place(properties)
        mark = self._numbering.mark(place) if place else ""
        if level and said.text.strip():
            number = f"{mark} " if mark not in (BULLET, "") else ""
            self.writer.heading(tidy([Run(number, page=runs[0].page), *runs]), level)
            self._top_headings += [said.text.strip()] if level == 1 else []
        elif place and mark and runs:
            self.writer.item(runs, depth=place.depth, mark=f"{mark} ")
        else:
            self.writer.paragraph(runs)
        if self.title is None and self._styles.is_title(properties):
            self.title = said.text.strip() or None
        self._write_hanging(said)

    def _write_hanging(self, said: Paragraph) -> None:
        """Text boxes, diagrams, notes and comments, after what they belong to."""
        page = self.page
        for box in said.boxes:
            self.read(box.content, on_shade=box.is_filled)
        for identifier in said.diagrams:
            self._write_diagram(identifier)
        for note in said.notes:
            runs = self._runs_in(self._notes[note.kind].get(note.identifier))
            self.writer.paragraph(tidy([Run(f"[{note.mark}] ", page=page), *runs]))
        for identifier in said.comments:
            self._write_comment(identifier)
        self._paragraphs.page = page  # what hangs somewhere begins no page of the text

    def _write_diagram(self, identifier: str) -> None:
        root = None if identifier in self._diagrams else self._parts.by_relation(identifier)
        self._diagrams.add(identifier)
        for paragraph in () if root is None else root.iter(DRAWING + "p"):
            text = "".join(one.text or "" for one in paragraph.iter(DRAWING + "t")).strip()
            if text:
                self.writer.item([Run(text, page=self.page)])

    def _write_comment(self, identifier: str) -> None:
        comment = self._comments.pop(identifier, None)
        runs = tidy(self._runs_in(comment))
        if comment is not None and runs:
            author = " ".join((value(comment, "author") or "someone").split())
            opening = Run(f"[comment by {author}: ", page=self.page)
            self.writer.paragraph(tidy([opening, *runs, Run("]", page=self.page)]))

    def _runs_in(self, element: Element | None) -> Iterator[Run]:
        """All that is said in a note or a comment."""
        for paragraph in () if element is None else element.iter(W + "p"):
            yield from self._paragraphs.read(paragraph).runs
            yield Run("\n", page=self.page)

    def _table(self, element: Element, *, on_shade: bool) -> None:
        rows = rows_of(element, on_shade=on_shade)
        if is_layout(rows):
            for cell in (cell for row in rows for cell in row.cells):
                self.read(cell.element, on_shade=cell.is_shaded)
            return
        hanging = Paragraph()
        self._write_rows([self._row(row, hanging) for row in rows])
        self.writer.paragraph(tidy(hanging.runs))
        self._write_hanging(hanging)

    def _row(self, row: Row, hanging: Paragraph) -> _ReadRow:
        """What a row says. Where it goes on over a page, each of its cells does so for itself."""
        start = self.page
        pages = [start]
        said: list[list[Run]] = []
        for cell in row.cells:
            self._paragraphs.page = start
            said.append([] if cell.is_continued else self._cell(cell, hanging))
            pages.append(self.page)
        self._paragraphs.page = max((page for page in pages if page is not None), default=None)
        shown = (run.page for runs in said for run in runs if run.text.strip())
        texts = [
            text
            for cell, runs in zip(row.cells, said, strict=True)
            for text in (visible_text(runs), *[""] * (cell.span - 1))
        ]
        return _ReadRow(next(shown, start), [*[""] * row.free, *texts], row.is_heading)

    def _cell(self, cell: Cell, hanging: Paragraph) -> list[Run]:
        runs = tidy(self._runs_in_cell(cell.element, hanging, on_shade=cell.is_shaded))
        hidden = [run for run in runs if run.omitted is not None]
        hanging.runs += [*hidden, Run("\n")] if hidden else []
        return runs

    def _runs_in_cell(
        self, element: Element, hanging: Paragraph, *, on_shade: bool
    ) -> Iterator[Run]:
        for one in element:
            if one.tag == W + "p":
                said = self._paragraphs.read(one, on_shade=on_shade)
                hanging.take(said)
                place = self._styles.list_place(child(one, "pPr"))
                mark = f"{self._numbering.mark(place)} " if place else ""
                yield Run(mark, page=self.page)
                yield from [*said.runs, Run("\n")]
            elif one.tag == W + "tbl":
                yield from self._nested(rows_of(one, on_shade=on_shade), hanging)
            elif one.tag not in _SKIPPED:
                yield from self._runs_in_cell(one, hanging, on_shade=on_shade)

    def _nested(self, rows: list[Row], hanging: Paragraph) -> Iterator[Run]:
        """A table in a cell: commas between its cells, semicolons between its rows."""
        between = ""
        for row in rows:
            for cell in row.cells:
                runs = [] if cell.is_continued else self._cell(cell, hanging)
                if runs:
                    yield from [Run(between), *runs]
                    between = ", "
            between = between and "; "

    def _write_rows(self, rows: list[_ReadRow]) -> None:
        """The rows of each page as a table, with those that the file repeats on every page."""
        headings = list(takewhile(lambda row: row.is_heading, rows))
        for page, on_page in groupby(rows, key=lambda row: row.page):
            shown = list(on_page)
            repeated = [] if shown[0] is rows[0] else headings
            self.writer.page = page
            self.writer.table(row.cells for row in (*repeated, *shown))
        self.writer.page = None


def _by_id(root: Element | None) -> dict[str, Element]:
    """Notes or comments by their identifiers."""
    return {} if root is None else {value(one, "id") or "": one for one in root}
