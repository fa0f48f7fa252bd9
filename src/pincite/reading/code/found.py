"""A definition as it is met in a syntax tree, and how much of one it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from tree_sitter import Node

from pincite.reading.code.extent import length
from pincite.reading.code.naming import Named, Role

# In characters.
_LONG_CONSTANT = 400  # from here on it has a section of its own
_LONG_FUNCTION = 2_400  # from here on functions inside it have sections of their own ...
_LONG_NESTED = 400  # ... if they are not mere helpers of a few lines

_DEEPEST = 12  # names in a path; more is machine-made
_CONSTANT_NAME = re.compile(r"_*[A-Z]")


class Inside(IntEnum):
    """What something stands in: the further down, the less counts as a definition."""

    FILE = 0  # or a class
    LONG_FUNCTION = 1
    FUNCTION = 2


@dataclass(frozen=True, slots=True)
class Frame:
    """The section that something stands in."""

    path: tuple[str, ...] = ()
    owner: int = 0  # counts the definitions that have sections; 0 is the file itself
    inside: Inside = Inside.FILE


@dataclass(frozen=True, slots=True)
class Found:
    """A definition, bare and with the `export` or decorators around it."""

    whole: Node
    inner: Node
    named: Named

    @property
    def role(self) -> Role:
        """What kind of definition it is."""
        return self.named.role

    def counts_in(self, frame: Frame) -> bool:
        """Whether it can be seen from elsewhere, or is large enough by itself."""
        if frame.inside is Inside.FILE:
            return True
        return self.role in (Role.TYPE, Role.FUNCTION) and length(self.whole) > _LONG_NESTED

    def has_section(self, *, documented: bool) -> bool:
        """Whether a person would look for it by name, not as a line among others."""
        if self.role in (Role.TYPE, Role.FUNCTION) or length(self.whole) > _LONG_CONSTANT:
            return True
        return self.role is Role.DECLARATION and documented

    @property
    def is_exported(self) -> bool:
        """Whether a constant says so, or is named like one."""
        is_constant = _CONSTANT_NAME.match(self.named.names[-1]) is not None
        return is_constant or self.whole.type == "export_statement"

    def path_in(self, frame: Frame) -> tuple[str, ...]:
        """Its names, below those of what it stands in."""
        return (*frame.path, *self.named.names)[:_DEEPEST]

    def frame_in(self, frame: Frame, owner: int) -> Frame:
        """The section that it opens."""
        path = self.path_in(frame)
        if len(path) >= _DEEPEST:
            inside = Inside.FUNCTION
        elif self.role is Role.TYPE:
            inside = Inside.FILE
        elif self.role is Role.FUNCTION:
            is_long = length(self.whole) > _LONG_FUNCTION
            inside = Inside.LONG_FUNCTION if is_long else Inside.FUNCTION
        else:
            inside = frame.inside
        return Frame(path, owner, inside)
