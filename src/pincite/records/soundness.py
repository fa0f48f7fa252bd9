"""Whether what a file or an archive says of a document can be so, before it is believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import chain, islice, pairwise

from pincite.records.documents import Block, Content, Document, Section
from pincite.records.places import Omission, Place

MOST = 1e9  # of anything that is counted or measured; infinity and NaN are more, or nothing

_MOST_SAID = 1_000_000  # characters that a file says about itself, or that lead to a section


def is_sound(one: Content | Document) -> bool:
    """Whether its parts lie in its text, and its numbers and words are such as files have."""
    metadata = one.metadata
    said = (one.title, one.type, *(getattr(metadata, field.name) for field in fields(metadata)))
    lists = chain.from_iterable(value if isinstance(value, tuple) else (value,) for value in said)
    words = [value for value in islice(lists, 2 * _MOST_SAID) if isinstance(value, str)]
    known = (*one.analysis.symbols, *one.analysis.imports, *one.analysis.entry_points)
    return (
        all(
            _in_order(stretches, len(one.text))
            for stretches in (one.sections, one.blocks, one.places, one.omissions)
        )
        and all(map(_is_possible_section, one.sections))
        and all(map(_is_possible_place, one.places))
        and are_counts((metadata.pages, metadata.duration))
        and _length(words) <= _MOST_SAID
        and not any("\0" in word for word in words)
        # What is known of code grows with it; a name may stand there with those around it.
        and _length((one.analysis.layer or "", *known)) <= _MOST_SAID + 8 * len(one.text)
    )


def are_counts(numbers: Iterable[float | None]) -> bool:
    """Whether they are known numbers of something, or none."""
    return all(number is None or 0 <= number <= MOST for number in numbers)


def _in_order(stretches: Sequence[Block | Omission | Place | Section], length: int) -> bool:
    """Whether they lie inside the text, one behind the other."""
    inside = all(0 <= one.start <= one.end <= length for one in stretches)
    return inside and all(one.end <= after.start for one, after in pairwise(stretches))


def _is_possible_section(section: Section) -> bool:
    return 0 <= section.level <= MOST and _length(section.heading_path) <= _MOST_SAID


def _is_possible_place(place: Place) -> bool:
    """Whether its numbers are such as a page, a recording or a table can have."""
    box = place.box
    edges = (box.left, box.bottom, box.right, box.top) if box else ()
    counts = (place.page, place.row, place.time_start, place.time_end, box.page if box else None)
    return are_counts(counts) and all(abs(edge) <= MOST for edge in edges)


def _length(words: Iterable[str]) -> int:
    """In characters; what is empty takes room, too."""
    return sum(len(word) + 1 for word in words)
