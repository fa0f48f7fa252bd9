"""An OpenDocument file's bytes → its Content."""

from __future__ import annotations

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.reading.office.look import Look
from pincite.reading.office.opendocument.body import BodyReader
from pincite.reading.office.opendocument.names import (
    DRAW,
    DUBLIN_CORE,
    FORM,
    LINK,
    MANIFEST,
    META,
    OFFICE,
    TEXT,
    XML_ID,
    Element,
)
from pincite.reading.office.opendocument.paragraphs import Aside, ParagraphReader
from pincite.reading.office.opendocument.slides import read_slides
from pincite.reading.office.opendocument.styles import Styles
from pincite.reading.source_file import SourceFile
from pincite.reading.xml_safely import parse_xml
from pincite.reading.zipped import SafeZip
from pincite.records import Content, Metadata

_MANIFEST = "META-INF/manifest.xml"
_KINDS = {"text": "odt", "presentation": "odp", "drawing": "odg"}
_MATHS = "{http://www.w3.org/1998/Math/MathML}"
_MOST_FORMULAS = 1_000
_LONGEST = 1_000  # characters of a formula or a control, which the text may refer to many times


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
                pages = read_slides(reader, styles, body)
            return _content(reader, name, _part(archive, "meta.xml"), pages)
    raise FileUnreadable("is damaged: it has no text body")


def _refuse_encrypted(archive: SafeZip) -> None:
    manifest = archive.read(_MANIFEST) if archive.has(_MANIFEST) else b"<none/>"
    root = parse_xml(manifest)
    if next(root.iter(MANIFEST + "encryption-data"), None) is not None:
        raise FileUnreadable("is encrypted; save it without a password")


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


def _content(
    reader: BodyReader, kind: str, properties: Element | None, pages: int | None
) -> Content:
    def of(name: str) -> str | None:
        return None if properties is None else properties.findtext(f"{OFFICE}meta/{name}")

    words = () if properties is None else properties.iter(META + "keyword")
    metadata = Metadata(
        tags=facts.tags([word.text for word in words]),
        author=facts.one_line(of(META + "initial-creator") or of(DUBLIN_CORE + "creator")),
        date=facts.iso_date(of(META + "creation-date")),
        modified=facts.iso_date(of(DUBLIN_CORE + "date")),
        language=facts.one_line(of(DUBLIN_CORE + "language")),
        pages=pages,
    )
    named = facts.one_line(of(DUBLIN_CORE + "title"))
    return reader.writer.content(
        kind, title=reader.title or named or reader.sole_heading, metadata=metadata
    )
