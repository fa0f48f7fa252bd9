"""Headers, footers and page numbers that run through a document, to be left out of its text.

A line runs if it stands at the same height in the margin of at least four pages that are about
half of the document, or of at least eight that are half of a part of it; the numbers in it are
the same on each page or count the pages. A page's first or last line runs at any height if it
counts the pages. The first appearance stays in the text, so that its words can be found; mere
page numbers go altogether, even where there are only two pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

from pincite.reading.pdf.lines import Line

_MARGIN = 0.12  # of the page's height, above and below
_SAME_HEIGHT = 6.0  # points
_FEWEST_PAGES = 4
_FEWEST_OF_A_PART = 8
_EVERY_OTHER = 0.45  # of the pages, as headers differ on left and right pages
_RELIABLE = 0.8  # of the steps from page to page that must count or stay
_LONGEST_NUMBER = 40  # letters of a line that only numbers the page
_NUMBER = re.compile(r"\d{1,6}")
_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|pg|p|seite|s|página|pagina|pág|str|стр)\b\W*)?#"
    r"(?:\W{0,3}(?:of|von|de|sur|di|из|out of)?\W{0,3}#)?\W*",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class _Appearance:
    page: int
    height: float
    numbers: tuple[int, ...]
    line: Line


def running_lines(lines: Sequence[Line]) -> set[int]:
    """Identities (`id`) of the lines to be left out; none where most pages have no others."""
    appearances: dict[tuple[str, str], list[_Appearance]] = {}
    for _, page in groupby(lines, key=lambda line: line.sheet.number):
        for place, appearance in _candidates(list(page)):
            pattern = _NUMBER.sub("#", appearance.line.text)
            appearances.setdefault((place, pattern), []).append(appearance)
    running: set[int] = set()
    pages = {line.sheet.number for line in lines}
    for (place, pattern), found in appearances.items():
        running.update(id(one.line) for one in _running(place, pattern, found, len(pages)))
    left = {line.sheet.number for line in lines if id(line) not in running}
    return running if len(left) * 2 >= len(pages) else set()


def _candidates(lines: list[Line]) -> Iterator[tuple[str, _Appearance]]:
    """The lines of a page that stand in its margins, and its first and last."""
    lines.sort(key=_height)
    for line in lines:
        is_outermost = line is lines[0] or line is lines[-1]
        height = _height(line)
        share = height / max(line.sheet.height, 1.0)
        if not is_outermost and _MARGIN <= share <= 1 - _MARGIN:
            continue
        numbers = tuple(int(number) for number in _NUMBER.findall(line.text))
        appearance = _Appearance(line.sheet.number, height, numbers, line)
        if not _MARGIN <= share <= 1 - _MARGIN:
            yield "head" if share > 0.5 else "foot", appearance
        if is_outermost:
            yield "last" if line is lines[0] else "first", appearance


def _height(line: Line) -> float:
    """Above the lower edge, as shown."""
    if line.turn == 0:
        return line.base
    rectangle = (line.left, line.base, line.right, line.base + line.size)
    box = line.sheet.box(rectangle, line.turn)
    return (box.bottom + box.top) / 2


def _running(
    place: str, pattern: str, found: Sequence[_Appearance], count: int
) -> list[_Appearance]:
    if place in ("head", "foot"):
        usual = median(one.height for one in found)
        found = [one for one in found if abs(one.height - usual) <= _SAME_HEIGHT]
    elif not any(_agree(found, at, counting=True) for at in range(len(found[0].numbers))):
        return []
    is_number = len(pattern) <= _LONGEST_NUMBER and bool(_PAGE_NUMBER.fullmatch(pattern))
    pages = {one.page for one in found}
    if not _are_enough(pages, count, is_number=is_number):
        return []
    if not all(_agree(found, at) for at in range(len(found[0].numbers))):
        return []
    if is_number or not _LETTERS.search(pattern):
        return list(found)
    return [one for one in found if one.page != min(pages)]


def _are_enough(pages: set[int], count: int, *, is_number: bool) -> bool:
    """Whether a line on these pages runs through the document, or through a part of it."""
    if len(pages) < (2 if is_number else _FEWEST_PAGES):
        return False
    part = max(pages) - min(pages) + 1
    is_part = len(pages) >= _FEWEST_OF_A_PART or is_number
    return len(pages) >= _EVERY_OTHER * (part if is_part else count)


def _agree(found: Sequence[_Appearance], place: int, *, counting: bool = False) -> bool:
    """Whether a number in the line goes with the page or, unless it must, stays the same."""
    steps = [
        (other.page - one.page, other.numbers[place] - one.numbers[place])
        for one, other in pairwise(found)
    ]
    good = sum(number == pages or (number == 0 and not counting) for pages, number in steps)
    return good >= _RELIABLE * len(steps)
