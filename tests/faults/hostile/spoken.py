"""Transcripts whose times cannot be: out of order, overlapping, negative, beyond a day."""

from __future__ import annotations

import json

from hostile.case import Case, either, read, refused


def _cues(*cues: tuple[str, str, str], arrow: str = " --> ", head: str = "WEBVTT\n\n") -> bytes:
    said = "".join(f"{start}{arrow}{end}\n{text}\n\n" for start, end, text in cues)
    return (head + said).encode()


_TIMES = (
    read(
        "out-of-order.vtt",
        lambda _: _cues(("00:09.000", "00:10.000", "second"), ("00:01.000", "00:02.000", "first")),
        has="first second",
    ),
    read(
        "overlapping.srt",
        lambda _: _cues(
            *((f"00:00:0{n},000", "00:59:59,000", f"word{n}.") for n in range(9)), head=""
        ),
        has="word0. word1.",
    ),
    read(
        "negative.vtt",
        lambda _: _cues(("-00:05.000", "-00:01.000", "before"), ("00:01.000", "00:00.000", "back")),
        has=("before", "back"),
    ),
    read(
        "impossible.srt",
        lambda _: _cues(("99:99:99,999", "99:99:99,999", "never"), head=""),
        has="never",
    ),
    read(
        "days.vtt",
        lambda _: _cues(("25:00:00.000", "27:00:00.000", "tomorrow"), ("999:59:59.9", "x", "late")),
        has="tomorrow",
    ),
    read(
        "long-number.vtt",
        lambda _: _cues(("9" * 5_000 + ":00.000", "1" * 5_000 + ":00", "for ever")),
        has="for ever",
    ),
    read(
        "no-time-at-all.srt",
        lambda _: _cues(("00:00:00,000", "00:00:00,000", "now"), head=""),
        has="now",
    ),
    read("many.srt", lambda _: _cues(("0:00:01,0", "0:00:02,0", "seal"), head="") * 1_000, has="s"),
    read("dots.vtt", lambda _: _cues(("." * 9, ":" * 9, "seal"), ("0:01", "0:02", "x")), has="x"),
)

_FORMS = (
    refused("no-cues.srt", "holds no time lines", lambda _: b"The seal leaks.\n" * 100),
    refused("header-only.vtt", "no text|empty", lambda _: b"WEBVTT\n\nNOTE nothing\n"),
    refused("no-words.vtt", "no text|empty", lambda _: _cues(("00:01.0", "00:02.0", " "))),
    read("no-speaker.vtt", lambda _: _cues(("00:01.0", "00:02.0", "<v>seal")), has="seal"),
    read(
        "tags.vtt",
        lambda _: _cues(("00:01.0", "00:02.0", "<v " * 50_000 + "<c>" * 50_000 + "seal")),
        has="seal",
    ),
    read("arrows.srt", lambda _: b"-->" * 100_000 + b"\n1:00 --> 1:01\nseal", has="seal"),
    read("dashes.srt", lambda _: b"0:01 --> 0:02\n" + b"- x\n" * 10_000, has="x"),
    read("blanks.srt", lambda _: b"0:01 --> 0:02\nseal" + b" \n" * 100_000, has="seal"),
    read("labels.srt", lambda _: b"0:01 --> 0:02\n" + b"Ann: " * 10_000 + b"x", has="Ann"),
    read("rolling.vtt", lambda _: _rolling(1_000), has="word 999"),
    read("commas.sbv", lambda _: b"0:00:01.0,0:00:02.0\nseal\n" + b"0:00:03.0," * 9, has="seal"),
    either("cut.vtt", lambda _: b"WEBVTT\n\n00:01.000 -"),
    read("bad-entities.vtt", lambda _: _cues(("0:01", "0:02", "&#0;&#xFFFFFF;&nope; x")), has="x"),
)


def _whisper(*segments: object) -> bytes:
    return json.dumps({"text": "seal leaks", "language": "en", "segments": segments}).encode()


_JSON = (
    read(
        "backwards.json",
        lambda _: _whisper(
            {"start": 9, "end": 5, "text": "seal"}, {"start": -4, "end": 1e308, "text": "leaks"}
        ),
        has="seal",
    ),
    read(
        "not-numbers.json",
        lambda _: _whisper(
            {"start": "NaN", "end": None, "text": "seal"}, {"start": [], "end": {}, "text": "leaks"}
        ),
        has="seal",
    ),
    read(
        "infinite.json",
        lambda _: (
            b'{"segments": [{"start": NaN, "end": Infinity, "text": "seal"},'
            b' {"start": 1e999, "end": -Infinity, "text": "leaks"}]}'
        ),
        has="seal",
    ),
    either("odd-segments.json", lambda _: _whisper(None, 5, "x", [], {"text": 5}, {"start": 1})),
    either(
        "odd-words.json",
        lambda _: _whisper({"start": 0, "end": 1, "text": "seal", "words": [{"word": 1}, None, 3]}),
    ),
)

CASES: tuple[Case, ...] = (*_TIMES, *_FORMS, *_JSON)


def _rolling(count: int) -> bytes:
    """Captions in which each cue repeats the line before it."""
    return _cues(
        *((f"{n}:00.0", f"{n}:59.0", f"line {n} of\nword {n + 1} more") for n in range(count))
    )
