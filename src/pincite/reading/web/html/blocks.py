"""The walk over a page → headings, paragraphs, items, tables and code in a Writer."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import replace
from textwrap import dedent

from lxml import etree

from pincite.reading.office.runs import tidy, visible_text
from pincite.reading.web.html.code import is_prose, numbers_lines
from pincite.reading.web.html.images import without_echoes
from pincite.reading.web.html.inline import InlineText
from pincite.reading.web.html.line import without_controls
from pincite.reading.web.html.lists import Lists
from pincite.reading.web.html.tables import Rows, tidied
from pincite.reading.web.html.tree import Step
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
                self._text(step.text, step.look.omitted)
            elif step.kind == "start":
                self._open(step.element, step.look.omitted)
            else:
                self._close(step.element, step.look.omitted)
        self._end_block()
        self._write_loose_rows()

    def _text(self, text: str, omitted: OmissionReason | None) -> None:
        if self._code is None:
            self._line.add(text, omitted)
        elif omitted is None:
            self._code.append(text)
        else:
            self._unseen.append(Run(without_controls(text), omitted=omitted))

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
                self._open_preformatted()
            elif element in self._data or self._rows is not None:
                self._open_data(element)
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

    def _open_data(self, element: etree._Element) -> None:
        if element.tag == "table":
            self._write_loose_rows()
            self._rows = Rows()
        elif element.tag == "tr":
            if self._rows is None:
                self._rows, self._loose_rows = self._loose_rows or Rows(), None
            self._rows.open_row()

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
        lines = tidied(rows.rows)
        if all(len(line) == 1 for line in lines):  # the other columns are there for space
            self._writer.paragraph("\n".join(line[0] for line in lines))
        else:
            self._writer.table(lines)
        self._write_unseen()

    def _open_preformatted(self) -> None:
        self._preformatted += 1
        if self._rows is None and self._code is None:
            self._code = []

    def _close_preformatted(self) -> None:
        self._preformatted -= 1
        if self._preformatted or self._code is None:
            self._line.space()
            return
        self._write_loose_rows()
        text, self._code = without_controls("".join(self._code)), None
        if is_prose(text):
            for paragraph in _BLANK_LINES.split(text):
                self._writer.paragraph(dedent(paragraph))
        elif not numbers_lines(text):
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
        runs = _without_echoes(self._line.take())
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


def _without_echoes(runs: list[Run]) -> list[Run]:
    if len(runs) != 1 or "[image:" not in runs[0].text:
        return runs
    return tidy([replace(runs[0], text=without_echoes(runs[0].text))])


def _level_of(element: etree._Element) -> int | None:
    """The level of a heading; None where the element is none."""
    if (level := _HEADINGS.get(str(element.tag))) is not None:
        return level
    if element.get("role") == "heading":
        named = element.get("aria-level", "")
        return int(named) if named in ("1", "2", "3", "4", "5", "6") else 2
    return None
