"""What the readers of word processors' files share: how text looks, and what its looks mean.

Files cut runs up at every change of font; `tidy` joins them as a text needs them. Such runs have a
page, and a reason why they are not seen; no other place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from pincite.reading.writer import Run, Writer
from pincite.records import OmissionReason

BULLET = "-"

_BLANK_LINES = re.compile(r"\n\s*\n")

_TINY = 1.0  # points
_WHITE = re.compile(r"#?(?:F[A-F]){3}", re.IGNORECASE)

# Word writes the English names whatever its own language; other programs do not.
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis"
    r"|заголовок|标题|標題|見出し|제목)\s?([1-9])",
    re.IGNORECASE,
)
_TITLES = ("title", "titel")

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_HIGHEST_ROMAN = 3_999
_MOST_LETTERS = 10

# The letters a to z and A to Z in the font Symbol.
_GREEK = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "αβχδεφγηιϕκλμνοπθρστυϖωξψζΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ",
        strict=True,
    )
)
_IN_FONT = {
    "symbol": {
        **{ord(letter): greek for letter, greek in _GREEK.items()},
        **{0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓"},
        **{0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•"},
        **{0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪"},
        **{0xCC: "⊂", 0xCE: "∈", 0xCF: "∉", 0xD1: "∇", 0xD5: "∏", 0xD6: "√", 0xDE: "⇒"},
        **{0xE5: "∑", 0xF2: "∫"},
    },
    "wingdings": {
        **{0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐", 0x76: "❖"},
        **{0xA7: "▪", 0xA8: "☐", 0xB7: "•", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑"},
        **{0xE2: "↓", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    },
    "wingdings 2": {0x50: "✓", 0x4F: "✗", 0x51: "☒", 0x52: "☑", 0xA3: "☐"},
}
_PRIVATE_AREA = range(0xF000, 0xF100)  # where such fonts have their characters


def tidy(runs: Iterable[Run]) -> list[Run]:
    """Neighbours of one kind joined; no blank lines inside, no space at either end."""
    texts: list[str] = []
    kinds: list[tuple[int | None, OmissionReason | None]] = []
    for kind, alike in groupby(runs, key=lambda run: (run.page, run.omitted)):
        text = _BLANK_LINES.sub("\n", "".join([run.text for run in alike]))
        if not texts:
            text = text.lstrip()
        elif texts[-1].endswith("\n"):
            text = text.lstrip("\n")
        if text:
            texts.append(text)
            kinds.append(kind)
    while texts and not texts[-1].strip():
        texts.pop()
    if texts:
        texts[-1] = texts[-1].rstrip()
    return [
        Run(text, page=page, omitted=omitted)
        for text, (page, omitted) in zip(texts, kinds, strict=False)
    ]


def visible_text(runs: Iterable[Run]) -> str:
    """What a reader of the file sees of the runs."""
    return "".join(run.text for run in runs if run.omitted is None)


class TextWriter:
    """Writes paragraphs as what they are, and remembers what may be the title."""

    def __init__(self) -> None:
        self.writer = Writer()
        self.title: str | None = None  # the paragraph in the style of a title
        self._top_headings: list[str] = []

    @property
    def sole_heading(self) -> str | None:
        """The heading of the first level, where there is but one."""
        return self._top_headings[0] if len(self._top_headings) == 1 else None

    def write_paragraph(
        self, runs: list[Run], level: int | None, mark: str, depth: int, *, is_title: bool
    ) -> None:
        """Write a heading, where it has a level, an item, where it has a mark, or a paragraph."""
        text = visible_text(runs).strip()
        if level and text:
            number = f"{mark} " if mark not in (BULLET, "") else ""
            self.writer.heading(tidy([Run(number, page=runs[0].page), *runs]), level)
            self._top_headings += [text] if level == 1 else []
        elif mark and runs:
            self.writer.item(runs, depth=depth, mark=f"{mark} ")
        else:
            self.writer.paragraph(runs)
        if is_title:
            self.title = self.title or text or None


@dataclass(frozen=True, slots=True)
class Look:
    """What is said of a stretch of text; None is not said."""

    is_hidden: bool | None = None
    colour: str | None = None  # six hexadecimal figures
    points: float | None = None
    is_shaded: bool | None = None  # something other than white paper lies under it

    def over(self, below: Look) -> Look:
        """What is said here, and for the rest what is said below."""
        return Look(
            below.is_hidden if self.is_hidden is None else self.is_hidden,
            below.colour if self.colour is None else self.colour,
            below.points if self.points is None else self.points,
            below.is_shaded if self.is_shaded is None else self.is_shaded,
        )

    @property
    def reason(self) -> OmissionReason | None:
        """Why it would not be seen; None where it would."""
        if self.is_hidden:
            return OmissionReason.HIDDEN
        if self.points is not None and self.points <= _TINY:
            return OmissionReason.TINY
        if self.colour is not None and is_white(self.colour) and not self.is_shaded:
            return OmissionReason.WHITE
        return None


def is_white(colour: str) -> bool:
    """Whether nobody could tell the colour from white."""
    return _WHITE.fullmatch(colour) is not None


def level_by_name(name: str) -> int | None:
    """The level of headings in a style of this name; None of other styles."""
    found = _HEADING.fullmatch(name)
    return int(found.group(1)) if found else None


def is_title_name(name: str) -> bool:
    """Whether a style of this name is for the title of a document."""
    return name.lower() in _TITLES


class Figures(StrEnum):
    """The ways to write a number."""

    ARABIC = "1"
    LETTERS = "a"
    ROMAN = "i"


def written(count: int, figures: Figures) -> str:
    """A number in lower case; in Arabic figures where the others do not go so far."""
    if figures is Figures.LETTERS and 0 < count <= 26 * _MOST_LETTERS:
        times, letter = divmod(count - 1, 26)
        return chr(ord("a") + letter) * (times + 1)
    if figures is Figures.ROMAN and 0 < count <= _HIGHEST_ROMAN:
        text = ""
        for worth, figure in _ROMAN:
            text += figure * (count // worth)
            count %= worth
        return text
    return str(count)


def symbol(font: str, code: str) -> str:
    """The character that is shown; nothing where only the font knows."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if number in _PRIVATE_AREA:
        number -= _PRIVATE_AREA.start
        known = _IN_FONT.get(font.lower(), {}).get(number)
        return known or (chr(number) if font.lower() == "symbol" and 0x20 <= number < 0x7F else "")
    # Outside of the private area, and no half of a surrogate pair.
    is_character = 0x20 <= number < 0xD800 or 0xE000 <= number < 0x110000
    return _IN_FONT.get(font.lower(), {}).get(number) or (chr(number) if is_character else "")
