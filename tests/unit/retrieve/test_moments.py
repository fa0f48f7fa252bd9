"""A result of a recording opens what was said and seen around it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import Part, embedded, fill
from memory_store import MemoryStore
from pincite.records import (
    EmbeddedDocument,
    Filters,
    Metadata,
    Modality,
    Moment,
    Place,
)
from pincite.retrieve.flow import search
from pincite.retrieve.moments import moment
from pincite.settings import SearchSettings


def recording(
    path: str,
    lines: dict[tuple[float, float], str],
    modality: Modality,
    *,
    name: str | None = "talk",
    duration: float | None = None,
) -> EmbeddedDocument:
    """A transcript, or the frames of a film: each line is a chunk with its time."""
    parts = [Part(text, modality=modality) for text in lines.values()]
    about = Metadata(recording=name, duration=duration)
    made = embedded(path, *parts, about=about)
    places = [
        Place(one.chunk.start, one.chunk.end, time_start=start, time_end=end)
        for one, (start, end) in zip(made.chunks, lines, strict=True)
    ]
    document = replace(made.document, modality=modality, places=tuple(places))
    chunks = tuple(
        replace(one, chunk=replace(one.chunk, places=(place,)))
        for one, place in zip(made.chunks, places, strict=True)
    )
    return EmbeddedDocument(document, chunks)


SPOKEN = recording(
    "talk.vtt",
    {
        (0.0, 4.0): "Welcome.",
        (5.0, 20.0): "First the mole.",
        (21.0, 30.0): "Then the basin.",
        (31.0, 44.0): "The pump leaks at the seal.",
        (45.0, 59.0): "It was cold.",
        (60.0, 70.0): "Far away.",
        (71.0, 75.0): "Good bye.",
    },
    Modality.VIDEO_TRANSCRIPT,
    duration=75.0,
)
SEEN = recording(
    "talk.frames.md",
    {
        (2.0, 2.0): "## Frame at 00:00:02\n\nThe title.",
        (25.0, 25.0): "## Frame at 00:00:25\n\nA red barrel.",
        (38.0, 38.0): "## Frame at 00:00:38\n\nA gasket in a hand.",
        (74.0, 74.0): "## Frame at 00:01:14\n\nThe waving audience.",
    },
    Modality.VIDEO_FRAME,
)
ELSEWHERE = recording(
    "other.vtt", {(30.0, 40.0): "Another film."}, Modality.VIDEO_TRANSCRIPT, name="other"
)


def opened(question: str, *documents: EmbeddedDocument) -> Moment | None:
    store = MemoryStore()
    fill(store, *documents)
    found = search(
        question, store, None, mode="words", filters=Filters(), settings=SearchSettings(top_k=1)
    )
    return moment(store, found.results[0])


def told(found: Moment | None) -> list[tuple[str, float, str]]:
    assert found is not None
    return [(one.kind, one.start, one.text) for one in found.lines]


def test_words_open_fifteen_seconds_to_both_sides_with_the_frames_between_them() -> None:
    found = opened("pump leaks", SPOKEN, SEEN, ELSEWHERE)
    assert found is not None
    assert (found.start, found.end) == (16.0, 59.0)
    assert told(found) == [
        ("Audio", 5.0, "First the mole."),
        ("Audio", 21.0, "Then the basin."),
        ("Screen", 25.0, "A red barrel."),
        ("Audio", 31.0, "The pump leaks at the seal."),
        ("Screen", 38.0, "A gasket in a hand."),
        ("Audio", 45.0, "It was cold."),
    ]
    assert [one.text for one in found.lines if one.is_anchor] == ["The pump leaks at the seal."]


def test_a_frame_opens_ten_seconds_to_both_sides() -> None:
    found = opened("gasket", SPOKEN, SEEN)
    assert found is not None
    assert (found.start, found.end) == (28.0, 48.0)
    assert told(found) == [
        ("Audio", 21.0, "Then the basin."),
        ("Audio", 31.0, "The pump leaks at the seal."),
        ("Screen", 38.0, "A gasket in a hand."),
        ("Audio", 45.0, "It was cold."),
    ]
    assert [one.text for one in found.lines if one.is_anchor] == ["A gasket in a hand."]


@pytest.mark.parametrize(
    ("question", "ends"),
    [
        ("welcome", (0.0, 19.0)),
        ("good bye", (56.0, 75.0)),
    ],
)
def test_a_moment_ends_where_the_recording_does(question: str, ends: tuple[float, float]) -> None:
    found = opened(question, SPOKEN, SEEN)
    assert found is not None
    assert (found.start, found.end) == ends


def test_what_was_found_is_there_even_where_its_length_is_told_too_short() -> None:
    short = replace(
        SPOKEN,
        document=replace(SPOKEN.document, metadata=Metadata(recording="talk", duration=10.0)),
    )
    found = opened("good bye", short)
    assert found is not None
    assert "Good bye." in [one.text for one in found.lines]
    assert found.start <= 71.0
    assert found.end >= 75.0


def test_what_a_filter_holds_back_is_not_told_around_a_result_either() -> None:
    about = replace(SEEN.document.metadata, confidentiality="restricted")
    secret = replace(SEEN, document=replace(SEEN.document, metadata=about))
    public = replace(SPOKEN.document.metadata, confidentiality="public")
    spoken = replace(SPOKEN, document=replace(SPOKEN.document, metadata=public))
    store = MemoryStore()
    fill(store, spoken, secret)
    filters = Filters(clearance="public")
    found = search(
        "pump leaks", store, None, mode="words", filters=filters, settings=SearchSettings(top_k=1)
    )
    around = moment(store, found.results[0], filters)
    assert {kind for kind, _, _ in told(around)} == {"Audio"}


def test_a_text_without_times_has_no_moment() -> None:
    assert opened("pump", embedded("a.md", "A pump.")) is None


def test_recordings_that_do_not_say_their_name_are_not_mixed() -> None:
    one = recording("a.vtt", {(0.0, 9.0): "The pump."}, Modality.AUDIO_TRANSCRIPT, name=None)
    other = recording("b.vtt", {(0.0, 9.0): "A valve."}, Modality.AUDIO_TRANSCRIPT, name=None)
    assert told(opened("pump", one, other)) == [("Audio", 0.0, "The pump.")]
