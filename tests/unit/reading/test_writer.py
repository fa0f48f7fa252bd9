"""What readers of files that are no text put together."""

from __future__ import annotations

import pytest

from pincite.errors import FileUnreadable
from pincite.reading import writer as writing
from pincite.reading.writer import Writer


def test_control_characters_and_half_characters_do_not_get_in() -> None:
    writer = Writer()
    writer.paragraph("a\x00b\x1bc\ud800d\te\nf")
    assert writer.content("pdf").text == "abcd\te\nf"


def test_a_text_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_MOST_CHARACTERS", 10)
    with pytest.raises(FileUnreadable, match="characters"):
        Writer().paragraph("word " * 10)
