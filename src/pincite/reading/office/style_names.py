"""What the name of a paragraph style says, in the languages that programs name their styles in."""

from __future__ import annotations

import re

# Word writes the English names whatever its own language; other programs do not.
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis"
    r"|заголовок|标题|標題|見出し|제목)\s?([1-9])",
    re.IGNORECASE,
)
_TITLES = ("title", "titel")


def level_by_name(name: str) -> int | None:
    """The level of headings in a style of this name; None of other styles."""
    found = _HEADING.fullmatch(name)
    return int(found.group(1)) if found else None


def is_title_name(name: str) -> bool:
    """Whether a style of this name is for the title of a document."""
    return name.lower() in _TITLES
