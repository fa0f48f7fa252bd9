import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.reading.facts import iso_date, names, one_line, tags

values = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("name"), inner),
    max_leaves=5,
)


@given(values)
def test_whatever_a_file_says_is_made_fit_or_left_out(value: object) -> None:
    found = [one_line(value), names(value), iso_date(value), *tags(value)]
    for line in filter(None, found):
        assert line == " ".join(line.split())
        assert len(line) <= 300


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2024-05-01", "2024-05-01"),
        ("2024/5/1", "2024-05-01"),
        ("<2024-05-01 Wed 10:00>", "2024-05-01"),
        ("2024-05-01T10:20:30Z", "2024-05-01T10:20:30+00:00"),
        ("2024-05-01 10:20", "2024-05-01T10:20:00"),
        ("1 May 2024", "2024-05-01"),
        ("May 1st, 2024", "2024-05-01"),
        ("Wed, 01 Sept 2024", "2024-09-01"),
        ("2024-05", "2024-05"),
        ("2024", "2024"),
        ("2024-13-01", None),
        ("2024-02-30", None),
        ("2024-05-01T25:00", None),
        ("01/05/2024", None),
        ("May 2024 or June 2025", None),
        ("soon", None),
        ("", None),
        (20240501, None),
    ],
)
def test_dates_are_real_or_left_out(said: object, meant: str | None) -> None:
    assert iso_date(said) == meant


def test_names_and_tags_are_each_there_once() -> None:
    assert names(["Ada", {"name": "Bob"}, {"name": None}, "Ada", 7]) == "Ada, Bob"
    assert names({"name": "Cy"}) == "Cy"
    assert tags("#sea, salt ,sea,") == ("sea", "salt")
    assert tags("sea salt") == ("sea", "salt")
    assert tags(["#sea", "two words", 1, None]) == ("sea", "two words")
    assert tags({"a": 1}) == ()


def test_long_lines_are_no_facts() -> None:
    assert one_line("x" * 301) is None
    assert one_line(" \t\n") is None
    assert one_line("a\x00b\u0085c\ud800") == "a b c"
