"""PowerPoint presentations → Content: each slide is a page under its title.

Shapes come in the order in which people read them; tables and charts become rows, diagrams items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from lxml.etree import _Element as Element

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.office_parts import OfficeParts
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run, Writer
from pincite.records import Content, OmissionReason

_SCHEMAS = "http://schemas.openxmlformats.org"
SLIDE = f"{{{_SCHEMAS}/presentationml/2006/main}}"
DRAWING = f"{{{_SCHEMAS}/drawingml/2006/main}}"
RELATION = f"{{{_SCHEMAS}/officeDocument/2006/relationships}}"
CHART = f"{{{_SCHEMAS}/drawingml/2006/chart}}"
DIAGRAM = f"{{{_SCHEMAS}/drawingml/2006/diagram}}"
MATH = f"{{{_SCHEMAS}/officeDocument/2006/math}}"
CHOICE = f"{{{_SCHEMAS}/markup-compatibility/2006}}"

_LISTS = ("body", "obj")  # placeholders whose paragraphs are items
# What programs put where people should describe a picture.
_NO_DESCRIPTION = re.compile(
    r"\s*(?:\S*\.(?:png|jpe?g|gif|bmp|emf|wmf|svg|tiff?|mp4|webp)|(?:picture|image)\s?\d*)\s*",
    re.IGNORECASE,
)
_BY_MACHINE = re.compile(
    r"\s*(?:Description automatically generated.*|AI-generated content may be incorrect\.?)$",
    re.DOTALL,
)

TITLES = ("title", "ctrTitle")
# What stands on every slide: number, date, header, footer.
_MARGINS = ("sldNum", "dt", "hdr", "ftr")
_KINDS = tuple(SLIDE + name for name in ("sp", "pic", "graphicFrame", "grpSp", "cxnSp"))

_DEEPEST = 8
_NUMBERS_OF_SLIDES = "slidenum"

_MOST_POINTS = 500  # of a chart; what has more is drawn from data that nobody reads there
_MOST_SERIES = 50
# Points of a diagram that say how it is drawn, not what it says.
_CONNECTIONS = ("pres", "parTrans", "sibTrans")  # codespell:ignore pres
_SERIES = CHART + "ser"  # codespell:ignore ser

Rows = list[list[str]]


def read_pptx(file: SourceFile) -> Content:
    """Read a presentation: slides with their tables, charts, diagrams and speaker's notes.

    Text on hidden slides, in hidden shapes and beside the slide is kept, but marked as such.
    Comments are read where the file's options ask for them.
    """
    parts = OfficeParts(file.data)
    main = parts.main("ppt/presentation.xml")
    presentation = parts.parsed(main)
    names = {one.identifier: one.part for one in parts.relations(main) if one.kind == "slide"}
    listed = presentation.findall(f"{SLIDE}sldIdLst/{SLIDE}sldId")
    size = presentation.find(SLIDE + "sldSz")
    sides = [] if size is None else [size.get("cx", ""), size.get("cy", "")]
    is_told = sides and all(side.isascii() and side.isdigit() for side in sides)
    width, height = (int(sides[0]), int(sides[1])) if is_told else (0, 0)
    writer = Writer()
    notes = []
    first_title = None
    for number, slide in enumerate(listed, start=1):
        name = names.get(slide.get(RELATION + "id", ""))
        if name is None:
            notes.append(f"slide {number} is missing")
            continue
        try:
            reader = _SlideReader(parts, name, writer, number)
        except FileUnreadable as error:
            notes.append(f"slide {number} {error}")
            continue
        reader.read(width, height, with_comments="comments" in file.options)
        first_title = reader.title if number == 1 else first_title
    title, metadata = parts.facts()
    metadata = replace(metadata, pages=len(listed), notes=tuple(notes))
    try:
        return writer.content("pptx", title=first_title or title, metadata=metadata)
    except FileEmpty:
        if notes:
            raise FileUnreadable(f"cannot be read: {notes[0]}") from None
        raise


class _SlideReader:
    """Writes one slide."""

    def __init__(self, parts: OfficeParts, name: str, writer: Writer, number: int) -> None:
        self.title: str | None = None
        self._parts = parts
        self._writer = writer
        self._relations = parts.relations(name)
        self._slide = parts.parsed(name)
        self._omitted: OmissionReason | None = None
        self._is_hidden = self._slide.get("show") in ("0", "false")
        self._heading = f"Slide {number}"  # unless it has a title; written before anything else
        writer.page = number

    def read(self, width: int, height: int, *, with_comments: bool) -> None:
        """Write all that the slide says, and what is said about it."""
        shapes = _shapes_of(self._slide, width=width, height=height)
        title = next((one for one in shapes if _is_title(one)), None)
        if title is not None and not self._is_hidden:
            self._heading = self.title = " ".join(_text_of(title.element).split())
        elif self._is_hidden:
            self._heading += " (hidden)"
        for shape in shapes:
            if shape is not title or self._is_hidden:
                self._omitted = OmissionReason.HIDDEN if self._is_hidden else shape.omitted
                self._shape(shape)
        if title is not None:
            self._begin()
        self._omitted = OmissionReason.HIDDEN if self._is_hidden else None
        # What the speaker is going to say, or did.
        for page in self._related_as("notesSlide"):
            shapes = _shapes_of(page, width=0, height=0)
            bodies = [one.element for one in shapes if one.placeholder == "body"]
            lines = [text for one in bodies for text in _lines(one)]
            self._say(Paragraph("Notes: " + "\n".join(lines) if lines else ""))
        if with_comments:
            for page in self._related_as("comments"):
                for comment in page.iter("{*}cm"):
                    said = comment.findtext(SLIDE + "text") or _text_of(comment)
                    text = " ".join(said.split())
                    self._say(Paragraph(f"[comment: {text}]" if text else ""))

    def _begin(self) -> None:
        """Write the heading, once."""
        if self._heading:
            self._writer.heading(self._heading, 1)
        self._heading = ""

    def _say(self, paragraph: Paragraph) -> None:
        if not paragraph.text.strip():
            return
        self._begin()
        runs = [Run(paragraph.text, omitted=self._omitted)]
        if paragraph.mark:
            self._writer.item(runs, depth=paragraph.depth, mark=paragraph.mark)
        else:
            self._writer.paragraph(runs)

    def _shape(self, shape: Shape) -> None:
        element = shape.element
        body = element.find(SLIDE + "txBody")
        if body is not None:
            for paragraph in _paragraphs_of(body, is_list=shape.placeholder in _LISTS):
                self._say(paragraph)
        if element.tag == SLIDE + "pic":
            name = element.find(f"{SLIDE}nvPicPr/{SLIDE}cNvPr")
            described = "" if name is None else _BY_MACHINE.sub("", name.get("descr", ""))
            if described.strip() and not _NO_DESCRIPTION.fullmatch(described):
                self._say(Paragraph(f"[picture: {' '.join(described.split())}]"))
        elif element.tag == SLIDE + "graphicFrame":
            data = element.find(f"{DRAWING}graphic/{DRAWING}graphicData")
            for one in () if data is None else data:
                if one.tag == DRAWING + "tbl":
                    self._table(_table_rows(one))
                elif one.tag == CHART + "chart":
                    chart = self._related(one.get(RELATION + "id", ""))
                    if chart is not None:
                        title = _chart_title(chart)
                        self._say(Paragraph(f"Chart: {title}" if title else ""))
                        self._table(_chart_rows(chart))
                elif one.tag == DIAGRAM + "relIds":
                    diagram = self._related(one.get(RELATION + "dm", ""))
                    for item in () if diagram is None else _diagram_items(diagram):
                        self._say(Paragraph(item, mark="- "))

    def _table(self, rows: Rows) -> None:
        if not any(cell for row in rows for cell in row):
            return
        if self._omitted is None:
            self._begin()
            self._writer.table(rows)
        else:
            self._say(Paragraph("\n".join(" | ".join(row) for row in rows)))

    def _related(self, identifier: str) -> Element | None:
        """A part that the slide refers to; None where it is missing or damaged."""
        found = (one.part for one in self._relations if one.identifier == identifier)
        try:
            return next(map(self._parts.parsed, found), None)
        except FileUnreadable:
            return None

    def _related_as(self, kind: str) -> Iterator[Element]:
        found = (self._related(one.identifier) for one in self._relations if one.kind == kind)
        return (one for one in found if one is not None)


def _is_title(shape: Shape) -> bool:
    is_title = shape.placeholder in TITLES and shape.omitted is None
    return is_title and bool(_text_of(shape.element).strip())


def _lines(shape: Element) -> list[str]:
    body = shape.find(SLIDE + "txBody")
    return [] if body is None else [one.text for one in _paragraphs_of(body)]


@dataclass(frozen=True, slots=True)
class Area:
    """Where a shape stands, in units of 1/914,400 inch from the top left corner."""

    left: int
    top: int
    width: int
    height: int

    @property
    def bottom(self) -> int:
        """Where it ends."""
        return self.top + self.height

    def is_outside(self, width: int, height: int) -> bool:
        """Whether nothing of it lies on a slide of this size."""
        is_beside = self.left + self.width <= 0 or self.left >= width
        return is_beside or self.bottom <= 0 or self.top >= height


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that is no group, with what of it matters for reading."""

    element: Element
    placeholder: str | None  # its role on the slide; None if it is a free shape
    index: int  # of the placeholder among its like
    area: Area | None  # None if the layout decides
    omitted: OmissionReason | None


def _shapes_of(slide: Element, *, width: int, height: int) -> list[Shape]:
    """All shapes of a slide with groups dissolved: title, other placeholders, free shapes.

    Free shapes above all placeholders come before them.
    """
    tree = slide.find(f"{SLIDE}cSld/{SLIDE}spTree")
    found = [] if tree is None else list(_in_order(tree))
    shown = [_judged(one, width, height) for one in found if one.placeholder not in _MARGINS]
    titles = [one for one in shown if one.placeholder in TITLES]
    others = [one for one in shown if one.placeholder not in TITLES]
    placed = sorted((one for one in others if one.placeholder), key=lambda one: one.index)
    free = [one for one in others if not one.placeholder]
    top = min((one.area.top for one in placed if one.area), default=None)
    above = [one for one in free if _is_above(one, top)]
    below = [one for one in free if not _is_above(one, top)]
    dissolved = map(_dissolved, chain(titles, above, placed, below))
    return list(chain.from_iterable(dissolved))


def _is_above(shape: Shape, top: int | None) -> bool:
    return top is not None and shape.area is not None and shape.area.bottom <= top


def _judged(shape: Shape, width: int, height: int) -> Shape:
    """The shape, marked where nothing of it lies on the slide."""
    is_outside = shape.area is not None and width and shape.area.is_outside(width, height)
    if is_outside and shape.omitted is None:
        return replace(shape, omitted=OmissionReason.OFF_PAGE)
    return shape


def _dissolved(shape: Shape) -> Iterator[Shape]:
    """The shape, or what a group holds. XML is not parsed any deeper than this may go."""
    if shape.element.tag != SLIDE + "grpSp":
        yield shape
        return
    for one in _in_order(shape.element):
        yield from _dissolved(replace(one, omitted=shape.omitted or one.omitted))


def _in_order(tree: Element) -> list[Shape]:
    """The shapes directly in a tree or group: bands from top to bottom, each from left to right."""
    shapes = [_shape(element) for element in _elements(tree)]
    placed = sorted((one for one in shapes if one.area), key=_top)
    band: list[Shape] = []
    ordered = [one for one in shapes if not one.area]
    middle = 0
    for shape in placed:
        if band and _top(shape) >= middle:
            ordered += sorted(band, key=_left)
            band = []
        if not band and shape.area:
            middle = shape.area.top + shape.area.height // 2
        band.append(shape)
    return ordered + sorted(band, key=_left)


def _top(shape: Shape) -> int:
    return shape.area.top if shape.area else 0


def _left(shape: Shape) -> int:
    return shape.area.left if shape.area else 0


def _elements(tree: Element) -> Iterator[Element]:
    for one in tree:
        if one.tag in _KINDS:
            yield one
        elif one.tag == CHOICE + "AlternateContent":
            offered = next(iter(one), None)  # the first is the best one
            yield from () if offered is None else _elements(offered)


def _shape(element: Element) -> Shape:
    kinds = ("Sp", "Pic", "GraphicFrame", "GrpSp", "CxnSp")
    about = next(element.iterchildren(*(f"{SLIDE}nv{kind}Pr" for kind in kinds)), None)
    name = None if about is None else about.find(SLIDE + "cNvPr")
    role = None if about is None else about.find(f"{SLIDE}nvPr/{SLIDE}ph")
    is_hidden = name is not None and name.get("hidden") in ("1", "true")
    frames = ("spPr", "grpSpPr", "xfrm")
    frame = next(element.iterchildren(*(SLIDE + name for name in frames)), None)
    if frame is not None and frame.tag != SLIDE + "xfrm":
        frame = frame.find(DRAWING + "xfrm")
    offset = None if frame is None else frame.find(DRAWING + "off")
    size = None if frame is None else frame.find(DRAWING + "ext")
    if offset is None or size is None:
        area = None
    else:
        area = Area(
            *(_number(offset.get(one)) for one in ("x", "y")),
            *(_number(size.get(one)) for one in ("cx", "cy")),
        )
    return Shape(
        element,
        placeholder=None if role is None else role.get("type", "obj"),
        index=_number(role.get("idx")) if role is not None else 0,
        area=area,
        omitted=OmissionReason.HIDDEN if is_hidden else None,
    )


def _number(digits: str | None) -> int:
    try:
        return int(digits or 0)
    except ValueError:
        return 0


@dataclass(frozen=True, slots=True)
class Paragraph:
    """What one paragraph says, and how it is marked as an item of a list."""

    text: str
    mark: str = ""  # "- " or "2. "; empty if it is no item
    depth: int = 0


def _paragraphs_of(body: Element, *, is_list: bool = False) -> list[Paragraph]:
    """The paragraphs of a text body; `is_list` where they are items unless they say otherwise."""
    elements = [one for one in body.iterchildren(DRAWING + "p") if _text_of(one).strip()]
    # A single paragraph in a box for lists is hardly ever shown as a list.
    is_list = is_list and len(elements) > 1
    counts: dict[int, int] = {}
    found = []
    for element in elements:
        properties = element.find(DRAWING + "pPr")
        level = "0" if properties is None else properties.get("lvl", "0")
        depth = min(int(level), _DEEPEST) if level.isascii() and level.isdigit() else 0
        mark = _mark(properties, is_list=is_list or depth > 0)
        counts = {level: count for level, count in counts.items() if level <= depth}
        counts[depth] = counts.get(depth, 0) + 1 if mark == "#" else 0
        mark = f"{counts[depth]}. " if mark == "#" else mark
        found.append(Paragraph(_text_of(element).strip(), mark, depth if mark else 0))
    return found


def _text_of(element: Element) -> str:
    """All that is said in an element, formulas too; breaks are line feeds."""
    return "".join(_pieces(element))


def _pieces(element: Element) -> Iterator[str]:
    for one in element:
        if one.tag in (DRAWING + "t", MATH + "t"):
            yield one.text or ""
        elif one.tag == DRAWING + "br":
            yield "\n"
        elif one.tag == CHOICE + "Fallback" or one.get("type") == _NUMBERS_OF_SLIDES:
            continue
        else:
            yield from _pieces(one)


def _mark(properties: Element | None, *, is_list: bool) -> str:
    """A dash, "#" where the items are numbered, or nothing."""
    if properties is not None:
        if properties.find(DRAWING + "buNone") is not None:
            return ""
        if properties.find(DRAWING + "buAutoNum") is not None:
            return "#"
        if any(properties.find(DRAWING + name) is not None for name in ("buChar", "buBlip")):
            return "- "
    return "- " if is_list else ""


def _table_rows(table: Element) -> Rows:
    """The cells of a table, line by line; those merged into another are empty."""
    return [
        [" ".join(_text_of(cell).split()) for cell in row.iterchildren(DRAWING + "tc")]
        for row in table.iterchildren(DRAWING + "tr")
    ]


def _chart_title(chart: Element) -> str:
    """What stands above a chart; empty if nothing does."""
    title = chart.find(f"{CHART}chart/{CHART}title")
    return "" if title is None else " ".join(_text_of(title).split())


def _chart_rows(chart: Element) -> Rows:
    """A chart as a table: a column for each series, a row for each category."""
    columns: list[tuple[str, dict[str, str]]] = []
    categories: dict[str, str] = {}
    for series in list(chart.iter(_SERIES))[:_MOST_SERIES]:
        named = series.find(CHART + "tx")
        name = "" if named is None else " ".join(one.text or "" for one in named.iter(CHART + "v"))
        values = _points(series, "val", "yVal")
        for index, category in _points(series, "cat", "xVal").items():
            categories.setdefault(index, category)
        for index in values:
            categories.setdefault(index, "")
        columns.append((name, values))
    if not any(values for _, values in columns):
        return []
    header = ["", *(name for name, _ in columns)]
    return [
        header,
        *(
            [name, *(values.get(at, "") for _, values in columns)]
            for at, name in categories.items()
        ),
    ][: _MOST_POINTS + 1]


def _points(series: Element, *names: str) -> dict[str, str]:
    """What the chart remembers of its data, by the number of the point."""
    found = {}
    for name in names:
        data = series.find(CHART + name)
        for point in () if data is None else data.iter(CHART + "pt"):
            # A number with the precision of Office; any other text as it is.
            value = point.findtext(CHART + "v") or ""
            try:
                found[point.get("idx", "")] = f"{float(value):.15g}"
            except ValueError:
                found[point.get("idx", "")] = " ".join(value.split())
    return found


def _diagram_items(diagram: Element) -> Iterator[str]:
    """What the nodes of a diagram say."""
    for node in diagram.iter(DIAGRAM + "pt"):
        if node.get("type") not in _CONNECTIONS:
            yield " ".join(_text_of(node).split())
