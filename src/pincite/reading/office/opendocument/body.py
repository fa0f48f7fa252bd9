"""The body of an OpenDocument file → headings, paragraphs, items and tables, in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pincite.reading.office.look import Look
from pincite.reading.office.opendocument.names import (
    DRAW,
    DUBLIN_CORE,
    OFFICE,
    PRESENTATION,
    TABLE,
    TEXT,
    Element,
    number,
)
from pincite.reading.office.opendocument.paragraphs import Paragraph, ParagraphReader, mark_of
from pincite.reading.office.opendocument.styles import Styles
from pincite.reading.office.opendocument.tables import is_covered, is_layout, rows_of
from pincite.reading.office.runs import tidy, visible_text
from pincite.reading.writer import Run, Writer
from pincite.reading.xml_safely import tag_of

_PARAGRAPHS = (TEXT + "p", TEXT + "h")
_SKIPPED = frozenset(
    (
        *(TEXT + "tracked-changes", OFFICE + "annotation", OFFICE + "forms"),
        *(PRESENTATION + "notes", DRAW + "page-thumbnail"),
    )
)
_DEEPEST_HEADING = 10
_HIGHEST_NUMBER = 100_000


class BodyReader:
    """Writes the blocks of one file, and after each what hangs on it."""

    def __init__(self, styles: Styles, paragraphs: ParagraphReader, *, comments: bool) -> None:
        self.writer = Writer()
        self.title: str | None = None  # the paragraph in the style of a title
        self._top_headings: list[str] = []
        self._styles = styles
        self._paragraphs = paragraphs
        self._with_comments = comments
        self._counted: dict[tuple[str, int], int] = {}

    def read(self, element: Iterable[Element], around: Look) -> None:
        """Write all blocks in the element; wrappers around them are walked right through."""
        for one in element:
            self.block(one, around)

    @property
    def sole_heading(self) -> str | None:
        """The heading of the first level, where there is but one."""
        return self._top_headings[0] if len(self._top_headings) == 1 else None

    def block(self, element: Element, around: Look) -> None:
        """Write one block, or the blocks inside one."""
        tag = tag_of(element)
        if tag in _PARAGRAPHS:
            self._paragraph(element, around)
        elif tag == TEXT + "list":
            self._list(element, around, "", [])
        elif tag == TABLE + "table":
            self._table(element, around)
        elif tag not in _SKIPPED:
            self.read(element, self._inside(element, around))

    def _inside(self, element: Element, around: Look) -> Look:
        """How text in a section or in a shape looks."""
        if element.get(TEXT + "display") == "none" or element.get(TEXT + "is-hidden") == "true":
            return Look(is_hidden=True).over(around)
        if tag_of(element).startswith(DRAW) and self._styles.is_filled(element):
            return Look(is_shaded=True).over(around)
        return around

    def _paragraph(self, element: Element, around: Look, mark: str = "", depth: int = 0) -> None:
        said = self._paragraphs.read(element, around)
        runs = tidy(said.runs)
        is_title = self._styles.is_title(element.get(TEXT + "style-name", ""))
        level = number(element, TEXT + "outline-level", otherwise=1, most=_DEEPEST_HEADING)
        is_heading = element.tag == TEXT + "h" or is_title
        if is_heading and visible_text(runs).strip():
            figures = f"{mark} " if mark not in ("-", "") else ""
            self.writer.heading(tidy([Run(figures), *runs]), 1 if is_title else level)
            self._remember(visible_text(runs), level, is_title=is_title)
        elif mark and runs:
            self.writer.item(runs, depth=depth, mark=f"{mark} ")
        else:
            self.writer.paragraph(runs)
        self._write_hanging(said, around)

    def _remember(self, text: str, level: int, *, is_title: bool) -> None:
        if is_title:
            self.title = self.title or text
        elif level == 1:
            self._top_headings.append(text)

    def _write_hanging(self, said: Paragraph, around: Look) -> None:
        """Shapes, notes and comments, after what they belong to."""
        for shape in said.shapes:
            self.block(shape, around)
        for note in said.notes:
            runs = self.runs_in(note.iterchildren(TEXT + "note-body"), around)
            self.writer.paragraph(tidy([Run(f"[{mark_of(note)}] "), *runs]))
        for comment in said.comments if self._with_comments else ():
            runs = tidy(self.runs_in([comment], around))
            author = " ".join((comment.findtext(DUBLIN_CORE + "creator") or "someone").split())
            if runs:
                self.writer.paragraph(tidy([Run(f"[comment by {author}: "), *runs, Run("]")]))

    def runs_in(self, elements: Iterable[Element], around: Look) -> list[Run]:
        """All that is said in these, without the blocks it is said in."""
        return [
            run
            for element in elements
            for paragraph in element.iter(*_PARAGRAPHS)
            for run in (*self._paragraphs.read(paragraph, around).runs, Run("\n"))
        ]

    def _list(self, element: Element, around: Look, style: str, above: list[int]) -> None:
        """A list in a style, or in that of the one it stands in; `above` counts the items."""
        style = element.get(TEXT + "style-name", style)
        depth = len(above)
        level = self._styles.list_level(style, depth)
        goes_on = element.get(TEXT + "continue-numbering") == "true"
        goes_on = goes_on or TEXT + "continue-list" in element.attrib
        count = self._counted.get((style, depth), level.start - 1) if goes_on else level.start - 1
        for item in element.iterchildren(TEXT + "list-item", TEXT + "list-header"):
            is_item = item.tag == TEXT + "list-item"
            if is_item:
                start = number(item, TEXT + "start-value", otherwise=0, most=_HIGHEST_NUMBER)
                count = start or count + 1
                self._counted[(style, depth)] = count
            mark = level.mark([*above, count]) if is_item else ""
            self._item(item, around, style, [*above, count], mark)

    def _item(self, item: Element, around: Look, style: str, counts: list[int], mark: str) -> None:
        """Only the first paragraph of an item has its mark."""
        for one in item:
            tag = tag_of(one)
            if tag == TEXT + "list":
                self._list(one, around, style, counts)
            elif tag in _PARAGRAPHS:
                self._paragraph(one, around, mark, len(counts) - 1)
                mark = ""
            else:
                self.block(one, around)

    def _table(self, element: Element, around: Look) -> None:
        rows = list(rows_of(element))
        if is_layout(rows):
            for cell in (cell for row in rows for cell in row):
                self.read(cell, self._in_cell(cell, around))
            return
        hanging = Paragraph()
        texts = [[self._cell(cell, around, hanging) for cell in row] for row in rows]
        self.writer.table([visible_text(runs) for runs in row] for row in texts)
        self.writer.paragraph(tidy(hanging.runs))
        self._write_hanging(hanging, around)

    def _in_cell(self, cell: Element, around: Look) -> Look:
        style = self._styles.look("table-cell", cell.get(TABLE + "style-name", ""))
        return Look(is_shaded=True).over(around) if style.is_shaded else around

    def _cell(self, cell: Element, around: Look, hanging: Paragraph) -> list[Run]:
        if is_covered(cell):
            return []
        runs = tidy(self._runs_in_cell(cell, self._in_cell(cell, around), hanging))
        hidden = [run for run in runs if run.omitted is not None]
        hanging.runs += [*hidden, Run("\n")] if hidden else []
        return runs

    def _runs_in_cell(self, element: Element, around: Look, hanging: Paragraph) -> Iterator[Run]:
        for one in element:
            tag = tag_of(one)
            if tag in _PARAGRAPHS:
                said = self._paragraphs.read(one, around)
                hanging.take(said)
                yield from [*said.runs, Run("\n")]
            elif tag == TABLE + "table":
                yield from self._nested(one, around, hanging)
            elif tag not in _SKIPPED:
                yield from self._runs_in_cell(one, self._inside(one, around), hanging)

    def _nested(self, table: Element, around: Look, hanging: Paragraph) -> Iterator[Run]:
        """A table in a cell: commas between its cells, semicolons between its rows."""
        between = ""
        for row in rows_of(table):
            for runs in (self._cell(cell, around, hanging) for cell in row):
                if runs:
                    yield from [Run(between), *runs]
                    between = ", "
            between = between and "; "
