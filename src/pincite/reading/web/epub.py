"""E-books (EPUB 2 and 3) → Content: the chapters in reading order.

The archive names a package document (OPF), which lists the parts (manifest) and their order
(spine). Chapters are read as HTML, not as XML: many are not quite well-formed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from lxml import etree

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.facts import iso_date, names, one_line, tags
from pincite.reading.source_file import SourceFile
from pincite.reading.web.html import HtmlPage, decode_html
from pincite.reading.web.html_tree import parse_html
from pincite.reading.writer import Writer
from pincite.reading.xml_safely import parse_xml
from pincite.reading.zipped import SafeZip
from pincite.records import Content, Metadata

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
_CIPHER = "{http://www.w3.org/2001/04/xmlenc#}CipherReference"
_CHAPTER_TYPES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_MOST_NOTES = 20


@dataclass(slots=True)
class _Package:
    """What the package document says: where chapters are, in order, and what they are called."""

    archive: SafeZip
    root: etree._Element
    folder: str
    items: dict[str, etree._Element] = field(default_factory=dict)

    def path_of(self, href: str | None, folder: str | None = None) -> str | None:
        """The part a reference names; None where that is outside of the archive."""
        target = unquote((href or "").partition("#")[0].strip())
        if not target or _ELSEWHERE.match(target) or target.startswith("/"):
            return None
        path = posixpath.normpath(posixpath.join(self.folder if folder is None else folder, target))
        return None if path.startswith("../") or path == ".." else path

    def spine(self) -> Iterator[tuple[str, str]]:
        """Path and media type of each chapter, in reading order and once only."""
        seen: set[str] = set()
        for reference in self.root.iter("{*}itemref"):
            item = self.items.get(reference.get("idref", ""))
            if item is None or "nav" in item.get("properties", "").split():
                continue
            path = self.path_of(item.get("href")) or ""
            if path not in seen:
                seen.add(path)
                yield path, item.get("media-type", "")


def read_epub(file: SourceFile) -> Content:
    """Read an e-book; FileUnreadable where it is protected or names no chapters."""
    archive = SafeZip(file.data)
    path = _package_path(archive)
    root = parse_xml(archive.read(path))
    items = {item.get("id", ""): item for item in root.iter("{*}item")}
    package = _Package(archive, root, posixpath.dirname(path), items)
    chapters = list(package.spine())
    _refuse_encrypted(package, [path for path, _ in chapters])
    titles = _chapter_titles(package)
    writer = Writer()
    notes: list[str] = []
    for path, media_type in chapters:
        if media_type in _CHAPTER_TYPES and not _write_chapter(package, path, titles, writer):
            notes.append(f"lacks the chapter {path}" if path else "names a chapter outside of it")
    if notes and len(notes) == len(chapters):
        raise FileUnreadable("is damaged: none of its chapters is there")
    metadata = _metadata(package.root, tuple(notes[:_MOST_NOTES]))
    title = _first(package.root, f"{_DC}title")
    return writer.content("epub", title=title, metadata=metadata)


def _package_path(archive: SafeZip) -> str:
    """Where the container says that the package document is, or else the only one there is."""
    if archive.has(_CONTAINER):
        container = parse_xml(archive.read(_CONTAINER))
        for element in container.iter("{*}rootfile"):
            path = posixpath.normpath(unquote(element.get("full-path", "")))
            if archive.has(path):
                return path
    found = [name for name in archive.names() if name.lower().endswith(".opf")]
    if len(found) != 1:
        raise FileUnreadable("is damaged: the list of its chapters is missing")
    return found[0]


def _refuse_encrypted(package: _Package, chapters: list[str]) -> None:
    """Fonts may be scrambled, which hides no text; chapters that are encrypted cannot be read."""
    if not package.archive.has(_ENCRYPTION):
        return
    root = parse_xml(package.archive.read(_ENCRYPTION))
    encrypted = {package.path_of(one.get("URI"), "") for one in root.iter(_CIPHER)}
    if not encrypted.isdisjoint(chapters):
        raise FileUnreadable("is protected by DRM (encrypted); it cannot be read")


def _write_chapter(package: _Package, path: str, titles: dict[str, str], writer: Writer) -> bool:
    """Write a chapter, and its title where it has no heading; False where it is not there."""
    if not package.archive.has(path):
        return False
    try:
        page = HtmlPage(parse_html(decode_html(package.archive.read(path))))
    except FileEmpty:
        return True
    if page.text_length and not page.has_heading and path in titles:
        writer.heading(titles[path], 1)
    page.write_to(writer)
    return True


def _chapter_titles(package: _Package) -> dict[str, str]:
    """What the table of contents calls each part; the first entry that leads there counts."""
    titles: dict[str, str] = {}
    for item in package.items.values():
        path = package.path_of(item.get("href"))
        if path is None or not package.archive.has(path):
            continue
        if "nav" in item.get("properties", "").split():
            entries = _nav_entries(package.archive.read(path))
        elif item.get("media-type") == "application/x-dtbncx+xml":
            entries = _ncx_entries(package.archive.read(path))
        else:
            continue
        for href, label in entries:
            target = package.path_of(href, posixpath.dirname(path))
            if target and (title := one_line(label)):
                titles.setdefault(target, title)
    return titles


def _nav_entries(data: bytes) -> Iterator[tuple[str, str]]:
    try:
        tree = parse_html(decode_html(data))
    except FileUnreadable:  # a table of contents is not worth a book
        return
    for link in tree.root.iter("a"):
        yield link.get("href", ""), "".join(link.itertext())


def _ncx_entries(data: bytes) -> Iterator[tuple[str, str]]:
    try:
        root = parse_xml(data)
    except FileUnreadable:
        return
    for point in root.iter(f"{_NCX}navPoint"):
        label = point.find(f"{_NCX}navLabel/{_NCX}text")
        content = point.find(f"{_NCX}content")
        if label is not None and content is not None:
            yield content.get("src", ""), label.text or ""


def _metadata(root: etree._Element, notes: tuple[str, ...]) -> Metadata:
    modified = (
        iso_date(one.text)
        for one in root.iter("{*}meta")
        if one.get("property") == "dcterms:modified"
    )
    # When the book appeared; EPUB 2 also gives dates of other events.
    dates = [*root.iter(f"{_DC}date")]
    dates.sort(key=lambda one: one.get(f"{_OPF}event", "publication") != "publication")
    return Metadata(
        tags=tags([one.text or "" for one in root.iter(f"{_DC}subject")]),
        author=names([one.text or "" for one in root.iter(f"{_DC}creator")]),
        date=next((date for one in dates if (date := iso_date(one.text))), None),
        language=_first(root, f"{_DC}language"),
        modified=next(modified, None),
        notes=notes,
    )


def _first(root: etree._Element, tag: str) -> str | None:
    return next((line for one in root.iter(tag) if (line := one_line(one.text))), None)
