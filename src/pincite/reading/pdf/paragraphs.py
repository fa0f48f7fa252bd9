"""Lines of a column → paragraphs, items and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pincite.reading.pdf.blocks import PageBlock
from pincite.reading.pdf.lines import Line
from pincite.reading.pdf.marks import is_bullet, is_mark
from pincite.reading.pdf.tables import tables_among
from pincite.records import BlockKind

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
    column = _usual(lines)
    reached = 0
    for table in tables_among(lines):
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


def _usual(lines: Sequence[Line]) -> _Column:
    steps: dict[float, list[float]] = {}
    for one, other in pairwise(lines):
        step = one.base - other.base
        if one.size == other.size and 0 < step < _MOST_LEADING * one.size:
            steps.setdefault(one.size, []).append(step)
    leading = {size: _lower_median(found) for size, found in steps.items()}
    sizes = Counter(line.size for line in lines)
    return _Column(
        min((line.left for line in lines), default=0.0),
        max((line.right for line in lines), default=0.0),
        max(sizes, key=sizes.__getitem__, default=0.0),
        leading,
    )


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
    return len(words) > 1 and is_mark(words[0].text)


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
    if _begins_item(block, line, ended=ended):
        return True
    if block.kind is BlockKind.ITEM and _leaves_item(block, line):
        return True
    return _begins_by_indent(block, line) or (
        bool(_END.search(last.text))
        and _is_short(last, column)
        and bool(_STARTS_NEW.match(line.text))
    )


def _begins_item(block: PageBlock, line: Line, *, ended: bool) -> bool:
    """Whether the line begins an item; a dash or a number may also stand within a text."""
    mark = line.words[0].text
    return is_bullet(mark) or (_is_item(line) and (ended or block.kind is BlockKind.ITEM))


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
