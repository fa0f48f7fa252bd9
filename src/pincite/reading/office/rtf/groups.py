"""What holds inside one pair of braces of an RTF file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from pincite.reading.office.rtf.blocks import Flow

_MOST_FALLBACK = 10


class Register(Enum):
    """The tables before the text: what is written there is no text."""

    FONTS = auto()
    COLOURS = auto()
    STYLES = auto()
    AUTHORS = auto()
    CREATED = auto()
    MODIFIED = auto()


@dataclass(slots=True)
class Group:
    """Where text goes, and how it and its paragraph look; copied at every opening brace."""

    flow: Flow | None
    register: Register | None = None
    is_closed: bool = False  # nothing in it is read
    is_optional: bool = False  # a destination follows that who does not know it shall skip
    fallback: int = 1  # characters after a Unicode one, for programs that do not know Unicode
    font: int | None = None
    is_hidden: bool = False
    half_points: int | None = None
    colour: int = 0
    ground: int = 0  # the colour under the text
    change: str | None = None  # "inserted" or "deleted"
    change_author: int = 0
    style: int = 0
    outline: int | None = None
    depth: int = 0
    in_table: bool = False

    def inner(self) -> Group:
        """What holds inside the next brace; written out, as files have a brace for every word."""
        return Group(
            self.flow,
            self.register,
            self.is_closed,
            False,  # noqa: FBT003 — the order of the fields
            self.fallback,
            self.font,
            self.is_hidden,
            self.half_points,
            self.colour,
            self.ground,
            self.change,
            self.change_author,
            self.style,
            self.outline,
            self.depth,
            self.in_table,
        )

    def apply(self, name: str, number: int) -> bool:
        """Carry out a command about looks; False where it is none of these."""
        command = _COMMANDS.get(name)
        if command:
            command(self, number)
        return command is not None

    def _plain(self, _number: int) -> None:
        self.is_hidden = False
        self.half_points = self.change = self.font = None
        self.colour = self.ground = 0

    def _paragraph(self, _number: int) -> None:
        self.style = self.depth = 0
        self.outline = None
        self.in_table = False

    def _changed(self, deed: str, number: int) -> None:
        self.change = deed if number else None


def _setting(name: str) -> Callable[[Group, int], None]:
    def apply(group: Group, number: int) -> None:
        setattr(group, name, number)

    return apply


_COMMANDS: dict[str, Callable[[Group, int], None]] = {
    "plain": Group._plain,
    "pard": Group._paragraph,
    "f": _setting("font"),
    "fs": _setting("half_points"),
    "cf": _setting("colour"),
    "cb": _setting("ground"),
    "chcbpat": _setting("ground"),
    "highlight": _setting("ground"),
    "revauth": _setting("change_author"),
    "revauthdel": _setting("change_author"),
    "s": _setting("style"),
    "outlinelevel": _setting("outline"),
    "ilvl": _setting("depth"),
    "v": lambda group, number: setattr(group, "is_hidden", bool(number)),
    "intbl": lambda group, number: setattr(group, "in_table", bool(number)),
    "itap": lambda group, number: setattr(group, "in_table", bool(number)),
    "uc": lambda group, number: setattr(group, "fallback", min(max(number, 0), _MOST_FALLBACK)),
    "deleted": lambda group, number: group._changed("deleted", number),
    "revised": lambda group, number: group._changed("inserted", number),
}
