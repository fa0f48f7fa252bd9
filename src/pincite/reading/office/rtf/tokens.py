"""The bytes of an RTF file → its tokens, in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

# Every alternative begins differently and takes all it can, so nothing is looked at twice.
_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})? ?"
    rb"|\\'(?P<byte>[0-9A-Fa-f]{2})"
    rb"|\\(?P<symbol>[^A-Za-z])"
    rb"|(?P<brace>[{}])"
    rb"|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
_BINARY = "bin"  # is followed by so many bytes that are no RTF


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    SYMBOL = auto()
    TEXT = auto()
    OPEN = auto()
    CLOSE = auto()


class Token(NamedTuple):
    """A control word with its number, a control symbol, or bytes of text."""

    kind: Kind
    name: str = ""
    number: int | None = None
    text: bytes = b""


_OPEN = Token(Kind.OPEN)
_CLOSE = Token(Kind.CLOSE)


def tokens(data: bytes) -> Iterator[Token]:
    """All tokens; line ends mean nothing in RTF and are left out."""
    at = 0
    while found := _TOKEN.search(data, at):
        at = found.end()
        match found.lastgroup:
            case "word" | "number":
                token = _word(found)
                if token.name == _BINARY:
                    at += max(token.number or 0, 0)
                yield token
            case "byte":
                yield Token(Kind.TEXT, text=bytes.fromhex(found["byte"].decode("ascii")))
            case "symbol":
                yield Token(Kind.SYMBOL, found["symbol"].decode("latin-1"))
            case "brace":
                yield _OPEN if found["brace"] == b"{" else _CLOSE
            case _:
                yield Token(Kind.TEXT, text=found["text"])


def _word(found: re.Match[bytes]) -> Token:
    number = found["number"]
    name = found["word"].decode("ascii")
    return Token(Kind.WORD, name, None if number is None else int(number))
