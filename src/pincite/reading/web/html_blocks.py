"""The walk over a page → headings, paragraphs, items, tables and code in a Writer.

Text between tags gets the spaces and line breaks that a browser shows. Tables that hold data become
rows of cells, those that only lay out a page do not.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from textwrap import dedent

from lxml import etree

from pincite.reading.office.formatting import tidy, visible_text
from pincite.reading.web.html_tree import Step
from pincite.reading.writer import Run, Writer
from pincite.records import OmissionReason

_BLOCKS = frozenset(
    (
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "center",
            "details",
            "dialog",
            "div",
        ),
        *("dd", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset"),
        *("header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p"),
        *("search", "section", "summary", "table", "caption", "thead", "tbody", "tfoot", "tr"),
        *("td", "th", "ul", "dir", "button", "noscript", "noframes"),
    )
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PREFORMATTED = frozenset(("pre", "listing", "xmp", "plaintext"))
# What only stands in a heading because the heading was never closed.
_NEVER_IN_HEADINGS = frozenset(("p", "ul", "ol", "dl", "table", "blockquote", "section", "article"))
_SEPARATOR = re.compile(r"[|·•»«>/~*_–—-]{1,5}")  # a line drawn with characters
_BLANK_LINES = re.compile(r"\n\s*\n")

_POWER = re.compile(r"\s*[-+−]?\d{1,4}\s*")

# What HTML takes for one space, and the spaces that differ from it only in where a line may break.
_SPACE = re.compile(r"[ \t\n\r\f\xa0\u202f]+")
# Control characters, which no browser shows, and the hyphen of words that are not broken.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\xad]+")

_DEEPEST = 12  # levels of indentation
_LISTS = frozenset(("ul", "ol", "menu", "dir", "dl"))
_ITEMS = frozenset(("li", "dt", "dd"))
_NUMBER = re.compile(r"\s*(-?\d{1,9})\s*")

_LONGEST_CELL = 250  # characters, on average; cells with more are columns of a page
_MOST_COLUMNS = 200
_MOST_REPEATED = 100_000  # characters of cells that reach over several rows, in one table
_LONGEST_REPEATED = 100
_SIGNS_BEFORE = frozenset(("$", "€", "£", "¥", "(", "$(", "-", "−", "–", "—"))
_SIGNS_BEHIND = frozenset((")", "%", ")%"))
_SPAN = re.compile(r"\s*(\d{1,4})\s*")
_PARTS_OF_PAGES = frozenset(
    ("h1", "h2", "h3", "h4", "main", "article", "section", "form", "nav", "pre", "hr")
)
# What makes a row of a page of what would be a row of data else.
_PARTS_OF_ROWS = frozenset(("ul", "ol", "dl", "blockquote", "table"))

_SIGNS = re.compile(r"[{}\[\]<>=_/\\|*#$@&+;`~^]")
_FEW_SIGNS = 0.015  # of all characters that are no spaces
_SHORTEST_PROSE = 400  # characters; less than that is kept as it is
_SAMPLE = 20_000
_MOST_DIGITS = 6  # of the number of a line

_LONGEST = 500
_FILE_NAME = re.compile(r"\S*\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|avif|ico)\s*", re.IGNORECASE)
_FORMULA = re.compile(r"\{\\(?:displaystyle|textstyle)\b")
_MARK = re.compile(r"( ?\[image: ([^\]]{1,500})\] ?)")
_LONGEST_LOOK = 2_000  # characters of a block in which images may echo words
_SHORTEST_NAME = 8  # characters; shorter ones are icons and logos


class BlockWriter:
    """Writes what a walk meets; `data` are the tables, and rows of other tables, that hold data."""

    def __init__(self, writer: Writer, data: Container[etree._Element]) -> None:
        self._writer = writer
        self._data = data
        self._line = InlineText()
        self._lists = Lists()
        self._level: int | None = None  # of the heading we are in
        self._rows: Rows | None = None  # of the data table we are in
        self._loose_rows: Rows | None = None  # of a layout table, until something else comes
        self._code: list[str] | None = None  # of the preformatted text we are in
        self._preformatted = 0  # how many such elements we are in
        self._unseen: list[Run] = []  # to be written behind what cannot hold it

    def write(self, steps: Iterable[Step]) -> None:
        """Write everything."""
        for step in steps:
            if step.kind == "text":
                if self._code is None:
                    self._line.add(step.text, step.look.omitted)
                elif step.look.omitted is None:
                    self._code.append(step.text)
                else:
                    self._unseen.append(Run(without_controls(step.text), omitted=step.look.omitted))
            elif step.kind == "start":
                self._open(step.element, step.look.omitted)
            else:
                self._close(step.element, step.look.omitted)
        self._end_block()
        self._write_loose_rows()

    def _open(self, element: etree._Element, omitted: OmissionReason | None) -> None:
        tag = str(element.tag)
        level = _level_of(element)
        if tag == "br":
            self._break_line()
        elif tag not in _BLOCKS and tag not in _PREFORMATTED and level is None:
            self._line.open(element, omitted)
        else:
            self._part_blocks(tag)
            if tag in _PREFORMATTED:
                self._preformatted += 1
                if self._rows is None and self._code is None:
                    self._code = []
            elif element in self._data or self._rows is not None:
                if element.tag == "table":
                    self._write_loose_rows()
                    self._rows = Rows()
                elif element.tag == "tr":
                    if self._rows is None:
                        self._rows, self._loose_rows = self._loose_rows or Rows(), None
                    self._rows.open_row()
            else:
                self._level = level or self._level
                self._lists.open(element)

    def _close(self, element: etree._Element, omitted: OmissionReason | None) -> None:
        tag = str(element.tag)
        level = _level_of(element)
        if tag in _PREFORMATTED:
            self._close_preformatted()
        elif tag not in _BLOCKS and level is None:
            self._line.close(element, omitted)
        elif self._rows is not None and tag in ("td", "th", "tr", "table"):
            self._close_data(element)
        else:
            self._part_blocks(tag)
            self._lists.close(element)
            if level is not None:
                self._end_block()
                self._level = None

    def _close_data(self, element: etree._Element) -> None:
        if self._rows is None:
            return
        if element.tag in ("td", "th"):
            self._rows.add(self._visible(self._line.take()).strip(), element)
        elif element.tag == "tr":
            self._rows.close_row()
            if element in self._data:
                self._rows, self._loose_rows = None, self._rows
        else:
            self._end_block()
            self._rows, self._loose_rows = None, self._rows
            self._write_loose_rows()

    def _write_loose_rows(self) -> None:
        rows, self._loose_rows = self._loose_rows, None
        if rows is None:
            return
        lines = _tidied(rows.rows)
        if all(len(line) == 1 for line in lines):  # the other columns are there for space
            self._writer.paragraph("\n".join(line[0] for line in lines))
        else:
            self._writer.table(lines)
        self._write_unseen()

    def _close_preformatted(self) -> None:
        self._preformatted -= 1
        if self._preformatted or self._code is None:
            self._line.space()
            return
        self._write_loose_rows()
        text, self._code = without_controls("".join(self._code)), None
        # Preformatted text that is sentences is searched like any other text.
        sample = text[:_SAMPLE]
        letters = len("".join(sample.split()))
        if letters >= _SHORTEST_PROSE and len(_SIGNS.findall(sample)) <= _FEW_SIGNS * letters:
            for paragraph in _BLANK_LINES.split(text):
                self._writer.paragraph(dedent(paragraph))
        elif not _numbers_lines(text):
            self._writer.code(text)
        self._write_unseen()

    def _break_line(self) -> None:
        if self._code is not None:
            self._code.append("\n")
        elif self._rows is not None or self._level is not None:
            self._line.space()
        elif self._line.last == "\n":  # an empty line parts paragraphs
            self._end_block()
        else:
            self._line.break_line()

    def _part_blocks(self, tag: str) -> None:
        """What comes is another block than what came; but not inside of headings and cells."""
        if self._code is not None:
            if self._code and not self._code[-1].endswith("\n"):
                self._code.append("\n")
        elif self._is_one_line(tag):
            self._line.space()
        else:
            self._end_block()
            if tag in _NEVER_IN_HEADINGS:
                self._level = None

    def _is_one_line(self, tag: str) -> bool:
        if self._rows is not None:
            return tag not in ("caption", "table")
        if self._level is None or tag in _NEVER_IN_HEADINGS:
            return False
        return tag not in _HEADINGS

    def _end_block(self) -> None:
        runs = self._line.take()
        if len(runs) == 1 and "[image:" in runs[0].text:
            runs = tidy([replace(runs[0], text=_without_echoes(runs[0].text))])
        if not runs or (len(runs) == 1 and _SEPARATOR.fullmatch(runs[0].text)):
            return
        self._write_loose_rows()
        if self._level is not None:
            self._writer.heading(self._visible(runs), self._level)
            self._write_unseen()
        elif self._lists.in_item:
            depth, mark = self._lists.place()
            self._writer.item(runs, depth=depth, mark=mark)
        else:
            self._writer.paragraph(runs)

    def _visible(self, runs: list[Run]) -> str:
        """What can be seen of the runs; the rest is written later."""
        for run in runs:
            if run.omitted is not None:
                self._unseen.extend((run, Run("\n", omitted=run.omitted)))
        return visible_text(runs)

    def _write_unseen(self) -> None:
        runs = tidy(self._unseen)
        self._unseen.clear()
        if runs:
            self._writer.paragraph(runs)


def _level_of(element: etree._Element) -> int | None:
    """The level of a heading; None where the element is none."""
    if (level := _HEADINGS.get(str(element.tag))) is not None:
        return level
    if element.get("role") == "heading":
        named = element.get("aria-level", "")
        return int(named) if named in ("1", "2", "3", "4", "5", "6") else 2
    return None


class InlineText:
    """The inline text of one block as it grows."""

    def __init__(self) -> None:
        self._pieces: list[tuple[str, OmissionReason | None]] = []
        self.last = "\n"  # the character before, as at the beginning of a line
        self._reading: list[str] = []  # how the characters of the <ruby> are read
        self._in_reading = False

    def add(self, text: str, omitted: OmissionReason | None = None) -> None:
        """Text with its spaces, which shrink to one between words."""
        if self._in_reading:
            self._reading.append(text)
            return
        text = _SPACE.sub(" ", without_controls(text))
        if self.last in " \n":
            text = text.removeprefix(" ")
        if text:
            self._pieces.append((text, omitted))
            self.last = text[-1]

    def space(self) -> None:
        """A gap between words, where there is none yet."""
        if self.last not in " \n":
            self._pieces.append((" ", None))
            self.last = " "

    def break_line(self) -> None:
        """The end of a line inside of the block."""
        self._pieces.append(("\n", None))
        self.last = "\n"

    def take(self) -> list[Run]:
        """The runs so far, neighbours of one kind joined, without space at the end of lines.

        The line is empty again. Nothing but space is no run.
        """
        pieces, self._pieces, self.last = self._pieces, [], "\n"
        while pieces and not pieces[-1][0].strip():
            pieces.pop()
        runs: list[Run] = []
        parts: list[str] = []
        reason = pieces[0][1] if pieces else None
        for text, omitted in pieces:
            if omitted is not reason and not text.isspace():
                runs.append(_run(parts, reason))
                parts, reason = [], omitted
            parts.append(text)
        if parts:
            parts[-1] = parts[-1].rstrip()
            runs.append(_run(parts, reason))
            runs[0] = Run(runs[0].text.lstrip(), omitted=runs[0].omitted)
        return runs

    def open(self, element: etree._Element, omitted: OmissionReason | None) -> None:
        """An inline element begins."""
        tag = element.tag
        if tag == "img":
            self.add(_image_text(element), omitted)
        elif tag == "a" and _follows_its_like(element):
            self.space()
        elif tag == "q":
            self.add("“", omitted)
        elif tag == "sup":
            self.add(_around_number(element, self.last)[0], omitted)
        elif tag in ("rt", "rtc"):
            self._in_reading = True

    def close(self, element: etree._Element, omitted: OmissionReason | None) -> None:
        """An inline element ends."""
        tag = element.tag
        if tag == "q":
            self.add("”", omitted)
        elif tag == "sup":
            self.add(_around_number(element, self.last)[1], omitted)
        elif tag in ("rt", "rtc"):
            self._in_reading = False
        elif tag == "ruby":
            reading = "".join(self._reading).strip()
            self._reading.clear()
            self.add(f"({reading})" if reading else "", omitted)


def _follows_its_like(element: etree._Element) -> bool:
    """Whether an element of the same kind stands before it without a space, as in menus."""
    before = element.getprevious()
    return before is not None and before.tag == element.tag and not before.tail


def _around_number(element: etree._Element, before: str) -> tuple[str, str]:
    """What to put around a raised number, so that it does not run into what it follows.

    10⁵ is no 105, and the number of a footnote is no part of the word it stands at.
    """
    link = element[0] if len(element) == 1 else None
    if link is not None and link.tag == "a" and _POWER.fullmatch(link.text or ""):
        return "[", "]"
    is_power = len(element) == 0 and _POWER.fullmatch(element.text or "")
    return ("^" if is_power and before.isalnum() else "", "")


def without_controls(text: str) -> str:
    """The text less what is never shown."""
    return _UNSEEN.sub("", text)


def _run(parts: list[str], omitted: OmissionReason | None) -> Run:
    return Run("".join(parts).replace(" \n", "\n"), omitted=omitted)


@dataclass(slots=True)
class _List:
    element: etree._Element
    number: int | None = None  # of the next item, where items have numbers
    letters: str = ""


class Lists:
    """The lists and items we are in, the innermost last."""

    def __init__(self) -> None:
        self._lists: list[_List] = []
        self._items: list[tuple[etree._Element, int, str]] = []  # with depth and mark

    @property
    def in_item(self) -> bool:
        """Whether what is written belongs to an item."""
        return bool(self._items)

    def open(self, element: etree._Element) -> None:
        """An element opens; lists and items are noted."""
        tag = str(element.tag)
        if tag in _LISTS:
            self._lists.append(_opened(element, tag))
        elif tag in _ITEMS:
            depth = min(max(len(self._lists) - 1, 0), _DEEPEST)
            self._items.append((element, depth, self._mark(element, tag)))

    def close(self, element: etree._Element) -> None:
        """An element closes; items and lists end with it."""
        if self._items and self._items[-1][0] is element:
            self._items.pop()
        elif self._lists and self._lists[-1].element is element:
            self._lists.pop()

    def place(self) -> tuple[int, str]:
        """Depth and mark for the next block of the item; only the first has a real mark."""
        element, depth, mark = self._items[-1]
        self._items[-1] = (element, depth, " " * len(mark))
        return depth, mark

    def _mark(self, element: etree._Element, tag: str) -> str:
        if tag == "dt":
            return ""
        if tag == "dd":
            return "  "
        if not self._lists or (here := self._lists[-1]).number is None:
            return "- "
        number = _number(element, "value", here.number)
        here.number = number + 1
        if here.letters and 1 <= number <= len(here.letters):
            return f"{here.letters[number - 1]}. "
        return f"{number}. "


def _opened(element: etree._Element, tag: str) -> _List:
    if tag != "ol":
        return _List(element)
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    letters = {"a": alphabet, "A": alphabet.upper()}.get(element.get("type", ""), "")
    return _List(element, _number(element, "start", 1), letters)


def _number(element: etree._Element, attribute: str, otherwise: int) -> int:
    found = _NUMBER.fullmatch(element.get(attribute, ""))
    return int(found[1]) if found else otherwise


@dataclass(slots=True)
class _RowShape:
    element: etree._Element
    text: int  # characters of the table before the row
    cells: int = 0
    has_parts: bool = False


@dataclass(slots=True)
class TableShape:
    """What a table is made of, noted while it is walked over."""

    element: etree._Element
    cells: int = 0
    widest: int = 0
    has_header: bool = False
    has_table: bool = False
    has_parts: bool = False
    text: int = 0  # characters so far
    rows: list[etree._Element] = field(default_factory=list)  # that hold data, whatever the others
    _row: _RowShape | None = None

    def open(self, element: etree._Element) -> None:
        """An element begins inside of the table, but of no table inside of it."""
        tag = element.tag
        if tag == "tr":
            self._row = _RowShape(element, self.text)
        elif tag in ("td", "th"):
            self.cells += 1
            self.has_header |= tag == "th"
            if self._row is not None:
                self._row.cells += 1
                self.widest = max(self.widest, self._row.cells)
        elif tag in ("thead", "caption"):
            self.has_header = True
        elif tag in _PARTS_OF_PAGES:
            self.has_parts = True
            self._part_row()
        elif tag in _PARTS_OF_ROWS:
            self._part_row()

    def close_row(self, row: etree._Element) -> None:
        """A row ends."""
        shape, self._row = self._row, None
        if shape is None or shape.element is not row or shape.cells < 2 or shape.has_parts:
            return
        if 0 < self.text - shape.text <= _LONGEST_CELL * shape.cells:
            self.rows.append(row)

    def close_inner(self, inner: TableShape) -> None:
        """A table inside of this one ends."""
        self.has_table = True
        self.text += inner.text
        self._part_row()

    def holds_data(self) -> bool:
        """Whether all of its rows and columns mean something."""
        if self.element.get("role") in ("presentation", "none") or self.has_table:
            return False
        if self.widest < 2:
            return False
        if self.has_header:
            return True
        return not self.has_parts and self.text <= _LONGEST_CELL * self.cells

    def _part_row(self) -> None:
        if self._row is not None:
            self._row.has_parts = True


def _tidied(rows: list[list[str]]) -> list[list[str]]:
    """The rows without empty columns; signs that have columns of their own join their numbers."""
    width = max(map(len, rows), default=0)
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    columns = [list(column) for column in zip(*padded, strict=True)]
    kept: list[list[str]] = []
    before: list[str] | None = None  # signs of the next column
    for column in columns:
        held = {cell for cell in column if cell}
        if held and held <= _SIGNS_BEHIND and kept and before is None:
            kept[-1] = _side_by_side(kept[-1], column)
        elif held and held <= _SIGNS_BEFORE and before is None and column is not columns[-1]:
            before = column
        elif held:
            kept.append(_side_by_side(before, column) if before else column)
            before = None
    kept += [before] if before else []
    return [list(row) for row in zip(*kept, strict=True)]


def _side_by_side(left: list[str], right: list[str]) -> list[str]:
    return [one + other for one, other in zip(left, right, strict=True)]


@dataclass(slots=True)
class Rows:
    """A data table as it grows: rows of the same columns, as far as its spans tell."""

    rows: list[list[str]] = field(default_factory=list)
    _reaching: dict[int, tuple[int, str]] = field(default_factory=dict)  # column: rows left, text
    _room: int = _MOST_REPEATED

    def open_row(self) -> None:
        """The next row begins."""
        self.rows.append([])

    def close_row(self) -> None:
        """The row ends; cells that reach into it from above are put at its end too."""
        if self.rows:
            self._fill_from_above()

    def add(self, text: str, cell: etree._Element) -> None:
        """The next cell of the row, which may reach over several columns and rows."""
        if not self.rows:
            self.open_row()
        self._fill_from_above()
        if len(self.rows[-1]) >= _MOST_COLUMNS:  # rather another line than one without end
            self.open_row()
        row = self.rows[-1]
        column = len(row)
        width = min(_span(cell, "colspan"), _MOST_COLUMNS - column)
        row.extend([text, *[""] * (width - 1)])
        height = _span(cell, "rowspan")
        if height > 1:
            for number in range(width):
                self._reaching[column + number] = (height - 1, "" if number else text)

    def _fill_from_above(self) -> None:
        row = self.rows[-1]
        while (reached := self._reaching.pop(len(row), None)) is not None:
            height, text = reached
            if height > 1:
                self._reaching[len(row)] = (height - 1, text)
            is_repeated = len(text) <= min(_LONGEST_REPEATED, self._room)
            self._room -= len(text) if is_repeated else 0
            row.append(text if is_repeated else "")


def _span(cell: etree._Element, attribute: str) -> int:
    found = _SPAN.fullmatch(cell.get(attribute, ""))
    return max(int(found[1]), 1) if found else 1


def _numbers_lines(text: str) -> bool:
    """Whether it is only the numbers of the lines of the code beside it."""
    words = text.split()
    if not all(word.isdecimal() and len(word) <= _MOST_DIGITS for word in words):
        return False
    numbers = [int(word) for word in words]
    return len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _without_echoes(text: str) -> str:
    """The text less the images that only repeat words beside them."""
    if len(text) > _LONGEST_LOOK:
        return text
    for mark, alt in _MARK.findall(text):
        rest = text.replace(mark, " ")
        if alt in rest:
            text = rest
    return text


def _image_text(image: etree._Element) -> str:
    """The text to be read for an image; empty where it is decoration."""
    alt = " ".join(image.get("alt", "")[: 2 * _LONGEST].split())
    if not alt or _FILE_NAME.fullmatch(alt) or len(alt) > _LONGEST:
        return ""
    if _FORMULA.match(alt):
        return f" {alt} "
    if len(alt) <= 2 and not alt.isascii():  # an emoji
        return alt
    says_something = len(alt) >= 4 if not alt.isascii() else len(alt) >= _SHORTEST_NAME
    is_named = " " in alt or not alt.isascii()
    return f" [image: {alt}] " if says_something and is_named else ""
