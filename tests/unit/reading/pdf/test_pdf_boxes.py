"""Where words stand on the page as it is shown."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from pincite.records import Box, Content
from unit.reading.pdf.make_pdf import Page, content_of, pdf, text

_SIZE = 10
_LETTER = 0.6 * _SIZE  # of Courier


def box_of(content: Content, word: str) -> Box:
    start = content.text.index(word)
    [box] = [place.box for place in content.places if place.start == start]
    assert box is not None
    return box


def test_a_box_is_as_wide_as_its_word_and_holds_its_baseline() -> None:
    content = content_of(pdf(Page([text("one three", 100, 500, size=10, font="F3")])))
    box = box_of(content, "three")
    assert (box.page, box.left, box.right) == (1, 124.0, 154.0)
    assert 495 < box.bottom < 500
    assert 507 <= box.top < 512


def test_text_that_runs_upwards_has_an_upright_box() -> None:
    content = content_of(
        pdf(Page([text("upwards", 200, 300, size=10, font="F3", matrix="0 1 -1 0")]))
    )
    box = box_of(content, "upwards")
    assert box.bottom == pytest.approx(300, abs=2)
    assert box.top == pytest.approx(342, abs=2)
    assert box.right - box.left < 15


_CELLS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 19)), min_size=1, max_size=30).map(
    sorted
)


@settings(max_examples=60, deadline=None)
@given(_CELLS, st.sampled_from([0, 90, 180, 270]), st.integers(0, 40))
def test_every_word_is_read_once_and_stands_in_its_own_box(
    cells: list[tuple[int, int]], rotate: int, crop: int
) -> None:
    """Words on a grid of a page that is cropped and turned, whatever order they are read in."""
    at = {f"w{column}x{row}": (60 + 90 * column, 80 + 34 * row) for column, row in cells}
    drawn = [text(word, x, y, size=_SIZE, font="F3") for word, (x, y) in at.items()]
    page = Page(drawn, width=640, height=800, rotate=rotate, crop=(crop, crop, 640, 800))
    content = content_of(pdf(page))
    assert sorted(content.text.replace("|", " ").split()) == sorted(at)
    for place in content.places:
        assert place.box is not None
        word = content.text[place.start : place.end]
        x, y = at[word]
        middle = (x + len(word) * _LETTER / 2 - crop, y + 0.25 * _SIZE - crop)
        across, up = turned(middle, rotate, 640 - crop, 800 - crop)
        assert place.box.left <= across <= place.box.right
        assert place.box.bottom <= up <= place.box.top
    for one, other in pairwise(content.places):
        assert one.end <= other.start


def turned(
    point: tuple[float, float], rotate: int, width: float, height: float
) -> tuple[float, float]:
    """A point of a page where it is shown when the page is turned clockwise."""
    x, y = point
    match rotate:
        case 0:
            return x, y
        case 90:
            return y, width - x
        case 180:
            return width - x, height - y
        case _:
            return height - y, x
