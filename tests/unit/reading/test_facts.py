import pytest
from hypothesis import given, strategies as st

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
        ("2024/5/1", "2024-05-01"),
        ("<2024-05-01 Wed 10:00>", "2024-05-01"),
        ("2024-05-01T10:20:30Z", "2024-05-01T10:20:30+00:00"),
        ("1 May 2024", "2024-05-01"),
        ("May 1st, 2024", "2024-05-01"),
        ("2024-05", "2024-05"),
        ("2024-02-30", None),
        ("01/05/2024", None),
        ("May 2024 or June 2025", None),
        (20240501, None),
    ],
)
def test_dates_are_real_or_left_out(said: object, meant: str | None) -> None:
    assert iso_date(said) == meant
