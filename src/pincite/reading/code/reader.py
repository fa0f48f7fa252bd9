"""Source code → Content: verbatim, with a section for each function, method and class."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from tree_sitter import Parser, Point, Tree

from pincite.reading.code.languages import Language, language_of
from pincite.reading.code.lines import unstructured
from pincite.reading.code.outline import Mark, Outline, entry_points, imports, outline
from pincite.reading.encoding import decode_filled
from pincite.reading.lines.plain import paragraphs
from pincite.reading.source_file import SourceFile
from pincite.records import Analysis, Block, BlockKind, Content, Metadata, Modality, Section

_LONGEST = 2_000_000  # characters; a longer file is made by a machine, or holds data
_LONG_LINE = 400  # characters; where most of a file stands in such lines, it is minified
_LONG_STRETCH = 2_400  # characters, of a comment, a string, or what could not be parsed
_MOST_SYMBOLS = 5_000

_FOREIGN_BLANK = re.compile(r"[^\S\x00-\x7f]")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_LONE_RETURN = re.compile(r"\r(?!\n)")

_SECONDS = 10.0  # of CPU time; what is written in the language takes one for two megabytes
_SLICE = 4_096  # bytes handed over at once, between two looks at the clock


def read(file: SourceFile) -> Content:
    """Read source code. What was made by a machine is read by its lines, without structure."""
    text = decode_filled(file.data)
    language = language_of(file.suffix, text)
    if len(text) > _LONGEST or _is_minified(text):
        return unstructured(text, language)
    tree = parse(text, language)
    if tree is None:
        return unstructured(text, language)
    found = outline(tree, text, language)
    # The marks, and one for what stands before the first of them.
    begin = len(text) - len(text.lstrip())
    begin = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
    marks = list(found.marks)
    if not marks or marks[0].start > begin:
        marks.insert(0, Mark(begin, (), 0))
    # A section wherever another definition, or the rest of an outer one, begins.
    firsts = [next(group) for _, group in groupby(marks, key=lambda mark: mark.owner)]
    starts = [0, *(mark.start for mark in firsts[1:]), len(text)]
    sections = [
        Section(mark.path, len(mark.path), start, after)
        for mark, (start, after) in zip(firsts, pairwise(starts), strict=True)
    ]
    return Content(
        type=language.type,
        text=text,
        sections=tuple(sections),
        blocks=tuple(_blocks(marks, text)),
        metadata=Metadata(language=language.name),
        modality=Modality.CODE,
        analysis=_analysis(tree, found, text, language),
    )


def facts_of(text: str, suffix: str) -> Analysis:
    """What a piece of code defines and imports; nothing where it cannot be parsed."""
    language = language_of(suffix, text)
    tree = None if _is_minified(text) else parse(text, language)
    if tree is None:
        return Analysis()
    return _analysis(tree, outline(tree, text, language), text, language)


def _analysis(tree: Tree, found: Outline, text: str, language: Language) -> Analysis:
    symbols = dict.fromkeys(one.path[-1] for one in found.definitions)
    return Analysis(
        symbols=tuple(symbols)[:_MOST_SYMBOLS],
        imports=imports(tree, text, language),
        entry_points=entry_points(found, text, language),
    )


def _is_minified(text: str) -> bool:
    in_long_lines = sum(len(line) for line in text.splitlines() if len(line) > _LONG_LINE)
    return 2 * in_long_lines > len(text)


def _blocks(marks: Sequence[Mark], text: str) -> Iterator[Block]:
    """From mark to mark; what is long between two of them is parted at its blank lines."""
    ends = [*(mark.start for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=True):
        stretch = text[mark.start : end].rstrip()
        parts = paragraphs(stretch) if len(stretch) > _LONG_STRETCH else [(0, len(stretch))]
        for part_start, part_end in parts:
            yield Block(BlockKind.CODE, mark.start + part_start, mark.start + part_end)


def parse(text: str, language: Language, *, seconds: float = _SECONDS) -> Tree | None:
    """The syntax tree; None where the text is so far from the language that it takes too long.

    Where a text is full of errors, some grammars take time and memory by the square of its length.
    The parser cannot be stopped (its own means crash the process in tree-sitter 0.26), but it can
    be told that the text has ended. That is no full protection: use it only in a child process.
    """
    data = _in_ascii(text, language.noise)
    deadline = time.thread_time() + seconds
    given_up = False

    def hand_over(at: int, _: Point) -> bytes:
        nonlocal given_up
        given_up = given_up or time.thread_time() > deadline
        return b"" if given_up else data[at : at + _SLICE]

    tree = Parser(language.grammar).parse(hand_over)
    return None if given_up else tree


def _in_ascii(text: str, noise: re.Pattern[str] | None) -> bytes:
    """As many bytes as the text has characters, which mean the same to a grammar.

    Outside ASCII there are only letters, and blanks: what strings and comments say is all one. A
    carriage return alone ends a line for us, but not for every grammar.
    """
    if not text.isascii():
        text = _FOREIGN.sub("x", _FOREIGN_BLANK.sub(" ", text))
    if noise is not None:
        text = noise.sub(lambda match: " " * len(match[0]), text)
    return _LONE_RETURN.sub("\n", text).encode("ascii")
