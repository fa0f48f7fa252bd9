"""Headings in order → the sections they open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pincite.records import Section


@dataclass(frozen=True, slots=True)
class Heading:
    """Where a heading stands, how deep it is, and its words."""

    start: int
    level: int
    text: str


_MOST = 50_000  # sections of a document; each takes memory, and may become a chunk


def sections_under(headings: Sequence[Heading], end: int) -> Iterator[Section]:
    """Each heading with the stretch up to the next; level 0 is what stands before the first.

    From where there are more than anybody wrote, the rest is one section.
    """
    headings = headings[:_MOST]
    starts = [heading.start for heading in headings]
    ends = [*starts[1:], end]
    if not starts or starts[0] > 0:
        yield Section(heading_path=(), level=0, start=0, end=starts[0] if starts else end)
    above: list[Heading] = []
    for heading, section_end in zip(headings, ends, strict=False):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        path = tuple(each.text for each in above if each.text)
        yield Section(path, heading.level, heading.start, section_end)
