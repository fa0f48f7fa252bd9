"""Word documents → Content: headings, paragraphs, items and tables, in reading order.

What Word shows but does not store as text is worked out here: the numbers before headings and
items, equations as one line as people type them, and what styles hide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, takewhile

from lxml.etree import _Element as Element

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.formatting import (
    BULLET,
    Figures,
    Look,
    TextWriter,
    is_title_name,
    is_white,
    level_by_name,
    symbol,
    tidy,
    visible_text,
    written,
)
from pincite.reading.office.office_parts import OfficeParts
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run
from pincite.reading.xml_safely import tag_of
from pincite.records import Content

MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
W = f"{{{MAIN}}}"
M = f"{{{MATH}}}"
R = f"{{{RELATIONS}}}"

_NUMBER = re.compile(r"-?\d{1,9}")

_IMPORTS = "holds other files that are shown with it; they were not read"

_USUAL_MAIN_PART = "word/document.xml"

_SKIPPED = (W + "sectPr", W + "sdtPr", W + "tcPr", CHOICE + "Fallback")

# Line ends and tabs that merely lay out the XML.
_AS_SPACE = str.maketrans("\n\r\t", "   ")
_MOST_FIELDS = 100  # open at a time
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"

_MOST_COLUMNS = 63  # Word's own limit
_LONGEST_CELL = 1_000  # characters; what is longer is laid out in a table, but is no table
_PLAIN_STYLES = (None, "TableNormal", "TableGrid")
_WRAPPERS = tuple(W + name for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo"))

_SHAPE = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
_OLD_SHAPE = "{urn:schemas-microsoft-com:vml}"
_WHITES = frozenset(("bg1", "lt1", "white", "window", "#fff", "#ffffff", "ffffff"))

_INVISIBLE = {0x2061: " ", 0x2062: None, 0x2063: None, 0x2064: None}
_OPEN_ENDED = ("−", "+", "-", "=", "/", "*", "·", "×", " ")

_PLACEHOLDER = re.compile(r"%([1-9])")
_HIGHEST = 100_000  # what a counter may say; a longer list is no list
_LONGEST_MARK = 40
_FIGURES = {
    "lowerLetter": Figures.LETTERS,
    "upperLetter": Figures.LETTERS,
    "lowerRoman": Figures.ROMAN,
    "upperRoman": Figures.ROMAN,
}

_LIST_NAME = re.compile(r"list(?: bullet| number| continue)? ?([2-5])", re.IGNORECASE)
_NO_HEADING = 9  # the outline level that Word gives to body text
_LONGEST_CHAIN = 50
_DEEPEST = 8  # level of a list

_Chain = list[tuple[str, Element | None]]


def read_docx(file: SourceFile) -> Content:
    """Read a Word document.

    Pages are known only where Word left marks of how it last broke them. Inserted text is read,
    deleted text and comments are not, unless the file's options ask for them. Headers and footers
    are read only where there is nothing else.
    """
    options = DocxOptions(
        comments="comments" in file.options, deletions="tracked-changes" in file.options
    )
    parts = Parts(file.data)
    document = parts.parsed(parts.document)
    body = _child(document, "body")
    if body is None:
        raise FileUnreadable("is damaged: it has no text body")
    has_pages = next(body.iter(W + "lastRenderedPageBreak"), None) is not None
    reader = BodyReader(parts, options, page=1 if has_pages else None)
    reader.read(body, on_shade=_child(document, "background") is not None)
    try:
        return _content(reader, parts)
    except FileEmpty:
        for kind in ("header", "footer"):
            for margin in parts.related(kind):
                reader.read(margin)
        return _content(reader, parts)


def _content(reader: BodyReader, parts: Parts) -> Content:
    title, metadata = parts.facts()
    notes = (_IMPORTS,) if reader.imports else ()
    return reader.writer.content(
        "docx",
        title=reader.title or title or reader.sole_heading,
        metadata=replace(metadata, pages=reader.page, notes=notes),
    )


class Parts(OfficeParts):
    """The document, and the parts that it refers to; parsed when they are asked for."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.document = self.main(_USUAL_MAIN_PART)
        self._relations = self.relations(self.document)

    def related(self, kind: str) -> Iterator[Element]:
        """The parts that the document refers to as this: "styles", "numbering", "footnotes"."""
        return (self.parsed(one.part) for one in self._relations if one.kind == kind)

    def first(self, kind: str) -> Element | None:
        """The first of these parts; None where there is none."""
        return next(self.related(kind), None)

    def by_relation(self, identifier: str) -> Element | None:
        """The part that the document refers to by this identifier."""
        found = (one.part for one in self._relations if one.identifier == identifier)
        return next(map(self.parsed, found), None)


@dataclass(frozen=True, slots=True)
class _ReadRow:
    page: int | None
    cells: list[str]
    is_heading: bool


class BodyReader(TextWriter):
    """Writes the blocks of one document, and after each what hangs on it."""

    def __init__(self, parts: Parts, options: DocxOptions, *, page: int | None) -> None:
        super().__init__()
        self.imports = 0  # other files that are put together with this one when it is opened
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
        properties = _child(element, "pPr")
        place = self._styles.list_place(properties)
        self.write_paragraph(
            tidy(said.runs),
            self._styles.heading_level(properties),
            mark=self._numbering.mark(place) if place else "",
            depth=place.depth if place else 0,
            is_title=self._styles.is_title(properties),
        )
        self._write_hanging(said)

    def _write_hanging(self, said: Paragraph) -> None:
        """Text boxes, diagrams, notes and comments, after what they belong to."""
        page = self.page
        for box in said.boxes:
            self.read(box.content, on_shade=box.is_filled)
        for identifier in said.diagrams:
            root = None if identifier in self._diagrams else self._parts.by_relation(identifier)
            self._diagrams.add(identifier)
            for paragraph in () if root is None else root.iter(DRAWING + "p"):
                text = "".join(one.text or "" for one in paragraph.iter(DRAWING + "t")).strip()
                if text:
                    self.writer.item([Run(text, page=self.page)])
        for note in said.notes:
            runs = self._runs_in(self._notes[note.kind].get(note.identifier))
            self.writer.paragraph(tidy([Run(f"[{note.mark}] ", page=page), *runs]))
        for identifier in said.comments:
            comment = self._comments.pop(identifier, None)
            remark = tidy(self._runs_in(comment))
            if comment is not None and remark:
                author = " ".join((_value(comment, "author") or "someone").split())
                opening = Run(f"[comment by {author}: ", page=self.page)
                self.writer.paragraph(tidy([opening, *remark, Run("]", page=self.page)]))
        self._paragraphs.page = page  # what hangs somewhere begins no page of the text

    def _runs_in(self, element: Element | None) -> Iterator[Run]:
        """All that is said in a note or a comment."""
        for paragraph in () if element is None else element.iter(W + "p"):
            yield from self._paragraphs.read(paragraph).runs
            yield Run("\n", page=self.page)

    def _table(self, element: Element, *, on_shade: bool) -> None:
        rows = _rows_of(element, on_shade=on_shade)
        # It may only arrange text on the page: a box around it, or long columns of it.
        cells = [cell for row in rows for cell in row.cells]
        if len(cells) == len(rows) or any(map(_is_long, cells)):
            for cell in cells:
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
                place = self._styles.list_place(_child(one, "pPr"))
                mark = f"{self._numbering.mark(place)} " if place else ""
                yield Run(mark, page=self.page)
                yield from [*said.runs, Run("\n")]
            elif one.tag == W + "tbl":
                # A table in a cell: commas between its cells, semicolons between its rows.
                rows = _rows_of(one, on_shade=on_shade)
                between = ""
                for row in rows:
                    for cell in row.cells:
                        runs = [] if cell.is_continued else self._cell(cell, hanging)
                        if runs:
                            yield from [Run(between), *runs]
                            between = ", "
                    between = between and "; "
            elif one.tag not in _SKIPPED:
                yield from self._runs_in_cell(one, hanging, on_shade=on_shade)

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
    return {} if root is None else {_value(one, "id") or "": one for one in root}


@dataclass(frozen=True, slots=True)
class DocxOptions:
    """What is read beside the text as it stands."""

    comments: bool = False
    deletions: bool = False  # tracked changes: what was deleted, and who inserted what


@dataclass(frozen=True, slots=True)
class TextBox:
    """What is written in a shape, and whether the shape is filled with a colour."""

    content: Element
    is_filled: bool


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote or an endnote that is referred to for the first time."""

    kind: str  # "footnote" or "endnote"
    identifier: str
    mark: str


@dataclass(slots=True)
class Paragraph:
    """What a paragraph says, and what is shown near it."""

    runs: list[Run] = field(default_factory=list)
    boxes: list[TextBox] = field(default_factory=list)
    diagrams: list[str] = field(default_factory=list)  # relationship identifiers
    notes: list[Note] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What is seen of it."""
        return visible_text(self.runs)

    def take(self, other: Paragraph) -> None:
        """Also hang on this one what hangs on the other."""
        self.boxes += other.boxes
        self.diagrams += other.diagrams
        self.notes += other.notes
        self.comments += other.comments


_Handler = Callable[[Element, Look, Paragraph], None]


class ParagraphReader:
    """Reads the paragraphs of one document in their order, and counts its pages and notes.

    The page is None in a document that does not say where Word last broke its pages. Where it
    does, the numbers are those of that moment.
    """

    def __init__(self, styles: Styles, options: DocxOptions, page: int | None) -> None:
        self.page = page
        self._styles = styles
        self._options = options
        self._notes: dict[str, dict[str, Note]] = {"footnote": {}, "endnote": {}}
        self._fields: list[bool] = []  # of each open field: whether its result has begun
        self._handlers: dict[str, _Handler] = {
            W + "r": self._run,
            W + "t": self._text,
            W + "sym": self._symbol,
            W + "ins": self._inserted,
            W + "moveTo": self._inserted,
            W + "del": self._deleted,
            W + "moveFrom": self._deleted,
            W + "fldChar": self._field,
            W + "txbxContent": self._box,
            W + "footnoteReference": self._note,
            W + "endnoteReference": self._note,
            W + "commentReference": self._comment,
            W + "lastRenderedPageBreak": self._page_break,
            CHOICE + "AlternateContent": self._alternative,
            M + "oMath": self._equation,
            _DIAGRAM: self._diagram,
        }
        shown_as = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
        for name, text in shown_as.items():
            self._handlers[W + name] = self._as(text)
        for name in ("pPr", "rPr", "sdtPr", "rt", "instrText", "delText", "delInstrText"):
            self._handlers[W + name] = self._skip

    def read(self, element: Element, *, on_shade: bool = False) -> Paragraph:
        """The paragraph; `on_shade` says that it stands on a coloured ground."""
        said = Paragraph()
        look = self._styles.paragraph_look(_child(element, "pPr"))
        if on_shade:
            look = Look(is_shaded=True).over(look)
        self._walk(element, look, said)
        # No instruction of a field goes on into the next paragraph, but its result does.
        self._fields = [True] * len(self._fields)
        return said

    def _walk(self, element: Element, look: Look, said: Paragraph) -> None:
        """Links, fields, content controls and unknown wrappers are walked right through."""
        for one in element:
            self._handlers.get(tag_of(one), self._walk)(one, look, said)

    def _skip(self, _element: Element, _look: Look, _said: Paragraph) -> None:
        pass

    def _say(self, text: str, look: Look, said: Paragraph) -> None:
        if all(self._fields):
            said.runs.append(Run(text, page=self.page, omitted=look.reason))

    def _as(self, text: str) -> _Handler:
        return lambda _element, look, said: self._say(text, look, said)

    def _run(self, element: Element, look: Look, said: Paragraph) -> None:
        self._walk(element, self._styles.run_look(_child(element, "rPr"), look), said)

    def _text(self, element: Element, look: Look, said: Paragraph) -> None:
        self._say((element.text or "").translate(_AS_SPACE), look, said)

    def _symbol(self, element: Element, look: Look, said: Paragraph) -> None:
        shown = symbol(_value(element, "font") or "", _value(element, "char") or "")
        self._say(shown, look, said)

    def _equation(self, element: Element, look: Look, said: Paragraph) -> None:
        self._say(_equation(element), look, said)

    def _inserted(self, element: Element, look: Look, said: Paragraph) -> None:
        before = len(said.runs)
        self._walk(element, look, said)
        if self._options.deletions and len(said.runs) > before:
            said.runs.insert(before, Run(f"[inserted by {_author(element)}: ", page=self.page))
            said.runs.append(Run("]", page=self.page))

    def _deleted(self, element: Element, look: Look, said: Paragraph) -> None:
        if self._options.deletions:
            names = (W + "delText", W + "t")
            text = "".join(one.text or "" for one in element.iter(names)).translate(_AS_SPACE)
            if text.strip():
                self._say(f"[deleted by {_author(element)}: {text}]", look, said)

    def _field(self, element: Element, look: Look, said: Paragraph) -> None:
        step = _value(element, "fldCharType")
        if step == "begin":
            # A box to tick is a field without a result
            box = _child(element, "ffData", "checkBox")
            if box is not None:
                ticked = _switch(_child(box, "checked"))
                ticked = _switch(_child(box, "default")) if ticked is None else ticked
                self._say("☒ " if ticked else "☐ ", look, said)
            self._fields = [*self._fields[1 - _MOST_FIELDS :], False]
        elif self._fields and step == "separate":
            self._fields[-1] = True
        elif self._fields and step == "end":
            self._fields.pop()

    def _box(self, element: Element, _look: Look, said: Paragraph) -> None:
        said.boxes.append(TextBox(element, _is_filled(element)))

    def _diagram(self, element: Element, _look: Look, said: Paragraph) -> None:
        said.diagrams.append(element.get(R + "dm", ""))

    def _note(self, element: Element, look: Look, said: Paragraph) -> None:
        kind = tag_of(element).removeprefix(W).removesuffix("Reference")
        identifier = _value(element, "id") or ""
        known = self._notes[kind]
        if identifier not in known:
            count = len(known) + 1
            mark = written(count, Figures.ROMAN if kind == "endnote" else Figures.ARABIC)
            known[identifier] = Note(kind, identifier, mark)
            said.notes.append(known[identifier])
        self._say(f"[{known[identifier].mark}]", look, said)

    def _comment(self, element: Element, _look: Look, said: Paragraph) -> None:
        if self._options.comments:
            said.comments.append(_value(element, "id") or "")

    def _page_break(self, _element: Element, _look: Look, _said: Paragraph) -> None:
        if self.page is not None:
            self.page += 1

    def _alternative(self, element: Element, look: Look, said: Paragraph) -> None:
        """The same thing said twice, for new programs and for old ones: one is enough."""
        for one in element.iterchildren(CHOICE + "Choice", CHOICE + "Fallback"):
            self._walk(one, look, said)
            return


def _author(element: Element) -> str:
    return " ".join((_value(element, "author") or "someone").split())


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell, how many columns it takes, and whether it only goes on from the one above."""

    element: Element
    span: int
    is_continued: bool
    is_shaded: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A row, and how many columns it leaves free before its first cell."""

    cells: tuple[Cell, ...]
    free: int
    is_heading: bool  # shown again at the top of every page


def _rows_of(table: Element, *, on_shade: bool) -> list[Row]:
    """The rows of a table; `on_shade` says that it stands on a coloured ground itself."""
    properties = _child(table, "tblPr")
    # A table style may colour any of the cells; which, is not for us to find out.
    styled = _value(_child(properties, "tblStyle")) not in _PLAIN_STYLES
    shaded = on_shade or styled or bool(_is_shaded(properties))
    return [_row(row, shaded=shaded) for row in _within(table, W + "tr")]


def _row(row: Element, *, shaded: bool) -> Row:
    properties = _child(row, "trPr")
    return Row(
        cells=tuple(_cell(cell, shaded=shaded) for cell in _within(row, W + "tc")),
        free=_columns(_number(_child(properties, "gridBefore")), fewest=0),
        is_heading=bool(_switch(_child(properties, "tblHeader"))),
    )


def _cell(cell: Element, *, shaded: bool) -> Cell:
    properties = _child(cell, "tcPr")
    merged = _child(properties, "vMerge")
    merged_across = _child(properties, "hMerge")
    return Cell(
        cell,
        span=_columns(_number(_child(properties, "gridSpan")), fewest=1),
        is_continued=any(
            one is not None and _value(one) in (None, "continue") for one in (merged, merged_across)
        ),
        is_shaded=shaded or bool(_is_shaded(properties)),
    )


def _columns(said: int | None, *, fewest: int) -> int:
    return min(max(said or fewest, fewest), _MOST_COLUMNS)


def _within(element: Element, wanted: str) -> Iterator[Element]:
    """The rows or cells in it, also those that a content control is put around."""
    for one in element:
        if one.tag == wanted:
            yield one
        elif one.tag in _WRAPPERS:
            yield from _within(one, wanted)


def _is_long(cell: Cell) -> bool:
    lengths = accumulate(len(text.text or "") for text in cell.element.iter(W + "t"))
    return any(length > _LONGEST_CELL for length in lengths)


def _is_filled(content: Element) -> bool:
    """Whether the shape around this text (`txbxContent`) has a colour other than white."""
    box = content.getparent()
    shape = None if box is None else box.getparent()
    if shape is None:
        return False
    if tag_of(shape).startswith(_OLD_SHAPE):
        return _is_old_shape_filled(shape)
    properties = shape.find(_SHAPE + "spPr")
    for fill in () if properties is None else properties:
        if fill.tag == DRAWING + "noFill":
            return False
        if fill.tag == DRAWING + "solidFill":
            colours = (colour.get("val", "").lower() for colour in fill)
            return not any(colour in _WHITES for colour in colours)
        if tag_of(fill).endswith("Fill"):  # a gradient, a pattern or a picture
            return True
    reference = shape.find(f"{_SHAPE}style/{DRAWING}fillRef")
    return reference is not None and reference.get("idx") != "0"


def _is_old_shape_filled(shape: Element) -> bool:
    if shape.get("filled", "t") in ("f", "false"):
        return False
    colour = shape.get("fillcolor", "white").split(" ")[0].lower()
    return colour not in _WHITES or shape.find(_OLD_SHAPE + "fill") is not None


def _equation(element: Element) -> str:
    """An equation's text: fractions with a slash, powers with ^, what is below with _."""
    return "".join(map(_written, element))


def _written(element: Element) -> str:
    def part(name: str) -> str:
        found = element.find(M + name)
        return "" if found is None else _equation(found)

    def grouped(name: str, before: str = "") -> str:
        """In brackets where it would fall apart without."""
        text = part(name)
        falls_apart = any(sign in text.strip() for sign in _OPEN_ENDED)
        return before + (f"({text})" if falls_apart else text)

    def sign(name: str, usual: str) -> str:
        found = element.find(f"{tag}Pr/{M}{name}")
        return usual if found is None else found.get(M + "val", "")

    tag = tag_of(element)
    match tag.removeprefix(M):
        case "t":
            text = (element.text or "").translate(_INVISIBLE)
        case "f":
            text = grouped("num") + grouped("den", "/")
        case "sSup" | "sSub" | "sSubSup" | "limLow" as kind:
            below = "" if kind == "sSup" else grouped("lim" if kind == "limLow" else "sub", "_")
            text = part("e") + below + (grouped("sup", "^") if kind.endswith("Sup") else "")
        case "rad":
            text = f"{grouped('deg')}√({part('e')})"
        case "d":
            inside = (_equation(one) for one in element.iterchildren(M + "e"))
            text = f"{sign('begChr', '(')}{sign('sepChr', '|').join(inside)}{sign('endChr', ')')}"
        case "nary":
            limits = [grouped(one, mark) for one, mark in (("sub", "_"), ("sup", "^")) if part(one)]
            text = f"{sign('chr', '∫')}{''.join(limits)} {part('e')}"
        case "func":
            text = f"{part('fName')} {part('e')}"
        case "m":
            rows = (row.iterchildren(M + "e") for row in element.iterchildren(M + "mr"))
            text = "; ".join(", ".join(map(_equation, row)) for row in rows)
        case _:
            text = _equation(element)
    return text


@dataclass(frozen=True, slots=True)
class _Level:
    """How one level of a list is numbered."""

    style: str = "decimal"
    pattern: str = ""
    start: int = 1
    is_plain: bool = False  # all numbers in it are Arabic, whatever the levels above say


class Numbering:
    """Counts the lists of one document; to be asked once for each paragraph, in order."""

    def __init__(self, root: Element | None) -> None:
        definitions = [] if root is None else list(root.iter(W + "abstractNum"))
        self._levels = {_value(one, "abstractNumId") or "": _levels(one) for one in definitions}
        linked = {_value(_child(one, "styleLink")): one for one in definitions}
        for one in definitions:
            source = linked.get(_value(_child(one, "numStyleLink")) or "")
            if source is not None:
                self._levels[_value(one, "abstractNumId") or ""] = _levels(source)
        self._lists = {} if root is None else {_value(one, "numId"): one for one in _lists(root)}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def mark(self, place: ListPlace) -> str:
        """What stands before the next paragraph at this place: "2.1.", "-", or nothing."""
        one = self._lists.get(place.list_id)
        definition = _value(_child(one, "abstractNumId")) or ""
        levels = self._levels.get(definition, {})
        level = levels.get(place.level)
        if one is None or level is None:
            return BULLET
        counts = self._counts.setdefault(definition, {})
        if place.list_id not in self._begun:
            self._begun.add(place.list_id)
            # The counts that a list begins anew with, one below the first number.
            found = {
                _number(each, "ilvl") or 0: _number(_child(each, "startOverride"))
                for each in one.iterchildren(W + "lvlOverride")
            }
            counts.update({depth: start - 1 for depth, start in found.items() if start is not None})
        counts[place.level] = min(counts.get(place.level, level.start - 1) + 1, _HIGHEST)
        for deeper in [depth for depth in counts if depth > place.level]:
            del counts[deeper]
        if level.style == "bullet":
            return BULLET

        def fill(found: re.Match[str]) -> str:
            depth = int(found.group(1)) - 1
            of_depth = levels.get(depth, _Level())
            style = "decimal" if level.is_plain else of_depth.style
            count = counts.get(depth, of_depth.start)
            if style in ("bullet", "none"):
                return ""
            if style == "decimalZero":
                return f"{count:02}"
            text = written(count, _FIGURES.get(style, Figures.ARABIC))
            return text.upper() if style.startswith("upper") else text

        return _PLACEHOLDER.sub(fill, level.pattern)[:_LONGEST_MARK]


def _lists(root: Element) -> Iterable[Element]:
    return root.iterchildren(W + "num")


def _levels(definition: Element) -> dict[int, _Level]:
    return {
        _number(one, "ilvl") or 0: _Level(
            style=_value(_child(one, "numFmt")) or "decimal",
            pattern=(_value(_child(one, "lvlText")) or "").strip()[:_LONGEST_MARK],
            start=_or(_number(_child(one, "start")), 1),
            is_plain=bool(_switch(_child(one, "isLgl"))),
        )
        for one in definition.iterchildren(W + "lvl")
    }


def _or(found: int | None, otherwise: int) -> int:
    return otherwise if found is None else found


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Which list a paragraph belongs to, at which of its levels, and how deep that looks."""

    list_id: str
    level: int
    depth: int


class Styles:
    """The styles of one document, each with those that it is based on."""

    def __init__(self, root: Element | None) -> None:
        found = () if root is None else root.iter(W + "style")
        self._styles = {_value(style, "styleId") or "": style for style in found}
        self._default = next(
            (
                name
                for name, style in self._styles.items()
                if _value(style, "type") == "paragraph"
                and _value(style, "default") in ("1", "true")
            ),
            "",
        )
        self._looks: dict[str, Look] = {}
        self._chains: dict[str, _Chain] = {}

    def paragraph_look(self, properties: Element | None) -> Look:
        """How the runs of a paragraph look where they do not say otherwise."""
        style = self._look_of_style(self._paragraph_style(properties))
        return Look(is_shaded=_is_shaded(properties)).over(style)

    def run_look(self, properties: Element | None, around: Look) -> Look:
        """How a run looks in a paragraph that looks like `around`."""
        if properties is None:
            return around
        style = _value(_child(properties, "rStyle"))
        inherited = self._look_of_style(style).over(around) if style else around
        return _look(properties).over(inherited)

    def heading_level(self, properties: Element | None) -> int | None:
        """The level of a heading, from 1; None of other paragraphs."""
        outline = _number(_child(properties, "outlineLvl"))
        if outline is not None:
            return outline + 1 if 0 <= outline < _NO_HEADING else None
        for name, style in self._chain(self._paragraph_style(properties)):
            outline = _number(_child(style, "pPr", "outlineLvl"))
            if outline is not None:
                return outline + 1 if 0 <= outline < _NO_HEADING else None
            if level := level_by_name(name):
                return level
        return 1 if self.is_title(properties) else None

    def is_title(self, properties: Element | None) -> bool:
        """Whether the paragraph is the document's title."""
        style = self._paragraph_style(properties)
        return any(is_title_name(name) for name, _ in self._chain(style))

    def list_place(self, properties: Element | None) -> ListPlace | None:
        """The list a paragraph is in; None where it is in none."""
        chain = self._chain(self._paragraph_style(properties))
        sources = [_child(properties, "numPr"), *(_child(one, "pPr", "numPr") for _, one in chain)]
        list_id = next((found for one in sources if (found := _value(_child(one, "numId")))), "0")
        if list_id == "0":
            return None
        levels = (_number(_child(one, "ilvl")) for one in sources)
        level = next((min(max(found, 0), _DEEPEST) for found in levels if found is not None), 0)
        named = (match for name, _ in chain if (match := _LIST_NAME.fullmatch(name)))
        depth = level or next((int(match.group(1)) - 1 for match in named), 0)
        return ListPlace(list_id, level, depth)

    def _paragraph_style(self, properties: Element | None) -> str:
        return _value(_child(properties, "pStyle")) or self._default

    def _look_of_style(self, style: str) -> Look:
        if style not in self._looks:
            look = Look()
            for _, one in self._chain(style):
                look = look.over(_look(_child(one, "rPr")))
                look = look.over(Look(is_shaded=_is_shaded(_child(one, "pPr"))))
            self._looks[style] = look
        return self._looks[style]

    def _chain(self, style: str) -> _Chain:
        """A style and those it is based on, with their names; one that is not there has its id."""
        if style not in self._chains:
            self._chains[style] = self._chain_from(style)
        return self._chains[style]

    def _chain_from(self, style: str) -> _Chain:
        chain: _Chain = []
        seen: set[str] = set()
        while style and style not in seen and len(seen) < _LONGEST_CHAIN:
            seen.add(style)
            one = self._styles.get(style)
            chain.append((_value(_child(one, "name")) or style, one))
            style = _value(_child(one, "basedOn")) or ""
        return chain


def _is_shaded(properties: Element | None) -> bool | None:
    """Whether something other than the white of the paper lies under a run, paragraph or cell."""
    highlight = _value(_child(properties, "highlight"))
    if highlight is not None and highlight not in ("none", "white"):
        return True
    shading = _child(properties, "shd")
    if shading is None:
        return None
    if _value(shading) not in (None, "clear", "nil"):  # a pattern
        return True
    fill = _value(shading, "fill") or "auto"
    return fill != "auto" and not is_white(fill)


def _look(properties: Element | None) -> Look:
    half_points = _number(_child(properties, "sz"))
    return Look(
        _switch(_child(properties, "vanish")),
        _value(_child(properties, "color")),
        None if half_points is None else half_points / 2,
        _is_shaded(properties),
    )


def _child(element: Element | None, *path: str) -> Element | None:
    """The element at the end of a path of Word's names; None where a step is missing."""
    for name in path:
        element = None if element is None else element.find(W + name)
    return element


def _value(element: Element | None, name: str = "val") -> str | None:
    """An attribute by Word's name for it."""
    return None if element is None else element.get(W + name)


def _number(element: Element | None, name: str = "val") -> int | None:
    """An attribute that is a whole number; None where it is missing or is not one."""
    text = _value(element, name)
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None


def _switch(element: Element | None) -> bool | None:
    """A property that is on by merely being there, unless it says that it is off."""
    if element is None:
        return None
    return _value(element) not in ("0", "false", "off")
