"""What transcripts and frames of a recording share: its name, its kind, its text from cues.

Transcripts in JSON are read here, too: those of YouTube, of Whisper and of its descendants.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from pincite.reading.lines.front_matter import FrontMatter
from pincite.reading.recordings.cues import Cue, in_order, seconds, unescaped, write_cues
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Writer
from pincite.records import Content, Metadata, Modality

_SUFFIXES = frozenset(
    (
        *("md", "markdown", "mdown", "mkd", "mdx", "txt", "text", "vtt", "srt", "sbv", "json"),
        *("json3", "srv3", "whisper", "whisperx", "transcript", "transcription", "captions"),
        *("subtitles", "subs", "frames", "auto", "asr", "mp4", "m4v", "webm", "mkv", "mov", "avi"),
        *("mp3", "m4a", "wav", "ogg", "oga", "ogv", "opus", "flac", "aac"),
    )
)
_KNOWN_LANGUAGES = frozenset(
    (
        *("ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa"),
        *("fi", "fr", "ga", "gl", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja"),
        *("ka", "ko", "lt", "lv", "mk", "ms", "nb", "nl", "no", "pl", "pt", "ro", "ru"),
        *("sk", "sl", "sq", "sr", "sv", "sw", "th", "tr", "uk", "ur", "vi", "zh"),
        *("ta", "te"),  # codespell:ignore te
    )
)
_LANGUAGE = re.compile(r"([a-z]{2})(?:[-_](?:[A-Z][a-z]{3}|[A-Za-z]{2}|orig))?")
_PART = re.compile(
    r"(?:(?<=.)[\s_-]+|^)\(?(?:transcript|transcription|captions|subtitles|frames?(?:[\s_-]?\d+m?\d*s?)?)\)?$",
    re.IGNORECASE,
)
_AUDIO_NAME = re.compile(
    r"(?<![^\W_])(?:audio|podcast)(?![^\W_])|\.(?:mp3|m4a|wav|og[ga]|opus|flac|aac)(?![^\W_])",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\w{2,10}:")

_LIST_KEYS = ("segments", "transcript", "chunks", "events", "transcription", "captions")
_DEEPEST = 2
_LEAST_SHARE = 0.9  # of the items with words that must have times
_DECIMAL = re.compile(r"-?\d{1,12}(?:\.\d{0,12})?")
_LATEST = 3_600_000.0  # seconds, a thousand hours: beyond it a number is no time in a recording
_TELLING_KEYS = frozenset(("segs", "timestamp", "timestamps"))  # nothing else has them
_SLOWEST = 0.5  # characters a second; people say about 15, but they also pause
_GROUP = 5.0  # seconds
_SENTENCE_ENDS = frozenset(".!?…。！？")


def recording_name(path: str) -> str:
    """What all files about one recording share: `talks/x` for `talks/x.en.vtt`.

    A file or folder that only says which part it is, `talks/x/frames.md`, counts as its folder.
    """
    folder, slash, name = path.rpartition("/")
    stem = _PART.sub("", _stem(name))
    if stem:
        return folder + slash + stem
    above, slash, name = folder.rpartition("/")
    return above + slash + (_PART.sub("", name) or name) if name else _stem(path)


def named_language(path: str) -> str | None:
    """The language a file's name gives: `en` for `talk.en.vtt`."""
    parts = path.rpartition("/")[2].split(".")[1:-1]
    return next((part for part in reversed(parts) if _is_language(part)), None)


def recording_of(front: FrontMatter, path: str) -> str:
    """The recording's name, as the file itself gives it or else by the file's name."""
    if front.recording is None:
        return recording_name(path)
    if _ADDRESS.match(front.recording):
        return front.recording
    folder = path.rpartition("/")[0]
    beside = f"{folder}/" if folder and "/" not in front.recording else ""
    return recording_name(beside + front.recording)


def spoken_modality(path: str, said: Modality | None = None) -> Modality:
    """Audio where the name or the file itself says so, else video."""
    if said in (Modality.AUDIO_TRANSCRIPT, Modality.VIDEO_TRANSCRIPT):
        return said
    is_audio = _AUDIO_NAME.search(path) is not None
    return Modality.AUDIO_TRANSCRIPT if is_audio else Modality.VIDEO_TRANSCRIPT


def recording_content(
    kind: str,
    cues: Sequence[Cue],
    file: SourceFile,
    *,
    title: str | None = None,
    language: str | None = None,
) -> Content:
    """A transcript's content from its cues, in any order; FileEmpty where nothing is said."""
    said = in_order(cues)
    writer = Writer()
    write_cues(writer, said)
    metadata = Metadata(
        language=language or named_language(file.path),
        duration=max((cue.end or 0.0 for cue in said), default=None),
        recording=recording_name(file.path),
    )
    modality = spoken_modality(file.path)
    return writer.content(kind, title=title, metadata=metadata, modality=modality)


def read_json_transcript(value: object, file: SourceFile) -> Content | None:
    """The transcript that parsed JSON holds; None where it is something else."""
    items = _items(value)
    said = [(cue, item) for item in items if (cue := _cue(item)) is not None]
    with_words = sum(1 for item in items if _text(item).strip())
    if not said or len(said) < _LEAST_SHARE * with_words:
        return None
    if not _TELLING_KEYS & said[0][1].keys() and not _is_speech([cue for cue, _ in said]):
        return None
    cues = [
        replace(part, text=unescaped(part.text))
        for cue, item in said
        for part in _by_words(cue, item.get("words"))
    ]
    top = value if isinstance(value, Mapping) else {}
    return recording_content(
        "json", cues, file, title=_string(top.get("title")), language=_string(top.get("language"))
    )


def _items(value: object) -> list[Mapping[str, object]]:
    """The list of things said: the value itself, or what it holds under a name we know."""
    for _ in range(_DEEPEST):
        if isinstance(value, Mapping):
            value = next((value[key] for key in _LIST_KEYS if value.get(key)), None)
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def _text(item: Mapping[str, object]) -> str:
    parts = item.get("segs")
    if isinstance(parts, list):
        return "".join(_string(part.get("utf8")) or "" for part in parts if isinstance(part, dict))
    return _string(item.get("text")) or ""


def _cue(item: Mapping[str, object]) -> Cue | None:
    """What one item says; None where it says nothing, or not from when to when."""
    text = _text(item)
    if not text.strip():
        return None
    start, end = _times(item)
    if start is None:
        return None
    return Cue(start, end, text, _string(item.get("speaker")))


def _times(item: Mapping[str, object]) -> tuple[float | None, float | None]:
    """From when to when, in any of the ways in use; without a start there is no end."""
    pair = item.get("timestamp")  # transformers
    if isinstance(pair, list) and len(pair) == 2:
        return _number(pair[0]), _number(pair[1])
    codes = item.get("timestamps")  # whisper.cpp
    if isinstance(codes, Mapping):
        return _number(codes.get("from")), _number(codes.get("to"))
    if "tStartMs" in item:  # YouTube's json3
        start, lasts = _number(item["tStartMs"], 1000), _number(item.get("dDurationMs"), 1000)
    elif "end" in item:  # Whisper
        return _number(item.get("start")), _number(item.get("end"))
    elif "duration" in item or "dur" in item:  # youtube-transcript-api
        start = _number(item.get("start", item.get("offset")))
        lasts = _number(item.get("duration", item.get("dur")))
    else:
        return None, None
    return start, None if start is None or lasts is None else start + lasts


def _number(value: object, divisor: float = 1.0) -> float | None:
    if isinstance(value, str):
        code = seconds(value)
        if code is not None or not _DECIMAL.fullmatch(value):
            return code
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / divisor if abs(value) < _LATEST * divisor else None


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _is_speech(cues: Sequence[Cue]) -> bool:
    """Whether about as much stands in the cues as can be said in their time.

    A question about a whole lecture has less, and where each has just as many characters as
    seconds, the numbers count characters.
    """
    lasting = [(cue.end - (cue.start or 0.0), len(cue.text)) for cue in cues if cue.end is not None]
    lasts, length = sum(time for time, _ in lasting), sum(count for _, count in lasting)
    are_offsets = bool(lasting) and all(time == count for time, count in lasting)
    return not are_offsets and _SLOWEST * lasts <= length


def _by_words(cue: Cue, words: object) -> list[Cue]:
    """The cue in groups of words, where each word has its time; else the cue itself."""
    if not isinstance(words, list) or not words:
        return [cue]
    groups: list[Cue] = []
    starts: list[int] = []
    at = 0
    for word in words:
        timed = _word(word, cue)
        found = -1 if timed is None else cue.text.find(timed.text, at)
        if timed is None or found < 0:
            return [cue]
        at = found + len(timed.text)
        if groups and _goes_on(groups[-1], timed):
            begun = groups[-1]
            start = timed.start if begun.start is None else begun.start
            groups[-1] = replace(timed, start=start, end=timed.end or begun.end)
        else:
            groups.append(timed)
            starts.append(found)
    edges = pairwise([0, *starts[1:], len(cue.text)])
    return [
        replace(group, text=cue.text[first:after])
        for group, (first, after) in zip(groups, edges, strict=True)
    ]


def _word(word: object, cue: Cue) -> Cue | None:
    if not isinstance(word, Mapping):
        return None
    text = (_string(word.get("word")) or _string(word.get("text")) or "").strip()
    start, end = _times({"start": word.get("start"), "end": word.get("end")})
    return Cue(start, end, text, _string(word.get("speaker")) or cue.speaker) if text else None


def _goes_on(group: Cue, word: Cue) -> bool:
    """Whether a word belongs to the group before it: same speaker, same sentence, soon after."""
    if word.speaker != group.speaker:
        return False
    if word.start is None or group.start is None:
        return True
    return word.start - group.start < _GROUP and group.text[-1:] not in _SENTENCE_ENDS


def _stem(name: str) -> str:
    """The name without the endings that say in what form it is."""
    while True:
        stem, _, suffix = name.rpartition(".")
        if not stem or not (suffix.lower() in _SUFFIXES or _is_language(suffix)):
            return name
        name = stem


def _is_language(part: str) -> bool:
    found = _LANGUAGE.fullmatch(part)
    return found is not None and found[1] in _KNOWN_LANGUAGES
