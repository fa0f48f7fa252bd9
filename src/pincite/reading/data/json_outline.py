"""The sections and blocks of a JSON text, by its keys and by what its items call themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pincite.reading.data.json_layout import Member, members, own_name, shape_of
from pincite.reading.sections import Heading
from pincite.records import Block, BlockKind
from pincite.text.lines import LineIndex
from pincite.text.sentences import trim

_LONG_TEXT = 200  # characters of a string that is worth a section of its own
_LARGE = 1_000  # characters of an object or list whose own members are told apart
_LONGEST_HEADING = 120


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
            weighty = member.is_container or _is_long(member)
            if weighty or was_weighty:  # short ones stay together with their like
                start = 0 if is_first and level == 1 else self._line_start(member.start)
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
        return _heading(own_name(self._text, self._shape, member.value))

    def _line_start(self, offset: int) -> int:
        return self._lines.start_of(self._lines.line_of(offset))


def _is_long(member: Member) -> bool:
    return member.end - member.value > _LONG_TEXT


def _heading(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_HEADING].rstrip()
