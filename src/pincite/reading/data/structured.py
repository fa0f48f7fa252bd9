"""JSON and JSON Lines → Content: transcripts as such, all else as readable JSON by its keys.

Sections follow the keys and what items call themselves. The layout works on the text itself, so
that numbers, doubled keys and the order stay as they are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import islice, pairwise
from typing import NamedTuple

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading import facts
from pincite.reading.encoding import decode_filled
from pincite.reading.lines.plain import paragraphs
from pincite.reading.recordings.transcripts import read_json_transcript
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Heading, sections_under
from pincite.records import Block, BlockKind, Content, Metadata, Place, Section
from pincite.text.lines import LineIndex
from pincite.text.sentences import trim

_LONG_LINE = 2_000  # characters; a longer line was not written for people
_WORD = re.compile(r"\w")
_SINGLE_STRING = re.compile(r'\s*(?:"[^"]*"\s*:\s*)?"[^"]*"[\s,{}\[\]]*')
_LINES = re.compile(r"[^\r\n]+")
_LINES_SUFFIXES = (".jsonl", ".ndjson")
_NOT_JSON = object()

_MOST_DIGITS = 1_000  # of a whole number; Python takes quadratic time for more, and then refuses

_LONG_TEXT = 200  # characters of a string that is worth a section of its own
_LARGE = 1_000  # characters of an object or list whose own members are told apart
_LONGEST_HEADING = 120

NAMES = ("title", "name")
"""The keys under which things say what they are called."""

MOST_CHARACTERS = 40_000_000
"""A text laid out for people that is longer than this is a database."""

_DEEPEST_INDENT = 20  # levels; what is deeper is not moved further, or the text would explode

# These are for the shape of a text (see `shape_of`).
_STRING = r'"[^"\r\n]*"'
_STRINGS = re.compile(_STRING)
_SPACE = re.compile(r"[\s,:]*")
_SCALAR = re.compile(_STRING + r'|[^\s{}\[\],:"]+')
# What stands before a bracket, and the bracket; or only many strings, as each takes memory.
_BRACKET = re.compile(rf'[^"{{}}\[\]]*(?:{_STRING}[^"{{}}\[\]]*){{0,1000}}([{{}}\[\]]?)')
# What is empty or short, and holds no other container, stays on its line.
_SHORT = (
    r"[{\[]\s*[}\]]"
    r"|[{\[](?=[^{}\[\]\r\n]{0,80}[}\]])"
    rf'[^"{{}}\[\]\r\n]*(?:{_STRING}[^"{{}}\[\]\r\n]*){{0,1000}}[}}\]]'
)
# A member with its key and what can stand on the same line, or the end of a container.
_LINE = re.compile(
    rf'(?:({_STRING})\s*:\s*)?({_SHORT}|{_STRING}|[{{\[]|[^\s{{}}\[\],:"]+)\s*(,?)'
    r"|([}\]])\s*(,?)"
)
_PLAIN_MEMBER = rf'\s*{_STRING}\s*:\s*(?:{_STRING}|[^\s{{}}\[\],:"]+)\s*,'
_NAMED = re.compile(rf'\{{(?:{_PLAIN_MEMBER}){{0,20}}?\s*"(?:{"|".join(NAMES)})"\s*:\s*({_STRING})')
_LINE_BREAKS = re.compile(r"[\r\n\t]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


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
        # It may be one JSON value on each line, whatever the file is called.
        values = list(islice(_line_values(text), 2))
        is_lines = len(values) == 2 and all(isinstance(one, dict | list) for one in values)
        return _read_lines(text, file) if is_lines else _read_plain(text)
    transcript = read_json_transcript(value, file)
    if transcript is not None:
        return transcript
    about = value if isinstance(value, dict) else {}
    title, metadata = _name(about), _metadata(about)
    del value, about  # takes many times the memory of the text
    shown = with_plain_strings(text)
    # No line should hold much at once; a single long string may.
    long_lines = (line for line in _LINES.findall(shown) if len(line) > _LONG_LINE)
    if not all(_SINGLE_STRING.fullmatch(shape_of(line)) for line in long_lines):
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
    # The names of the rows; one without a name only ends the section of another.
    headings: list[Heading] = []
    before = None
    for row in rows:
        if row.name or before:
            headings.append(Heading(row.start, 1, row.name or ""))
        before = row.name
    return Content(
        type="jsonl",
        text=shown,
        sections=tuple(sections_under(headings, len(shown))),
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


def _read_plain(text: str) -> Content:
    return Content(
        type="json",
        text=text,
        sections=(Section((), 0, 0, len(text)),),
        blocks=tuple(Block(BlockKind.PARAGRAPH, start, end) for start, end in paragraphs(text)),
    )


def json_value(text: str) -> object:
    """The value the text stands for; ValueError where it is not JSON, or nested too deeply.

    Numbers that are too long stay text.
    """
    try:
        value: object = json.loads(
            text, parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else digits
        )
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    return value


class JsonOutline:
    """Where sections and blocks begin in a text that is known to be JSON: always with a line.

    Two levels are looked at: the members of the whole, and theirs where they are large.
    """

    def __init__(self, text: str, opening: int) -> None:
        self._text = text
        self._shape = shape_of(text)
        self._lines = LineIndex(text)
        self._starts = {0}  # of blocks
        self.headings: list[Heading] = []
        self._add(opening, level=1)

    def blocks(self) -> Iterator[Block]:
        """The stretches between the starts: prose where it is one line, else lines to keep."""
        edges = [*sorted(self._starts), len(self._text)]
        for start, following in pairwise(edges):
            _, end = trim(self._text, start, following)
            if start < end:
                several = self._lines.line_of(start) < self._lines.line_of(end - 1)
                yield Block(BlockKind.CODE if several else BlockKind.PARAGRAPH, start, end)

    def _add(self, opening: int, level: int) -> None:
        # What opens the whole belongs to the first member, so that no bracket stands alone.
        is_first, was_weighty = True, False
        for member in members(self._text, self._shape, opening):
            weighty = member.is_container or (member.end - member.value > _LONG_TEXT)
            if weighty or was_weighty:  # short ones stay together with their like
                line_start = self._lines.start_of(self._lines.line_of(member.start))
                start = 0 if is_first and level == 1 else line_start
                self._add_heading(self._label(member) if weighty else "", start, level)
                if not is_first:
                    self._starts.add(start)
            if level == 1 and member.is_container and member.end - member.start > _LARGE:
                self._add(member.value, level=2)
            is_first, was_weighty = False, weighty

    def _add_heading(self, text: str, start: int, level: int) -> None:
        """A section of this name; one without a name only ends another."""
        before = self.headings[-1] if self.headings else None
        ends_another = before is not None and (
            before.level > level or (before.level == level and before.text != "")
        )
        if not text and not ends_another:
            return
        if before is None or before.start < start:
            self.headings.append(Heading(start, level, text))
            self._starts.add(start)

    def _label(self, member: Member) -> str:
        if member.key is not None:
            return _heading(member.key)
        # What the object that opens there calls itself, in one of its first plain members.
        found = _NAMED.match(self._shape, member.value)
        return _heading(_string_value(self._text[found.start(1) : found.end(1)]) if found else "")


def _heading(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_HEADING].rstrip()


class Member(NamedTuple):
    """An entry of an object or an item of a list, with its place in the text."""

    key: str | None
    start: int  # of the key, or of the value where there is none
    value: int  # where the value begins
    end: int
    is_container: bool


def shape_of(text: str) -> str:
    r"""The text with `__` for each `\\` and `\"`, so that every `"` begins or ends a string."""
    return text.replace("\\\\", "__").replace('\\"', "__")


def members(text: str, shape: str, opening: int) -> Iterator[Member]:
    """The members of the object or list that opens there, in a text that is known to be JSON."""
    has_keys = shape[opening] == "{"
    at = _skip_space(shape, opening + 1)
    while shape[at] not in "}]":
        start, key = at, None
        if has_keys:
            at = _value_end(shape, start)
            key = _string_value(text[start:at])
            at = _skip_space(shape, at)
        end = _value_end(shape, at)
        yield Member(key, start, at, end, shape[at] in "{[")
        at = _skip_space(shape, end)


def _string_value(string: str) -> str:
    """What a JSON string in its quotation marks says; half a character is no character."""
    return _SURROGATE.sub("\ufffd", json.loads(string)) if "\\" in string else string[1:-1]


def _skip_space(shape: str, at: int) -> int:
    found = _SPACE.match(shape, at)
    return found.end() if found else at


def _value_end(shape: str, at: int) -> int:
    """Behind the value that begins there; brackets are counted, so depth costs nothing."""
    if shape[at] not in "{[":
        scalar = _SCALAR.match(shape, at)
        return scalar.end() if scalar else len(shape)
    depth = 0
    for found in _BRACKET.finditer(shape, at):
        if bracket := found[1]:
            depth += 1 if bracket in "{[" else -1
            if not depth:
                return found.end()
    return len(shape)


def with_plain_strings(text: str) -> str:
    r"""The same JSON, line by line, with letters for `\u00e9` and blanks for line breaks.

    Escapes hide words from readers and from the search: `first\nsecond` holds no word "second".
    """
    if "\\" not in text:
        return text
    written: list[str] = []
    at = 0
    for found in _STRINGS.finditer(shape_of(text)):
        string = text[found.start() : found.end()]
        if "\\" in string:
            try:
                value = _LINE_BREAKS.sub(" ", json.loads(string))
            except ValueError:
                continue
            if not _SURROGATE.search(value):
                written += (text[at : found.start()], json.dumps(value, ensure_ascii=False))
                at = found.end()
    return "".join((*written, text[at:]))


def indented(text: str) -> str:
    """The same JSON with a line for each member, save for those of short containers."""
    line_starts = ["\n" + "  " * depth for depth in range(_DEEPEST_INDENT + 1)]
    written = StringIO()
    depth = 0
    for found in _LINE.finditer(shape_of(text)):
        key, _, comma, close, comma_behind = found.groups()
        value = text[found.start(2) : found.end(2)]
        if close:
            depth -= 1
            line = close + comma_behind
        else:
            line = value + comma
            if key:
                line = f"{text[found.start(1) : found.end(1)]}: {line}"
        written.write(line_starts[min(depth, _DEEPEST_INDENT)])
        written.write(line)
        if value in ("{", "["):
            depth += 1
        if written.tell() > MOST_CHARACTERS:
            raise FileUnreadable(f"holds more than {MOST_CHARACTERS:,} characters of text")
    return written.getvalue().removeprefix("\n")
