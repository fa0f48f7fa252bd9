"""How recordings are cut: what is said by minutes or by size, each frame whole."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from pincite.chunking.pieces import Measure
from pincite.chunking.transcript import (
    frame_spans,
    recording_spans,
    times_of,
    transcript_spans,
)
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import LibraryReader
from pincite.reading.recordings.cues import Cue
from pincite.reading.recordings.transcripts import recording_content
from pincite.reading.source_file import SourceFile
from pincite.records import (
    Document,
    Modality,
    Place,
    document_from,
)
from pincite.settings import POLICIES, ChunkPolicy

VAULT = POLICIES["vault"]
SMALL = replace(VAULT, minimum=0, maximum=40)


def document(cues: list[Cue]) -> Document:
    content = recording_content("vtt", cues, SourceFile("talk.vtt", b""))
    return document_from(content, library="library", path="talk.vtt", data=b"")


def read(text: str, path: str = "talk.transcript.txt") -> Document:
    return LibraryReader("library").read(path, text.encode())


def windows(talk: Document, policy: ChunkPolicy = VAULT) -> list[str]:
    return [talk.text[start:end] for start, end in spans(talk, policy)]


def spans(talk: Document, policy: ChunkPolicy = VAULT) -> list[tuple[int, int]]:
    return transcript_spans(talk, Measure(talk.text, HashingEmbedder()), policy)


def lengths(talk: Document) -> list[float]:
    times = [times_of(talk.places, start, end) for start, end in spans(talk)]
    return [end - start for start, end in (time for time in times if time)]


SENTENCE = "The sea comes up and stops and goes down."


def speech(count: int, *, each: float = 5.0, text: str = SENTENCE, who: str = "Mara") -> list[Cue]:
    return [Cue(at * each, (at + 1) * each, text, who) for at in range(count)]


def test_windows_last_about_a_minute_and_end_with_a_sentence() -> None:
    talk = document(speech(120))
    assert 8 <= len(lengths(talk)) <= 12
    assert all(45 <= length <= 75 for length in lengths(talk))
    assert all(window.endswith(".") for window in windows(talk))


def test_a_window_begins_with_a_turn_where_there_is_one() -> None:
    turns = [
        replace(cue, speaker=f"Speaker {int(cue.start or 0) // 50}") for cue in speech(60, each=5.0)
    ]
    found = windows(document(turns))
    assert [window.partition(":")[0] for window in found] == [f"Speaker {at}" for at in range(6)]


@pytest.mark.parametrize("turn", [2, 5, 1_000], ids=["short turns", "turns", "one speaker"])
@pytest.mark.parametrize("text", [SENTENCE, SENTENCE.rstrip(".")], ids=["sentences", "captions"])
def test_brain_groups_what_is_said_by_size_and_repeats_the_end(turn: int, text: str) -> None:
    said = [
        replace(cue, speaker=f"Speaker {at // turn}")
        for at, cue in enumerate(speech(600, text=text))
    ]
    talk = document(said)
    measure = Measure(talk.text, HashingEmbedder())
    found = spans(talk, POLICIES["brain"])
    assert all(700 <= measure.tokens(*span) <= 1_000 for span in found[:-1])
    assert measure.tokens(*found[-1]) <= 1_000
    repeated = [measure.tokens(after[0], before[1]) for before, after in pairwise(found)]
    assert all(100 <= tokens <= 150 for tokens in repeated)
    times = [time for span in found if (time := times_of(talk.places, *span))]
    assert (times[0][0], times[-1][1]) == (0.0, 3_000.0)
    if turn == 2 and text == SENTENCE:
        assert all(talk.text[start:].startswith("Speaker") for start, _ in found)
        assert all(talk.text[end:].lstrip().startswith("Speaker") for _, end in found[:-1])


def test_brain_keeps_a_short_recording_in_one_chunk() -> None:
    talk = document(speech(95))
    assert 875 < Measure(talk.text, HashingEmbedder()).tokens(0, len(talk.text)) <= 1_000
    assert windows(talk, POLICIES["brain"]) == [talk.text.rstrip()]


def test_sentences_that_run_over_several_cues_stay_whole() -> None:
    texts = ["so we went down", "to the sea and", "looked at it.", "Then we", "came home again."]
    cues = [Cue(at * 4.0, at * 4.0 + 4, texts[at % 5]) for at in range(100)]
    found = windows(document(cues))
    assert len(found) > 4
    assert all(window.endswith(".") for window in found)


def test_without_any_sentence_windows_are_cut_between_cues() -> None:
    cues = [Cue(at * 4.0, at * 4.0 + 4, f"word{at}a word{at}b") for at in range(100)]
    talk = document(cues)
    assert all(45 <= length <= 75 for length in lengths(talk))
    assert all(re.search(r"b$", window) for window in windows(talk))
    assert all(re.match(r"word\d+a", window) for window in windows(talk))


def test_one_long_cue_is_cut_at_its_sentences_with_times_of_their_own() -> None:
    talk = document([Cue(0.0, 300.0, " ".join([SENTENCE] * 60), "Mara")])
    times = [times_of(talk.places, start, end) for start, end in spans(talk)]
    assert len(times) == 5
    assert all(45 <= length <= 75 for length in lengths(talk))
    assert all(window.endswith(".") for window in windows(talk))
    assert times[0] is not None
    assert times[-1] is not None
    assert (times[0][0], times[-1][1]) == (0.0, 300.0)


def test_a_pause_is_a_good_place_to_cut() -> None:
    early = [Cue(at * 5.0, at * 5.0 + 5, f"word{at}") for at in range(11)]
    late = [Cue(60 + at * 5.0, 65 + at * 5.0, f"next{at}") for at in range(12)]
    assert windows(document(early + late))[1].startswith("next0")


def test_nothing_is_put_together_across_a_long_silence() -> None:
    cues = [Cue(0.0, 5.0, "Before."), Cue(600.0, 605.0, "After.")]
    assert windows(document(cues)) == ["Before.", "After."]


def test_names_and_codes_stay_with_the_words_that_follow_them() -> None:
    text = "\n\n".join(
        f"Speaker {at}: 00:{at // 2:02}:{at % 2 * 30:02}\n\n" + " ".join([SENTENCE] * 8)
        for at in range(20)
    )
    found = windows(read(text))
    assert len(found) > 5
    assert all(re.match(r"Speaker \d+: \d\d:\d\d:\d\d\n\n", window) for window in found)


def test_the_words_above_a_transcript_go_to_its_first_window_and_long_ones_stand_alone() -> None:
    spoken = "\n".join(f"[00:00:{at:02}] {SENTENCE}" for at in range(0, 60, 5))
    short = windows(read(f"A talk by Mara.\n\n{spoken}"))
    assert short[0].startswith("A talk by Mara.")
    assert SENTENCE in short[0]
    talk = read(f"{'A long story about Mara. ' * 60}\n\n{spoken}")
    assert times_of(talk.places, *spans(talk)[0]) is None
    assert "".join(windows(talk)).count(SENTENCE) == 12


def test_two_recordings_in_one_file_are_cut_apart() -> None:
    part = "\n".join(f"[00:{at // 60:02}:{at % 60:02}] {SENTENCE}" for at in range(0, 100, 5))
    talk = read(f"{part}\n{part}")
    times = [times_of(talk.places, start, end) for start, end in spans(talk)]
    assert [time[0] for time in times if time].count(0.0) == 2


def test_a_document_without_times_is_cut_by_how_long_it_takes_to_say() -> None:
    talk = replace(document(speech(120)), places=())
    assert 500 < sum(map(len, windows(talk))) / len(windows(talk)) < 1200


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        *(((0, 10), (0.0, 10.0)), ((5, 10), (5.0, 10.0)), ((8, 12), (8.0, 21.0))),
        *(((5, 16), (5.0, 25.0)), ((20, 25), (29.0, 30.0)), ((10, 11), None), ((21, 25), None)),
    ],
)
def test_a_slice_gets_its_share_of_the_time(
    span: tuple[int, int], expected: tuple[float, float] | None
) -> None:
    places = (
        Place(0, 10, time_start=0.0, time_end=10.0),
        Place(11, 21, time_start=20.0, time_end=30.0),
    )
    assert times_of(places, *span) == expected


texts = st.lists(
    st.sampled_from(["sea", "goes", "down.", "Why?", "水が来る。", "x" * 60, "e.g.", "—", "A:"]),
    min_size=1,
    max_size=30,
).map(" ".join)
cues = st.lists(
    st.builds(
        Cue,
        st.none() | st.floats(-5, 4_000),
        st.none() | st.floats(-5, 4_000),
        texts,
        st.none() | st.sampled_from(["Mara", "Pip"]),
    ),
    min_size=1,
    max_size=25,
)


@given(cues, st.sampled_from([VAULT, SMALL]))
def test_every_word_is_in_one_window_and_times_never_go_back(
    said: list[Cue], policy: ChunkPolicy
) -> None:
    talk = document(said)
    measure = Measure(talk.text, HashingEmbedder())
    found = transcript_spans(talk, measure, policy)
    kept = "".join("".join(talk.text[start:end].split()) for start, end in found)
    assert kept == "".join(talk.text.split())
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    assert all(measure.tokens(start, end) <= policy.maximum for start, end in found)
    times = [time for start, end in found if (time := times_of(talk.places, start, end))]
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(times))
    assert all(start <= end for start, end in times)


def chunks(document: Document) -> list[tuple[str, Modality]]:
    measure = Measure(document.text, HashingEmbedder())
    spans = recording_spans(document, measure, POLICIES["vault"])
    return [(document.text[start:end], modality) for start, end, modality in spans]


def test_each_frame_is_one_chunk_with_all_that_stands_under_it() -> None:
    long = "A gull sits on the railing. " * 400
    document = read(
        "# Frames\n\nOne camera.\n\n## Frame at 00:05\n\nA slide.\n\n### Text\n\nTides.\n\n"
        f"## Frame at 00:10\n\n{long}\n\n## Frame at 00:10\n\n## Frame at 00:20\n\nThe end.\n",
        "talk.frames.md",
    )
    assert chunks(document) == [
        ("# Frames\n\nOne camera.", Modality.TEXT),
        ("## Frame at 00:05\n\nA slide.\n\n### Text\n\nTides.", Modality.VIDEO_FRAME),
        (f"## Frame at 00:10\n\n{long.strip()}", Modality.VIDEO_FRAME),
        ("## Frame at 00:10", Modality.VIDEO_FRAME),
        ("## Frame at 00:20\n\nThe end.", Modality.VIDEO_FRAME),
    ]
    document = read("# Frames\n\n## Frame at 00:05\n\nA slide.\n", "talk.frames.md")
    assert chunks(document) == [("## Frame at 00:05\n\nA slide.", Modality.VIDEO_FRAME)]


def test_what_is_said_around_a_frame_is_cut_apart_from_it() -> None:
    words = "The sea comes up, stops, goes down again, and nobody knows why."
    document = read(
        f"# Talk\n\n[00:00] {words}\n\n[00:05] {words}\n\n## Frame at 00:07\n\nA slide.\n\n"
        f"## More\n\n[00:10] {words}\n\n[00:15] {words}\n",
        "talk.md",
    )
    kinds = [modality for _, modality in chunks(document)]
    spoken = Modality.VIDEO_TRANSCRIPT
    assert kinds == [spoken, Modality.VIDEO_FRAME, spoken]
    assert chunks(document)[2][0].startswith("## More")


def test_a_code_without_words_is_not_taken_across_a_frame() -> None:
    words = "The sea comes up, stops, goes down again, and nobody knows why."
    document = read(
        f"[00:00] {words}\n\n[00:05] {words}\n\n[00:07]\n\n## Frame at 00:07\n\nA slide.\n\n"
        f"## More\n\n[00:10] {words}\n",
        "talk.transcript.md",
    )
    texts = [text for text, _ in chunks(document)]
    assert "".join(texts).count("A slide.") == 1
    assert [text[:9] for text in texts] == ["[00:00] T", "## Frame ", "## More\n\n"]


def test_what_lasts_no_time_is_no_frame() -> None:
    document = read(
        "[00:00] Oh, so it does, and how.\n\n[00:05] Ah, so it is, and now.\n\n"
        "[00:05] Uh, so it was.\n",
        "talk.transcript.md",
    )
    assert any(place.time_start == place.time_end for place in document.places)
    assert frame_spans(document) == []
