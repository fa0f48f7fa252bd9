"""Makes Word and OpenDocument files in memory, good and bad, and the zip archives they are."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from zipfile import ZIP_DEFLATED, ZipFile

MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_NAMESPACES = (
    f'xmlns:w="{MAIN}" xmlns:m="{_OFFICE}/math" xmlns:r="{_OFFICE}/relationships" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
)
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"

_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_OPEN_NAMESPACES = " ".join(
    (
        *(f'xmlns:{name}="{_OASIS}:{name}:1.0"' for name in ("office", "text", "table", "style")),
        *(f'xmlns:{name}="{_OASIS}:{name}:1.0"' for name in ("presentation", "form", "meta")),
        f'xmlns:draw="{_OASIS}:drawing:1.0"',
        f'xmlns:fo="{_OASIS}:xsl-fo-compatible:1.0"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/"',
        'xmlns:xlink="http://www.w3.org/1999/xlink"',
    )
)


def zipped(parts: Mapping[str, bytes | str] | Sequence[tuple[str, bytes | str]]) -> bytes:
    """A zip archive of these parts; a sequence may hold the same name twice."""
    made = io.BytesIO()
    named = parts.items() if isinstance(parts, Mapping) else parts
    with warnings.catch_warnings(), ZipFile(made, "w", ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore", UserWarning)  # the same name twice
        for name, content in named:
            archive.writestr(name, content)
    return made.getvalue()


def word_parts(body: str, **others: str) -> dict[str, bytes | str]:
    """The parts of a Word file: its body, and by their names styles, numbering, footnotes…

    `core` holds the properties, `background` goes before the body.
    """
    core = others.pop("core", "")
    background = others.pop("background", "")
    parts: dict[str, bytes | str] = {
        "[Content_Types].xml": content_types(WORD_TYPE),
        "_rels/.rels": relations(
            (f"{_OFFICE}/relationships/officeDocument", "word/document.xml"),
            (f"{_RELATIONS}/metadata/core-properties", "docProps/core.xml"),
        ),
        "word/document.xml": f"<w:document {_NAMESPACES}>{background}<w:body>{body}</w:body>"
        "</w:document>",
        "word/_rels/document.xml.rels": relations(
            *((f"{_OFFICE}/relationships/{name}", f"{name}.xml") for name in others)
        ),
        "docProps/core.xml": (
            '<cp:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/" '
            'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:cp="http://schemas.openxmlformats.org'
            f'/package/2006/metadata/core-properties">{core}</cp:coreProperties>'
        ),
    }
    for name, content in others.items():
        parts[f"word/{name}.xml"] = f"<w:{name} {_NAMESPACES}>{content}</w:{name}>"
    return parts


def word_file(body: str, **others: str) -> bytes:
    """A Word file with this body; the others as for `word_parts`."""
    return zipped(word_parts(body, **others))


def content_types(main: str) -> str:
    """A list of content types in which every XML part has the same one."""
    return (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        f'<Default Extension="xml" ContentType="{main}"/></Types>'
    )


def relations(*targets: tuple[str, str]) -> str:
    """A part that relates another to these, by their types; rId1 is the first."""
    made = "".join(
        f'<Relationship Id="rId{number}" Type="{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_RELATIONS}">{made}</Relationships>'


def paragraph(text: str, properties: str = "", run: str = "") -> str:
    """A paragraph of one run, with properties of both."""
    return (
        f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr>"
        f'<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'
    )


def styled(text: str, style: str) -> str:
    """A paragraph in a style."""
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def style(name: str, identifier: str, inside: str = "", *, kind: str = "paragraph") -> str:
    """A style with its name, as it stands among the styles."""
    return (
        f'<w:style w:type="{kind}" w:styleId="{identifier}"><w:name w:val="{name}"/>{inside}'
        "</w:style>"
    )


def cells(*texts: str) -> str:
    """Cells of a table, each with a paragraph."""
    return "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in texts)


def text_box(inside: str, fill: str = "", shape_style: str = "") -> str:
    """A shape with paragraphs in it, as it stands in a run."""
    return (
        f"<w:drawing><wps:wsp><wps:spPr>{fill}</wps:spPr>{shape_style}<wps:txbx><w:txbxContent>"
        f"{inside}</w:txbxContent></wps:txbx></wps:wsp></w:drawing>"
    )


def open_parts(
    body: str, *, kind: str = "text", styles: str = "", meta: str = ""
) -> dict[str, bytes | str]:
    """The parts of an OpenDocument file with this body and these automatic styles."""
    return {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content {_OPEN_NAMESPACES}>"
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
        "</office:document-content>",
        "meta.xml": f"<office:document-meta {_OPEN_NAMESPACES}><office:meta>{meta}</office:meta>"
        "</office:document-meta>",
    }


def open_file(body: str, *, kind: str = "text", styles: str = "", meta: str = "") -> bytes:
    """An OpenDocument file; as for `open_parts`."""
    return zipped(open_parts(body, kind=kind, styles=styles, meta=meta))
