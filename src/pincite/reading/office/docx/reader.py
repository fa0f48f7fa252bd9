"""A Word document's bytes → its Content."""

from __future__ import annotations

from dataclasses import replace

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.docx.body import BodyReader
from pincite.reading.office.docx.names import W, child
from pincite.reading.office.docx.paragraphs import DocxOptions
from pincite.reading.office.docx.parts import Parts
from pincite.reading.source_file import SourceFile
from pincite.records import Content

_IMPORTS = "holds other files that are shown with it; they were not read"


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
    document = parts.main()
    body = child(document, "body")
    if body is None:
        raise FileUnreadable("is damaged: it has no text body")
    has_pages = next(body.iter(W + "lastRenderedPageBreak"), None) is not None
    reader = BodyReader(parts, options, page=1 if has_pages else None)
    reader.read(body, on_shade=child(document, "background") is not None)
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
