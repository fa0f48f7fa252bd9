"""Makes the files of today's Office in memory, part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

_SCHEMAS = "http://schemas.openxmlformats.org"
_RELATIONS = f"{_SCHEMAS}/officeDocument/2006/relationships"
_PACKAGE = f"{_SCHEMAS}/package/2006"
_SHEETS = f"{_SCHEMAS}/spreadsheetml/2006/main"

Cell = str | int | float | bool | None


def package(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip archive that holds the parts."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in parts.items():
            opened.writestr(name, content)
    return archive.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    """The parts of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def relations(*targets: tuple[str, str, str]) -> str:
    """A part that names others: identifier, kind and target of each."""
    inner = "".join(
        f'<Relationship Id="{identifier}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for identifier, kind, target in targets
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inner}</Relationships>'


def content_types(main_part: str, main_type: str) -> str:
    """The part that says what the file is."""
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main_part}" ContentType="application/vnd.{main_type}.main+xml"/>'
        "</Types>"
    )


def core_properties(**properties: str) -> str:
    """What a file says about itself: title, creator, created, modified, keywords."""
    terms = {"created", "modified"}
    inner = "".join(
        f"<{prefix}:{name}>{escape(value)}</{prefix}:{name}>"
        for name, value in properties.items()
        for prefix in ["dcterms" if name in terms else "cp" if name == "keywords" else "dc"]
    )
    return (
        f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        f"{inner}</cp:coreProperties>"
    )


@dataclass(frozen=True)
class SheetXml:
    """One sheet of a workbook: its rows by number, or the XML of all its rows."""

    name: str
    rows: Mapping[int, Sequence[Cell]] | str
    state: str = "visible"
    merged: Sequence[str] = ()

    @property
    def xml(self) -> str:
        """The part."""
        rows = self.rows if isinstance(self.rows, str) else _rows(self.rows)
        merged = "".join(f'<mergeCell ref="{one}"/>' for one in self.merged)
        merged = f"<mergeCells>{merged}</mergeCells>" if merged else ""
        return f'<worksheet xmlns="{_SHEETS}"><sheetData>{rows}</sheetData>{merged}</worksheet>'


def xlsx(*sheets: SheetXml, properties: str | None = None) -> bytes:
    """A workbook; style 1 is a date, 2 a time, 3 a moment."""
    listed = "".join(
        f'<sheet name={quoteattr(sheet.name)} sheetId="{number}" state="{sheet.state}" '
        f'r:id="rId{number}"/>'
        for number, sheet in enumerate(sheets, start=1)
    )
    targets = [
        (f"rId{number}", "worksheet", f"worksheets/sheet{number}.xml")
        for number in range(1, len(sheets) + 1)
    ]
    parts = {
        "[Content_Types].xml": content_types(
            "xl/workbook.xml", "openxmlformats-officedocument.spreadsheetml.sheet"
        ),
        "_rels/.rels": _root_relations("xl/workbook.xml", properties),
        "xl/workbook.xml": f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATIONS}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(*targets, ("styles", "styles", "styles.xml")),
        "xl/styles.xml": f'<styleSheet xmlns="{_SHEETS}"><cellXfs>'
        + "".join(f'<xf numFmtId="{one}" applyNumberFormat="1"/>' for one in (0, 14, 21, 22))
        + "</cellXfs></styleSheet>",
    }
    for (_, _, target), sheet in zip(targets, sheets, strict=True):
        parts[f"xl/{target}"] = sheet.xml
    if properties is not None:
        parts["docProps/core.xml"] = properties
    return package(parts)


def _root_relations(main_part: str, properties: str | None) -> str:
    written = relations(("rId1", "officeDocument", main_part))
    if properties is None:
        return written
    core = (
        f'<Relationship Id="rId2" Type="{_PACKAGE}/relationships/metadata/core-properties" '
        'Target="docProps/core.xml"/></Relationships>'
    )
    return written.replace("</Relationships>", core)


def _rows(rows: Mapping[int, Sequence[Cell]]) -> str:
    return "".join(
        f'<row r="{number}">'
        + "".join(_cell(f"{_letters(at)}{number}", value) for at, value in enumerate(values))
        + "</row>"
        for number, values in rows.items()
    )


def _cell(place: str, value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def _letters(column: int) -> str:
    return chr(65 + column) if column < 26 else _letters(column // 26 - 1) + chr(65 + column % 26)


@dataclass(frozen=True)
class SlideXml:
    """One slide: the XML of its shapes, and the parts that it refers to."""

    shapes: str
    parts: Mapping[tuple[str, str, str], str] | None = None  # identifier, kind, name → content
    attributes: str = ""

    @property
    def xml(self) -> str:
        """The part."""
        return _slide("sld", self.shapes, self.attributes)


def notes_slide(text: str) -> str:
    """The part that holds a speaker's notes."""
    picture = shape("ignored", placeholder="sldNum")
    return _slide("notes", shape(text, placeholder="body") + picture, "")


def _slide(kind: str, shapes: str, attributes: str) -> str:
    return (
        f'<p:{kind} xmlns:p="{_SCHEMAS}/presentationml/2006/main" '
        f'xmlns:a="{_SCHEMAS}/drawingml/2006/main" xmlns:r="{_RELATIONS}" '
        f'xmlns:mc="{_SCHEMAS}/markup-compatibility/2006" '
        f'xmlns:c="{_SCHEMAS}/drawingml/2006/chart" '
        f'xmlns:dgm="{_SCHEMAS}/drawingml/2006/diagram" {attributes}>'
        f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:{kind}>"
    )


def shape(
    *texts: str,
    placeholder: str | None = None,
    index: int = 0,
    at: tuple[int, int, int, int] | None = None,
    hidden: bool = False,
) -> str:
    """A shape of paragraphs; one that begins with "<" is XML of its own. `at`: x, y, cx, cy."""
    role = f'<p:ph type="{placeholder}" idx="{index}"/>' if placeholder else ""
    body = "".join(
        text if text.startswith("<") else f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>"
        for text in texts
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="" hidden="{int(hidden)}"/><p:cNvSpPr/>'
        f"<p:nvPr>{role}</p:nvPr></p:nvSpPr><p:spPr>{frame('a', at)}</p:spPr>"
        f"<p:txBody>{body}</p:txBody></p:sp>"
    )


def frame(prefix: str, at: tuple[int, int, int, int] | None) -> str:
    """Where a shape stands: x, y, cx, cy."""
    if at is None:
        return ""
    x, y, width, height = at
    return (
        f'<{prefix}:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/>'
        f"</{prefix}:xfrm>"
    )


def graphic(inner: str, at: tuple[int, int, int, int] = (0, 0, 10, 10)) -> str:
    """A frame around a table, a chart or a diagram."""
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="1" name=""/></p:nvGraphicFramePr>'
        f"{frame('p', at)}<a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic>"
        "</p:graphicFrame>"
    )


def pptx(*slides: SlideXml, properties: str | None = None) -> bytes:
    """A presentation of slides of 1,000 by 500 units."""
    listed = "".join(
        f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in range(1, len(slides) + 1)
    )
    parts = {
        "[Content_Types].xml": content_types(
            "ppt/presentation.xml", "openxmlformats-officedocument.presentationml.presentation"
        ),
        "_rels/.rels": _root_relations("ppt/presentation.xml", properties),
        "ppt/presentation.xml": f'<p:presentation xmlns:r="{_RELATIONS}" '
        f'xmlns:p="{_SCHEMAS}/presentationml/2006/main">'
        f'<p:sldIdLst>{listed}</p:sldIdLst><p:sldSz cx="1000" cy="500"/></p:presentation>',
        "ppt/_rels/presentation.xml.rels": relations(
            *(
                (f"rId{number}", "slide", f"slides/slide{number}.xml")
                for number in range(1, len(slides) + 1)
            )
        ),
    }
    for number, slide in enumerate(slides, start=1):
        parts[f"ppt/slides/slide{number}.xml"] = slide.xml
        referred = slide.parts or {}
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(
            *((identifier, kind, f"../{name}") for identifier, kind, name in referred)
        )
        parts |= {f"ppt/{name}": content for (_, _, name), content in referred.items()}
    if properties is not None:
        parts["docProps/core.xml"] = properties
    return package(parts)
