"""A presentation's bytes → its Content: each slide is a page under its title."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.office_parts import OfficeParts
from pincite.reading.office.pptx.graphics import (
    Rows,
    chart_rows,
    chart_title,
    diagram_items,
    table_rows,
)
from pincite.reading.office.pptx.names import CHART, DIAGRAM, DRAWING, RELATION, SLIDE, Element
from pincite.reading.office.pptx.shapes import TITLES, Shape, shapes_of
from pincite.reading.office.pptx.text import Paragraph, paragraphs_of, text_of
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run, Writer
from pincite.records import Content, OmissionReason

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
    width, height = _size(presentation)
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


def _size(presentation: Element) -> tuple[int, int]:
    size = presentation.find(SLIDE + "sldSz")
    sides = [] if size is None else [size.get("cx", ""), size.get("cy", "")]
    if not all(side.isascii() and side.isdigit() for side in sides) or not sides:
        return 0, 0
    return int(sides[0]), int(sides[1])


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
        shapes = shapes_of(self._slide, width=width, height=height)
        title = next((one for one in shapes if _is_title(one)), None)
        if title is not None and not self._is_hidden:
            self._heading = self.title = " ".join(text_of(title.element).split())
        elif self._is_hidden:
            self._heading += " (hidden)"
        for shape in shapes:
            if shape is not title or self._is_hidden:
                self._omitted = OmissionReason.HIDDEN if self._is_hidden else shape.omitted
                self._shape(shape)
        if title is not None:
            self._begin()
        self._omitted = OmissionReason.HIDDEN if self._is_hidden else None
        self._notes()
        if with_comments:
            self._comments()

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
            for paragraph in paragraphs_of(body, is_list=shape.placeholder in _LISTS):
                self._say(paragraph)
        if element.tag == SLIDE + "pic":
            self._picture(element)
        elif element.tag == SLIDE + "graphicFrame":
            self._graphic(element)

    def _picture(self, picture: Element) -> None:
        name = picture.find(f"{SLIDE}nvPicPr/{SLIDE}cNvPr")
        described = "" if name is None else _BY_MACHINE.sub("", name.get("descr", ""))
        if described.strip() and not _NO_DESCRIPTION.fullmatch(described):
            self._say(Paragraph(f"[picture: {' '.join(described.split())}]"))

    def _graphic(self, frame: Element) -> None:
        data = frame.find(f"{DRAWING}graphic/{DRAWING}graphicData")
        for one in () if data is None else data:
            if one.tag == DRAWING + "tbl":
                self._table(table_rows(one))
            elif one.tag == CHART + "chart":
                self._chart(one.get(RELATION + "id", ""))
            elif one.tag == DIAGRAM + "relIds":
                diagram = self._related(one.get(RELATION + "dm", ""))
                for item in () if diagram is None else diagram_items(diagram):
                    self._say(Paragraph(item, mark="- "))

    def _chart(self, identifier: str) -> None:
        chart = self._related(identifier)
        if chart is not None:
            title = chart_title(chart)
            self._say(Paragraph(f"Chart: {title}" if title else ""))
            self._table(chart_rows(chart))

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

    def _notes(self) -> None:
        """What the speaker is going to say, or did."""
        for page in self._related_as("notesSlide"):
            shapes = shapes_of(page, width=0, height=0)
            bodies = [one.element for one in shapes if one.placeholder == "body"]
            lines = [text for one in bodies for text in _lines(one)]
            self._say(Paragraph("Notes: " + "\n".join(lines) if lines else ""))

    def _comments(self) -> None:
        for page in self._related_as("comments"):
            for comment in page.iter("{*}cm"):
                said = comment.findtext(SLIDE + "text") or text_of(comment)
                text = " ".join(said.split())
                self._say(Paragraph(f"[comment: {text}]" if text else ""))


def _is_title(shape: Shape) -> bool:
    is_title = shape.placeholder in TITLES and shape.omitted is None
    return is_title and bool(text_of(shape.element).strip())


def _lines(shape: Element) -> list[str]:
    body = shape.find(SLIDE + "txBody")
    return [] if body is None else [one.text for one in paragraphs_of(body)]
