"""What text from outside may do to whoever looks at it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.text.printable import printable


@given(st.text(st.characters()))
def test_no_control_or_direction_character_is_left(text: str) -> None:
    left = set(map(unicodedata.category, printable(text).replace("\u200d", "")))
    assert left.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


@pytest.mark.parametrize(
    "text", ["Größe", "ブイ", "كم مرة", "👩\u200d🚀", "a\u00a0b\u3000c", "\\n"]
)
def test_what_people_write_stays(text: str) -> None:
    assert printable(text) == text


def test_what_acts_unseen_is_shown_as_an_escape() -> None:
    assert printable("a\x1b[2J\u202eb\n") == "a\\u001b[2J\\u202eb\\n"


def test_a_caller_may_keep_some() -> None:
    assert printable("a\n\tb", keep="\n") == "a\n\\tb"
