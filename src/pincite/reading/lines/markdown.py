"""Markdown → Document: front matter, sections by heading, blocks by whole lines."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from itertools import pairwise

from pincite.reading.encoding import decode_filled
from pincite.reading.lines.front_matter import split_front_matter
from pincite.reading.lines.line_blocks import Lines, content_of
from pincite.reading.lines.outline import outline
from pincite.reading.recordings.timed import with_times
from pincite.reading.source_file import SourceFile
from pincite.records import Content, Modality, Place, Section
from pincite.settings import CONVERTED_FOLDER

_LONGEST_HEADING = 300  # a longer "heading" is a paragraph that forgot its line break

_MARKUP = re.compile(r"[^\w\s.,:;?()/'\"-]|_")
_ANCHOR = re.compile(r"\s*\{:?\s*[#.][^{}]*\}\s*$")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
# Hugo's {{% heading "prerequisites" %}}: the first quoted argument is what stands on the page.
_SHORTCODE = re.compile(r'\{\{[<%][^{}"]*"([^"{}]*)"[^{}]*[>%]\}\}')
_CODE = re.compile(r"`+([^`]*)`+")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)([^*_]*\S)\1")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")

_PAGE = re.compile(r"Page (\d{1,6})")
_PAGE_LEVEL = 2


def read(file: SourceFile) -> Content:
    """Read a Markdown file; its front matter lies in the first section, but in no block."""
    lines = Lines(decode_filled(file.data))
    front = split_front_matter(lines.text)
    is_all = front.end >= len(lines.text)
    first = lines.count + 1 if is_all else lines.index.line_of(front.end)
    blocks = (
        replace(block, heading=heading_text(block.heading))
        for block in outline(lines.text, lines.index, first)
    )
    # The file whose recognised text this is; any other note may claim to stem from anything.
    is_converted = file.path == f"{CONVERTED_FOLDER}/{front.source}.md"
    source = front.source if is_converted else None
    kind = source.rpartition(".")[2].lower() if source else "md"
    metadata = replace(front.metadata, source=source)
    content = content_of(kind, lines, blocks, title=front.title, metadata=metadata)
    content = replace(content, modality=front.modality or Modality.TEXT)
    # What was recognised on a page may look like a time code, and is none.
    is_recognised = content.modality is Modality.OCR
    return _with_pages(content) if is_recognised else with_times(content, file)


def _with_pages(content: Content) -> Content:
    """Give what stands below `## Page N` that page, if the text was recognised from a file.

    A page reaches to the next such heading, whatever other headings somebody put in between.
    """
    if content.metadata.source is None or content.modality is not Modality.OCR:
        return content
    begun = [
        (section.start, page)
        for section in content.sections
        if (page := _page(section)) is not None
    ]
    reaching = pairwise([*begun, (len(content.text), 0)])
    places = tuple(Place(start, end, page=page) for (start, page), (end, _) in reaching)
    return replace(content, places=places)


def _page(section: Section) -> int | None:
    """The page a section begins, if it begins one."""
    if section.level != _PAGE_LEVEL or not section.heading_path:
        return None
    named = _PAGE.fullmatch(section.heading_path[-1])
    return int(named[1]) if named else None


def heading_text(source: str) -> str:
    """The words of a heading: links by their text, no emphasis, code marks, tags or anchor."""
    text = source[: 4 * _LONGEST_HEADING]
    if _MARKUP.search(text):
        text = _plain(text)
    return " ".join(text.split())[:_LONGEST_HEADING].rstrip()


def _plain(text: str) -> str:
    text = _ANCHOR.sub("", text)
    text = _LINK.sub(r"\1", _SHORTCODE.sub(r"\1", text))
    # Every second part stood in backticks: there, stars and angle brackets are meant.
    parts = _CODE.split(text)
    parts[::2] = map(_without_markup, parts[::2])
    return "".join(parts)


def _without_markup(text: str) -> str:
    text = _EMPHASIS.sub(r"\2", _TAG.sub("", text))
    return html.unescape(_ESCAPE.sub(r"\1", text))
