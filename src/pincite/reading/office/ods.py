"""OpenDocument spreadsheets → sheets with their rows, read row by row.

A cell says how often it repeats, and so does a row: a handful of bytes can stand for billions of
cells. Nothing is laid out here; empty cells and rows are only counted.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element as Element

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.reading.data.rows import MOST_CELLS, Row, Sheet, one_line
from pincite.reading.xml_safely import check_xml, parse_xml
from pincite.reading.zipped import SafeZip
from pincite.records import Metadata

_OPEN = "urn:oasis:names:tc:opendocument:xmlns:"
_TABLE = f"{{{_OPEN}table:1.0}}"
_OFFICE = f"{{{_OPEN}office:1.0}}"
_STYLE = f"{{{_OPEN}style:1.0}}"
_TEXT = f"{{{_OPEN}text:1.0}}"
_META = f"{{{_OPEN}meta:1.0}}"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"

_MANIFEST = "META-INF/manifest.xml"
_CELLS = (_TABLE + "table-cell", _TABLE + "covered-table-cell")
_MOST_COLUMNS = 16_384
_MOST_ROWS = 1_048_576
_MOST_REPEATS = 1_000  # of what is not empty; nobody reads the same row more often


def open_sheets(archive: SafeZip) -> Iterator[Sheet]:
    """The sheets in their order."""
    if archive.has(_MANIFEST) and b"encryption-data" in archive.read(_MANIFEST):
        raise FileUnreadable("is encrypted with a password; save it without one to index it")
    content = archive.read("content.xml")
    check_xml(content)
    hidden_styles: set[str | None] = set()
    rows = _Rows()
    try:
        for _, element in etree.iterparse(
            io.BytesIO(content),
            tag=(_STYLE + "style", _TABLE + "table", _TABLE + "table-row"),
            resolve_entities=False,
            no_network=True,
        ):
            if element.tag == _STYLE + "style":
                looks = element.find(_STYLE + "table-properties")
                if looks is not None and looks.get(_TABLE + "display") == "false":
                    hidden_styles.add(element.get(_STYLE + "name"))
            elif element.tag == _TABLE + "table-row":
                rows.take(element)
            else:
                is_hidden = element.get(_TABLE + "style-name") in hidden_styles
                yield Sheet(element.get(_TABLE + "name") or "", rows.taken, is_hidden)
                rows = _Rows()
            element.clear()
    except etree.XMLSyntaxError as error:
        raise FileUnreadable("is damaged: a part of it is not well-formed XML") from error


class _Rows:
    """The rows of one sheet so far; those that repeat share their cells."""

    def __init__(self) -> None:
        self.taken: list[Row] = []
        self._number = 1
        self._room = MOST_CELLS + 1  # one too many shows that there are too many

    def take(self, row: Element) -> None:
        repeated = _count(row, "number-rows-repeated", _MOST_ROWS)
        cells = tuple(_cells(row)) if self._room > 0 else ()
        if cells:
            for number in range(self._number, self._number + min(repeated, _MOST_REPEATS)):
                self.taken.append(Row(number, cells))
                self._room -= len(cells)
                if self._room <= 0:
                    break
        self._number += repeated


def _cells(row: Element) -> list[str]:
    """The texts of the cells up to the last that has any."""
    cells: list[str] = []
    empty = 0
    for cell in row.iterchildren(*_CELLS):
        repeated = _count(cell, "number-columns-repeated", _MOST_COLUMNS)
        text = _text(cell)
        if not text:
            empty += repeated
            continue
        cells.extend([""] * min(empty, _MOST_COLUMNS - len(cells)))
        cells.extend([text] * min(repeated, _MOST_COLUMNS - len(cells), _MOST_REPEATS))
        empty = 0
    return cells


def _text(cell: Element) -> str:
    """What the cell shows; dates as ISO 8601 says them."""
    day = cell.get(_OFFICE + "date-value")
    if day and (moment := facts.iso_date(day)):
        return moment.replace("T", " ")
    paragraphs = cell.iterchildren(_TEXT + "p")
    return one_line("\n".join("".join(_spoken(paragraph)) for paragraph in paragraphs))


def _spoken(paragraph: Element) -> Iterator[str]:
    for part in paragraph.iter():
        if part.tag in (_TEXT + "s", _TEXT + "tab", _TEXT + "line-break"):
            yield " "
        elif isinstance(part.tag, str):
            yield part.text or ""
        if part is not paragraph:
            yield part.tail or ""


def _count(element: Element, attribute: str, most: int) -> int:
    digits = element.get(_TABLE + attribute, "1")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        return most
    return min(int(digits), most)


def open_facts(archive: SafeZip) -> tuple[str | None, Metadata]:
    """The title and what else the file says about itself."""
    try:
        meta = parse_xml(archive.read("meta.xml")).find(_OFFICE + "meta")
    except FileUnreadable:  # missing or damaged, which the text need not suffer from
        meta = None
    if meta is None:
        return None, Metadata()
    author = meta.findtext(_META + "initial-creator") or meta.findtext(_DUBLIN_CORE + "creator")
    return facts.one_line(meta.findtext(_DUBLIN_CORE + "title")), Metadata(
        tags=facts.tags([one.text or "" for one in meta.iter(_META + "keyword")]),
        author=facts.one_line(author),
        date=facts.iso_date(meta.findtext(_META + "creation-date")),
        modified=facts.iso_date(meta.findtext(_DUBLIN_CORE + "date")),
        language=facts.one_line(meta.findtext(_DUBLIN_CORE + "language")),
    )
