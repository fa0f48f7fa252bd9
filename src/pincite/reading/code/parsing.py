"""Text → its syntax tree, with offsets that are those of the text."""

from __future__ import annotations

import re
import time

from tree_sitter import Parser, Point, Tree

from pincite.reading.code.language import Language

_FOREIGN_BLANK = re.compile(r"[^\S\x00-\x7f]")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_LONE_RETURN = re.compile(r"\r(?!\n)")

_SECONDS = 10.0  # of CPU time; what is written in the language takes one for two megabytes
_SLICE = 4_096  # bytes handed over at once, between two looks at the clock


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
