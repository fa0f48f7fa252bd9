"""Feeds (RSS, Atom) → Content: each entry a section."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from pincite.reading.facts import names, one_line
from pincite.reading.web.html import write_html
from pincite.reading.web.html.facts import when
from pincite.reading.writer import Writer
from pincite.records import Content, Metadata

_FEEDS = ("rss", "feed", "RDF")
_ENTRIES = ("item", "entry")
_BODIES = ("encoded", "content", "description", "summary")  # the fuller ones first
_DATES = ("published", "pubDate", "date", "updated")


def is_feed(root: etree._Element) -> bool:
    """Whether it is a feed that has entries."""
    return _name(root) in _FEEDS and next(_entries(root), None) is not None


def read_feed(root: etree._Element) -> Content:
    """Read a feed: what it says about itself, then its entries."""
    writer = Writer()
    channel = next(root.iter("{*}channel"), root)
    _write_html_in(_first(channel, ("subtitle", "description", "tagline")), writer)
    for entry in _entries(root):
        _write_entry(entry, writer)
    metadata = Metadata(
        author=one_line(_author(channel)),
        date=when(_text(_first(channel, ("lastBuildDate", *_DATES)))),
        language=one_line(_text(_first(channel, ("language",)))),
    )
    title = one_line(_text(_first(channel, ("title",))))
    return writer.content("xml", title=title, metadata=metadata)


def _write_entry(entry: etree._Element, writer: Writer) -> None:
    writer.heading(" ".join(_text(_first(entry, ("title",))).split()), 1)
    said = (_author(entry), " ".join(_text(_first(entry, _DATES)).split()))
    writer.paragraph(", ".join(one for one in said if one))
    _write_html_in(_first(entry, _BODIES), writer)


def _write_html_in(element: etree._Element | None, writer: Writer) -> None:
    """Write what an element holds: HTML as text, HTML as elements, or plain text."""
    if element is None:
        return
    if len(element):
        write_html(etree.tostring(element, encoding="unicode", with_tail=False), writer)
    elif "<" in (text := element.text or ""):
        write_html(text, writer)
    else:
        writer.paragraph(text)


def _author(element: etree._Element) -> str:
    author = _first(element, ("author", "creator", "managingEditor"))
    inner = None if author is None else _first(author, ("name",))
    return names(_text(author if inner is None else inner)) or ""


def _entries(root: etree._Element) -> Iterator[etree._Element]:
    return (one for one in root.iter("{*}item", "{*}entry") if _name(one) in _ENTRIES)


def _first(element: etree._Element, wanted: tuple[str, ...]) -> etree._Element | None:
    """The child of the first of these names that has anything in it."""
    found: dict[str, etree._Element] = {}
    for child in element:
        if isinstance(child.tag, str) and (len(child) or (child.text or "").strip()):
            found.setdefault(_name(child), child)
    return next((found[name] for name in wanted if name in found), None)


def _text(element: etree._Element | None) -> str:
    return "" if element is None else "".join(element.itertext()).strip()


def _name(element: etree._Element) -> str:
    return etree.QName(element).localname
