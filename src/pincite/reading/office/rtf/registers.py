"""The tables that stand before the text of an RTF file: fonts, colours, styles, authors, dates."""

from __future__ import annotations

from dataclasses import dataclass, field

from pincite.reading.office.look import is_white
from pincite.reading.office.rtf import code_pages
from pincite.reading.office.rtf.groups import Register

_MOST_ENTRIES = 10_000
_COLOURS = ("red", "green", "blue")


@dataclass(slots=True)
class Style:
    """A style as the file defines it."""

    name: str = ""
    based_on: int | None = None
    outline: int | None = None


@dataclass(slots=True)
class Font:
    """A font as the file defines it."""

    name: str = ""
    character_set: int = 1

    @property
    def has_symbols(self) -> bool:
        """Whether its characters are pictures or Greek letters."""
        return self.character_set == code_pages.SYMBOLS


@dataclass(slots=True)
class Registers:
    """All of them, as they are read."""

    fonts: dict[int, Font] = field(default_factory=dict)
    colours: list[str] = field(default_factory=list)
    styles: dict[int, Style] = field(default_factory=dict)
    authors: list[str] = field(default_factory=list)
    dates: dict[Register, dict[str, int]] = field(default_factory=dict)
    _font: Font = field(default_factory=Font)
    _style: Style = field(default_factory=Style)
    _mixed: dict[str, int] = field(default_factory=dict)

    def open(self, register: Register) -> None:
        """An entry may begin: the style without a number is number 0."""
        if register is Register.STYLES:
            self._style = self.styles.setdefault(0, Style())

    def word(self, register: Register, name: str, number: int) -> None:
        """A command inside of a register."""
        match register, name:
            case Register.FONTS, "f" if len(self.fonts) < _MOST_ENTRIES:
                self._font = self.fonts.setdefault(number, Font())
            case Register.FONTS, "fcharset":
                self._font.character_set = number
            case Register.STYLES, "s" if len(self.styles) < _MOST_ENTRIES:
                self._style = self.styles.setdefault(number, Style())
            case Register.STYLES, "sbasedon":
                self._style.based_on = number
            case Register.STYLES, "outlinelevel":
                self._style.outline = number
            case Register.COLOURS, "red" | "green" | "blue":
                self._mixed[name] = number
            case ((Register.CREATED | Register.MODIFIED), _):
                self.dates.setdefault(register, {})[name] = number

    def text(self, register: Register, text: str) -> None:
        """Text inside of a register; a semicolon ends an entry."""
        name = text.partition(";")[0]
        if register is Register.FONTS:
            self._font.name = (self._font.name + name)[:100]
        elif register is Register.STYLES:
            self._style.name = (self._style.name + name)[:100]
        elif register is Register.AUTHORS and len(self.authors) < _MOST_ENTRIES:
            self.authors.append(" ".join(name.split())[:100] or "someone")
        elif register is Register.COLOURS and len(self.colours) < _MOST_ENTRIES:
            self._end_colour()

    def colour(self, number: int) -> str | None:
        """A colour in hexadecimal figures; None where it is left to the program."""
        return (self.colours[number] if 0 <= number < len(self.colours) else "") or None

    def is_ground(self, number: int) -> bool:
        """Whether something painted in this colour can be told from white paper."""
        colour = self.colour(number)
        return colour is not None and not is_white(colour)

    def author(self, number: int) -> str:
        """Who made a tracked change."""
        return self.authors[number] if 0 <= number < len(self.authors) else "someone"

    def _end_colour(self) -> None:
        parts = (min(max(self._mixed.get(one, 0), 0), 255) for one in _COLOURS)
        self.colours.append("".join(f"{part:02X}" for part in parts) if self._mixed else "")
        self._mixed = {}
