import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.text.times import clock, seconds_of


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("00:00", 0),
        ("1:02", 62),
        ("62:03", 3723),
        ("01:02:03", 3723),
        ("01:02:03.5", 3723.5),
        ("01:02:03,250", 3723.25),
        ("123:00:00", 442800),
    ],
)
def test_a_time_is_understood_in_every_usual_form(written: str, seconds: float) -> None:
    assert seconds_of(written) == seconds


@pytest.mark.parametrize(
    "written", ["", "5", "1:2", "1:60", "01:60:00", "-1:00", "a:bc", "1:00:00:00"]
)
def test_what_is_no_time_is_none(written: str) -> None:
    assert seconds_of(written) is None


@given(st.integers(0, 999 * 3600))
def test_a_time_comes_back_from_how_it_is_written(seconds: int) -> None:
    assert seconds_of(clock(seconds)) == seconds
