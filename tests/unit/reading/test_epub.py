"""E-books: the chapters in their order, whatever the archive around them looks like."""

from __future__ import annotations

import io
from collections.abc import Mapping
from zipfile import ZipFile

import pytest

from pincite.errors import FileUnreadable
from pincite.reading.source_file import SourceFile
from pincite.reading.web.epub import read_epub
from pincite.records import Content

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>"
)
METADATA = (
    "<dc:title>On Pumps</dc:title><dc:creator>Ann Bee</dc:creator><dc:creator>Cy Dee</dc:creator>"
    "<dc:date opf:event='modification'>2020-01-01</dc:date><dc:date>2019-08-23</dc:date>"
    "<dc:language>en-GB</dc:language><dc:subject>Water</dc:subject><dc:subject>Seals</dc:subject>"
    "<meta property='dcterms:modified'>2021-02-03T04:05:06Z</meta>"
)
XHTML = "application/xhtml+xml"


def package(items: Mapping[str, str], spine: str | None = None, extra: str = "") -> str:
    """The package document: href → media type; ids are c0, c1, …"""
    manifest = "".join(
        f'<item id="c{number}" href="{href}" media-type="{media_type}"/>'
        for number, (href, media_type) in enumerate(items.items())
    )
    order = spine or "".join(f'<itemref idref="c{number}"/>' for number in range(len(items)))
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:opf="http://www.idpf.org/2007/opf"'
        f' xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>{METADATA}</metadata>'
        f"<manifest>{manifest}{extra}</manifest><spine>{order}</spine></package>"
    )


def chapter(body: str) -> str:
    return (
        '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x.dtd">'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head>'
        f'<body><a id="top"/>{body}</body></html>'
    )


def book(parts: Mapping[str, str]) -> Content:
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, text in {"mimetype": "application/epub+zip", **parts}.items():
            archive.writestr(name, text)
    return read_epub(SourceFile("book.epub", packed.getvalue()))


def simple(items: Mapping[str, str], **parts: str) -> Content:
    """A book of these chapters in its usual place."""
    chapters = {f"OEBPS/{href}": chapter(body) for href, body in items.items()}
    opf = package(dict.fromkeys(items, XHTML))
    return book({"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": opf, **chapters, **parts})


def test_chapters_are_read_in_the_order_of_the_spine() -> None:
    spine = '<itemref idref="c1"/><itemref idref="c0"/>'
    content = book(
        {
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package({"b.xhtml": XHTML, "a.xhtml": XHTML}, spine),
            "OEBPS/b.xhtml": chapter("<h1>Two</h1><p>R&amp;D&nbsp;here</p>"),
            "OEBPS/a.xhtml": chapter("<h1>One</h1><p>Begin</p>"),
        }
    )
    assert content.text == "One\n\nBegin\n\nTwo\n\nR&D here"
    assert [section.heading_path for section in content.sections] == [("One",), ("Two",)]


def test_a_book_says_what_it_is() -> None:
    content = simple({"a.xhtml": "<p>Text</p>"})
    assert content.title == "On Pumps"
    assert content.metadata.author == "Ann Bee, Cy Dee"
    assert content.metadata.date == "2019-08-23"
    assert content.metadata.modified == "2021-02-03T04:05:06+00:00"
    assert content.metadata.language == "en-GB"
    assert content.metadata.tags == ("Water", "Seals")
    assert content.metadata.pages is None


def test_names_in_the_package_are_decoded_and_resolved() -> None:
    content = book(
        {
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package({"./text/../text/chapter%201.xhtml": XHTML}),
            "OEBPS/text/chapter 1.xhtml": chapter("<p>Found</p>"),
        }
    )
    assert content.text == "Found"


@pytest.mark.parametrize(
    "href",
    [
        "../../etc/passwd",
        "file:///etc/passwd",
        "",
    ],
)
def test_nothing_outside_of_the_archive_is_read(href: str) -> None:
    content = book(
        {
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package({"a.xhtml": XHTML, href: XHTML}),
            "OEBPS/a.xhtml": chapter("<p>Inside</p>"),
        }
    )
    assert content.text == "Inside"
    assert len(content.metadata.notes) == 1


def test_a_lost_chapter_is_noted_and_a_lost_book_refused() -> None:
    parts = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package({"a.xhtml": XHTML, "lost.xhtml": XHTML}),
    }
    content = book({**parts, "OEBPS/a.xhtml": chapter("<p>Here</p>")})
    assert content.metadata.notes == ("lacks the chapter OEBPS/lost.xhtml",)
    with pytest.raises(FileUnreadable, match="none of its chapters"):
        book(parts)


NCX = (
    '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "ncx.dtd">'
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel>'
    '<text>The Seal</text></navLabel><content src="a.xhtml#start"/></navPoint></navMap></ncx>'
)
NAV = '<nav epub:type="toc"><ol><li><a href="a.xhtml">The <b>Seal</b></a></li></ol></nav>'


@pytest.mark.parametrize(
    ("item", "name", "data"),
    [
        ('<item id="n" href="x.ncx" media-type="application/x-dtbncx+xml"/>', "x.ncx", NCX),
        (f'<item id="n" href="n.xhtml" properties="nav" media-type="{XHTML}"/>', "n.xhtml", NAV),
    ],
)
def test_a_chapter_without_heading_gets_its_name_from_the_contents(
    item: str, name: str, data: str
) -> None:
    order = '<itemref idref="n"/><itemref idref="c0"/><itemref idref="c1"/>'
    content = book(
        {
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package({"a.xhtml": XHTML, "b.xhtml": XHTML}, order, item),
            "OEBPS/a.xhtml": chapter("<p>It leaks.</p>"),
            "OEBPS/b.xhtml": chapter("<h2>Valves</h2><p>They stick.</p>"),
            f"OEBPS/{name}": data,
        }
    )
    assert content.text == "The Seal\n\nIt leaks.\n\nValves\n\nThey stick."


def encryption(path: str) -> str:
    return (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#"><CipherData>'
        f'<CipherReference URI="{path}"/></CipherData></EncryptedData></encryption>'
    )


def test_encrypted_chapters_are_refused_and_scrambled_fonts_are_not() -> None:
    items = {"a.xhtml": "<p>Text</p>"}
    assert simple(items, **{"META-INF/encryption.xml": encryption("OEBPS/f.otf")}).text == "Text"
    with pytest.raises(FileUnreadable, match="protected by DRM"):
        simple(items, **{"META-INF/encryption.xml": encryption("OEBPS/a.xhtml")})


def test_a_book_without_its_container_is_read_by_its_only_package() -> None:
    opf = package({"a.xhtml": XHTML})
    assert book({"x/y.opf": opf, "x/a.xhtml": chapter("<p>Text</p>")}).text == "Text"


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"META-INF/container.xml": CONTAINER.replace("OEBPS/", "../../")},
        {"a.opf": package({}), "b.opf": package({})},
    ],
)
def test_a_book_without_a_package_is_damaged(parts: Mapping[str, str]) -> None:
    with pytest.raises(FileUnreadable, match="list of its chapters is missing"):
        book(parts)
