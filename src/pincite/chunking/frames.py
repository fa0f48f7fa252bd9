"""A recording's frames → one chunk for each: what was seen at one moment is cited as a whole."""

from __future__ import annotations

from pincite.records import Document


def frame_spans(document: Document) -> list[tuple[int, int]]:
    """Start and end of each section that describes a frame, in order.

    Words take time, a frame does not: a frame is a section whose place is a single moment.
    """
    headings = {section.start for section in document.sections if section.level}
    return [
        (place.start, place.end)
        for place in document.places
        if place.start in headings
        and place.time_start is not None
        and place.time_start == place.time_end
    ]
