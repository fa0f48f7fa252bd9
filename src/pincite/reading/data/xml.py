"""XML files → Content: feeds (RSS, Atom) by their entries, everything else by its elements.

What an XML file means only its makers know. So each element with text becomes a line that names it,
and lines of one parent stay together: that is what a question about them needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from lxml import etree

from pincite.reading.facts import names, one_line
from pincite.reading.source_file import SourceFile
from pincite.reading.web.html import read as read_html, when, write_html
from pincite.reading.writer import Writer
from pincite.reading.xml_safely import end_of_run, parse_xml
from pincite.records import Content, Metadata

# XHTML may have a document type and entities of its own: the reader of web pages takes it.
_XHTML_PROLOG = re.compile(
    rb"\A\xef\xbb\xbf|\s+|<\?[^<>]*>|<!--.*?-->|<!DOCTYPE\s[^<>\[]*>", re.IGNORECASE | re.DOTALL
)
_XHTML = re.compile(rb"<html[\s>]", re.IGNORECASE)
_TELLING = frozenset(
    (
        *("name", "title", "label", "caption", "alt", "description", "summary", "text"),
        *("value", "content", "message", "comment", "author"),
    )
)
# A word, and another behind it. Looked for from the start of a word only: it may be a long blob.
_SENTENCE = re.compile(r"(?<![\w,;:.])(?=[\w,;:.]+\s+\w)[\w,;:.]*?\w\w")
_LONGEST_LINE = 300  # characters; what is longer is a paragraph of its own
_LONGEST_MIXED = 10_000  # characters of text with elements in it that are one paragraph
_MOST_LINES = 50  # in a paragraph

_FEEDS = ("rss", "feed", "RDF")
_ENTRIES = ("item", "entry")
_BODIES = ("encoded", "content", "description", "summary")  # the fuller ones first
_DATES = ("published", "pubDate", "date", "updated")


def read(file: SourceFile) -> Content:
    """Read an XML file; one that defines entities is FileUnreadable."""
    if _XHTML.match(file.data, end_of_run(_XHTML_PROLOG, file.data)):
        return read_html(file)
    root = parse_xml(file.data)
    if _name(root) in _FEEDS and next(_entries(root), None) is not None:
        return _read_feed(root)
    writer = _Lines()
    writer.write(root)
    titles = (child.text for child in _elements(root) if _local_name(child).lower() == "title")
    return writer.content("xml", title=one_line(root.get("title")) or one_line(next(titles, None)))


def _local_name(element: etree._Element) -> str:
    """The name of an element without its namespace."""
    return etree.QName(element).localname


class _Lines(Writer):
    """A writer that keeps the lines of one parent together."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []

    def write(self, root: etree._Element) -> None:
        """Write all elements, in order."""
        events = etree.iterwalk(root, events=("start", "end"))
        passed_over: etree._Element | None = None
        for event, element in events:
            if event == "start" and isinstance(element.tag, str):
                if _is_one_line(element):
                    self._add(_line(element))
                    passed_over = element
                    events.skip_subtree()
                else:
                    self._end_paragraph()
                    self._add("; ".join([_spaced(element.text), *_attributes(element)]).strip("; "))
            elif event == "end":
                if element is not passed_over:
                    self._end_paragraph()
                self._add(_spaced(element.tail) if element is not root else "")
        self._end_paragraph()

    def _add(self, line: str) -> None:
        if len(line) > _LONGEST_LINE:
            self._end_paragraph()
            self.paragraph(line)
        elif line:
            self._lines.append(line)
            if len(self._lines) >= _MOST_LINES:
                self._end_paragraph()

    def _end_paragraph(self) -> None:
        self.paragraph("\n".join(self._lines))
        self._lines.clear()


def _is_one_line(element: etree._Element) -> bool:
    """Whether an element holds text, with or without other elements in it, or only one that does.

    `<p>Some <b>bold</b> words</p>` is one line; `<row><a>1</a><b>2</b></row>` has one for each.
    """
    inner = list(_elements(element))
    if len(inner) <= 1 and not _has_own_text(element):
        return not inner or len(inner[0]) == 0
    lengths = accumulate(map(len, element.itertext()))
    return _has_own_text(element) and all(length <= _LONGEST_MIXED for length in lengths)


def _has_own_text(element: etree._Element) -> bool:
    own = (element.text, *(child.tail for child in element))
    return any(text and not text.isspace() for text in own)


def _line(element: etree._Element) -> str:
    """The text of an element after its name, with the attributes that say something."""
    text = _spaced("".join(element.itertext()))
    inner = next(_elements(element), None)
    named = element if inner is None or _has_own_text(element) else inner
    said = [*([text] if text else []), *_attributes(element)]
    said += [] if named is element else _attributes(named)
    if len(text) > _LONGEST_LINE:
        return "; ".join(said)
    return f"{_local_name(named)}: {'; '.join(said)}" if said else ""


def _attributes(element: etree._Element) -> list[str]:
    """The attributes that are for people, each after its name."""
    return [
        f"{name}: {_spaced(str(value))}"
        for key, value in element.attrib.items()
        if (name := etree.QName(key).localname).lower() in _TELLING or _SENTENCE.search(str(value))
    ]


def _elements(element: etree._Element) -> Iterator[etree._Element]:
    """The elements inside, without entities that were never defined."""
    return (child for child in element if isinstance(child.tag, str))


def _spaced(text: str | None) -> str:
    return " ".join((text or "").split())


def _read_feed(root: etree._Element) -> Content:
    """Read a feed: what it says about itself, then its entries."""
    writer = Writer()
    channel = next(root.iter("{*}channel"), root)
    _write_html_in(_first(channel, ("subtitle", "description", "tagline")), writer)
    for entry in _entries(root):
        writer.heading(" ".join(_text(_first(entry, ("title",))).split()), 1)
        said = (_author(entry), " ".join(_text(_first(entry, _DATES)).split()))
        writer.paragraph(", ".join(one for one in said if one))
        _write_html_in(_first(entry, _BODIES), writer)
    metadata = Metadata(
        author=one_line(_author(channel)),
        date=when(_text(_first(channel, ("lastBuildDate", *_DATES)))),
        language=one_line(_text(_first(channel, ("language",)))),
    )
    title = one_line(_text(_first(channel, ("title",))))
    return writer.content("xml", title=title, metadata=metadata)


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
