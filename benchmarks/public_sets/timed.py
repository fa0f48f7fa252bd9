"""Transcripts whose questions name a place inside them: seconds of a talk, turns of a meeting.

`transcripts.jsonl` holds a talk a line, {"id", "title", "segments": [{"start", "end", "speaker",
"text"}]}, or a meeting, {"id", "turns": [{"speaker", "text"}]}. `queries_timed.jsonl` asks for
seconds, {"text", "video_id", "start", "end"}; `queries_spans.jsonl` for turns from 0, {"text",
"meeting_id", "turn_spans": [[first, last]]}. Each transcript is written as the file that people
have, WebVTT or lines of text, and read by the reader of such files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from transcripts import Segment, as_vtt

from pincite.reading.reader import read_here
from pincite.reading.sniff import kind_of
from pincite.reading.source_file import SourceFile
from pincite.records import Case, Document, ExpectedPlace, Filters, document_from
from public_sets.rows import Row, found, rows


def talks(folder: Path, library: str) -> tuple[list[Document], list[Case]]:
    """Every talk as WebVTT; the questions are asked within their own talk."""
    documents, cases = _talks_with_questions(folder, library)
    return documents, [
        replace(case, filters=Filters(document_ids=(document.id,))) for case, document in cases
    ]


def talks_in_one_library(folder: Path, library: str) -> tuple[list[Document], list[Case]]:
    """The same over all talks at once: the talk's title goes before the question."""
    documents, cases = _talks_with_questions(folder, library)
    return documents, [
        replace(case, question=f"{document.title}: {case.question}") for case, document in cases
    ]


def meetings(folder: Path, library: str) -> tuple[list[Document], list[Case]]:
    """Every meeting with a turn a line; the questions with places are asked within their own."""
    by_id = {
        row.id: _read(library, f"{row.id}.txt", "\n".join(_turns(row)))
        for row in rows(found(folder, "transcripts.jsonl"))
    }
    cases = []
    for row in rows(found(folder, "queries_spans.jsonl")):
        document = _asked_about(row, "meeting_id", by_id)
        places = tuple(
            ExpectedPlace(document.path, lines=(first + 1, last + 1)) for first, last in _spans(row)
        )
        if places:  # the others ask about the meeting as a whole
            filters = Filters(document_ids=(document.id,))
            cases.append(Case(question=row.get("text", str), places=places, filters=filters))
    return list(by_id.values()), cases


def _talks_with_questions(
    folder: Path, library: str
) -> tuple[list[Document], list[tuple[Case, Document]]]:
    by_id = {
        row.id: _read(library, f"{row.id}.vtt", _vtt(row))
        for row in rows(found(folder, "transcripts.jsonl"))
    }
    cases = []
    for row in rows(found(folder, "queries_timed.jsonl")):
        document = _asked_about(row, "video_id", by_id)
        place = ExpectedPlace(document.path, time=(row.seconds("start"), row.seconds("end")))
        question = row.get("text", str)
        cases.append((Case(question=question, kind="video_time", places=(place,)), document))
    return list(by_id.values()), cases


def _vtt(row: Row) -> str:
    segments = [
        Segment(one.seconds("start"), one.seconds("end"), one.text("speaker"), one.text("text"))
        for one in _inside(row, "segments")
    ]
    title = " ".join(row.text("title").split())
    return as_vtt(segments).replace("WEBVTT", f"WEBVTT {title}".strip(), 1)


def _turns(row: Row) -> Iterator[str]:
    for turn in _inside(row, "turns"):
        said = f"{turn.text('speaker')}: {turn.text('text')}"
        yield " ".join(said.split())  # whatever it holds, a turn is one line


def _inside(row: Row, name: str) -> Iterator[Row]:
    for one in row.get(name, list):
        if not isinstance(one, dict):
            raise row.wrong(f"{name!r} must hold objects in braces")
        yield Row(row.file, row.line, one)


def _spans(row: Row) -> list[tuple[int, int]]:
    spans = row.get("turn_spans", list)
    for span in spans:
        is_pair = isinstance(span, list) and len(span) == 2
        if not is_pair or not all(type(end) is int and end >= 0 for end in span):
            raise row.wrong("'turn_spans' must hold pairs of turns, counted from 0")
    return [(first, last) for first, last in spans]


def _asked_about(row: Row, name: str, by_id: dict[str, Document]) -> Document:
    identity = row.get(name, str)
    if identity not in by_id:
        raise row.wrong(f"{name!r} names no transcript: {identity!r}")
    return by_id[identity]


def _read(library: str, path: str, text: str) -> Document:
    data = text.encode()
    content = read_here(kind_of(path, data).module, SourceFile(path, data))
    return document_from(content, library=library, path=path, data=data)
