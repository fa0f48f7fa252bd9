"""JSON and JSON Lines → Content: transcripts as such, all else as readable JSON by its keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading import facts
from pincite.reading.data.json_layout import (
    MOST_CHARACTERS,
    NAMES,
    indented,
    shape_of,
    with_plain_strings,
)
from pincite.reading.data.json_outline import JsonOutline
from pincite.reading.data.json_value import json_value
from pincite.reading.encoding import decode_filled
from pincite.reading.lines.plain import paragraphs
from pincite.reading.recordings.transcripts import read_json_transcript
from pincite.reading.sections import Heading, sections_under
from pincite.reading.source_file import SourceFile
from pincite.records import Block, BlockKind, Content, Metadata, Place, Section
from pincite.text.lines import LineIndex
from pincite.text.sentences import trim

_LONG_LINE = 2_000  # characters; a longer line was not written for people
_WORD = re.compile(r"\w")
_SINGLE_STRING = re.compile(r'\s*(?:"[^"]*"\s*:\s*)?"[^"]*"[\s,{}\[\]]*')
_LINES = re.compile(r"[^\r\n]+")
_LINES_SUFFIXES = (".jsonl", ".ndjson")
_NOT_JSON = object()


def read(file: SourceFile) -> Content:
    """Read a file of JSON. What is not quite JSON, as many settings are, is read as plain text."""
    text = decode_filled(file.data)
    if not _WORD.search(text):
        raise FileEmpty("holds no text")
    if file.suffix in _LINES_SUFFIXES:
        return _read_lines(text, file)
    try:
        value = json_value(text)
    except ValueError:
        return _read_lines(text, file) if _is_lines(text) else _read_plain(text)
    transcript = read_json_transcript(value, file)
    if transcript is not None:
        return transcript
    about = value if isinstance(value, dict) else {}
    title, metadata = _name(about), _metadata(about)
    del value, about  # takes many times the memory of the text
    return _read_value(text, title, metadata)


def _read_value(text: str, title: str | None, metadata: Metadata) -> Content:
    shown = with_plain_strings(text)
    if not _is_readable(shown):
        shown = indented(shown)
    opening, _ = trim(shown, 0, len(shown))
    if shown[opening] not in "{[":
        return _read_plain(shown)
    outline = JsonOutline(shown, opening)
    return Content(
        type="json",
        title=title,
        text=shown,
        sections=tuple(sections_under(outline.headings, len(shown))),
        blocks=tuple(outline.blocks()),
        metadata=metadata,
    )


def _is_readable(text: str) -> bool:
    """Whether no line holds much at once; a single long string may."""
    long_lines = (line for line in _LINES.findall(text) if len(line) > _LONG_LINE)
    return all(_SINGLE_STRING.fullmatch(shape_of(line)) for line in long_lines)


def _name(about: Mapping[str, object]) -> str | None:
    return next((line for key in NAMES if (line := facts.one_line(about.get(key)))), None)


def _metadata(about: Mapping[str, object]) -> Metadata:
    def first(*keys: str) -> object:
        return next((about[key] for key in keys if about.get(key)), None)

    return Metadata(
        tags=facts.tags(first("tags", "keywords", "labels")),
        author=facts.names(first("author", "authors", "creator")),
        date=facts.iso_date(first("date", "created", "created_at", "createdAt", "published")),
        language=facts.one_line(first("language", "lang", "locale")),
        modified=facts.iso_date(first("modified", "updated", "updated_at", "updatedAt")),
    )


def _is_lines(text: str) -> bool:
    """Whether it is one JSON value on each line, whatever the file is called."""
    values = list(islice(_line_values(text), 2))
    return len(values) == 2 and all(isinstance(value, dict | list) for value in values)


def _line_values(text: str) -> Iterator[object]:
    """The value of each line, up to the first line that is not JSON."""
    for line in _LINES.finditer(text):
        if line.group().strip():
            try:
                yield json_value(line.group())
            except ValueError:
                return


def _read_lines(text: str, file: SourceFile) -> Content:
    values = list(_line_values(text))
    transcript = read_json_transcript(values, file)
    if transcript is not None:
        return transcript
    shown = with_plain_strings(text)
    is_verbatim = all(len(line) <= _LONG_LINE for line in _LINES.findall(shown))
    rows = tuple(_rows(shown, values) if is_verbatim else _laid_out(_rows(shown, values)))
    if not is_verbatim:
        shown = "\n".join(row.text for row in rows)
    return Content(
        type="jsonl",
        text=shown,
        sections=tuple(sections_under(list(_headings(rows)), len(shown))),
        blocks=tuple(Block(row.kind, row.start, row.end) for row in rows),
        places=tuple(Place(row.start, row.end, row=row.number) for row in rows),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    number: int  # of its line in the file
    start: int
    text: str
    is_json: bool
    name: str | None

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def kind(self) -> BlockKind:
        return BlockKind.CODE if "\n" in self.text else BlockKind.PARAGRAPH


def _rows(text: str, values: Sequence[object]) -> Iterator[_Row]:
    """The lines that are not blank, as they stand in the text; the first of them have values."""
    index = LineIndex(text)
    known = iter(values)
    for line in _LINES.finditer(text):
        start, end = trim(text, line.start(), line.end())
        if start < end:
            value = next(known, _NOT_JSON)
            name = _name(value) if isinstance(value, dict) else None
            is_json = value is not _NOT_JSON
            yield _Row(index.line_of(start), start, text[start:end], is_json, name)


def _laid_out(rows: Iterable[_Row]) -> Iterator[_Row]:
    """The rows, each on several lines, one after the other."""
    start = 0
    for row in rows:
        text = indented(row.text) if row.is_json else row.text
        yield replace(row, start=start, text=text)
        start += len(text) + 1
        if start > MOST_CHARACTERS:
            raise FileUnreadable(f"holds more than {MOST_CHARACTERS:,} characters of text")


def _headings(rows: Iterable[_Row]) -> Iterator[Heading]:
    """The names of the rows; one without a name only ends the section of another."""
    before = None
    for row in rows:
        if row.name or before:
            yield Heading(row.start, 1, row.name or "")
        before = row.name


def _read_plain(text: str) -> Content:
    return Content(
        type="json",
        text=text,
        sections=(Section((), 0, 0, len(text)),),
        blocks=tuple(Block(BlockKind.PARAGRAPH, start, end) for start, end in paragraphs(text)),
    )
