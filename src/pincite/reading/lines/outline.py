"""Markdown → its blocks: headings, paragraphs, list items, tables and code, by whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table

from pincite.reading.lines.plain import paragraphs
from pincite.records import BlockKind
from pincite.text.lines import LineIndex

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "blockquote_open": BlockKind.PARAGRAPH,
    "html_block": BlockKind.PARAGRAPH,
    "list_item_open": BlockKind.ITEM,
    "table": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
}

_PIECE = 2_000  # lines parsed at once: bounds the tokens in memory
_DEEPEST = 40  # quotes in quotes, or twenty lists in lists; each level costs time on every line
_MOST_WORK = 2_000_000  # lines and tokens: a book has some thousands, twenty megabytes half of it
_LONGEST_LOOKED_THROUGH = 1_000_000  # characters
_LONG_LINE = 2_000  # what a line is shows at its start; where a comment ends, at its end


@dataclass(frozen=True, slots=True)
class OutlineBlock:
    """A block at the top level of a text. Lines count from 1 and include both ends."""

    kind: BlockKind
    first: int
    last: int
    level: int = 0  # of a heading
    heading: str = ""  # its source, without the marks around it


def outline(text: str, lines: LineIndex, first: int = 1) -> Iterator[OutlineBlock]:
    """The blocks from line `first` on, in order, without overlap.

    The text is parsed in pieces. The last block of a piece may go on behind it, so the next piece
    begins with it once more; what stands before it is settled, as Markdown never looks back.
    From where a text is nested or split beyond what any writer does, it is read as plain text.
    """
    size, work = _PIECE, 0
    while first <= lines.count:
        beyond = min(first + size, lines.count + 1)
        work += beyond - first
        if work > _MOST_WORK:
            break
        try:
            tokens = _PARSER.parse(
                "\n".join(
                    _shortened(text, lines.start_of(line), lines.end_of(line))
                    for line in range(first, beyond)
                )
            )
        except _TooDeep:
            break
        work += len(tokens)
        blocks: list[OutlineBlock] = []
        for place, token in enumerate(tokens):
            # Only an item of a top-level list is an item at level 1.
            wanted_level = 1 if token.type == "list_item_open" else 0
            kind = _KINDS.get(token.type)
            if kind is None or token.level != wanted_level or token.map is None:
                continue
            level, heading = 0, ""
            if kind is BlockKind.HEADING:
                level, heading = int(token.tag[1:]), tokens[place + 1].content
            blocks.append(
                OutlineBlock(kind, first + token.map[0], first + token.map[1] - 1, level, heading)
            )
        if blocks and beyond <= lines.count:
            beyond = blocks.pop().first
        yield from blocks
        size = _PIECE if beyond > first else 8 * size
        first = beyond
    if first <= lines.count:
        for start, end in paragraphs(text, lines.start_of(first)):
            yield OutlineBlock(BlockKind.PARAGRAPH, *lines.lines_of(start, end))


def _shortened(text: str, start: int, end: int) -> str:
    if end - start <= _LONG_LINE:
        return text[start:end]
    half = _LONG_LINE // 2
    return text[start : start + half] + text[end - half : end]


class _TooDeep(Exception):
    """Raised out of markdown-it; outline catches it."""


# FBT001 in both rules: the signature is markdown-it's.
def _refuse_depth(state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:  # noqa: FBT001
    """Give up where markdown-it's own limit would drop the rest of the text without a word."""
    if state.level >= _DEEPEST:
        raise _TooDeep
    return False


def _whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """A table as one token: markdown-it makes eight of every row, and we cite no cells."""
    if not table(state, start, end, True):  # noqa: FBT003
        return False
    if silent:
        return True
    enders = state.md.block.ruler.getRules("blockquote")  # those that markdown-it asks, too
    line = start + 2
    while line < end and not (
        state.isEmpty(line)
        or state.sCount[line] < state.blkIndent
        or state.is_code_block(line)
        or any(ends(state, line, end, True) for ends in enders)  # noqa: FBT003
    ):
        line += 1
    state.push("table", "table", 0).map = [start, line]
    state.line = line
    return True


def _parser() -> MarkdownIt:
    """Block rules only. Links are not looked up, so their definitions are text like any other."""
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _DEEPEST}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.disable("reference")
    parser.block.ruler.at("table", _whole_table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("table", "depth", _refuse_depth)
    return parser


_PARSER = _parser()


def code_spans(text: str) -> list[tuple[int, int]]:
    """Where blocks of code stand in a Markdown text, in lists and quotes as well; by offsets."""
    if len(text) > _LONGEST_LOOKED_THROUGH:
        return []
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n"), len(text)]
    tokens = MarkdownIt("commonmark").disable("inline").parse(text)
    maps = (one.map for one in tokens if one.type in ("fence", "code_block") and one.map)
    return [(starts[first], starts[min(after, len(starts) - 1)]) for first, after in maps]
