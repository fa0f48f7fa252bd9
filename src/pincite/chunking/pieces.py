"""Document → pieces: the smallest stretches a cut may fall between, and what each cut costs."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice

import numpy as np

from pincite.ports import TokenCounter
from pincite.records import Block, BlockKind, Document
from pincite.text.sentences import sentence_spans, trim

EMBEDDED_CODE = 500  # tokens of one code block; a model makes nothing of more
WHOLE_CODE = 8_000  # tokens of the longest code block that is kept in one piece and shortened
_LOWEST_HEADING = 6
_MOST_PIECES = 300_000  # more than twenty megabytes of prose have; what is behind them is joined
_JOINED = 16  # so many joined pieces fill a chunk
_LONGEST_WORD = 1_000  # characters; what is longer is no word, and counts as many
_PART_OF_WORD = 16
_LINE = re.compile(r"[^\r\n]+")


class Measure:
    """Counts the embedder's tokens in any slice of a text, after looking at the text once."""

    def __init__(self, text: str, counter: TokenCounter) -> None:
        self._starts = _with_long_words_cut(text, counter.token_starts(text))

    def tokens(self, start: int, end: int) -> int:
        """Tokens that begin inside the slice."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def offset_after(self, start: int, tokens: int) -> int | None:
        """Where the token begins that no longer fits, counting from `start`; None if all fit."""
        index = bisect_left(self._starts, start) + tokens
        return self._starts[index] if index < len(self._starts) else None

    def offset_before(self, end: int, tokens: int) -> int:
        """Where the last so many tokens before `end` begin."""
        index = bisect_left(self._starts, end) - tokens
        return self._starts[max(index, 0)] if self._starts else 0


def _with_long_words_cut(text: str, starts: Sequence[int]) -> Sequence[int]:
    """The starts of tokens, and some inside words or blanks that are longer than any.

    To many tokenizers, eight megabytes without a space are one token.
    """
    edges = np.append(np.asarray(starts, np.uint32), np.uint32(len(text)))
    inside: list[int] = []
    for at in np.flatnonzero(np.diff(edges) > _LONGEST_WORD):
        start, end = map(int, edges[at : at + 2])
        inside.extend(range(start + _PART_OF_WORD, end, _PART_OF_WORD))
    if not inside:
        return starts
    return array("I", np.sort(np.append(edges[:-1], np.asarray(inside, np.uint32))).tobytes())


class Boundary(IntEnum):
    """What stands before a piece: the lower, the better a place to cut."""

    HEADING = 0
    BLOCK = 1
    SENTENCE = 2
    INSIDE = 3  # between rows of a table, lines of code, or words of one long sentence
    UNDER_HEADING = 4  # a cut here would leave a heading without its text


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch that is never torn, with what stands before it."""

    start: int
    end: int
    tokens: int
    boundary: Boundary
    level: int = 0  # of the heading, where the piece is one


def document_pieces(
    document: Document, measure: Measure, *, largest: int, whole_code: bool = False
) -> list[Piece]:
    """The pieces of a document, in order, none with more than `largest` tokens.

    Code blocks may be kept whole; they then count as much as is embedded of them.
    """
    pieces = _all_pieces(document, measure, largest, whole_code=whole_code)
    few = list(islice(pieces, _MOST_PIECES))
    joined: Piece | None = None
    for piece in pieces:
        tokens = piece.tokens + (joined.tokens if joined else 0)
        if joined and tokens <= largest // _JOINED:
            joined = few[-1] = replace(joined, end=piece.end, tokens=tokens)
        else:
            joined = piece
            few.append(piece)
    return few


def _all_pieces(
    document: Document, measure: Measure, largest: int, *, whole_code: bool
) -> Iterator[Piece]:
    levels = {section.start: section.level for section in document.sections}
    after_heading = False
    for block in _blocks_without_gaps(document):
        is_heading = block.kind is BlockKind.HEADING
        first = Boundary.HEADING if is_heading else Boundary.BLOCK
        if after_heading:
            first = Boundary.UNDER_HEADING
        level = levels.get(block.start, _LOWEST_HEADING) if is_heading else 0
        whole = measure.tokens(block.start, block.end)
        if whole_code and block.kind is BlockKind.CODE and largest < whole <= WHOLE_CODE:
            _, end = trim(document.text, block.start, block.end)
            yield Piece(block.start, end, min(whole, EMBEDDED_CODE), first)
        else:
            yield from _block_pieces(document.text, block, measure, largest, first, level)
        after_heading = is_heading


def span_pieces(
    text: str,
    start: int,
    end: int,
    measure: Measure,
    *,
    largest: int,
    kind: BlockKind = BlockKind.PARAGRAPH,
) -> list[Piece]:
    """The sentences of a stretch as pieces, or its lines if it is code, for cutting windows."""
    block = Block(kind, start, end)
    return list(_block_pieces(text, block, measure, largest, Boundary.BLOCK, 0))


def _blocks_without_gaps(document: Document) -> Iterator[Block]:
    """The blocks, and what a reader left out between them (link definitions, say) as paragraphs.

    A document without any block, of nothing but front matter, is a paragraph as a whole.
    """
    reached = None if document.blocks else 0
    for block in document.blocks:
        if reached is not None:
            yield from _gap(document.text, reached, block.start)
        yield block
        reached = block.end
    if reached is not None:
        yield from _gap(document.text, reached, len(document.text))


def _gap(text: str, start: int, end: int) -> Iterator[Block]:
    start, end = trim(text, start, end)
    if start < end:
        yield Block(BlockKind.PARAGRAPH, start, end)


def _block_pieces(
    text: str, block: Block, measure: Measure, largest: int, first: Boundary, level: int
) -> Iterator[Piece]:
    """One piece for what should stay whole, else its sentences, rows or lines."""
    whole = measure.tokens(block.start, block.end)
    if block.kind in (BlockKind.TABLE, BlockKind.CODE):
        keep, spans, inner = whole <= largest, _line_spans(text, block), Boundary.INSIDE
    else:
        spans, inner = sentence_spans(text, block.start, block.end), Boundary.SENTENCE
        keep = block.kind is BlockKind.HEADING and whole <= largest
    if keep:
        spans = iter([(block.start, block.end)])
    boundary = first
    for start, end in spans:
        parts = _parts_that_fit(text, start, end, measure, largest)
        if block.kind is BlockKind.CODE:
            parts = _with_indentation(parts, start)
        for part in parts:
            yield Piece(*part, tokens=measure.tokens(*part), boundary=boundary, level=level)
            boundary, level = Boundary.INSIDE, 0
        boundary = inner


def _line_spans(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """The lines of a block, without blank ones."""
    for line in _LINE.finditer(text, block.start, block.end):
        start_of_words, end_of_words = trim(text, *line.span())
        if start_of_words < end_of_words:
            yield line.start(), end_of_words


def _with_indentation(parts: Iterator[tuple[int, int]], start: int) -> Iterator[tuple[int, int]]:
    """The parts of one stretch of code; what stands before its first word belongs to it."""
    for _, end in parts:
        yield start, end
        break
    yield from parts


def _parts_that_fit(
    text: str, start: int, end: int, measure: Measure, largest: int
) -> Iterator[tuple[int, int]]:
    """The stretch itself, or parts of it cut between words where that is possible."""
    while True:
        cut = measure.offset_after(start, largest)
        if cut is None or cut >= end:
            break
        space = text.rfind(" ", start + 1, cut + 1)
        # Half a part at least: a long word is cut in the middle rather than leaving crumbs.
        if space > start + (cut - start) // 2:
            cut = space
        part_start, part_end = trim(text, start, cut)
        if part_start < part_end:
            yield part_start, part_end
        start = cut
    start, end = trim(text, start, end)
    if start < end:
        yield start, end
