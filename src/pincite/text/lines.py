"""Offsets and line numbers of one text, both ways."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import accumulate, islice

# Exactly the line ends that Markdown knows. str.splitlines also breaks at form feeds, U+2028 and
# others, and the lines we cite would then not be the lines an editor shows.
_LINE_END = re.compile(r"(\r\n?|\n)")
_AT_ONCE = 100_000  # characters; millions of short lines are not all held at once


class LineIndex:
    """Where each line of a text begins and ends.

    Lines count from 1. A line end closes its line and opens another only if text follows, so
    "a" and "a\\n" both have one line; so has the empty text.
    """

    __slots__ = ("_ends", "_length", "_starts")

    def __init__(self, text: str) -> None:
        self._length = len(text)
        # Lines and line ends in turn, so that each length leads to the next boundary.
        boundaries = array("I", [0, 0])
        while (reached := boundaries[-1]) < len(text):
            end = reached + _AT_ONCE
            end += text.startswith("\n", end)  # "\r\n" is one line end
            lengths = map(len, _LINE_END.split(text[reached:end]))
            boundaries.pop()  # the line goes on
            boundaries.extend(islice(accumulate(lengths, initial=reached), 1, None))
        self._starts, self._ends = boundaries[:-1:2], boundaries[1::2]
        if len(self._starts) > 1 and self._starts[-1] == self._length:
            self._starts.pop()
            self._ends.pop()

    @property
    def count(self) -> int:
        """How many lines the text has; at least one."""
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        """The line an offset stands in; a line end belongs to the line it closes."""
        if not 0 <= offset <= self._length:
            raise IndexError(f"offset {offset} is outside a text of {self._length} characters")
        return bisect_right(self._starts, offset)

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """First and last line of the slice [start:end], both included."""
        return self.line_of(start), self.line_of(max(start, end - 1))

    def start_of(self, line: int) -> int:
        """The offset of a line's first character."""
        return self._starts[self._place(line)]

    def end_of(self, line: int) -> int:
        """The offset behind a line's last character, before its line end."""
        return self._ends[self._place(line)]

    def _place(self, line: int) -> int:
        if not 1 <= line <= self.count:
            raise IndexError(f"line {line} is outside a text of {self.count} lines")
        return line - 1
