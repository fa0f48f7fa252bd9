import pytest
from hypothesis import given, strategies as st

from pincite.reading.lines import markdown, plain
from pincite.reading.source_file import SourceFile
from pincite.records import Content, Modality, OmissionReason, without

SENTENCE = "The sea comes up, stops, goes down again, and nobody on the jetty knows why it does. "


def read(text: str, path: str = "notes/harbour.md") -> Content:
    reader = markdown.read if path.endswith(".md") else plain.read
    return reader(SourceFile(path, text.encode()))


def said(content: Content) -> list[tuple[float | None, str]]:
    return [(one.time_start, content.text[one.start : one.end]) for one in content.places]


def embedded(content: Content) -> str:
    return without(content.text, 0, content.omissions)


SHAPES = {
    "hours": ("[00:00:00] {}", "[00:00:08] {}", "[00:00:17] {}"),
    "milliseconds": ("[00:00:00.000] {}", "[00:00:08.000] {}", "[00:00:17,000] {}"),
    "minutes": ("[0:00] {}", "[0:08] {}", "[0:17] {}"),
    "ranges": ("[00:00-00:08] {}", "[00:08 - 00:17] {}", "[00:00:17 --> 00:00:25] {}"),
    "bare": ("00:00 {}", "00:08 {}", "00:17 {}"),
    "round": ("(0:00) {}", "(00:08) {}", "(0:00:17) {}"),
    "alone": ("0:00\n{}", "0:08\n{}", "0:17\n{}"),
    "bold": ("**[00:00:00]** {}", "**[00:00:08]** {}", "**[00:00:17]** {}"),
    "links": ("[00:00](http://x.y?t=0) {}", "[00:08](http://x.y?t=8) {}", "[00:17](http://x.y) {}"),
    "seconds": ("[0.0-8.0] {}", "[8.0-17.0] {}", "[17.0-25.5] {}"),
    "starts in seconds": ("[0.0] {}", "[8.0] {}", "[17.0] {}"),
    "whole seconds": ("[0-8] {}", "[8-17] {}", "[17-25] {}"),
    "seconds with a unit": ("[0.00s -> 8.00s] {}", "[8.00s -> 17.00s] {}", "[17.00s -> 25s] {}"),
    "seconds alone": ("[0.0]\n{}", "[8.0]\n{}", "[17.0]\n{}"),
    "items": ("- [00:00] {}", "- [00:08] {}", "> [00:17] {}"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("path", ["notes/harbour.md", "notes/harbour.txt"])
def test_codes_at_line_starts_give_times_and_are_not_embedded(shape: str, path: str) -> None:
    text = "\n\n".join(line.format(SENTENCE.strip()) for line in SHAPES[shape])
    content = read(text, path)
    assert content.text == text
    assert said(content) == [
        (0.0, SENTENCE.strip()),
        (8.0, SENTENCE.strip()),
        (17.0, SENTENCE[:-1]),
    ]
    assert content.modality is Modality.VIDEO_TRANSCRIPT
    assert {one.reason for one in content.omissions} == {OmissionReason.TIME_CODE}
    assert not any(digit in embedded(content) for digit in "0123456789[]")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("[{}] Lio: {}", "Lio: "),
        ("Lio: [{}] {}", "Lio: "),
        ("**Lio** [{}]: {}", "**Lio**: "),
        ("Lio ({}): {}", "Lio: "),
        ("[SPEAKER_X] {} {}", "[SPEAKER_X] "),
        ("Lio Castellane: {}\n\n{}", "Lio Castellane: \n\n"),
        ("Lio Castellane  {}\n{}", "Lio Castellane  \n"),
        ("## Lio [{}]\n\n{}", "## Lio \n\n"),
    ],
)
def test_names_may_stand_on_either_side_of_a_code(line: str, name: str) -> None:
    for code in ["00:00:{:02}", "{}.0"] if "[{}]" in line else ["00:00:{:02}"]:
        text = "\n\n".join(line.format(code.format(at), SENTENCE.strip()) for at in (0, 8, 17))
        content = read(text)
        assert [time for time, _ in said(content)] == [0.0, 8.0, 17.0]
        assert embedded(content) == "\n\n".join([name + SENTENCE.strip()] * 3)


def test_codes_inside_a_paragraph_count_in_a_transcript() -> None:
    words = "We went to the sea and then [00:00:10] to the land and we came back again and again"
    text = f"**Lio:** [00:00:00] {words} [00:00:15] and more, so much more of it than we wanted."
    assert [time for time, _ in said(read(text))] == [0.0, 10.0, 15.0]


def test_without_an_end_words_last_until_the_next_code_but_not_through_a_long_silence() -> None:
    text = "[00:00] One two.\n[00:05] And now a break.\n[25:00] Welcome back.\n"
    content = read(text, "talk.transcript.txt")
    ends = [place.time_end for place in content.places]
    assert ends[0] == 5.0
    assert ends[1] is not None
    assert 5.0 < ends[1] < 30.0
    assert content.metadata.duration == ends[2]
    assert ends[2] is not None
    assert 1500.0 < ends[2] < 1505.0


def test_a_range_says_itself_when_it_ends() -> None:
    content = read("[0:00 - 0:03] Ah.\n[0:10 - 0:08] Oh.\n[0:20 - 0:23] Uh.", "transcript.txt")
    times = [(one.time_start, one.time_end) for one in content.places]
    assert times == [(0.0, 3.0), (10.0, 14.5), (20.0, 23.0)]


def test_a_heading_belongs_to_what_follows_it_and_references_to_nothing_said() -> None:
    text = (
        f"# Tides\n\n[00:00:00] {SENTENCE}\n\n## Moon\n\n[00:00:08] {SENTENCE}\n\n"
        f"[00:00:17] {SENTENCE}\n\n## References\n\nSmith 1999.\n"
    )
    assert [words for _, words in said(read(text))] == [SENTENCE.strip()] * 3


def test_a_code_that_goes_back_or_cannot_be_is_no_code() -> None:
    lines = [f"[00:{at:02}:00] {SENTENCE * 6}" for at in range(12)]
    lines.insert(6, f"[00:01:00] {SENTENCE}")
    lines.insert(3, f"[00:99:99] {SENTENCE}")
    content = read("\n".join(lines), "talk.txt")
    assert [time for time, _ in said(content)] == [60.0 * at for at in range(12)]


def test_a_list_of_chapters_above_a_transcript_is_text() -> None:
    chapters = "".join(f"- [00:{at:02}:00] Chapter {at}\n" for at in range(0, 50, 5))
    spoken = "".join(f"**Lio** [00:00:{at:02}]: {SENTENCE}\n\n" for at in range(0, 60, 8))
    content = read(f"# Talk\n\n{chapters}\n## Transcript\n\n{spoken}{SENTENCE * 20}")
    assert [time for time, _ in said(content)] == [float(at) for at in range(0, 60, 8)]
    assert content.places[0].start > content.text.index("## Transcript")


DIARY = [
    "08:15 Left the harbour with Oriel, wind from the west, the skiff low in the water.",
    "09:30 Off the stack. Three gannets, one of them with a ring, and a seal that followed us.",
    "11:05 Ashore. The ledge was dry, the rope was not, and the bag went into the sea.",
    "14:40 Back at the jetty, wet and pleased. Soup.",
]
NOT_RECORDINGS = {
    "diary": "\n".join(DIARY),
    "paragraphs": "\n\n".join(DIARY),
    "night watch": "\n".join(f"0{at}:{at}0 All quiet." for at in range(6)),
    "timetable": "\n".join(f"- {at:02}:30 – {at + 1:02}:00 A talk" for at in range(9, 17)),
    "chapters": "\n".join(f"{at:02}:00 Chapter {at}" for at in range(0, 50, 5)),
    "bible": "\n".join(f"3:{at} {SENTENCE}" for at in range(10, 36)),
    "server log": "\n".join(f"[12:{at:02}:07] INFO started worker {at}" for at in range(60)),
    "chat": "\n".join(f"[21:{at:02}] <pip> {SENTENCE}" for at in range(30)),
    "clipping": "---\nsource: https://example.org/\ntype: talk\n---\n\n" + "\n".join(DIARY),
    "references": "\n".join(f"[{at}] Somebody, A title, 19{at}." for at in range(10, 40)),
    "short list": "\n".join(f"[{at}] Milk and eggs" for at in range(12)),
    "sections": "\n".join(f"[{at}.{part}] The seal" for at in (1, 2, 3) for part in range(1, 6)),
    "pages": "\n".join(f"[{at}-{at + 4}] The chapter on seals" for at in range(1, 60, 5)),
    "footnotes": f"{SENTENCE}[3-4] {SENTENCE}[5]\n" * 9 + "[1] a.\n[2.5] b.\n[12.5] c.\n[13] d.",
    "few": f"[00:12] {SENTENCE}\n\n[00:20] {SENTENCE}",
    "results": "\n".join(f"Runner {name}: 12:{at}" for at, name in enumerate("abcdef", 10)),
    "code": "```\n" + "\n".join(f"[00:00:{at:02}] {SENTENCE}" for at in range(20, 50)) + "\n```",
    "table": "| a | b |\n|---|---|\n" + "\n".join(f"| 00:0{at} | x |" for at in range(9)),
    "a time at the end": SENTENCE * 30 + "\n[00:00:05] a\n[00:00:06] b\n[00:00:07] c",
}


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        *((kind, "notes/log.md") for kind in NOT_RECORDINGS),
        *((kind, "notes/log.txt") for kind in NOT_RECORDINGS if kind not in ("code", "table")),
    ],
)
def test_other_texts_with_times_in_them_stay_text(kind: str, path: str) -> None:
    content = read(NOT_RECORDINGS[kind], path)
    assert content.modality is Modality.TEXT
    assert content.places == ()
    assert content.omissions == ()
    assert content.metadata.recording is None


def test_less_is_asked_of_a_file_that_is_called_a_transcript() -> None:
    text = "[01:30:00] Good.\n[01:30:20] Yes.\n"
    assert read(text, "talk.txt").modality is Modality.TEXT
    content = read(text, "talk.transcript.txt")
    assert [time for time, _ in said(content)] == [5400.0, 5420.0]


def test_the_recording_is_named_by_the_file_or_by_its_front_matter() -> None:
    text = "[00:00] One two three.\n[00:05] Four five six.\n[00:09] Seven eight.\n"
    assert read(text, "talks/x.transcript.md").metadata.recording == "talks/x"
    for front, name in (
        ("recording: Tide talk", "talks/Tide talk"),
        ("video: x.mp4", "talks/x"),
        ("source: https://example.org/watch?v=1", "https://example.org/watch?v=1"),
        ("source: The Guardian", "talks/y"),
    ):
        content = read(f"---\n{front}\nduration: 00:26:16\n---\n\n{text}", "talks/y.transcript.md")
        assert content.metadata.recording == name
        assert [time for time, _ in said(content)] == [0.0, 5.0, 9.0]


def test_front_matter_name_or_preface_say_that_there_is_only_sound() -> None:
    text = "[00:00] One two three.\n[00:05] Four five six.\n[00:09] Seven eight.\n"
    heard = Modality.AUDIO_TRANSCRIPT
    assert read(f"---\nmodality: audio\n---\n\n{text}", "x.transcript.md").modality is heard
    assert read(f"---\ntype: podcast\n---\n\n{text}", "x.md").modality is heard
    assert read(text, "x.m4a.transcript.md").modality is heard
    assert read(f"Dov, in the Oil Store\nAudio only\n\n{text}", "x.txt").modality is heard


FRAMES = """# Tides: frames

One camera.

## Frame at 00:00:08

Engine Hall. A slide: 12:30, 12:40, 12:50.

### Slide

The title.

## Visual Frame at 01:12.5

A strip of clocks.

## After

The end.
"""


def test_a_frame_is_its_whole_section_at_one_moment() -> None:
    content = read(FRAMES, "talks/tides.frames.md")
    assert [(one.time_start, one.time_end) for one in content.places] == [(8.0, 8.0), (72.5, 72.5)]
    texts = [words for _, words in said(content)]
    assert texts[0].startswith("## Frame at 00:00:08")
    assert texts[0].endswith("The title.")
    assert texts[1].endswith("A strip of clocks.")
    assert content.modality is Modality.VIDEO_FRAME
    assert content.metadata.recording == "talks/tides"
    assert content.metadata.duration is None
    assert "00:00:08" not in embedded(content)
    assert "12:30" in embedded(content)


@pytest.mark.parametrize(
    "heading",
    [
        *("# Frame at 01:12", "###### Visual frame at 0:01:12", "## Keyframe 3 at [00:01:12]"),
        *("## Video Frame @ 1:12", "Frame at 00:01:12.000\n---"),
    ],
)
def test_frames_may_stand_under_headings_of_any_level(heading: str) -> None:
    assert said(read(f"{heading}\n\nA clock."))[0][0] == 72.0


@pytest.mark.parametrize("heading", ["Time frame at 1:12", "Frame at noon", "Frame at 00:99:99"])
def test_other_headings_are_no_frames(heading: str) -> None:
    assert read(f"## {heading}\n\nA clock.").places == ()


lines = st.lists(
    st.sampled_from(
        [
            *("[00:00:01] a b.", "0:05", "Lio: 00:07", "## Frame at 00:09", "99:99", "# A", ""),
            *("**L** [0:11]: x", "[00:00:20 - 00:00:02] y", "z [00:00:30] z", "\t[0:01]"),
            *("- (0:02) -", "words."),
        ]
    ),
    max_size=20,
)


@given(lines, st.sampled_from(["a.transcript.md", "a.transcript.txt", "a.md"]))
def test_places_and_omissions_are_in_order_and_the_text_is_the_file(
    given_lines: list[str], path: str
) -> None:
    text = "\n".join([*given_lines, "end"])
    content = read(text, path)
    assert content.text == text
    for stretches in (content.places, content.omissions):
        edges = [edge for one in stretches for edge in (one.start, one.end)]
        assert edges == sorted(edges)
        assert all(0 <= one.start < one.end <= len(text) for one in stretches)
