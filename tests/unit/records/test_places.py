"""Where a slice stands, from the places of the words in it."""

from __future__ import annotations

from hypothesis import given, strategies as st

from pincite.records import (
    Box,
    Locator,
    Omission,
    OmissionReason,
    Place,
    line_boxes,
    locate,
    overlapping,
    without,
)


def word(start: int, left: float, *, page: int = 1, bottom: float = 700.0, end: int = 0) -> Place:
    """A word of five letters, 30 points wide and 10 high."""
    box = Box(page, left, bottom, left + 30, bottom + 10)
    return Place(start, end or start + 5, page=page, box=box)


def test_neighbouring_words_of_a_line_share_a_box() -> None:
    boxes = line_boxes([word(0, 100), word(6, 133), word(12, 166)])
    assert boxes == (Box(1, 100, 700, 196, 710),)


def test_words_of_another_line_column_or_page_have_their_own_box() -> None:
    apart = [
        word(0, 100),
        word(6, 100, bottom=688),
        word(12, 400, bottom=688),
        word(18, 100, page=2),
    ]
    assert len(line_boxes(apart)) == 4


def test_a_part_of_what_is_said_at_once_gets_its_part_of_the_time() -> None:
    said = [Place(0, 100, time_start=10.0, time_end=20.0)]
    found = locate(said, 50, 100, line_start=1, line_end=1)
    assert (found.time_start, found.time_end) == (15.0, 20.0)


stretches = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5)), max_size=20)


@given(stretches, st.integers(0, 80), st.integers(0, 80))
def test_the_overlapping_are_those_that_a_plain_look_finds(
    gaps: list[tuple[int, int]], one: int, other: int
) -> None:
    places, at = [], 0
    for gap, length in gaps:
        places.append(Place(at + gap, at + gap + length))
        at += gap + length
    start, end = sorted((one, other))
    plainly = tuple(place for place in places if place.start < end and place.end > start)
    if start < end:
        assert overlapping(places, start, end) == plainly


@given(st.text(max_size=60), stretches)
def test_leaving_out_keeps_all_other_characters_in_order(
    text: str, gaps: list[tuple[int, int]]
) -> None:
    omissions, at = [], 0
    for gap, length in gaps:
        start, end = min(at + gap, len(text)), min(at + gap + length, len(text))
        omissions.append(Omission(start, end, OmissionReason.HIDDEN))
        at = end
    hidden = {at for one in omissions for at in range(one.start, one.end)}
    kept = "".join(char for at, char in enumerate(text) if at not in hidden)
    assert without(text, 0, omissions) == kept


def test_a_slice_over_pages_names_the_first_and_the_last() -> None:
    places = [word(0, 100, page=3), word(6, 100, page=4), word(12, 100, page=5)]
    held = overlapping(places, 7, 13)
    assert locate(held, 7, 13, line_start=2, line_end=3) == Locator(2, 3, page_start=4, page_end=5)


def test_a_moment_has_no_end_of_its_own() -> None:
    frame = [Place(0, 100, time_start=65.0, time_end=65.0)]
    found = locate(frame, 20, 60, line_start=1, line_end=1)
    assert (found.time_start, found.time_end) == (65.0, 65.0)
