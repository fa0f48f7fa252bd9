import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.recordings import subtitles
from pincite.reading.source_file import SourceFile
from pincite.records import Content, Modality

Said = list[tuple[float | None, float | None, str]]


def read(text: str, path: str = "talks/tides.vtt") -> Content:
    return subtitles.read(SourceFile(path, text.encode()))


def said(content: Content) -> Said:
    return [
        (one.time_start, one.time_end, content.text[one.start : one.end]) for one in content.places
    ]


def vtt(*cues: str) -> str:
    return "\n\n".join(["WEBVTT", *cues]) + "\n"


def test_a_turn_is_a_paragraph_with_its_speaker_and_every_cue_keeps_its_seconds() -> None:
    content = read(
        vtt(
            "00:01.000 --> 00:04.500\n<v Mara>The sea comes up,",
            "00:04.500 --> 00:06.000\n<v Mara>stops, goes down.",
            "01:00:06.000 --> 01:00:07.000\n<v.loud Pip Renn>Why?</v>",
        )
    )
    assert content.text == "Mara: The sea comes up, stops, goes down.\n\nPip Renn: Why?"
    assert said(content) == [
        (1.0, 4.5, "The sea comes up,"),
        (4.5, 6.0, "stops, goes down."),
        (3606.0, 3607.0, "Why?"),
    ]
    assert content.type == "vtt"
    assert content.modality is Modality.VIDEO_TRANSCRIPT
    assert content.metadata.duration == 3607.0
    assert content.metadata.recording == "talks/tides"


TEXTS = {
    "header, comments, styles, names and settings are not said": (
        "WEBVTT - Tides\nKind: captions\nLanguage: de\n\nNOTE\nnobody says this\n\n"
        "STYLE\n::cue { color: red }\n\nREGION\nid:fred\n\nintro\n"
        "00:01.000 --> 00:02.000 align:start position:0%\nMoin.\n\n"
        "NOTE nor this\n\n2\n00:03.000 --> 00:04.000\nTach.\n",
        "Moin. Tach.",
    ),
    "tags go and what only looks like one stays": (
        vtt(
            "00:01.000 --> 00:02.000\n<c.yellow>a</c> <00:00:01.500><i>b</i> {\\an8}"
            "Vec<String> x < y &lt;b&gt; AT&amp;T AT&T"
        ),
        "a b Vec<String> x < y <b> AT&T AT&T",
    ),
    "what somebody really says twice stays twice": (
        vtt(
            *(f"00:{at:02}.000 --> 00:{at:02}.900\n{word}" for at, word in enumerate("abcdefgh")),
            *("00:20.000 --> 00:21.000\nYes.", "00:21.000 --> 00:22.000\nYes."),
        ),
        "a b c d e f g h\n\nYes. Yes.",
    ),
    "a dash or two arrows begin a turn but not the rest of a word": (
        vtt(
            "00:01.000 --> 00:02.000\n-How high?\n-Five metres.",
            "00:02.000 --> 00:03.000\n>> Really? We are non",
            "00:03.000 --> 00:04.000\n-swimmers.",
        ),
        "How high?\n\nFive metres.\n\nReally? We are non-swimmers.",
    ),
    "names before a colon are speakers if they come again": (
        vtt(
            "00:01.000 --> 00:02.000\nMara: Look.",
            "00:02.000 --> 00:03.000\nRemember: it is deep.",
            "00:03.000 --> 00:04.000\nInes: I do.",
            "00:04.000 --> 00:05.000\nMara: Good.",
            "00:05.000 --> 00:06.000\nInes: Yes.",
        ),
        "Mara: Look. Remember: it is deep.\n\nInes: I do.\n\nMara: Good.\n\nInes: Yes.",
    ),
    "a word thrown in stands between the sentences it interrupts": (
        vtt(
            "00:00.000 --> 01:40.000\n<v A>One sentence is here. Another one there. The third.",
            "00:40.000 --> 00:41.000\n<v B>Mm-hm.",
        ),
        "A: One sentence is here.\n\nB: Mm-hm.\n\nA: Another one there. The third.",
    ),
    "cues of one time stay as they are": (
        vtt(
            "00:09.000 --> 00:10.000\nlast",
            "00:01.000 --> 00:02.000\nfirst",
            "00:01.000 --> 00:02.000\nsecond",
        ),
        "first second last",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_what_is_said_is_read_as_people_say_it(case: str) -> None:
    source, text = TEXTS[case]
    assert read(source).text == text


SAID: dict[str, tuple[str, Said]] = {
    "captions that roll are taken once": (
        vtt(
            "00:00.000 --> 00:02.000\n \nthe sea<00:00:00.500><c> comes</c>",
            "00:02.000 --> 00:02.010\nthe sea comes\n ",
            "00:02.010 --> 00:04.000\nthe sea comes\nup<00:00:03.000><c> and up</c>",
            "00:04.000 --> 00:04.010\nup and up\n ",
            "00:04.010 --> 00:06.000\nup and up\nand stops",
        ),
        [(0.0, 2.0, "the sea comes"), (2.01, 4.0, "up and up"), (4.01, 6.0, "and stops")],
    ),
    "speakers of one cue share its time": (
        vtt("00:00.000 --> 00:10.000\n<v A>aaaa</v> <v B>bbbbbb</v>"),
        [(0.0, 4.0, "aaaa"), (4.0, 10.0, "bbbbbb")],
    ),
    "an overlapping cue ends where the next begins": (
        vtt("00:01.000 --> 00:05.000\na", "00:03.000 --> 00:07.000\nb"),
        [(1.0, 3.0, "a"), (3.0, 7.0, "b")],
    ),
    "a cue without a readable time comes after the one before it": (
        vtt(
            "00:01.000 --> 00:02.000\na",
            "99:99:99.000 --> 99:99:99.000\nb",
            "00:05.000 --> 00:06.000\nc",
        ),
        [(1.0, 2.0, "a"), (2.0, 5.0, "b"), (5.0, 6.0, "c")],
    ),
    "a time before the beginning": (vtt("-00:00:05.000 --> 00:00:02.000\na"), [(0.0, 2.0, "a")]),
    "a second at least": (vtt("00:00:09.000 --> 00:00:02.000\na"), [(9.0, 10.0, "a")]),
    "an impossible time": (vtt("00:61:00.000 --> 00:00:02.000\na"), [(0.0, 1.0, "a")]),
    "times of SBV": (
        "0:00:01.000,0:00:04.000\nOne\ntwo\n\n1:00:04.000,1:00:05.000\n3\n",
        [(1.0, 4.0, "One two"), (3604.0, 3605.0, "3")],
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_what_is_said_has_the_seconds_in_which_it_is_said(case: str) -> None:
    source, expected = SAID[case]
    assert said(read(source, "a.sbv")) == expected


def test_the_header_may_tell_title_and_language() -> None:
    cue = "\n\n00:01.000 --> 00:04.000\nGood evening.\n"
    titles = [read(header + cue).title for header in ("WEBVTT - The lamp", "WEBVTT A", "WEBVTT")]
    assert titles == ["The lamp", "A", None]
    assert read(f"WEBVTT\nLanguage: de{cue}").metadata.language == "de"


def test_subrip_is_read_with_windows_line_ends_and_without_numbers_or_blank_lines() -> None:
    content = read(
        "\ufeff1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>One</i>\r\n2\r\n"
        "00:00:03,000 --> 00:00:04,000\r\n{\\an8}Two\r\n00:00:05,000 --> 00:00:06,000\r\nThree\r\n"
        "\r\nstill three\r\n\r\n4\r\n00:00:07,000 --> 00:00:08,000\r\n1999",
        "talks/tides.srt",
    )
    assert content.text == "One Two Three still three 1999"
    assert [start for start, _, _ in said(content)] == [1.0, 3.0, 5.0, 7.0]
    assert content.type == "srt"


def test_a_long_speech_is_broken_into_paragraphs_where_sentences_end() -> None:
    cues = [
        f"00:{at // 60:02}:{at % 60:02}.000 --> 00:{at // 60:02}:{at % 60 + 9:02}.000\n"
        f"<v Mara>word {at}{'.' if at % 20 else ','}"
        for at in range(0, 300, 10)
    ]
    content = read(vtt(*cues))
    paragraphs = content.text.split("\n\n")
    assert len(paragraphs) > 2
    assert all(one.startswith("Mara: ") and one.endswith(".") for one in paragraphs[:-1])


def test_a_podcast_is_heard_not_seen() -> None:
    text = vtt("00:01.000 --> 00:02.000\nHello.")
    for path in ("podcast/1.vtt", "talk.mp3.vtt", "my_audio.en.vtt"):
        assert read(text, path).modality is Modality.AUDIO_TRANSCRIPT
    assert read(text, "audiology.vtt").modality is Modality.VIDEO_TRANSCRIPT


def test_a_file_without_times_is_refused_and_one_without_words_is_empty() -> None:
    with pytest.raises(FileUnreadable, match=r"rename it to \.txt"):
        read("just a text", "a.srt")
    for text in ("WEBVTT\n", vtt("00:01.000 --> 00:02.000\n", "00:03.000 --> 00:04.000\n<i></i>")):
        with pytest.raises(FileEmpty):
            read(text)


words = st.text(alphabet="ab<>&;:-\n {}\\v1.", max_size=30)
stamps = st.sampled_from(
    ["00:01.000", "00:02,5", "99:99:99.000", "-00:03.000", "1:00:00.000", "x", "00:59.999"]
)
files = st.lists(st.tuples(stamps, stamps, words), min_size=1, max_size=12).map(
    lambda cues: "".join(f"{start} --> {end}\n{text}\n\n" for start, end, text in cues)
)


@given(files, st.booleans())
def test_times_never_go_back_and_no_place_is_empty(text: str, is_vtt: bool) -> None:
    try:
        content = read(f"WEBVTT\n\n{text}" if is_vtt else text, "a.srt")
    except FileUnreadable:
        return
    times = [time for one in content.places for time in (one.time_start, one.time_end)]
    assert all(isinstance(time, float) and time >= 0 for time in times)
    assert times == sorted(times, key=lambda time: time or 0.0)
    assert all(text.strip() for _, _, text in said(content))
