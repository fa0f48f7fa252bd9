"""Records as people read them."""

from __future__ import annotations

from pincite.entrypoints.render import marked


def test_words_that_are_broken_at_the_end_of_a_line_are_shown_whole() -> None:
    text = "We ad-\nvise day-to-\nday care."
    shown = marked(text, [(3, 11)], lambda words: f"<{words}>", hyphens=[(5, 7)])
    assert shown == "We <advise> day-to- day care."
