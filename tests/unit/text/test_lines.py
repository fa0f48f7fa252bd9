import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.text.lines import LineIndex

texts = st.text(alphabet=st.sampled_from("ab \t\n\r\x0b\x0c\x85\u2028é"), max_size=60)


def split_by_hand(text: str) -> list[str]:
    lines = re.split(r"\r\n|\n|\r", text)
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


@given(texts)
def test_lines_are_what_stands_between_line_ends(text: str) -> None:
    lines = LineIndex(text)
    found = [text[lines.start_of(n) : lines.end_of(n)] for n in range(1, lines.count + 1)]
    assert found == split_by_hand(text)


@given(texts)
def test_every_offset_stands_in_the_line_that_began_last(text: str) -> None:
    lines = LineIndex(text)
    for offset in range(len(text) + 1):
        line = lines.line_of(offset)
        assert lines.start_of(line) <= offset
        assert line == lines.count or offset < lines.start_of(line + 1)


@given(texts)
def test_line_numbers_never_fall(text: str) -> None:
    lines = LineIndex(text)
    numbers = [lines.line_of(offset) for offset in range(len(text) + 1)]
    assert numbers == sorted(numbers)
    assert numbers[0] == 1
    assert numbers[-1] == lines.count


@given(texts, st.data())
def test_a_slice_has_the_lines_of_its_first_and_its_last_character(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    lines = LineIndex(text)
    last = end - 1 if end > start else start
    assert lines.lines_of(start, end) == (lines.line_of(start), lines.line_of(last))


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 1), ("a", 1), ("a\n", 1), ("a\r\n", 1), ("\n", 1), ("a\nb", 2), ("a\r\rb", 3)],
)
def test_a_last_line_end_opens_no_further_line(text: str, count: int) -> None:
    assert LineIndex(text).count == count


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_line_feeds_and_carriage_returns_end_a_line(odd: str) -> None:
    assert LineIndex(f"a{odd}b").count == 1


def test_a_slice_that_ends_with_a_line_end_ends_on_that_line() -> None:
    assert LineIndex("one\ntwo\nthree").lines_of(0, 8) == (1, 2)


@pytest.mark.parametrize("line", [0, -1, 3])
def test_lines_outside_the_text_are_refused(line: int) -> None:
    lines = LineIndex("a\nb\n")
    with pytest.raises(IndexError):
        lines.start_of(line)
    with pytest.raises(IndexError):
        lines.end_of(line)


@pytest.mark.parametrize("offset", [-1, 5])
def test_offsets_outside_the_text_are_refused(offset: int) -> None:
    with pytest.raises(IndexError):
        LineIndex("a\nb\n").line_of(offset)
