"""The marks that items of a list begin with."""

from __future__ import annotations

import re

_BULLET = re.compile(r"[•‣◦▪▫■□●○◆◇➢➤✓✔❑❖⁃\uf000-\uf0ff]")
_DASH = re.compile(r"[·∙*–—-]")
_NUMBER = re.compile(
    r"\(?(?:\d{1,2}|[a-zA-Z]|[ivxIVX]{1,5})\)|(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})\."
    r"|\d{1,2}(?:\.\d{1,2}){1,3}\.?"
)


def is_bullet(word: str) -> bool:
    """Whether this can be nothing else than the sign of an item."""
    return bool(_BULLET.fullmatch(word))


def is_mark(word: str) -> bool:
    """Whether this may begin an item: a bullet, a dash, `1.`, `(a)`, `iv)`, `2.1`."""
    return any(pattern.fullmatch(word) for pattern in (_BULLET, _DASH, _NUMBER))
