import json
from pathlib import PurePosixPath

import pytest
from hypothesis import given, strategies as st

from pincite.reading.recordings.transcripts import (
    named_language,
    read_json_transcript,
    recording_name,
)
from pincite.reading.source_file import SourceFile
from pincite.records import Content, Modality


def read(value: object, path: str = "talks/tides.json") -> Content | None:
    parsed = json.loads(json.dumps(value))
    return read_json_transcript(parsed, SourceFile(path, b""))


def said(value: object) -> list[tuple[float | None, float | None, str]]:
    content = read(value)
    assert content is not None
    return [
        (one.time_start, one.time_end, content.text[one.start : one.end]) for one in content.places
    ]


YOUTUBE = [
    {"text": "the sea comes up", "start": 0.0, "duration": 4.2},
    {"text": "Tom &amp; Pip\nstop", "start": 3.08, "duration": 4.0},
]
EXPECTED = [(0.0, 3.08, "the sea comes up"), (3.08, 7.08, "Tom & Pip stop")]


@pytest.mark.parametrize(
    "value",
    [
        YOUTUBE,
        {"transcript": YOUTUBE},
        {"segments": YOUTUBE},
        {"video_id": "x", "transcript": {"segments": YOUTUBE}},
        [{"text": one["text"], "start": str(one["start"]), "dur": "4.0"} for one in YOUTUBE],
    ],
)
def test_youtube_transcripts_are_read_bare_and_wrapped(value: object) -> None:
    assert said(value) == EXPECTED


def test_youtube_events_are_read_and_empty_ones_left_out() -> None:
    events = [
        {"tStartMs": 0, "dDurationMs": 99_000, "id": 1},
        {"tStartMs": 40, "dDurationMs": 4000, "segs": [{"utf8": "so"}, {"utf8": " we"}]},
        {"tStartMs": 2000, "aAppend": 1, "segs": [{"utf8": "\n"}]},
        {"tStartMs": 2100, "dDurationMs": 3000, "segs": [{"utf8": "go"}, "?", {"tOffsetMs": 5}]},
    ]
    assert said({"wireMagic": "pb3", "events": events}) == [(0.04, 2.1, "so we"), (2.1, 5.1, "go")]


WHISPER = {
    "text": " Moin. Wie geht es?",
    "language": "de",
    "segments": [
        {"id": 0, "start": 0.0, "end": 2.0, "text": " Moin.", "speaker": "SPEAKER_00"},
        {"id": 1, "start": 2.0, "end": 4.0, "text": " Wie geht es?", "speaker": "SPEAKER_01"},
        {"id": 2, "start": 4.0, "end": 5.0, "text": " Gut."},
    ],
}


def test_whisper_is_read_with_speakers_and_one_missing_goes_on_with_the_last() -> None:
    content = read(WHISPER, "talks/tides.mp3.json")
    assert content is not None
    assert content.text == "SPEAKER_00: Moin.\n\nSPEAKER_01: Wie geht es? Gut."
    assert content.type == "json"
    assert content.modality is Modality.AUDIO_TRANSCRIPT
    assert content.metadata.language == "de"
    assert content.metadata.duration == 5.0
    assert content.metadata.recording == "talks/tides"


def test_words_with_times_give_places_within_a_segment() -> None:
    words = [
        {"word": " Moin.", "start": 0.5, "end": 1.0, "probability": 0.9},
        {"word": " Wie", "start": 9.0, "end": 9.2},
        {"word": " 12", "speaker": "B"},
        {"word": " Uhr?", "start": 16.0, "end": 17.0, "speaker": "B"},
    ]
    segment = {"start": 0.0, "end": 20.0, "text": " Moin. Wie 12 Uhr?", "speaker": "A"}
    assert said({"segments": [{**segment, "words": words}]}) == [
        (0.5, 1.0, "Moin."),
        (9.0, 9.2, "Wie"),
        (16.0, 17.0, "12 Uhr?"),
    ]
    other = [{"word": " other", "start": 1, "end": 2}]
    assert said({"segments": [{**segment, "words": other}]}) == [(0.0, 20.0, "Moin. Wie 12 Uhr?")]


def test_transformers_and_whisper_cpp_are_read() -> None:
    chunks = [
        {"timestamp": [0.0, 3.5], "text": " One"},
        {"timestamp": [3.5, None], "text": " two"},
    ]
    assert said({"text": " One two", "chunks": chunks}) == [(0.0, 3.5, "One"), (3.5, 4.5, "two")]
    times = {"from": "00:00:01,000", "to": "00:01:02,500"}
    assert said({"transcription": [{"timestamps": times, "text": " a"}]}) == [(1.0, 62.5, "a")]


@pytest.mark.parametrize(
    "value",
    [
        *(None, 3, "text", [], {}, {"segments": []}, {"segments": {}}, [1, 2], [[0, 1, "a"]]),
        *([{"text": "no time"}], [{"text": "no end", "start": 1}], [{"start": 0, "end": 1}]),
        [{"text": "true", "start": True, "end": True}],
        [{"text": "Ada", "start": 3, "end": 6}, {"text": "London", "start": 10, "end": 16}],
        [{"text": "What is a tide?", "start": 0, "end": 900, "video_id": "x"}],
        [{"text": "Meeting", "start": 1_700_000_000, "end": 1_700_003_600}],
        [*YOUTUBE, {"text": "a note"}],
    ],
)
def test_other_json_is_no_transcript(value: object) -> None:
    assert read(value) is None


def test_impossible_numbers_are_no_times() -> None:
    for bad in (float("nan"), float("inf"), 10**400, -(10**400)):
        item = {"text": "a", "start": bad, "end": 1}
        assert read_json_transcript([item], SourceFile("a.json", b"")) is None


KEYS = (
    *("text", "start", "end", "dur", "segments", "words", "word", "segs", "utf8", "events"),
    *("timestamp", "timestamps", "from", "tStartMs", "speaker", "chunks", "title"),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "a b.", "0:01"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)


@given(json_values)
def test_any_json_is_read_or_left_alone(value: object) -> None:
    content = read_json_transcript(value, SourceFile("a.json", b""))
    assert content is None or content.text.strip()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("talks/x.transcript.md", "talks/x"),
        ("talks/x.en.vtt", "talks/x"),
        ("talks/x.pt-BR.srt", "talks/x"),
        ("talks/x.mp4.json", "talks/x"),
        ("talks/x (transcript).md", "talks/x"),
        ("talks/x_frames/frame_00m30s.md", "talks/x"),
        ("talks/node.js.vtt", "talks/node.js"),
        ("talks/Frames of mind.md", "talks/Frames of mind"),
    ],
)
def test_files_about_one_recording_share_its_name(path: str, name: str) -> None:
    assert recording_name(path) == name


@given(st.text(alphabet="ab./-_ (frames)0", min_size=1, max_size=40))
def test_a_recording_always_has_a_name(path: str) -> None:
    assert recording_name(path) or not PurePosixPath(path).name.strip("./-_ ()")


def test_a_file_name_may_tell_the_language() -> None:
    assert named_language("a/x.en.vtt") == "en"
    assert named_language("a/x.de-AT.transcript.md") == "de-AT"
    assert named_language("a/node.js.vtt") is None
    assert named_language("de.vtt") is None
