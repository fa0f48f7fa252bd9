"""What was recognised → the Markdown that is written: front matter, then pages or what was said.

Recognition finds lines, and pieces of lines, but not what belongs together: boxes tell in which
order a reader takes them. Columns are told from tables by how full they are: the lines of a column
reach from edge to edge, the cells of a table do not.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from statistics import fmean, median

import yaml

from pincite.converting.wire import Line, Need, Opened, Page, Said, SourceKind
from pincite.records import FoundFile
from pincite.text.times import clock

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

_DEEPEST = 3  # columns in columns; a page has no more than eight
_MOST_LINES = 5_000  # of a page that is looked at for columns
_PLACES = 60  # across a page where a gap between columns is looked for
_FEWEST_LINES = 4  # in a column
_NARROWEST = 8.0  # heights of a line; what is narrower is a cell, not a column
_FULLEST_TABLE = 0.6  # of a column's width; fuller lines are running text

_CELL_GAP = 1.0  # heights of a line between two cells of one row
_PARAGRAPH = 1.3  # times as far as lines mostly stand apart: the next paragraph
_TIGHTEST = 1.15  # heights of a line between two paragraphs, from middle to middle
_WIDEST_SET = 2.2  # heights of a line; no text is set wider apart
_END_OF_TABLE = 4.0  # heights of a line between two tables
_SIZE_CHANGE = 1.5  # a line so much higher than its neighbour is a heading of it
_UPRIGHT = 1.5  # times as high as wide: a line that runs downwards

Row = tuple[Line, ...]
"""Lines that stand beside each other, from left to right."""

_Slab = tuple[list[Line], ...]
"""A stretch of the page from edge to edge: one column, or two."""


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
        blocks = list(filter(None, map(_block_text, blocks_of(page.lines))))
        if blocks and recognition.opened.pages is not None:
            yield f"## Page {page.number}"
        yield from blocks


def _block_text(block: Block) -> str:
    if block.is_table:
        cells = ([_one_line(text).replace("|", "\\|") for text in row] for row in block.rows)
        first, *rest = ("| " + " | ".join(row) + " |" for row in cells)
        return "\n".join((first, "|" + " --- |" * len(block.rows[0]), *rest))
    lines = [line for (text,) in block.rows if _LETTER.search(line := _one_line(text))]
    return "\n".join(map(_harmless, _with_whole_words(lines)))


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
        lines.append(f"[{clock(begin)} - {clock(end)}] {words}")
    if lines:
        yield "\n".join(lines)


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


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph as lines, or a table as rows of cells."""

    rows: tuple[tuple[str, ...], ...]

    @property
    def is_table(self) -> bool:
        """Whether the rows have cells."""
        return any(len(row) > 1 for row in self.rows)


def blocks_of(lines: Sequence[Line]) -> Iterator[Block]:
    """The page's paragraphs and tables in reading order."""
    downwards = [line for line in lines if runs_downwards(line)]
    if 2 * len(downwards) > len(lines):
        # Chinese and Japanese may be written in lines that run downwards, from right to left.
        yield Block(tuple((one.text,) for one in sorted(lines, key=lambda one: -one.right)))
        return
    across = [line for line in lines if not runs_downwards(line)]
    for part in _columns(across, _DEEPEST if len(across) <= _MOST_LINES else 0):
        yield from _blocks(list(_rows(part)))
    for line in downwards:  # a note up the margin belongs to nothing around it
        yield Block(((line.text,),))


def runs_downwards(line: Line) -> bool:
    """Whether a line of more than two characters is much higher than wide."""
    return len(line.text) > 2 and line.height > _UPRIGHT * line.width


def _columns(lines: Sequence[Line], depth: int) -> Iterator[Sequence[Line]]:
    """The lines column by column; what reaches over several columns parts them above and below."""
    best = _best_split(lines) if depth else None
    if best is None:
        yield lines
        return
    for slab in best:
        for column in slab:
            yield from _columns(column, depth - 1 if len(slab) > 1 else 0)


def _best_split(lines: Sequence[Line]) -> list[_Slab] | None:
    """The slabs of the best place to split at; None where no place makes columns."""
    if len(lines) < 2 * _FEWEST_LINES:
        return None
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    step = (right - left) / _PLACES
    best: list[_Slab] | None = None
    most = 0
    for place in range(_PLACES // 6, _PLACES - _PLACES // 6 + 1):
        slabs = _split_at(left + place * step, lines)
        in_columns = sum(len(side) for slab in slabs if len(slab) > 1 for side in slab)
        if in_columns > most:
            best, most = slabs, in_columns
    return best


def _split_at(x: float, lines: Sequence[Line]) -> list[_Slab]:
    """Slabs between the lines that cross `x`; those where both sides are columns have two parts."""
    slabs: list[_Slab] = []
    crossing: list[Line] = []
    beside: list[Line] = []

    def close() -> None:
        if beside:
            sides = (
                [one for one in beside if one.right <= x],
                [one for one in beside if one.left >= x],
            )
            if all(_is_column(side) for side in sides):
                if crossing:
                    slabs.append((crossing.copy(),))
                slabs.append(sides)
                crossing.clear()
            else:
                crossing.extend(beside)
            beside.clear()

    for line in sorted(lines, key=lambda one: one.middle):
        if line.left < x < line.right:
            close()
            crossing.append(line)
        else:
            beside.append(line)
    close()
    if crossing:
        slabs.append((crossing,))
    return slabs


def _is_column(lines: Sequence[Line]) -> bool:
    """Whether the lines fill their part of the page as running text does."""
    if len(lines) < _FEWEST_LINES:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    if width < _NARROWEST * median(line.height for line in lines):
        return False
    # A side may be several columns, whose lines then stand beside each other.
    filled = [sum(line.width for line in row) for row in _rows(lines)]
    return len(filled) >= _FEWEST_LINES and median(filled) > _FULLEST_TABLE * width


def _rows(lines: Sequence[Line]) -> Iterator[Row]:
    """Lines put together that stand at the same height, from top to bottom."""
    row: list[Line] = []
    for line in sorted(lines, key=lambda one: one.middle):
        if row and abs(row[-1].middle - line.middle) >= min(row[-1].height, line.height) / 2:
            yield tuple(sorted(row, key=lambda one: one.left))
            row = []
        row.append(line)
    if row:
        yield tuple(sorted(row, key=lambda one: one.left))


def _blocks(rows: Sequence[Row]) -> Iterator[Block]:
    """Rows put together to paragraphs and tables, from top to bottom."""
    cells = [_cells(row) for row in rows]
    # How far lines mostly stand apart, from middle to middle
    steps = [_middle(below) - _middle(above) for above, below in pairwise(cells)]
    widest = _WIDEST_SET * median(map(_height, cells)) if cells else 0.0
    usual = min(median(steps), widest) if steps else widest
    start = 0
    for at in range(1, len(cells) + 1):
        if at == len(cells) or _parts(cells[at - 1], cells[at], usual):
            yield _block(cells[start:at])
            start = at


def _parts(above: Row, below: Row, usual: float) -> bool:
    """Whether a new block begins between two rows."""
    smaller, higher = sorted((_height(above), _height(below)))
    step = _middle(below) - _middle(above)
    if len(above) > 1 and len(below) > 1:
        return step > _END_OF_TABLE * smaller
    return (
        (len(above) > 1) != (len(below) > 1)
        or step > max(_PARAGRAPH * usual, _TIGHTEST * smaller)
        or higher > _SIZE_CHANGE * smaller
    )


def _height(row: Row) -> float:
    return max(line.height for line in row)


def _middle(row: Row) -> float:
    return fmean(line.middle for line in row)


def _cells(row: Row) -> Row:
    """The row's lines, those a blank apart joined."""
    joined: list[Line] = []
    for line in row:
        before = joined[-1] if joined else None
        if before and line.left - before.right < _CELL_GAP * min(line.height, before.height):
            joined[-1] = Line(
                f"{before.text} {line.text}",
                before.left,
                min(before.top, line.top),
                max(before.right, line.right),
                max(before.bottom, line.bottom),
                min(before.confidence, line.confidence),
            )
        else:
            joined.append(line)
    return tuple(joined)


def _block(rows: Sequence[Row]) -> Block:
    """A table where several rows have cells; otherwise a row of cells is one line."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return Block(tuple((" ".join(cell.text for cell in row),) for row in rows))
    # A table's columns part in the gaps that no cell reaches into.
    spans = sorted((cell.left, cell.right) for row in rows for cell in row)
    columns = [spans[0]]
    for left, right in spans[1:]:
        if left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    edges = [(one[1] + other[0]) / 2 for one, other in pairwise(columns)]
    table = []
    for row in rows:
        cells = [""] * len(columns)
        for cell in row:
            column = sum(edge < cell.left for edge in edges)
            cells[column] = f"{cells[column]} {cell.text}".strip()
        table.append(tuple(cells))
    return Block(tuple(table))
