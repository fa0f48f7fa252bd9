"""What was recognised → the Markdown that is written: front matter, then pages or what was said."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from statistics import fmean

import yaml

from pincite.converting.kinds import Need, SourceKind
from pincite.converting.layout import Block, blocks_of
from pincite.converting.wire import Opened, Page, Said
from pincite.records import FoundFile

_FEWEST_LETTERS = 2  # a single one is more often a speck of dust
_PAUSE = 2.0  # seconds of silence that end a paragraph
_LONGEST_TITLE = 200  # characters
_MOST_LETTERS = 100_000  # of one line; nobody writes or says more at once

_SPACE = re.compile(r"\s+")
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LETTER = re.compile(r"[^\W_]")
_BROKEN_WORD = re.compile(r"(?<=\w)[-\u00ad\u2010]$")
_FIRST_WORD = re.compile(r"([^\W\d_]\S*)\s*")
_BULLET = re.compile(r"[•·●▪◦‣∙][ \t]*(?=\S)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")
# What would make a heading, quote, raw HTML, fence, reference, time code or rule of a line.
_MARKUP = re.compile(r"#{1,6}(?:\s|$)|[><]|```|~~~|\[(?:[^\]]{0,200}\]:|\d)|=+\s*$|[-*_][-*_\s]*$")
# Lines of the front matter that say what was recognised, and what was written of it.
_PATHS = re.compile(r"^(source|recording): .*$", re.MULTILINE)
_SOURCE_CHECKSUM = re.compile(r"^source_sha256: ([0-9a-f]{64})$", re.MULTILINE)
_CHECKSUM = re.compile(r"^written_sha256: ([0-9a-f]{64})\n", re.MULTILINE)


@dataclass(frozen=True)
class Recognition:
    """All that was recognised in one file."""

    kind: SourceKind
    engine: str
    opened: Opened
    pages: Sequence[Page] = ()
    said: Sequence[Said] = ()
    language: str | None = None


def markdown_of(source: FoundFile, recognition: Recognition) -> str | None:
    """The whole file to write; None where nothing was recognised."""
    lines = (line.text for page in recognition.pages for line in page.lines)
    words = "".join((*lines, *(one.text for one in recognition.said)))
    if len(_LETTER.findall(words)) < _FEWEST_LETTERS:
        return None
    is_read = recognition.kind.need is Need.OCR
    body = "\n\n".join(_pages(recognition) if is_read else _paragraphs(recognition.said))
    return with_checksum(f"---\n{_front_matter(source, recognition)}---\n\n{body}\n")


def _front_matter(source: FoundFile, recognition: Recognition) -> str:
    opened = recognition.opened
    confidences = [line.confidence for page in recognition.pages for line in page.lines]
    is_said = recognition.kind.need is Need.SPEECH
    title = _one_line(opened.title or "")[:_LONGEST_TITLE]
    fields = {
        "title": title or PurePosixPath(source.path).stem,
        "source": source.path,
        "source_sha256": source.checksum,
        "modality": recognition.kind.modality.value,
        "engine": recognition.engine,
        "language": recognition.language,
        "pages": opened.pages,
        "duration": None if opened.duration is None else round(opened.duration, 1),
        "recording": source.path if is_said else None,
        "confidence": round(fmean(confidences), 3) if confidences else None,
    }
    known = {key: value for key, value in fields.items() if value is not None}
    return yaml.safe_dump(known, allow_unicode=True, sort_keys=False, width=math.inf)


def _pages(recognition: Recognition) -> Iterator[str]:
    """Each page with its heading; the one page of an image needs none."""
    for page in recognition.pages:
        blocks = [text for block in blocks_of(page.lines) if (text := _block(block))]
        if blocks and recognition.opened.pages is not None:
            yield f"## Page {page.number}"
        yield from blocks


def _block(block: Block) -> str:
    if block.is_table:
        first, *rest = ("| " + " | ".join(map(_cell, row)) + " |" for row in block.rows)
        return "\n".join((first, "|" + " --- |" * len(block.rows[0]), *rest))
    lines = [line for (text,) in block.rows if _LETTER.search(line := _one_line(text))]
    return "\n".join(map(_harmless, _with_whole_words(lines)))


def _cell(text: str) -> str:
    return _one_line(text).replace("|", "\\|")


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", _UNWANTED.sub(" ", text[:_MOST_LETTERS])).strip()


def _with_whole_words(lines: list[str]) -> Iterator[str]:
    """The lines; a word broken at the end of one is written whole there, so that it is found."""
    for at, line in enumerate(lines):
        whole = line
        if at + 1 < len(lines) and _BROKEN_WORD.search(line):
            rest = _FIRST_WORD.match(lines[at + 1])
            if rest and rest[1][0].islower():
                whole = line[:-1] + rest[1]
                lines[at + 1] = lines[at + 1][rest.end() :]
        if whole:
            yield whole


def _harmless(line: str) -> str:
    """The line so that Markdown takes it for words: what a scan shows must not forge a heading."""
    line = _BULLET.sub("- ", line, count=1) if _BULLET.match(line) else line
    item = _ITEM.match(line)
    mark, words = (item[0], line[item.end() :]) if item else ("", line)
    return f"{mark}\\{words}" if _MARKUP.match(words) else line


def _paragraphs(said: Sequence[Said]) -> Iterator[str]:
    """What was said, a line each, with a blank line where nobody spoke for a while."""
    lines: list[str] = []
    spoken_until = 0.0
    for one in said:
        if not (words := _one_line(one.text)):
            continue
        if lines and one.start - spoken_until > _PAUSE:
            yield "\n".join(lines)
            lines = []
        spoken_until = one.end
        begin = math.floor(one.start)
        end = max(math.floor(one.end), begin + 1)
        lines.append(f"[{_clock(begin)} - {_clock(end)}] {words}")
    if lines:
        yield "\n".join(lines)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def body_of(text: str) -> str:
    """What was recognised, without the front matter."""
    return text.partition("\n---\n")[2].strip()


def with_checksum(text: str) -> str:
    """The text with the checksum of itself in its front matter, which tells later corrections."""
    bare = _CHECKSUM.sub("", text, count=1)
    return bare.replace("\n---\n", f"\nwritten_sha256: {_checksum(bare)}\n---\n", 1)


def _checksum(text: str) -> str:
    """Of the words, however an editor ends its lines."""
    return hashlib.sha256("\n".join(text.rstrip().splitlines()).encode()).hexdigest()


def is_as_written(text: str) -> bool:
    """Whether nobody changed the text since it was written."""
    text = text.replace("\r\n", "\n")
    told = _CHECKSUM.search(text)
    return told is not None and _checksum(_CHECKSUM.sub("", text, count=1)) == told[1]


def source_checksum(text: str) -> str | None:
    """The checksum of the file whose text this is; None where it does not say so."""
    told = _SOURCE_CHECKSUM.search(text.replace("\r\n", "\n"))
    return told[1] if told else None


def moved(text: str, path: str) -> str:
    """The same text for a file that is elsewhere now; corrections are still known as such."""
    front, fence, body = text.partition("\n---\n")
    quoted = yaml.safe_dump({"source": path}, allow_unicode=True, width=math.inf)[len("source") :]
    elsewhere = _PATHS.sub(lambda line: line[1] + quoted.rstrip(), front) + fence + body
    return with_checksum(elsewhere) if is_as_written(text) else elsewhere
