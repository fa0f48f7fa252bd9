"""An RTF file's bytes → its Content."""

from __future__ import annotations

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.reading.office.rtf.blocks import BULLET, Paragraph, Table
from pincite.reading.office.rtf.groups import Register
from pincite.reading.office.rtf.parser import RtfParser
from pincite.reading.office.rtf.registers import Registers
from pincite.reading.office.runs import tidy, visible_text
from pincite.reading.office.style_names import is_title_name, level_by_name
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run, Writer
from pincite.records import Content, Metadata

_BODY_TEXT = 9  # the outline level of what is no heading
_LONGEST_CHAIN = 50
_LONGEST_CELL = 1_000  # characters; what is longer is laid out in a table, but is no table


def read(file: SourceFile) -> Content:
    """Read an RTF file.

    Inserted text is read, deleted text and comments are not, unless the file's options ask for
    them. Headers and footers are left out. There are no pages: RTF does not say where they break.
    """
    data = file.data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not data.startswith(b"{\\rtf"):
        raise FileUnreadable("is not what its name says: it does not begin like an RTF file")
    parser = RtfParser(
        comments="comments" in file.options, changes="tracked-changes" in file.options
    )
    parser.parse(data)
    writing = _Writing(parser.registers)
    for block in parser.body.blocks:
        writing.write(block)
    named = parser.properties
    return writing.writer.content(
        "rtf",
        title=writing.title or facts.one_line(named["title"].text) or writing.sole_heading,
        metadata=Metadata(
            tags=facts.tags(named["keywords"].text.replace(";", ",")),
            author=facts.one_line(named["author"].text),
            date=_date(parser.registers, Register.CREATED),
            modified=_date(parser.registers, Register.MODIFIED),
        ),
    )


class _Writing:
    """Writes the blocks, and knows which of them are headings."""

    def __init__(self, registers: Registers) -> None:
        self.writer = Writer()
        self.title: str | None = None
        self._top_headings: list[str] = []
        self._styles = registers.styles

    @property
    def sole_heading(self) -> str | None:
        """The heading of the first level, where there is but one."""
        return self._top_headings[0] if len(self._top_headings) == 1 else None

    def write(self, block: Paragraph | Table) -> None:
        """Write one block, and after it what hangs on it."""
        if isinstance(block, Table):
            self._table(block)
        else:
            self._paragraph(block)
        for one in block.hanging:
            self.writer.paragraph(one.runs())

    def _paragraph(self, paragraph: Paragraph) -> None:
        runs, mark = paragraph.runs, paragraph.mark
        level = self._level(paragraph)
        if level and visible_text(runs).strip():
            number = f"{mark} " if mark not in (BULLET, "") else ""
            self.writer.heading(tidy([Run(number), *runs]), level)
            self._remember(paragraph, level)
        elif mark and runs:
            self.writer.item(runs, depth=paragraph.depth, mark=f"{mark} ")
        else:
            self.writer.paragraph(runs)

    def _remember(self, paragraph: Paragraph, level: int) -> None:
        text = visible_text(paragraph.runs)
        if any(is_title_name(name) for name, _ in self._chain(paragraph.style)):
            self.title = self.title or text
        elif level == 1:
            self._top_headings.append(text)

    def _level(self, paragraph: Paragraph) -> int | None:
        if paragraph.outline is not None:
            return paragraph.outline + 1 if 0 <= paragraph.outline < _BODY_TEXT else None
        for name, outline in self._chain(paragraph.style):
            level = level_by_name(name) or (1 if is_title_name(name) else None)
            if outline is not None and 0 <= outline < _BODY_TEXT:
                level = outline + 1
            if level:
                return level
        return None

    def _chain(self, number: int) -> list[tuple[str, int | None]]:
        """Names and outline levels of a style and of those it is based on."""
        chain: list[tuple[str, int | None]] = []
        seen: set[int | None] = {None}
        at: int | None = number
        while at not in seen and at in self._styles and len(chain) < _LONGEST_CHAIN:
            seen.add(at)
            style = self._styles[at]
            chain.append((style.name.strip(), style.outline))
            at = style.based_on
        return chain

    def _table(self, table: Table) -> None:
        cells = [runs for row in table.rows for runs in row]
        is_layout = all(len(row) == 1 for row in table.rows)
        if is_layout or any(len(visible_text(runs)) > _LONGEST_CELL for runs in cells):
            for runs in cells:
                self.writer.paragraph(runs)
            return
        self.writer.table([visible_text(runs) for runs in row] for row in table.rows)
        for runs in cells:
            self.writer.paragraph([run for run in runs if run.omitted is not None])


def _date(registers: Registers, register: Register) -> str | None:
    parts = registers.dates.get(register, {})
    day = f"{parts.get('yr', 0):04}-{parts.get('mo', 1):02}-{parts.get('dy', 1):02}"
    time = f"{parts.get('hr', 0):02}:{parts.get('min', 0):02}"
    return facts.iso_date(f"{day}T{time}:00") if parts.get("yr") else None
