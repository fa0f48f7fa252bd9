"""OpenDocument texts, presentations, drawings and spreadsheets → Content, in reading order.

The slides of a presentation and the pages of a drawing are pages. Spreadsheets are read row by row:
a cell says how often it repeats, and so does a row, so a handful of bytes can stand for billions of
cells. Nothing is laid out; empty cells and rows are only counted.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate

from lxml import etree
from lxml.etree import _Element as Element

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.reading.data.table import MOST_CELLS, Row, Sheet, one_line
from pincite.reading.office.formatting import (
    Figures,
    Look,
    TextWriter,
    is_white,
    tidy,
    visible_text,
    written,
)
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run
from pincite.reading.xml_safely import check_xml, parse_xml, tag_of
from pincite.reading.zipped import SafeZip
from pincite.records import Content, Metadata

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{{{_OASIS}office:1.0}}"
TEXT = f"{{{_OASIS}text:1.0}}"
TABLE = f"{{{_OASIS}table:1.0}}"
DRAW = f"{{{_OASIS}drawing:1.0}}"
STYLE = f"{{{_OASIS}style:1.0}}"
FORMAT = f"{{{_OASIS}xsl-fo-compatible:1.0}}"
PRESENTATION = f"{{{_OASIS}presentation:1.0}}"
FORM = f"{{{_OASIS}form:1.0}}"
META = f"{{{_OASIS}meta:1.0}}"
DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
LINK = "{http://www.w3.org/1999/xlink}href"
XML_ID = "{http://www.w3.org/XML/1998/namespace}id"

_NUMBER = re.compile(r"\d{1,9}")

_MANIFEST = "META-INF/manifest.xml"
_KINDS = {"text": "odt", "presentation": "odp", "drawing": "odg"}
_MATHS = "{http://www.w3.org/1998/Math/MathML}"
_MOST_FORMULAS = 1_000
_LONGEST = 1_000  # characters of a formula or a control, which the text may refer to many times

_PARAGRAPHS = (TEXT + "p", TEXT + "h")
_SKIPPED = frozenset(
    (
        *(TEXT + "tracked-changes", OFFICE + "annotation", OFFICE + "forms"),
        *(PRESENTATION + "notes", DRAW + "page-thumbnail"),
    )
)
_DEEPEST_HEADING = 10
_HIGHEST_NUMBER = 100_000

# What is drawn under the text of a slide may come from anywhere, so white says nothing there.
_ON_SLIDE = Look(is_shaded=True)
_HIDDEN_SLIDE = Look(is_hidden=True, is_shaded=True)

_BLANKS = re.compile(r"[ \t\r\n]+")
_MOST_BLANKS = 100  # that one element may stand for
_NOT_SAID = frozenset(
    (
        *(TEXT + name for name in ("ruby-text", "tracked-changes", "script", "note-body")),
        OFFICE + "event-listeners",
    )
)

_MOST_COLUMNS = 63
_LONGEST_CELL = 1_000  # characters; what is longer is laid out in a table, but is no table
_GROUPS = tuple(TABLE + name for name in ("table-header-rows", "table-rows", "table-row-group"))
_CELL = TABLE + "table-cell"
_COVERED = TABLE + "covered-table-cell"  # by a neighbour that takes more than one

_LONGEST_CHAIN = 50
_DEEPEST_LIST = 10
_POINTS = re.compile(r"(\d{1,4}(?:\.\d{1,4})?)pt")
_FIGURES = {"1": Figures.ARABIC, "a": Figures.LETTERS, "i": Figures.ROMAN}

_CELLS = (TABLE + "table-cell", TABLE + "covered-table-cell")
_MOST_SHEET_COLUMNS = 16_384
_MOST_SHEET_ROWS = 1_048_576
_MOST_REPEATS = 1_000  # of what is not empty; nobody reads the same row more often


def read_text(file: SourceFile) -> Content:
    """Read a text, a presentation or a drawing.

    Inserted text is read, deleted text and comments are not, unless the file's options ask for
    them. Slides count as pages; texts have none.
    """
    archive = SafeZip(file.data)
    _refuse_encrypted(archive)
    content = parse_xml(archive.read("content.xml"))
    # Both parts may have styles of the same name; for the text, those beside it count.
    styles = Styles(_part(archive, "styles.xml"), content)
    paragraphs = ParagraphReader(styles, _aside(archive, content, file.options))
    reader = BodyReader(styles, paragraphs, comments="comments" in file.options)
    for kind, name in _KINDS.items():
        body = content.find(f"{OFFICE}body/{OFFICE}{kind}")
        if body is not None:
            pages = None
            if kind == "text":
                reader.read(body, Look())
            else:
                # Write every slide under its title, with its notes at its end; the number of
                # slides.
                slides = list(body.iterchildren(DRAW + "page"))
                for number, slide in enumerate(slides, start=1):
                    reader.writer.page = number
                    hidden = styles.is_hidden_page(slide.get(DRAW + "style-name", ""))
                    _read_slide(reader, slide, _HIDDEN_SLIDE if hidden else _ON_SLIDE)
                pages = len(slides)
            named, metadata = open_facts(archive)
            title = reader.title or named or reader.sole_heading
            return reader.writer.content(name, title=title, metadata=replace(metadata, pages=pages))
    raise FileUnreadable("is damaged: it has no text body")


def _refuse_encrypted(archive: SafeZip) -> None:
    if archive.has(_MANIFEST) and b"encryption-data" in archive.read(_MANIFEST):
        raise FileUnreadable("is encrypted with a password; save it without one to index it")


def _part(archive: SafeZip, name: str) -> Element | None:
    return parse_xml(archive.read(name)) if archive.has(name) else None


def _aside(archive: SafeZip, content: Element, options: frozenset[str]) -> Aside:
    regions = content.iter(TEXT + "changed-region") if "tracked-changes" in options else ()
    links = {one.get(LINK, "") for one in content.iter(DRAW + "object")}
    return Aside(
        controls={
            _identifier(one, FORM): _shown_in_control(one)
            for form in content.iter(FORM + "form")
            for one in form
        },
        formulas={link: _formula(archive, link) for link in sorted(links)[:_MOST_FORMULAS]},
        changes={_identifier(one, TEXT): one for one in regions},
    )


def _identifier(element: Element, older: str) -> str:
    """The name by which the text refers to it; older files have an attribute of their own."""
    return element.get(XML_ID) or element.get(older + "id") or ""


def _shown_in_control(control: Element) -> str:
    """What is written on a control of a form, or into it."""
    names = ("label", "current-value", "value")
    return next((text for name in names if (text := control.get(FORM + name))), "")[:_LONGEST]


def _formula(archive: SafeZip, link: str) -> str:
    """The formula in an object of the file, as it was typed; nothing for other objects."""
    name = f"{link.removeprefix('./')}/content.xml"
    root = _part(archive, name)
    if root is None or root.tag != _MATHS + "math":
        return ""
    typed = next(root.iter(_MATHS + "annotation"), root)
    return " ".join("".join(typed.itertext()).split())[:_LONGEST]


class BodyReader(TextWriter):
    """Writes the blocks of one file, and after each what hangs on it."""

    def __init__(self, styles: Styles, paragraphs: ParagraphReader, *, comments: bool) -> None:
        super().__init__()
        self._styles = styles
        self._paragraphs = paragraphs
        self._with_comments = comments
        self._counted: dict[tuple[str, int], int] = {}

    def read(self, element: Iterable[Element], around: Look) -> None:
        """Write all blocks in the element; wrappers around them are walked right through."""
        for one in element:
            self.block(one, around)

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
        is_title = self._styles.is_title(element.get(TEXT + "style-name", ""))
        level = 1 if is_title else None
        if element.tag == TEXT + "h" and not is_title:
            level = _number(element, TEXT + "outline-level", otherwise=1, most=_DEEPEST_HEADING)
        self.write_paragraph(tidy(said.runs), level, mark, depth, is_title=is_title)
        self._write_hanging(said, around)

    def _write_hanging(self, said: Paragraph, around: Look) -> None:
        """Shapes, notes and comments, after what they belong to."""
        for shape in said.shapes:
            self.block(shape, around)
        for note in said.notes:
            runs = self.runs_in(note.iterchildren(TEXT + "note-body"), around)
            self.writer.paragraph(tidy([Run(f"[{_mark_of(note)}] "), *runs]))
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
                start = _number(item, TEXT + "start-value", otherwise=0, most=_HIGHEST_NUMBER)
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
        rows = list(_rows_of(element))
        # It may only arrange text on the page: a box around it, or long columns of it.
        cells = [cell for row in rows for cell in row]
        if all(len(row) <= 1 for row in rows) or any(map(_is_long, cells)):
            for cell in cells:
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
        if tag_of(cell) == _COVERED:  # by a neighbour
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
                # A table in a cell: commas between its cells, semicolons between its rows.
                between = ""
                for row in _rows_of(one):
                    for runs in (self._cell(cell, around, hanging) for cell in row):
                        if runs:
                            yield from [Run(between), *runs]
                            between = ", "
                    between = between and "; "
            elif tag not in _SKIPPED:
                yield from self._runs_in_cell(one, self._inside(one, around), hanging)


def _read_slide(reader: BodyReader, slide: Element, look: Look) -> None:
    # A heading is repeated above all that follows it, so none is made of a hidden slide's title.
    titles = [] if look.is_hidden else [shape for shape in slide if _is_title(shape)]
    title = visible_text(reader.runs_in(titles, look))
    if title.strip():
        reader.writer.heading(title, 1)
    reader.read((one for one in slide if look.is_hidden or not _is_title(one)), look)
    for notes in slide.iterchildren(PRESENTATION + "notes"):
        runs = tidy(reader.runs_in([notes], look))
        reader.writer.paragraph([Run("Notes: "), *runs] if runs else "")


def _is_title(shape: Element) -> bool:
    return shape.get(PRESENTATION + "class") == "title"


@dataclass(slots=True)
class Paragraph:
    """What a paragraph says, and what is shown near it."""

    runs: list[Run] = field(default_factory=list)
    shapes: list[Element] = field(default_factory=list)
    notes: list[Element] = field(default_factory=list)
    comments: list[Element] = field(default_factory=list)

    def take(self, other: Paragraph) -> None:
        """Also hang on this one what hangs on the other."""
        self.shapes += other.shapes
        self.notes += other.notes
        self.comments += other.comments


_Handler = Callable[[Element, Look, Paragraph], None]


@dataclass(frozen=True, slots=True)
class Aside:
    """What stands outside the text, to be put in where the text refers to it."""

    controls: Mapping[str, str] = field(default_factory=dict)  # of a form: identifier → text
    formulas: Mapping[str, str] = field(default_factory=dict)  # link → text
    changes: Mapping[str, Element] = field(default_factory=dict)  # tracked, if wanted


class ParagraphReader:
    """Reads the paragraphs of one file."""

    def __init__(self, styles: Styles, aside: Aside) -> None:
        self._styles = styles
        self._aside = aside
        self._changes = dict(aside.changes)
        self._handlers: dict[str, _Handler] = {
            TEXT + "s": self._blanks,
            TEXT + "tab": self._as("\t"),
            TEXT + "line-break": self._as("\n"),
            TEXT + "span": self._span,
            TEXT + "number": self._number,
            TEXT + "note": self._note,
            TEXT + "hidden-text": self._hidden,
            TEXT + "change": self._deleted,
            TEXT + "change-start": self._inserted,
            TEXT + "change-end": self._end_of_inserted,
            OFFICE + "annotation": self._comment,
            DRAW + "control": self._control,
        }

    def read(self, element: Element, around: Look) -> Paragraph:
        """The paragraph; `around` is how the part of the document looks that it stands in."""
        said = Paragraph()
        look = self._styles.look("paragraph", element.get(TEXT + "style-name", "")).over(around)
        if any(map(_is_hiding, element.iter(TEXT + "hidden-paragraph"))):
            look = Look(is_hidden=True).over(look)
        self._walk(element, look, said)
        return said

    def _walk(self, element: Element, look: Look, said: Paragraph) -> None:
        """Links, fields and unknown wrappers are walked right through."""
        self._say(element.text, look, said)
        for one in element:
            tag = tag_of(one)
            if handler := self._handlers.get(tag):
                handler(one, look, said)
            elif tag.startswith(DRAW):
                self._shape(one, look, said)
            elif tag not in _NOT_SAID:
                self._walk(one, look, said)
            self._say(one.tail, look, said)

    def _say(self, text: str | None, look: Look, said: Paragraph) -> None:
        """Text as it stands in the XML, where many blanks mean one."""
        if text:
            text = _BLANKS.sub(" ", text)
            if not said.runs or said.runs[-1].text.endswith((" ", "\n")):
                text = text.removeprefix(" ")
            self._say_exactly(text, look, said)

    def _say_exactly(self, text: str, look: Look, said: Paragraph) -> None:
        said.runs.append(Run(text, omitted=look.reason))

    def _as(self, text: str) -> _Handler:
        return lambda _element, look, said: self._say_exactly(text, look, said)

    def _blanks(self, element: Element, look: Look, said: Paragraph) -> None:
        count = _number(element, TEXT + "c", otherwise=1, most=_MOST_BLANKS)
        self._say_exactly(" " * count, look, said)

    def _span(self, element: Element, look: Look, said: Paragraph) -> None:
        style = self._styles.look("text", element.get(TEXT + "style-name", ""))
        self._walk(element, style.over(look), said)

    def _number(self, element: Element, look: Look, said: Paragraph) -> None:
        self._walk(element, look, said)
        self._say_exactly(" ", look, said)

    def _note(self, element: Element, look: Look, said: Paragraph) -> None:
        said.notes.append(element)
        self._say_exactly(f"[{_mark_of(element)}]", look, said)

    def _hidden(self, element: Element, look: Look, said: Paragraph) -> None:
        text = element.get(TEXT + "string-value") or "".join(element.itertext())
        hidden = Look(is_hidden=True).over(look) if _is_hiding(element) else look
        self._say_exactly(text, hidden, said)

    def _comment(self, element: Element, _look: Look, said: Paragraph) -> None:
        said.comments.append(element)

    def _control(self, element: Element, look: Look, said: Paragraph) -> None:
        text = self._aside.controls.get(element.get(DRAW + "control", ""))
        if text:
            self._say_exactly(f"{text}\n", look, said)

    def _shape(self, element: Element, look: Look, said: Paragraph) -> None:
        links = [one.get(LINK, "") for one in element.iter(DRAW + "object")]
        formulas = [text for link in links if (text := self._aside.formulas.get(link))]
        for formula in formulas:
            self._say_exactly(formula, look, said)
        if not formulas:
            said.shapes.append(element)

    def _deleted(self, element: Element, look: Look, said: Paragraph) -> None:
        change = self._changes.pop(element.get(TEXT + "change-id", ""), None)
        if change is not None:
            text = " ".join("".join(one.itertext()) for one in change.iter(TEXT + "p", TEXT + "h"))
            self._say_exactly(f"[deleted by {_author(change)}: {text}]", look, said)

    def _inserted(self, element: Element, look: Look, said: Paragraph) -> None:
        change = self._change(element)
        if change is not None:
            self._say_exactly(f"[inserted by {_author(change)}: ", look, said)

    def _end_of_inserted(self, element: Element, look: Look, said: Paragraph) -> None:
        if self._change(element) is not None:
            self._say_exactly("]", look, said)

    def _change(self, element: Element) -> Element | None:
        return self._changes.get(element.get(TEXT + "change-id", ""))


def _mark_of(note: Element) -> str:
    """The number or sign by which the text refers to a note."""
    citation = note.find(TEXT + "note-citation")
    return "".join(citation.itertext()).strip() if citation is not None else "*"


def _author(element: Element) -> str:
    named = next(element.iter(DUBLIN_CORE + "creator"), None)
    return " ".join(((named.text if named is not None else None) or "someone").split())


def _is_hiding(element: Element) -> bool:
    return element.get(TEXT + "is-hidden", "true") != "false"


def _rows_of(table: Element) -> Iterator[list[Element]]:
    """The cells of each row, covered ones among them; empty ones as often as they are repeated."""
    for one in table:
        if one.tag in _GROUPS:
            yield from _rows_of(one)
        elif one.tag == TABLE + "table-row":
            # One with something in it stands once, or tables in repeated cells would know no end.
            cells: list[Element] = []
            repeated = TABLE + "number-columns-repeated"
            for cell in one.iterchildren(_CELL, _COVERED):
                times = 1 if len(cell) else _number(cell, repeated, otherwise=1, most=_MOST_COLUMNS)
                cells.extend([cell] * times)
            yield cells[:_MOST_COLUMNS]


def _is_long(cell: Element) -> bool:
    return any(length > _LONGEST_CELL for length in accumulate(map(len, cell.itertext())))


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How one level of a list is marked; without figures it has bullets."""

    figures: str = ""
    before: str = ""
    after: str = ""
    start: int = 1
    shown: int = 1  # how many levels its numbers have

    def mark(self, counts: list[int]) -> str:
        """What stands before the item that is counted like this, level by level."""
        figures = _FIGURES.get(self.figures.lower())
        if figures is None:
            return "-"
        text = ".".join(written(count, figures) for count in counts[-self.shown :])
        text = text.upper() if self.figures.isupper() else text
        return f"{self.before}{text}{self.after}".strip()


class Styles:
    """The styles of one file, each with those that it is based on."""

    def __init__(self, *roots: Element | None) -> None:
        self._styles: dict[tuple[str, str], Element] = {}
        self._lists: dict[str, dict[int, ListLevel]] = {}
        self._looks: dict[tuple[str, str], Look] = {}
        for root in (one for one in roots if one is not None):
            for style in root.iter(STYLE + "style"):
                key = (style.get(STYLE + "family", ""), style.get(STYLE + "name", ""))
                self._styles[key] = style
            for one in root.iter(TEXT + "list-style"):
                self._lists[one.get(STYLE + "name", "")] = dict(_levels(one))

    def look(self, family: str, name: str) -> Look:
        """How text in this style looks."""
        key = (family, name)
        if key not in self._looks:
            look = Look()
            for style in self._chain(family, name):
                look = look.over(_look(style))
            self._looks[key] = look
        return self._looks[key]

    def is_title(self, name: str) -> bool:
        """Whether paragraphs in this style are the document's title."""
        chain = self._chain("paragraph", name)
        return any(style.get(STYLE + "name") == "Title" for style in chain)

    def is_filled(self, shape: Element) -> bool:
        """Whether a shape is filled with something."""
        names = (
            ("graphic", shape.get(DRAW + "style-name", "")),
            ("presentation", shape.get(PRESENTATION + "style-name", "")),
        )
        for family, name in names:
            for style in self._chain(family, name):
                fill = _property(style, "graphic-properties", DRAW + "fill")
                if fill is not None:
                    return fill != "none"
        return False

    def is_hidden_page(self, name: str) -> bool:
        """Whether a slide in this style is left out when the presentation is given."""
        chain = self._chain("drawing-page", name)
        wanted = PRESENTATION + "visibility"
        said = (_property(style, "drawing-page-properties", wanted) for style in chain)
        return next((one for one in said if one), "visible") == "hidden"

    def list_level(self, name: str, depth: int) -> ListLevel:
        """How a list in this style is marked at a depth, which counts from 0."""
        return self._lists.get(name, {}).get(min(depth, _DEEPEST_LIST - 1) + 1, ListLevel())

    def _chain(self, family: str, name: str) -> Iterator[Element]:
        seen: set[str] = set()
        while name and name not in seen and len(seen) < _LONGEST_CHAIN:
            seen.add(name)
            style = self._styles.get((family, name))
            if style is None:
                return
            yield style
            name = style.get(STYLE + "parent-style-name", "")


def _levels(style: Element) -> Iterator[tuple[int, ListLevel]]:
    for one in style.iter(TEXT + "list-level-style-number"):
        yield (
            _number(one, TEXT + "level", otherwise=1, most=_DEEPEST_LIST),
            ListLevel(
                one.get(STYLE + "num-format", ""),
                one.get(STYLE + "num-prefix", "")[:10],
                one.get(STYLE + "num-suffix", "")[:10],
                _number(one, TEXT + "start-value", otherwise=1, most=100_000),
                max(_number(one, TEXT + "display-levels", otherwise=1, most=_DEEPEST_LIST), 1),
            ),
        )


def _look(style: Element) -> Look:
    hidden = _property(style, "text-properties", TEXT + "display")
    size = _POINTS.fullmatch(_property(style, "text-properties", FORMAT + "font-size") or "")
    return Look(
        None if hidden is None else hidden == "none",
        _property(style, "text-properties", FORMAT + "color"),
        float(size.group(1)) if size else None,
        _is_shaded(style),
    )


def _is_shaded(style: Element) -> bool | None:
    for kind in ("text-properties", "paragraph-properties", "table-cell-properties"):
        colour = _property(style, kind, FORMAT + "background-color")
        if colour not in (None, "transparent"):
            return not is_white(colour)
    return None


def _property(style: Element, kind: str, name: str) -> str | None:
    properties = style.find(STYLE + kind)
    return None if properties is None else properties.get(name)


def open_sheets(archive: SafeZip) -> Iterator[Sheet]:
    """The sheets in their order."""
    _refuse_encrypted(archive)
    content = archive.read("content.xml")
    check_xml(content)
    hidden_styles: set[str | None] = set()
    rows = _Rows()
    try:
        for _, element in etree.iterparse(
            io.BytesIO(content),
            tag=(STYLE + "style", TABLE + "table", TABLE + "table-row"),
            resolve_entities=False,
            no_network=True,
        ):
            if element.tag == STYLE + "style":
                looks = element.find(STYLE + "table-properties")
                if looks is not None and looks.get(TABLE + "display") == "false":
                    hidden_styles.add(element.get(STYLE + "name"))
            elif element.tag == TABLE + "table-row":
                rows.take(element)
            else:
                is_hidden = element.get(TABLE + "style-name") in hidden_styles
                yield Sheet(element.get(TABLE + "name") or "", rows.taken, is_hidden)
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
        repeated = _repeats(row, "number-rows-repeated", _MOST_SHEET_ROWS)
        cells = tuple(_cell_texts(row)) if self._room > 0 else ()
        if cells:
            for number in range(self._number, self._number + min(repeated, _MOST_REPEATS)):
                self.taken.append(Row(number, cells))
                self._room -= len(cells)
                if self._room <= 0:
                    break
        self._number += repeated


def _cell_texts(row: Element) -> list[str]:
    """The texts of the cells up to the last that has any."""
    cells: list[str] = []
    empty = 0
    for cell in row.iterchildren(*_CELLS):
        repeated = _repeats(cell, "number-columns-repeated", _MOST_SHEET_COLUMNS)
        # What the cell shows; dates as ISO 8601 says them.
        day = cell.get(OFFICE + "date-value")
        if day and (moment := facts.iso_date(day)):
            text = moment.replace("T", " ")
        else:
            paragraphs = cell.iterchildren(TEXT + "p")
            text = one_line("\n".join("".join(_spoken(paragraph)) for paragraph in paragraphs))
        if not text:
            empty += repeated
            continue
        cells.extend([""] * min(empty, _MOST_SHEET_COLUMNS - len(cells)))
        cells.extend([text] * min(repeated, _MOST_SHEET_COLUMNS - len(cells), _MOST_REPEATS))
        empty = 0
    return cells


def _spoken(paragraph: Element) -> Iterator[str]:
    for part in paragraph.iter():
        if part.tag in (TEXT + "s", TEXT + "tab", TEXT + "line-break"):
            yield " "
        elif isinstance(part.tag, str):
            yield part.text or ""
        if part is not paragraph:
            yield part.tail or ""


def _repeats(element: Element, attribute: str, most: int) -> int:
    digits = element.get(TABLE + attribute, "1")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        return most
    return min(int(digits), most)


def open_facts(archive: SafeZip) -> tuple[str | None, Metadata]:
    """The title and what else the file says about itself."""
    try:
        meta = parse_xml(archive.read("meta.xml")).find(OFFICE + "meta")
    except FileUnreadable:  # missing or damaged, which the text need not suffer from
        meta = None
    if meta is None:
        return None, Metadata()
    author = meta.findtext(META + "initial-creator") or meta.findtext(DUBLIN_CORE + "creator")
    return facts.one_line(meta.findtext(DUBLIN_CORE + "title")), Metadata(
        tags=facts.tags([one.text or "" for one in meta.iter(META + "keyword")]),
        author=facts.one_line(author),
        date=facts.iso_date(meta.findtext(META + "creation-date")),
        modified=facts.iso_date(meta.findtext(DUBLIN_CORE + "date")),
        language=facts.one_line(meta.findtext(DUBLIN_CORE + "language")),
    )


def _number(element: Element, name: str, *, otherwise: int, most: int) -> int:
    """An attribute that is a whole number, kept within what makes sense."""
    text = element.get(name, "")
    return min(int(text), most) if _NUMBER.fullmatch(text) else otherwise
