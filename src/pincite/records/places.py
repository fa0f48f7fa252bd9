"""Where a stretch of text stands: in the lines of the text, and in the file it was read from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in points from the page's lower left corner as it is shown."""

    page: int
    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where the stretch [start:end] of a document's text stands in its file.

    Places are in order and do not overlap. Files with pages give one for each word, recordings one
    for each thing said, tables one for each row.
    """

    start: int
    end: int
    page: int | None = None  # from 1; slides and notebook cells count as pages
    box: Box | None = None
    time_start: float | None = None  # seconds
    time_end: float | None = None
    row: int | None = None  # from 1, as a spreadsheet numbers them


@dataclass(frozen=True, slots=True)
class Locator:
    """Where a slice of a document stands for a reader; both ends are included.

    Lines count from 1 in the document's text. Pages, seconds and rows are None where the file has
    none.
    """

    line_start: int
    line_end: int
    page_start: int | None = None
    page_end: int | None = None
    time_start: float | None = None
    time_end: float | None = None
    row_start: int | None = None
    row_end: int | None = None


class OmissionReason(StrEnum):
    """Why a stretch is left out of what is embedded."""

    HYPHEN = "hyphen"  # of a word that was broken at the end of a line
    TIME_CODE = "time code"
    LONG_CODE = "long code"  # the rest of a block of code that is too long to embed
    HIDDEN = "hidden text"  # marked as hidden in the file
    INVISIBLE = "invisible text"  # drawn without ink
    WHITE = "white text"  # in the colour of what lies under it
    TINY = "tiny text"
    OFF_PAGE = "text outside the page"
    ZERO_WIDTH = "zero-width characters"
    TAG = "tag characters"
    DIRECTION = "direction overrides"

    @property
    def is_hidden(self) -> bool:
        """Whether a reader of the file would not have seen it: worth a flag at the citation."""
        return self not in (self.HYPHEN, self.TIME_CODE, self.LONG_CODE)

    @property
    def is_mark(self) -> bool:
        """Whether it is a character without width inside words, not words."""
        return self in (self.ZERO_WIDTH, self.DIRECTION)

    @property
    def is_searched(self) -> bool:
        """Whether the words search still finds it."""
        return self is self.LONG_CODE


@dataclass(frozen=True, slots=True)
class Omission:
    """A stretch of a document's text that is kept and shown, but left out of what is embedded."""

    start: int
    end: int
    reason: OmissionReason


_Stretch = TypeVar("_Stretch", Place, Omission)


def without(text: str, offset: int, omissions: Iterable[Omission]) -> str:
    """The text, which begins at `offset` of its document, less the stretches left out of it."""
    kept = []
    at = 0
    for omission in omissions:
        kept.append(text[at : max(omission.start - offset, at)])
        at = max(omission.end - offset, at)
    return "".join([*kept, text[at:]])


def shown(text: str, offset: int, omissions: Iterable[Omission]) -> str:
    """The same less what a reader of the file would not have seen; a broken word stays broken."""
    end = offset + len(text)
    inside = (one for one in omissions if one.end > offset and one.start < end)
    return without(text, offset, (one for one in inside if one.reason.is_hidden))


def flags(omissions: Iterable[Omission]) -> tuple[str, ...]:
    """What in them a reader of the file would not have seen, each kind once."""
    return tuple(dict.fromkeys(one.reason.value for one in omissions if one.reason.is_hidden))


def each_once(stretches: Iterable[_Stretch]) -> tuple[_Stretch, ...]:
    """In order: chunks overlap, and so may what they hold."""
    return tuple(one for _, one in sorted({one.start: one for one in stretches}.items()))


def overlapping(stretches: Sequence[_Stretch], start: int, end: int) -> tuple[_Stretch, ...]:
    """Those that hold some of the slice, of stretches in order and without overlap."""
    if not stretches:
        return ()
    first = bisect_right(stretches, start, key=attrgetter("end"))
    after = bisect_left(stretches, end, key=attrgetter("start"))
    return tuple(stretches[first:after])


def locate(
    places: Iterable[Place], start: int, end: int, *, line_start: int, line_end: int
) -> Locator:
    """Where the slice [start:end] stands, of the places that hold some of it."""
    held = list(places)
    pages = [place.page for place in held if place.page is not None]
    rows = [place.row for place in held if place.row is not None]
    begins = [time for place in held if (time := _time_at(place, start)) is not None]
    ends = [time for place in held if (time := _time_at(place, end)) is not None]
    return Locator(
        line_start,
        line_end,
        page_start=min(pages, default=None),
        page_end=max(pages, default=None),
        time_start=min(begins, default=None),
        time_end=max(ends, default=None),
        row_start=min(rows, default=None),
        row_end=max(rows, default=None),
    )


def _time_at(place: Place, offset: int) -> float | None:
    """When the place's text has been spoken up to there, as if it were spoken evenly."""
    if place.time_start is None or place.time_end is None:
        return place.time_start
    spoken = min(max(offset - place.start, 0) / max(place.end - place.start, 1), 1.0)
    return round(place.time_start + spoken * (place.time_end - place.time_start), 3)


def line_boxes(places: Iterable[Place]) -> tuple[Box, ...]:
    """The boxes of the places, those of words side by side put together."""
    joined: list[Box] = []
    for box in (place.box for place in places if place.box is not None):
        if joined and _side_by_side(joined[-1], box):
            last = joined[-1]
            joined[-1] = Box(
                box.page,
                min(last.left, box.left),
                min(last.bottom, box.bottom),
                max(last.right, box.right),
                max(last.top, box.top),
            )
        else:
            joined.append(box)
    return tuple(joined)


def _side_by_side(one: Box, other: Box) -> bool:
    """Whether two boxes are of neighbouring words on one line: as high, and a blank apart."""
    height = max(one.top - one.bottom, other.top - other.bottom)
    apart = max(other.left - one.right, one.left - other.right)
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return one.page == other.page and shared > height / 2 and apart < height
