"""pdfium's C functions. The library has no types, so only this module imports it."""

from __future__ import annotations

import codecs
import ctypes
from collections.abc import Callable
from typing import Any

from pypdfium2 import raw  # type: ignore[import-untyped]

Handle = Any
"""A pointer that only pdfium can follow: a document, a page, an object on a page."""

# Where this runs no file can be opened any more, so what is loaded late is loaded now.
for _encoding in ("utf-8", "utf-16-le", "utf-16-be", "latin-1", "cp1250", "cp1251"):
    codecs.lookup(_encoding)

__all__ = ["Handle", "address", "raw", "utf16"]


def address(handle: Handle) -> bytes:
    """Tells handles apart; quicker than asking for the address as a number."""
    return bytes(handle)


def utf16(function: Callable[..., int], *arguments: Any, most: int = 65_536) -> str:  # noqa: ANN401 — handles
    """What one of the functions says that fill a buffer with UTF-16, up to so many bytes."""
    size = function(*arguments, None, 0)
    if size <= 2 or size > most:  # the terminator alone, or more than anything we ask for has
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    function(*arguments, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace")
