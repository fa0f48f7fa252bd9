"""What XML can do to a reader, in every package: definitions, entities, encodings."""

from __future__ import annotations

import io
from collections.abc import Callable
from zipfile import ZipFile

from hostile.case import Bait, Build, Case, either, made, read, refused
from hostile.samples import WORDS, book_parts, open_sheet, open_text, slides, word, workbook
from word_files import paragraph, word_file, word_parts, zipped

_BUILDERS = {
    "docx": (word, "word/document.xml"),
    "xlsx": (workbook, "xl/worksheets/sheet1.xml"),
    "pptx": (slides, "ppt/slides/slide1.xml"),
    "odt": (open_text, "content.xml"),
    "ods": (open_sheet, "content.xml"),
    "epub": (lambda: zipped(book_parts()), "book.opf"),
}
_DEFINITION = "document type definition"


def _changed(kind: str, part: str | None = None, *, before: str, into: str | None = None) -> bytes:
    """A sound package; `before` goes before the first element of a part, `into` for its words."""
    build, main = _BUILDERS[kind]
    with ZipFile(io.BytesIO(build())) as archive:
        parts: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    name = part or main
    text = parts[name]
    assert isinstance(text, bytes)
    said = text.decode().replace("Pumps", into or "Pumps").replace(WORDS, into or WORDS)
    parts[name] = before + said
    return zipped(parts)


_LAUGHS = "".join(
    f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' if n else '<!ENTITY a0 "lol">' for n in range(10)
)


def _doctype(inside: str) -> str:
    return f"<?xml version='1.0'?><!DOCTYPE a [{inside}]>"


def _file_entity(bait: Bait) -> str:
    return _doctype(f'<!ENTITY b SYSTEM "file://{bait.path}">')


def _address_entity(bait: Bait) -> str:
    return _doctype(f'<!ENTITY b SYSTEM "{bait.url}/b">')


def _parameter_entity(bait: Bait) -> str:
    return _doctype(f'<!ENTITY % b SYSTEM "{bait.url}/b.dtd"> %b;')


def _with_entity(kind: str, make: Callable[[Bait], str], part: str | None = None) -> Build:
    return lambda bait: _changed(kind, part, before=make(bait), into="&b;")


_LONG_ENTITY = f'<!ENTITY b "{"x" * 50_000}">'
_CASES = (
    *(
        refused(
            f"laughs.{kind}",
            _DEFINITION,
            made(_changed, kind, before=_doctype(_LAUGHS), into="&a9;"),
        )
        for kind in _BUILDERS
    ),
    *(
        refused(
            f"quadratic.{kind}",
            _DEFINITION,
            made(_changed, kind, before=_doctype(_LONG_ENTITY), into="&b;" * 50_000),
        )
        for kind in _BUILDERS
    ),
    *(
        refused(
            f"entity-{name}.{kind}",
            _DEFINITION,
            _with_entity(kind, make),
        )
        for kind in _BUILDERS
        for name, make in (
            ("file", _file_entity),
            ("address", _address_entity),
            ("parameter", _parameter_entity),
        )
    ),
    *(
        refused(
            f"doctype-in-relations.{kind}",
            _DEFINITION,
            _with_entity(kind, _file_entity, "_rels/.rels"),
        )
        for kind in ("docx", "xlsx", "pptx")
    ),
    refused(
        "doctype-in-types.docx",
        _DEFINITION,
        _with_entity("docx", _file_entity, "[Content_Types].xml"),
    ),
    either(
        "doctype-in-chapter.epub",
        lambda bait: zipped(
            book_parts() | {"a.xhtml": _file_entity(bait) + "<html><body>&b;</body></html>"}
        ),
    ),
    refused("doctype-behind-comment.docx", _DEFINITION, lambda bait: _hidden_doctype(bait)),
    refused("wide-doctype.docx", _DEFINITION, lambda bait: _wide(_file_entity(bait))),
    refused("utf-7.docx", "encoding that cannot be read", lambda _: _utf_7()),
    read("wide.docx", lambda _: _wide("<?xml version='1.0' encoding='UTF-16'?>"), has=WORDS),
    refused(
        "include.docx",
        "no text|empty|damaged",
        lambda bait: word_file(
            '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" parse="text" '
            f'href="{bait.path}"/>'
        ),
    ),
)


def _document(xml: str | bytes) -> bytes:
    """A Word file with this as its main part."""
    return zipped(word_parts("") | {"word/document.xml": xml})


def _main_part() -> str:
    made = word_parts(paragraph(WORDS))["word/document.xml"]
    assert isinstance(made, str)
    return made


def _hidden_doctype(bait: Bait) -> bytes:
    return _document(f"<?x ?><!-- <a> -->\n<?y?>{_file_entity(bait)[21:]}{_main_part()}")


def _wide(before: str) -> bytes:
    return _document((before + _main_part()).encode("utf-16"))


def _utf_7() -> bytes:
    declared = b'<?xml version="1.0" encoding="UTF-7"?>'
    return _document(declared + f"<!DOCTYPE a>{_main_part()}".encode("utf-7"))


CASES: tuple[Case, ...] = _CASES
