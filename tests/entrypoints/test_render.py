"""Records as people read them."""

from __future__ import annotations

from helpers import embedded
from pincite.entrypoints.render import marked, place_as_text
from pincite.records import CitedPlace, Locator, Said


def test_words_that_are_broken_at_the_end_of_a_line_are_shown_whole() -> None:
    text = "We ad-\nvise day-to-\nday care."
    shown = marked(text, [(3, 11)], lambda words: f"<{words}>", hyphens=[(5, 7)])
    assert shown == "We <advise> day-to- day care."


def test_a_place_of_a_recording_is_shown_by_its_captions() -> None:
    said = [
        Said("Audio", 799.2, 801.9, "Ann: The light goes out at six.", "talk.sbv", True),
        Said("Audio", 802.0, 802.5, "Always.", "talk.sbv", False),
    ]
    talk = embedded("talk.sbv", "Ann: The light goes out at six. Always.", kind="sbv").document
    at = Locator(1, 1, time_start=799.2, time_end=801.9)
    cited = CitedPlace(talk, (), at, 1, (talk.text,), captions=tuple(said))
    assert list(place_as_text(cited, strong=str, faint=str)) == [
        "talk.sbv (00:13:19–00:13:21)",
        "> 00:13:19–00:13:21  Ann: The light goes out at six.",
        "  00:13:22  Always.",
    ]
