"""Lines of a column → paragraphs, items and tables; which paragraphs are headings comes later.

Tables are told by cells that stand below each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from pincite.reading.pdf.lines import Line
from pincite.reading.pdf.words import Style, Word
from pincite.records import BlockKind

Row = list[list[Word]]
"""The cells of a table's row, from the first column on; empty ones are empty."""

# In sizes of the type.
_INDENT = 0.8  # a line that begins so much farther in begins a paragraph
_MOST_LEADING = 2.5  # from baseline to baseline inside a paragraph
_USUAL_LEADING = 1.2

_WIDER = 1.25  # times the usual leading: a gap between paragraphs
_LARGE = 1.12  # times the size of most type: a heading, of which a part may be bold
_OTHER_SIZE = 0.08  # share by which type may differ inside a paragraph
_MOST_NOTES = 8  # at the foot of a column
_SHORT = 0.75  # of the column's width: a line that ends before this, with a full stop, ends it
_END = re.compile(r"[.!?:;…。！？؟]['\"”’»)\]]*$")
_STARTS_NEW = re.compile(r"[\"“‘«(\[]*[^\W_a-zß-ÿ]")

_FEWEST_ROWS = 3
_MOST_BETWEEN = 2  # lines of one cell between two rows: a heading in the table, a longer cell
_NEXT_LINE = 1.6  # in sizes of the type, from one line of a cell to the next
_PROSE = 50  # letters of a line that runs across columns: no row, and no heading of columns
_FARTHEST = 3.2  # in sizes of the type, from one row to the next
_TYPICAL = 0.6  # of the most cells that a row has: rows with fewer head several columns
_CROSSED = 0.1  # share of the rows that may cross the gap between two columns
_NARROWEST = 0.4  # such a gap, in sizes of the type
_LONGEST_CELL = 60  # letters, on average; longer ones are paragraphs side by side
_SIGN_BEFORE = re.compile(r"[$€£¥(]{1,2}|[A-Z]{0,2}[$€£]")
_SIGN_AFTER = re.compile(r"[)%]{1,2}")

Gaps = list[tuple[float, float]]
"""Between columns: where each gap begins and ends, from the left."""

_BULLET = re.compile(r"[•‣◦▪▫■□●○◆◇➢➤✓✔❑❖⁃\uf000-\uf0ff]")
_DASH = re.compile(r"[·∙*–—-]")
_NUMBER = re.compile(
    r"\(?(?:\d{1,2}|[a-zA-Z]|[ivxIVX]{1,5})\)|(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})\."
    r"|\d{1,2}(?:\.\d{1,2}){1,3}\.?"
)


@dataclass(slots=True)
class PageBlock:
    """Lines that belong together, and what they are."""

    kind: BlockKind
    lines: list[Line]
    rows: list[Row] = field(default_factory=list)  # of a table
    level: int = 0  # of a heading

    @property
    def style(self) -> Style:
        """Of its first line."""
        return self.lines[0].style

    @property
    def text(self) -> str:
        """As written, on one line."""
        return " ".join(line.text for line in self.lines)

    @property
    def words(self) -> list[Word]:
        """All of it."""
        return [word for line in self.lines for word in line.words]


@dataclass(frozen=True, slots=True)
class _Column:
    """What is usual in a column."""

    left: float
    right: float
    size: float  # of most of its type
    leading: dict[float, float]  # by size of the type

    @property
    def width(self) -> float:
        return self.right - self.left


def blocks_of(lines: Sequence[Line]) -> list[PageBlock]:
    """The lines of one column as blocks, in order."""
    blocks: list[PageBlock] = []
    steps: dict[float, list[float]] = {}
    for one, other in pairwise(lines):
        step = one.base - other.base
        if one.size == other.size and 0 < step < _MOST_LEADING * one.size:
            steps.setdefault(one.size, []).append(step)
    leading = {size: _lower_median(found) for size, found in steps.items()}
    sizes = Counter(line.size for line in lines)
    column = _Column(
        min((line.left for line in lines), default=0.0),
        max((line.right for line in lines), default=0.0),
        max(sizes, key=sizes.__getitem__, default=0.0),
        leading,
    )
    reached = 0
    # Tables, in order; the lines between them are none.
    tables = []
    for start, end in _candidates(lines):
        for first, after in _without_prose(lines, start, end):
            table = _table(lines, first, after)
            if table is not None:
                tables.append(table)
    for table in tables:
        blocks += _text_blocks(lines[reached : table.start], column)
        rows = lines[table.start : table.end]
        blocks.append(PageBlock(BlockKind.TABLE, list(rows), table.rows))
        reached = table.end
    return blocks + _text_blocks(lines[reached:], column)


def joined(columns: Iterable[Sequence[PageBlock]]) -> list[PageBlock]:
    """The blocks of all columns; a paragraph that the end of a column breaks is put together."""
    blocks: list[PageBlock] = []
    for column in columns:
        rest = list(column)
        for broken in (blocks[-1:], _before_notes(blocks)):
            if broken and rest and _is_rest(broken[0], rest[0]):
                broken[0].lines += rest.pop(0).lines
                break
        blocks += rest
    return blocks


def _before_notes(blocks: Sequence[PageBlock]) -> list[PageBlock]:
    """The last block above the notes at the foot of a column, which are in smaller type."""
    if not blocks:
        return []
    smallest = blocks[-1].style.size
    for block in blocks[-_MOST_NOTES:][::-1]:
        if block.style.size > smallest * (1 + _OTHER_SIZE):
            is_same_page = block.lines[-1].sheet is blocks[-1].lines[-1].sheet
            return [block] if is_same_page else []
    return []


def _is_rest(block: PageBlock, following: PageBlock) -> bool:
    """Whether a column begins in the middle of the last one's last sentence."""
    kinds = block.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM), following.kind
    if kinds != (True, BlockKind.PARAGRAPH) or block.level or following.level:
        return False
    last, first = block.lines[-1], following.lines[0]
    alike = abs(last.size - first.size) <= _OTHER_SIZE * last.size and last.turn == first.turn
    return alike and first.text[0].islower() and not _END.search(last.text)


def _lower_median(steps: list[float]) -> float:
    """The usual step, or the smaller of two that are about as usual."""
    usual = median(steps)
    smaller = [step for step in steps if step < usual / _WIDER]
    return median(smaller) if len(smaller) * 3 >= len(steps) else usual


def _text_blocks(lines: Sequence[Line], column: _Column) -> list[PageBlock]:
    blocks: list[PageBlock] = []
    for line in lines:
        if blocks and not _begins(blocks[-1], line, column):
            blocks[-1].lines.append(line)
            continue
        kind = BlockKind.ITEM if _is_item(line) else BlockKind.PARAGRAPH
        blocks.append(PageBlock(kind, [line], level=line.level))
    return blocks


def _is_item(line: Line) -> bool:
    words = line.words
    return len(words) > 1 and _is_mark(words[0].text)


def _begins(block: PageBlock, line: Line, column: _Column) -> bool:
    """Whether the line begins something new after the block's last line."""
    last = block.lines[-1]
    size = max(last.size, line.size)
    if last.level or line.level:
        return last.level != line.level or _is_gap(block, line, column)
    if abs(last.size - line.size) > _OTHER_SIZE * size or _is_gap(block, line, column):
        return True
    if last.style.bold != line.style.bold and size <= _LARGE * column.size:
        return True
    ended = bool(_END.search(last.text)) or _is_short(last, column)
    # A bullet can be nothing but the sign of an item; a dash or a number may stand within a text.
    is_bullet = _BULLET.fullmatch(line.words[0].text)
    if is_bullet or (_is_item(line) and (ended or block.kind is BlockKind.ITEM)):
        return True
    if block.kind is BlockKind.ITEM and _leaves_item(block, line):
        return True
    return _begins_by_indent(block, line) or (
        bool(_END.search(last.text))
        and _is_short(last, column)
        and bool(_STARTS_NEW.match(line.text))
    )


def _is_gap(block: PageBlock, line: Line, column: _Column) -> bool:
    step = block.lines[-1].base - line.base
    if len(block.lines) > 1:
        usual = block.lines[-2].base - block.lines[-1].base
    else:
        usual = column.leading.get(line.size, _USUAL_LEADING * line.size)
    return step <= 0 or step > _WIDER * usual + 0.5


def _is_short(line: Line, column: _Column) -> bool:
    reach = column.right - line.left if line.is_right_to_left else line.right - column.left
    return reach < _SHORT * column.width


def _leaves_item(block: PageBlock, line: Line) -> bool:
    """Whether a line stands as far out as the item's mark, where its text stands farther in."""
    first = block.lines[0]
    if line.is_right_to_left or len(block.lines) > 1:
        return False
    text_left = first.words[1].left
    hangs = text_left - first.left > _INDENT * line.size
    return (
        hangs and line.left < first.left + _INDENT / 2 * line.size and bool(_END.search(first.text))
    )


def _begins_by_indent(block: PageBlock, line: Line) -> bool:
    last = block.lines[-1]
    is_item = block.kind is BlockKind.ITEM and len(block.lines) == 1
    left = last.words[1].left if is_item else last.left  # behind the mark
    inward = last.right - line.right if line.is_right_to_left else line.left - left
    if inward > _INDENT * line.size:
        return bool(_END.search(last.text))
    outward = inward < -_INDENT * line.size and not line.is_right_to_left
    return outward and len(block.lines) > 1


@dataclass(frozen=True, slots=True)
class Table:
    """The lines from `start` to before `end` are a table with these rows."""

    start: int
    end: int
    rows: list[Row]


def _table(lines: Sequence[Line], start: int, end: int) -> Table | None:
    gaps = _gaps(lines[start:end])
    rows = [_row(line, gaps) for line in lines[start:end]]
    if not gaps or not _is_table(rows):
        return None
    after = _with_rest(lines, end, gaps)
    return Table(start, after, rows + [_row(line, gaps) for line in lines[end:after]])


def _without_prose(lines: Sequence[Line], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch in parts, where lines of text run across its columns."""
    gaps = _gaps(lines[start:end])
    for index in range(start, end):
        if gaps and _runs_across(lines[index], gaps):
            yield from _trimmed(lines, start, index)
            start = index + 1
    yield from _trimmed(lines, start, end)


def _runs_across(line: Line, gaps: Gaps) -> bool:
    is_long = len(line.cells) == 1 and len(line.text) >= _PROSE
    return is_long and line.left < gaps[0][0] and line.right > gaps[0][1]


def _trimmed(lines: Sequence[Line], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch from its first to its last row of several cells, if there is any."""
    several = [index for index in range(start, end) if len(lines[index].cells) > 1]
    if several:
        yield several[0], several[-1] + 1


def _with_rest(lines: Sequence[Line], end: int, gaps: Gaps) -> int:
    """After the lines that go on with a cell of the last row, other than its first."""
    while end < len(lines) and len(lines[end].cells) == 1:
        line, last = lines[end], lines[end - 1]
        is_near = 0 < last.base - line.base <= _NEXT_LINE * line.size
        if not is_near or line.size != last.size or line.left < gaps[0][1] - line.size / 2:
            break
        end += 1
    return end


def _candidates(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Stretches of lines with several cells each, few of one cell between them."""
    start = last = None
    for index, line in enumerate(lines):
        if start is not None and last is not None:
            too_far = lines[index - 1].base - line.base > _FARTHEST * line.size
            if too_far or index - last > _MOST_BETWEEN + 1 or _is_heading(line, lines[last]):
                yield start, last + 1
                start = last = None
        if len(line.cells) > 1:
            start = index if start is None else start
            last = index
    if start is not None and last is not None:
        yield start, last + 1


def _is_heading(line: Line, row: Line) -> bool:
    """Whether a line of one cell stands out from the rows before it."""
    stands_out = line.size > row.size or (line.style.bold and not row.style.bold)
    return stands_out and len(line.cells) == 1


def _gaps(lines: Sequence[Line]) -> Gaps:
    """Where hardly any row has anything, between the first column and the last."""
    most = max(len(line.cells) for line in lines)
    rows = [line for line in lines if len(line.cells) >= max(2, _TYPICAL * most)]
    size = median(line.size for line in rows)
    edges = sorted(
        edge
        for line in rows
        for cell in _cells(line)
        for edge in ((min(word.left for word in cell), 1), (max(word.right for word in cell), -1))
    )
    allowed = int(_CROSSED * len(rows))
    gaps: Gaps = []
    open_cells, free_since = 0, None
    for place, change in edges:
        open_cells += change
        if change < 0 and open_cells <= allowed and free_since is None:
            free_since = place
        elif change > 0 and open_cells > allowed and free_since is not None:
            if place - free_since >= _NARROWEST * size:
                gaps.append((free_since, place))
            free_since = None
    return gaps


def _cells(line: Line) -> list[list[Word]]:
    """The cells of a line, a sign of currency or the like put to its number."""
    cells: list[list[Word]] = []
    before: list[Word] = []
    for cell in line.cells:
        text = "".join(word.text for word in cell)
        if _SIGN_BEFORE.fullmatch(text):
            before += cell
        elif cells and not before and _SIGN_AFTER.fullmatch(text):
            cells[-1] = [*cells[-1], *cell]
        else:
            cells.append([*before, *cell])
            before = []
    return [*cells, before] if before else cells


def _row(line: Line, gaps: Gaps) -> Row:
    """The cells by column; one that spans several columns stands in its first."""
    row: Row = [[] for _ in range(len(gaps) + 1)]
    for cell in _cells(line):
        begin = min(word.left for word in cell)
        column = sum((start + end) / 2 <= begin for start, end in gaps)
        row[column].extend(cell)
    if line.is_right_to_left:
        row.reverse()
    return row


def _is_table(rows: Sequence[Row]) -> bool:
    """Whether enough rows have enough cells, and the cells are neither prose nor a list's marks."""
    full = [row for row in rows if sum(bool(cell) for cell in row) > 1]
    is_wide = len(full) == 2 and all(cell for row in full for cell in row) and len(rows[0]) > 3
    if len(full) < _FEWEST_ROWS and not is_wide:
        return False
    cells = [cell for row in full for cell in row if cell]
    if sum(len(word.text) for cell in cells for word in cell) > _LONGEST_CELL * len(cells):
        return False
    firsts = [next(cell for cell in row if cell) for row in full]
    lists = sum(_is_mark(cell[0].text) and len(cell) == 1 for cell in firsts)
    return lists * 2 < len(firsts) or len(rows[0]) > 2


def _is_mark(word: str) -> bool:
    """Whether this may begin an item: a bullet, a dash, `1.`, `(a)`, `iv)`, `2.1`."""
    return any(pattern.fullmatch(word) for pattern in (_BULLET, _DASH, _NUMBER))
