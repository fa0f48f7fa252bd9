import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_header_comments_styles_names_and_settings_are_not_said() -> None:
    content = read(
        "WEBVTT - Tides\nKind: captions\nLanguage: de\n\nNOTE\nnobody says this\n\n"
        "STYLE\n::cue { color: red }\n\nREGION\nid:fred\n\nintro\n"
        "00:01.000 --> 00:02.000 align:start position:0%\nMoin.\n\n"
        "NOTE nor this\n\n2\n00:03.000 --> 00:04.000\nTach.\n"
    )
    assert content.text == "Moin. Tach."
    assert content.metadata.language == "de"


def test_tags_go_and_what_only_looks_like_one_stays() -> None:
    content = read(
        vtt(
            "00:01.000 --> 00:02.000\n<c.yellow>a</c> <00:00:01.500><i>b</i> {\\an8}"
            "Vec<String> x < y &lt;b&gt; AT&amp;T AT&T"
        )
    )
    assert content.text == "a b Vec<String> x < y <b> AT&T AT&T"


def test_captions_that_roll_are_taken_once() -> None:
    content = read(
        vtt(
            "00:00.000 --> 00:02.000\n \nthe sea<00:00:00.500><c> comes</c>",
            "00:02.000 --> 00:02.010\nthe sea comes\n ",
            "00:02.010 --> 00:04.000\nthe sea comes\nup<00:00:03.000><c> and up</c>",
            "00:04.000 --> 00:04.010\nup and up\n ",
            "00:04.010 --> 00:06.000\nup and up\nand stops",
        )
    )
    assert said(content) == [
        (0.0, 2.0, "the sea comes"),
        (2.01, 4.0, "up and up"),
        (4.01, 6.0, "and stops"),
    ]


def test_what_somebody_really_says_twice_stays_twice() -> None:
    cues = [f"00:{at:02}.000 --> 00:{at:02}.900\n{word}" for at, word in enumerate("abcdefgh")]
    again = ["00:20.000 --> 00:21.000\nYes.", "00:21.000 --> 00:22.000\nYes."]
    assert read(vtt(*cues, *again)).text == "a b c d e f g h\n\nYes. Yes."


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


def test_sbv_is_read() -> None:
    content = read("0:00:01.000,0:00:04.000\nOne\ntwo\n\n1:00:04.000,1:00:05.000\n3\n", "a.sbv")
    assert said(content) == [(1.0, 4.0, "One two"), (3604.0, 3605.0, "3")]


def test_a_dash_or_two_arrows_begin_a_turn_but_not_the_rest_of_a_word() -> None:
    content = read(
        vtt(
            "00:01.000 --> 00:02.000\n-How high?\n-Five metres.",
            "00:02.000 --> 00:03.000\n>> Really? We are non",
            "00:03.000 --> 00:04.000\n-swimmers.",
        )
    )
    assert content.text == "How high?\n\nFive metres.\n\nReally? We are non-swimmers."


def test_names_before_a_colon_are_speakers_if_they_come_again() -> None:
    content = read(
        vtt(
            "00:01.000 --> 00:02.000\nMara: Look.",
            "00:02.000 --> 00:03.000\nRemember: it is deep.",
            "00:03.000 --> 00:04.000\nInes: I do.",
            "00:04.000 --> 00:05.000\nMara: Good.",
            "00:05.000 --> 00:06.000\nInes: Yes.",
        )
    )
    assert content.text == (
        "Mara: Look. Remember: it is deep.\n\nInes: I do.\n\nMara: Good.\n\nInes: Yes."
    )


def test_speakers_of_one_cue_share_its_time() -> None:
    content = read(vtt("00:00.000 --> 00:10.000\n<v A>aaaa</v> <v B>bbbbbb</v>"))
    assert said(content) == [(0.0, 4.0, "aaaa"), (4.0, 10.0, "bbbbbb")]


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


def test_cues_out_of_order_are_sorted_and_those_of_one_time_stay_as_they_are() -> None:
    content = read(
        vtt(
            "00:09.000 --> 00:10.000\nlast",
            "00:01.000 --> 00:02.000\nfirst",
            "00:01.000 --> 00:02.000\nsecond",
        )
    )
    assert content.text == "first second last"


def test_an_overlapping_cue_ends_where_the_next_begins() -> None:
    content = read(vtt("00:01.000 --> 00:05.000\na", "00:03.000 --> 00:07.000\nb"))
    assert said(content) == [(1.0, 3.0, "a"), (3.0, 7.0, "b")]


def test_a_word_thrown_in_stands_between_the_sentences_it_interrupts() -> None:
    content = read(
        vtt(
            "00:00.000 --> 01:40.000\n<v A>One sentence is here. Another one there. The third.",
            "00:40.000 --> 00:41.000\n<v B>Mm-hm.",
        )
    )
    assert content.text == (
        "A: One sentence is here.\n\nB: Mm-hm.\n\nA: Another one there. The third."
    )


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ("-00:00:05.000 --> 00:00:02.000", (0.0, 2.0)),
        ("00:00:09.000 --> 00:00:02.000", (9.0, 10.0)),  # a second at least
        ("25:00:00.000 --> 25:00:02.000", (90_000.0, 90_002.0)),
        ("99:99:99.000 --> 99:99:99.000", (0.0, 1.0)),
        ("00:61:00.000 --> 00:00:02.000", (0.0, 1.0)),
    ],
)
def test_impossible_times_have_a_defined_result(times: str, expected: tuple[float, float]) -> None:
    assert said(read(vtt(f"{times}\nOh."))) == [(*expected, "Oh.")]


def test_a_cue_without_a_readable_time_is_said_after_the_one_before_it() -> None:
    content = read(
        vtt(
            "00:01.000 --> 00:02.000\na",
            "99:99:99.000 --> 99:99:99.000\nb",
            "00:05.000 --> 00:06.000\nc",
        )
    )
    assert said(content) == [(1.0, 2.0, "a"), (2.0, 5.0, "b"), (5.0, 6.0, "c")]


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


@pytest.mark.parametrize(
    ("header", "title"),
    [
        ("WEBVTT - The lamp room", "The lamp room"),
        ("WEBVTT The lamp room", "The lamp room"),
        ("WEBVTT", None),
    ],
)
def test_what_stands_behind_the_header_is_the_title(header: str, title: str | None) -> None:
    data = f"{header}\n\n00:01.000 --> 00:04.000\nGood evening.\n".encode()
    assert subtitles.read(SourceFile("a.vtt", data)).title == title
