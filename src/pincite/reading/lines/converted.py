"""Markdown that was recognised from pages → the same, with the page of each part as its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from pincite.records import Content, Modality, Place, Section

_PAGE = re.compile(r"Page (\d{1,6})")
_PAGE_LEVEL = 2


def with_pages(content: Content) -> Content:
    """Give what stands below `## Page N` that page, if the text was recognised from a file.

    A page reaches to the next such heading, whatever other headings somebody put in between.
    """
    if content.metadata.source is None or content.modality is not Modality.OCR:
        return content
    return replace(content, places=tuple(_places(content)))


def _places(content: Content) -> Iterator[Place]:
    begun = [
        (section.start, page)
        for section in content.sections
        if (page := _page(section)) is not None
    ]
    for (start, page), (end, _) in pairwise([*begun, (len(content.text), 0)]):
        yield Place(start, end, page=page)


def _page(section: Section) -> int | None:
    """The page a section begins, if it begins one."""
    if section.level != _PAGE_LEVEL or not section.heading_path:
        return None
    named = _PAGE.fullmatch(section.heading_path[-1])
    return int(named[1]) if named else None
