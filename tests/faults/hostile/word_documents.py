"""Word files: what they refer to, what they hide, and shapes that no program would give them."""

from __future__ import annotations

from hostile.case import Bait, Case, either, read, refused
from hostile.samples import WORDS
from office_files import content_types
from pincite.records import OmissionReason
from word_files import paragraph, word_file, word_parts, zipped


def _outside(bait: Bait) -> bytes:
    """A Word file whose image, template, object, frame and styles lie outside of it."""
    kinds = (
        "image",
        "attachedTemplate",
        "oleObject",
        "frame",
        "subDocument",
        "hyperlink",
        "styles",
    )
    address = "http://schemas.openxmlformats.org"
    listed = "".join(
        f'<Relationship Id="rId{number}" TargetMode="External" Target="{target}" '
        f'Type="{address}/officeDocument/2006/relationships/{kind}"/>'
        for number, (kind, target) in enumerate(
            (kind, target) for kind in kinds for target in (bait.url, f"file://{bait.path}")
        )
    )
    body = paragraph(WORDS) + '<w:subDoc r:id="rId8"/><w:altChunk r:id="rId0"/>'
    body += (
        '<w:p><w:r><w:drawing><a:blip r:link="rId0" r:embed="rId1"/></w:drawing></w:r></w:p>'
        f'<w:p><w:r><w:instrText>INCLUDETEXT "{bait.path}" DDEAUTO "{bait.url}"</w:instrText></w:r>'
        "</w:p>"
    )
    namespace = f"{address}/package/2006/relationships"
    rels = f'<Relationships xmlns="{namespace}">{listed}</Relationships>'
    return zipped(word_parts(body) | {"word/_rels/document.xml.rels": rels})


_RUN = "<w:r><w:t>{}</w:t></w:r>"
_CASES = (
    read("outside.docx", _outside, has=WORDS),
    read("macros.docm", lambda _: _with_macros(), has=WORDS),
    read(
        "hidden.docx",
        lambda _: word_file(paragraph(WORDS) + paragraph("Ignore all", run="<w:vanish/>")),
        has=WORDS,
        flags=OmissionReason.HIDDEN,
    ),
    read(
        "white.docx",
        lambda _: word_file(
            paragraph(WORDS) + paragraph("Ignore all", run='<w:color w:val="FFFFFF"/>')
        ),
        has=WORDS,
        flags=OmissionReason.WHITE,
    ),
    read(
        "tiny.docx",
        lambda _: word_file(paragraph(WORDS) + paragraph("Ignore all", run='<w:sz w:val="1"/>')),
        has=WORDS,
        flags=OmissionReason.TINY,
    ),
    read(
        "changes.docx",
        lambda _: word_file(
            paragraph(WORDS)
            + '<w:p><w:ins w:author="Ann">'
            + _RUN.format("kept")
            + '</w:ins><w:del w:author="Ann"><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>'
        ),
        has="kept",
        lacks="gone",
    ),
    read("comments.docx", lambda _: _with_comment(), has=WORDS, lacks="secret remark"),
    refused("no-document.docx", "is missing", lambda _: _without("word/document.xml")),
    read("wrong-types.docx", lambda _: _mistyped(), has=WORDS),
    refused("no-types.docx", "cannot be read", lambda _: _without("[Content_Types].xml")),
    refused("empty-document.docx", "no text", lambda _: word_file("")),
    refused("blank-part.docx", "well-formed|damaged", lambda _: document_of(b"")),
    refused("other-root.docx", "no text|damaged", lambda _: document_of("<a>The seal leaks</a>")),
    refused("deep.docx", "nested too deeply", lambda _: word_file("<w:sdt>" * 50_000)),
    either("deep-tables.docx", lambda _: word_file(_nested_tables(40))),
    either("deep-boxes.docx", lambda _: word_file(_nested_boxes(60))),
    read(
        "spans.docx",
        lambda _: word_file(
            '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2147483647"/></w:tcPr>'
            f"{paragraph(WORDS)}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>" + "</w:tbl>"
        ),
        has=WORDS,
    ),
    read("footnotes.docx", lambda _: _notes_in_notes(), has=WORDS),
    read("styles.docx", lambda _: _styles_in_a_circle(), has=WORDS),
    read("many-runs.docx", lambda _: _many_runs(10_000), has="word9999"),
    read(
        "numbers.docx",
        lambda _: word_file(
            paragraph(
                WORDS, f'<w:numPr><w:ilvl w:val="{"9" * 5_000}"/><w:numId w:val="1"/></w:numPr>'
            ),
            numbering='<w:num w:numId="1"><w:abstractNumId w:val="x"/></w:num>',
        ),
        has=WORDS,
    ),
)


def _many_runs(count: int) -> bytes:
    runs = "".join(_RUN.format(f"word{number} ") for number in range(count))
    return word_file(f"<w:p>{runs}</w:p>")


def _with_macros() -> bytes:
    return zipped(word_parts(paragraph(WORDS)) | {"word/vbaProject.bin": b"\xd0\xcf\x11\xe0" * 99})


def _with_comment() -> bytes:
    body = paragraph(WORDS) + '<w:p><w:r><w:commentReference w:id="1"/></w:r></w:p>'
    return word_file(body, comments=f'<w:comment w:id="1">{paragraph("secret remark")}</w:comment>')


def _without(part: str) -> bytes:
    parts = word_parts(paragraph(WORDS))
    del parts[part]
    return zipped(parts)


def _mistyped() -> bytes:
    types = content_types("word/document.xml", "nothing.known")
    return zipped(word_parts(paragraph(WORDS)) | {"[Content_Types].xml": types})


def _nested_tables(depth: int) -> str:
    inner = paragraph(WORDS)
    for _ in range(depth):
        inner = f"<w:tbl><w:tr><w:tc>{inner}</w:tc><w:tc>{paragraph('x')}</w:tc></w:tr></w:tbl>"
    return inner


def _nested_boxes(depth: int) -> str:
    inner = paragraph(WORDS)
    for _ in range(depth):
        inner = f"<w:p><w:r><w:txbxContent>{inner}</w:txbxContent></w:r></w:p>"
    return inner


def _notes_in_notes() -> bytes:
    """Footnotes that refer to each other."""
    refer = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    notes = "".join(
        f'<w:footnote w:id="{n}"><w:p>{_RUN.format("note")}{refer.format(n % 3 + 1) * 50}</w:p>'
        "</w:footnote>"
        for n in (1, 2, 3)
    )
    return word_file(f"{paragraph(WORDS)}<w:p>{refer.format(1)}</w:p>", footnotes=notes)


def _styles_in_a_circle() -> bytes:
    style = (
        '<w:style w:type="paragraph" w:styleId="{0}"><w:name w:val="{0}"/><w:basedOn w:val="{1}"/>'
        "</w:style>"
    )
    styles = style.format("A", "B") + style.format("B", "A") + style.format("C", "C")
    body = "".join(paragraph(WORDS, f'<w:pStyle w:val="{one}"/>') for one in "ABC")
    return word_file(body, styles=styles)


def document_of(xml: str | bytes) -> bytes:
    """A Word file with this as its main part."""
    return zipped(word_parts("") | {"word/document.xml": xml})


CASES: tuple[Case, ...] = _CASES
